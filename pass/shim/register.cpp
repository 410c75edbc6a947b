// The one thing that LLVM's C interface does not offer: registering a pass at an extension
// point. The pass itself is Rust; it gets the module as the C interface's handle.

#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"

using namespace llvm;

// Defined in Rust; true if it changed the module.
extern "C" bool szc_pass_run(LLVMModuleRef module);

namespace {
struct SzcPass : PassInfoMixin<SzcPass> {
  PreservedAnalyses run(Module &module, ModuleAnalysisManager &) {
    return szc_pass_run(wrap(&module)) ? PreservedAnalyses::none()
                                       : PreservedAnalyses::all();
  }
  // Also at -O0 and in functions marked optnone.
  static bool isRequired() { return true; }
};
} // namespace

extern "C" void szc_pass_register(PassBuilder &builder) {
  builder.registerOptimizerLastEPCallback(
      [](ModulePassManager &manager, OptimizationLevel, ThinOrFullLTOPhase) {
        manager.addPass(SzcPass());
      });
}
