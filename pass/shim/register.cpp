// What LLVM's C interface does not offer: registering a pass, splitting blocks and edges,
// StackProtector's own opinion, and which addresses escape. The pass itself is Rust; it gets the
// C interface's handles.

#include "llvm/Analysis/CaptureTracking.h"
#include "llvm/CodeGen/StackProtector.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

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
  // Compiling to an object, or the second half of ThinLTO. The first halves of both kinds of
  // link-time optimization leave functions that will still be inlined.
  builder.registerOptimizerLastEPCallback(
      [](ModulePassManager &manager, OptimizationLevel, ThinOrFullLTOPhase phase) {
        if (phase != ThinOrFullLTOPhase::ThinLTOPreLink &&
            phase != ThinOrFullLTOPhase::FullLTOPreLink)
          manager.addPass(SzcPass());
      });
  builder.registerFullLinkTimeOptimizationLastEPCallback(
      [](ModulePassManager &manager, OptimizationLevel) { manager.addPass(SzcPass()); });
  // `opt -passes=szc`.
  builder.registerPipelineParsingCallback(
      [](StringRef name, ModulePassManager &manager, ArrayRef<PassBuilder::PipelineElement>) {
        if (name != "szc")
          return false;
        manager.addPass(SzcPass());
        return true;
      });
}

// Moves `first` and what follows it into a new block behind its own, which is left without an end.
extern "C" LLVMBasicBlockRef szc_pass_split(LLVMValueRef first) {
  auto *instruction = unwrap<Instruction>(first);
  BasicBlock *head = instruction->getParent();
  BasicBlock *tail = head->splitBasicBlock(instruction);
  head->getTerminator()->eraseFromParent();
  return wrap(tail);
}

// A new block on the way from one block to another.
extern "C" LLVMBasicBlockRef szc_pass_split_edge(LLVMBasicBlockRef from, LLVMBasicBlockRef to) {
  return wrap(SplitEdge(unwrap(from), unwrap(to)));
}

// Whether code generation would protect the function's stack as the function is now.
extern "C" bool szc_pass_needs_stack_protector(LLVMValueRef function) {
  return SSPLayoutAnalysis::requiresStackProtector(unwrap<Function>(function));
}

// Whether the address of a variable may be known after its function has returned, or be compared
// with others.
extern "C" bool szc_pass_escapes(LLVMValueRef variable) {
  return PointerMayBeCaptured(unwrap(variable), /*ReturnCaptures=*/true);
}
