//! Return addresses that a function asks for (`__builtin_return_address`, and what counts calls by
//! it).
//!
//! That of a call in a copy lies in no file, and is another one in each layout. Programs ask in
//! order to name their caller, or to compare it: so they are told the address in the original, if
//! there is a runtime that knows it.
//!
//! ```text
//! head:   address = llvm.returnaddress(…);  if szc_rt_original_address != null
//! ask:        original = szc_rt_original_address(address)
//! tail:   phi(address, original)                 what the function uses
//! ```

use crate::llvm::{Block, Builder, Callee, Function, Instruction, Kind, Module};
use crate::plan::LIKE_C;
use szc_abi::ORIGINAL_SYMBOL;
use szc_abi::stack::FUNCTIONS_SECTION;

/// The intrinsic, without the `llvm.` of its name.
const RETURN_ADDRESS: &str = "returnaddress";

/// Intrinsics of unwinders, which look up the rules of a frame by what they ask for: a copy's may
/// be others than its original's.
const OF_UNWINDERS: [&str; 3] = ["eh.dwarf.cfa", "eh.return", "eh.unwind.init"];

/// Makes the functions of a module ask for originals. Whether there was one that did.
pub(crate) fn show_originals(module: Module) -> bool {
    let emitted: Vec<Function> = module
        .functions()
        .filter(|function| function.is_emitted() && !function.is_recorded(FUNCTIONS_SECTION))
        .collect();
    let asking: Vec<Instruction> = emitted.into_iter().flat_map(asking).collect();
    for &call in &asking {
        show_original(call);
    }
    !asking.is_empty()
}

/// Where a function asks for a return address; nowhere, if a call could hurt it.
fn asking(function: Function) -> Vec<Instruction> {
    let may_call = LIKE_C.contains(&function.calling_convention())
        && !function.has("naked")
        && !function.is_collected();
    let intrinsics = function
        .blocks()
        .flat_map(Block::instructions)
        .filter(|instruction| instruction.kind() == Kind::Call)
        .filter_map(|call| match call.callee() {
            Callee::Intrinsic(name) => Some((call, name)),
            _ => None,
        });
    let mut asking = Vec::new();
    for (call, name) in intrinsics {
        if OF_UNWINDERS.iter().any(|known| name.starts_with(known)) {
            return Vec::new();
        }
        if name.starts_with(RETURN_ADDRESS) {
            asking.push(call);
        }
    }
    if may_call { asking } else { Vec::new() }
}

fn show_original(call: Instruction) {
    let Some(next) = call.next() else { return };
    let build = Builder::new(call.function());
    let head = call.block();
    let tail = Block::split(next);
    let ask = tail.insert_before(c"szc.ask");
    build.at_end(head);
    let original = build.weak_function(ORIGINAL_SYMBOL);
    build.branch(build.is_not_null(original.address()), ask, tail);
    build.at_end(ask);
    let told = build.call(&original, call.result());
    build.jump(tail);
    build.replace(call, next, [(call.result(), head), (told, ask)]);
}
