//! Return addresses that a function asks for (`__builtin_return_address`, and what counts calls by
//! it).
//!
//! The return address of a call in a copy lies in no file, and differs in each layout. Programs ask
//! for it to name their caller, or to compare it. So they get its PC translation, the address in
//! the original, if a runtime is there.
//!
//! ```text
//! head:       address = llvm.returnaddress(…);  if szc_rt_original_address != null
//! translate:      original = szc_rt_original_address(address)
//! tail:       phi(address, original)                 what the function uses
//! ```

use crate::llvm::{
    Attributes, BuilderExt, Call, Callee, Result, block, instructions, pointer, raw,
};
use crate::plan::{LIKE_C, functions_without_record};
use inkwell::AddressSpace;
use inkwell::module::{Linkage, Module};
use inkwell::values::{BasicValue, FunctionValue};
use szc_abi::ORIGINAL_SYMBOL;

/// The intrinsic, without the `llvm.` of its name.
const RETURN_ADDRESS: &str = "returnaddress";

/// Intrinsics of unwinders, which look up the FDE of a frame by what they ask for: a copy's may
/// differ from its original's.
const OF_UNWINDERS: [&str; 3] = ["eh.dwarf.cfa", "eh.return", "eh.unwind.init"];

/// Makes the functions of a module translate the return addresses that they ask for. Whether there
/// was one that did.
pub(crate) fn translate_return_addresses(module: &Module<'_>) -> Result<bool> {
    let asking: Vec<Call> =
        functions_without_record(module).into_iter().flat_map(return_addresses).collect();
    for &call in &asking {
        translate(module, call)?;
    }
    Ok(!asking.is_empty())
}

/// Where a function asks for a return address; nowhere, if a call could hurt it.
fn return_addresses<'ctx>(function: FunctionValue<'ctx>) -> Vec<Call<'ctx>> {
    let may_call = LIKE_C.contains(&function.get_call_conventions())
        && !function.has("naked")
        && !raw::is_collected(function);
    let mut asking = Vec::new();
    for call in instructions(function).filter_map(Call::of) {
        let Callee::Intrinsic(name) = call.callee() else { continue };
        if OF_UNWINDERS.iter().any(|known| name.starts_with(known)) {
            return Vec::new();
        }
        if name.starts_with(RETURN_ADDRESS) {
            asking.push(call);
        }
    }
    if may_call { asking } else { Vec::new() }
}

fn translate<'ctx>(module: &Module<'ctx>, call: Call<'ctx>) -> Result<()> {
    let asked = call.instruction();
    let Some(next) = asked.get_next_instruction() else { return Ok(()) };
    let context = module.get_context();
    let builder = context.create_builder();
    let head = block(asked);
    let tail = raw::split_before(next);
    let translate = context.prepend_basic_block(tail, "szc.ask");

    builder.position_at_end(head);
    let kind = context.ptr_type(AddressSpace::default());
    let signature = kind.fn_type(&[kind.into()], false);
    // Weak: null where no runtime defines it.
    let runtime = module.get_function(ORIGINAL_SYMBOL).unwrap_or_else(|| {
        module.add_function(ORIGINAL_SYMBOL, signature, Some(Linkage::ExternalWeak))
    });
    let runtime = runtime.as_global_value().as_pointer_value();
    builder.branch_likely(builder.build_is_not_null(runtime, "")?, translate, tail)?;

    builder.position_at_end(translate);
    let address = call.result().expect("the intrinsic returns a pointer");
    let original = builder.build_indirect_call(signature, runtime, &[address.into()], "")?;
    let original = pointer(original).expect("the function returns a pointer");
    builder.build_unconditional_branch(tail)?;

    builder.position_before(&next);
    let phi = builder.build_phi(address.get_type(), "")?;
    asked.replace_all_uses_with(&phi.as_instruction());
    phi.add_incoming(&[(&address, head)]);
    // Its argument is no use to replace.
    let translated = original.as_instruction_value().expect("a call is an instruction");
    translated.set_operand(0, address);
    phi.add_incoming(&[(&original, translate)]);
    Ok(())
}
