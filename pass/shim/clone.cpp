// Blocks a second time in their function: LLVM's means for that are C++ only.

#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/SSAUpdater.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

using namespace llvm;

// Whether assembly may stand twice in a function: it defines no symbol and no section.
static bool canRepeat(const InlineAsm &assembly) {
  StringRef text = assembly.getAsmString();
  return !text.contains(':') && !text.contains('.');
}

// Whether a value can come from either of two blocks.
static bool canMerge(const Type &type) {
  return !type.isTokenTy() && !type.isX86_AMXTy() && !type.isTargetExtTy();
}

// Whether an instruction may stand twice in its function.
static bool canRepeat(const Instruction &instruction) {
  if (isa<CallBrInst>(instruction) || !canMerge(*instruction.getType()) ||
      instruction.isSwiftError())
    return false;
  const auto *call = dyn_cast<CallBase>(&instruction);
  if (!call)
    return true;
  const auto *assembly = dyn_cast<InlineAsm>(call->getCalledOperand());
  return !call->cannotDuplicate() && !call->isConvergent() &&
         !call->hasFnAttr(Attribute::ReturnsTwice) && (!assembly || canRepeat(*assembly));
}

// Whether all blocks of a function may stand twice in it. Labels whose address is taken are the
// function's only if it jumps to them itself.
extern "C" bool szc_pass_can_clone(LLVMValueRef value) {
  auto *function = unwrap<Function>(value);
  bool jumps = false, labels = false;
  for (BasicBlock &block : *function) {
    labels |= block.hasAddressTaken();
    jumps |= isa<IndirectBrInst>(block.getTerminator());
    for (const Instruction &instruction : block)
      if (!canRepeat(instruction))
        return false;
  }
  return jumps || !labels;
}

// Clones blocks of one function. What leads from one of them to another leads from clone to clone;
// phis of other blocks get what comes from clones. Addresses of labels are those of the originals.
extern "C" void szc_pass_clone(LLVMBasicBlockRef *blocks, size_t count,
                               LLVMBasicBlockRef *clones) {
  ValueToValueMapTy map;
  SmallVector<BasicBlock *, 32> made;
  for (size_t index = 0; index < count; index++) {
    BasicBlock *block = unwrap(blocks[index]);
    BasicBlock *clone = CloneBasicBlock(block, map, ".szc", block->getParent());
    map[block] = clone;
    if (auto *label = BlockAddress::lookup(block))
      map[label] = label;
    made.push_back(clone);
    clones[index] = wrap(clone);
  }
  remapInstructionsInBlocks(made, map);
  SmallPtrSet<BasicBlock *, 32> entered;
  for (BasicBlock *clone : made)
    for (BasicBlock *next : successors(clone))
      entered.insert(next);
  for (BasicBlock *clone : made)
    entered.erase(clone);
  for (BasicBlock *other : entered)
    for (PHINode &phi : other->phis())
      for (unsigned index = 0, end = phi.getNumIncomingValues(); index < end; index++) {
        auto from = map.find(phi.getIncomingBlock(index));
        if (from == map.end())
          continue;
        Value *value = phi.getIncomingValue(index);
        auto mapped = map.find(value);
        phi.addIncoming(mapped == map.end() ? value : &*mapped->second,
                        cast<BasicBlock>(&*from->second));
      }
}

// An instruction and its clone are one variable: each use gets what came last, through phis where
// blocks of both lead.
extern "C" void szc_pass_unite(LLVMValueRef original, LLVMValueRef clone) {
  Instruction *both[] = {unwrap<Instruction>(original), unwrap<Instruction>(clone)};
  SmallVector<Use *, 16> uses;
  for (Instruction *one : both)
    for (Use &use : one->uses()) {
      auto *user = cast<Instruction>(use.getUser());
      if (isa<PHINode>(user) || user->getParent() != one->getParent())
        uses.push_back(&use);
    }
  if (uses.empty())
    return;
  SSAUpdater updater;
  updater.Initialize(both[0]->getType(), both[0]->getName());
  for (Instruction *one : both)
    updater.AddAvailableValue(one->getParent(), one);
  for (Use *use : uses)
    updater.RewriteUse(*use);
}
