//! Makes frames resizable: adds slack, bytes that nothing uses, so that the constants which move
//! the stack pointer take 4 bytes and a copy's frame can have another size.

use crate::llvm::{Attributes, BuilderExt, Result};
use crate::pads::{insertion_point, instruction, keep_unguarded};
use crate::plan::Site;
use inkwell::AddressSpace;
use inkwell::attributes::AttributeLoc;
use inkwell::builder::Builder;
use inkwell::module::Module;
use inkwell::values::{FunctionValue, InstructionOpcode, InstructionValue, PointerValue};
use szc_abi::stack::{RESIZABLE_BYTES, SLACK_MARK};

/// Alignment of the slack in a frame, in bytes: with less, variables would have other places than
/// without it.
const SLACK_ALIGNMENT: u32 = 8;

/// How `llvm.prefetch` names the slack: for reading, into the second level, of data.
const PREFETCH_HOW: [u64; 3] = [0, 2, 1];

/// Where code generation is to put the slack in a frame: beside the end from which nothing else
/// is addressed, so that it can be taken out again without changing the place of anything that a
/// debugger has an address of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Position {
    /// Next to the caller's frame, below nothing but the stack protector's guard: what a frame
    /// without a frame pointer holds is addressed from its other end. The protector sorts arrays of
    /// bytes there.
    Highest,
    /// Behind all variables, where a frame pointer is what they are addressed from. So it is no
    /// array, and what says where it lies must not look like taking its address: both would make
    /// the protector sort it before variables.
    Lowest,
}

/// Adds slack to a frame, and uses it wherever a pad would be due. Where variables are
/// `addressed` the frame gets a frame pointer: copies take their pads at the end that is away from
/// it, so such a variable lies at one distance from the caller's frame in all of them.
pub(crate) fn insert<'ctx>(
    module: &Module<'ctx>,
    function: FunctionValue<'ctx>,
    addressed: bool,
    sites: &[Site<'ctx>],
) -> Result<()> {
    keep_unguarded(function);
    let context = module.get_context();
    if addressed && !function.keeps_frame_pointer() {
        let attribute = context.create_string_attribute("frame-pointer", "all");
        function.add_attribute(AttributeLoc::Function, attribute);
    }
    let builder = context.create_builder();
    let position =
        if function.keeps_frame_pointer() { Position::Lowest } else { Position::Highest };
    let slack = add(module, &builder, function, position)?;
    for &site in sites {
        builder.position_before(&insertion_point(site));
        hold(module, &builder, slack, position)?;
    }
    Ok(())
}

fn add<'ctx>(
    module: &Module<'ctx>,
    builder: &Builder<'ctx>,
    function: FunctionValue<'ctx>,
    position: Position,
) -> Result<PointerValue<'ctx>> {
    let context = module.get_context();
    let entry = function.get_first_basic_block().expect("a function with a body has a block");
    let is_variable = |at: &InstructionValue| at.get_opcode() == InstructionOpcode::Alloca;
    let last_variable = entry.get_instructions().filter(is_variable).last();
    let behind_variables = last_variable.and_then(InstructionValue::get_next_instruction);
    let first = entry.get_first_instruction();
    let at = match position {
        Position::Highest => first,
        // Without optimization variables lie in this order.
        Position::Lowest => behind_variables.or(first),
    };
    builder.position_before(&at.expect("a block has an instruction"));
    let slack = match position {
        Position::Highest => {
            builder.build_alloca(context.i8_type().array_type(RESIZABLE_BYTES), "")?
        }
        Position::Lowest => {
            let words = vec![context.i64_type().into(); (RESIZABLE_BYTES / 8) as usize];
            builder.build_alloca(context.struct_type(&words, false), "")?
        }
    };
    instruction(&slack).set_alignment(SLACK_ALIGNMENT)?;
    Ok(slack)
}

/// Makes the function need the slack, and says where it lies, by an instruction that changes
/// nothing: a prefetch (into all levels but the first), or a store of a mark that nothing reads.
/// Assembly would do without one, but not every compiler can read assembly: flang cannot.
fn hold<'ctx>(
    module: &Module<'ctx>,
    builder: &Builder<'ctx>,
    slack: PointerValue<'ctx>,
    position: Position,
) -> Result<()> {
    let context = module.get_context();
    let number = |value| context.i32_type().const_int(value, false);
    match position {
        Position::Highest => {
            let [access, locality, cache] = PREFETCH_HOW.map(|how| number(how).into());
            let kind = context.ptr_type(AddressSpace::default()).into();
            let arguments = [slack.into(), access, locality, cache];
            builder.call_intrinsic(module, "llvm.prefetch", kind, &arguments)?;
        }
        Position::Lowest => {
            builder.build_store(slack, number(SLACK_MARK.into()))?.set_volatile(true)?;
        }
    }
    Ok(())
}
