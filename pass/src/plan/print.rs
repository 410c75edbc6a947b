//! The plan as text, for `SZC_PASS_PLAN`: one line a function.

use super::{FunctionPlan, Plan, Site, Unpadded};
use inkwell::module::Module;
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use szc_abi::stack::Stay;

/// Where the plan goes: `-` for standard error, else a file that it is appended to.
const VARIABLE: &str = "SZC_PASS_PLAN";

/// Writes the plan where the user wants to read it, if anywhere.
pub(crate) fn print(module: &Module<'_>, plan: &Plan<'_>) {
    let Some(destination) = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) else {
        return;
    };
    let module = module.get_name().to_string_lossy();
    let mut text = String::new();
    for function in &plan.functions {
        let _ = writeln!(text, "{module}: {}", line(function));
    }
    // In one piece, since compilers that run side by side write to the same file.
    let written = if destination == "-" {
        std::io::stderr().write_all(text.as_bytes())
    } else {
        let file = OpenOptions::new().append(true).create(true).open(&destination);
        file.and_then(|mut file| file.write_all(text.as_bytes()))
    };
    if let Err(error) = written {
        eprintln!("szc: {VARIABLE}: cannot write to {}: {error}", destination.display());
    }
}

fn line(plan: &FunctionPlan<'_>) -> String {
    let mut line = format!("{}: ", plan.function.get_name().to_string_lossy());
    match &plan.pad {
        Ok(sites) => {
            let sites: Vec<String> = sites.iter().map(site_text).collect();
            let how = match (plan.resizable, plan.addressed) {
                (true, true) => "padded by its copies below its variables, frame taken",
                (true, false) => "padded by its copies, frame taken",
                (false, _) => "padded",
            };
            let _ = write!(line, "{how} {}", sites.join(", "));
        }
        Err(reason) => {
            let _ = write!(line, "not padded: {}", reason.text());
        }
    }
    if plan.bounds_stack {
        line.push_str("; bounds its stack by addresses");
    }
    if let Some(reason) = plan.pinned {
        let _ = write!(line, "; pinned: {}", pinned_text(reason));
    }
    line
}

fn site_text(site: &Site<'_>) -> String {
    match site {
        Site::Entry(_) => "at entry".to_owned(),
        Site::Later(_, block) => format!("in block {block}"),
        Site::Edge(..) => "between blocks".to_owned(),
    }
}

impl Unpadded {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Unpadded::NotAsked => "no pads were asked for",
            Unpadded::Sanitized => "a sanitizer keeps account of the stack",
            Unpadded::Labels => "jumps to addresses of its labels",
            Unpadded::Naked => "naked",
            Unpadded::NoCall => "calls nothing that needs a frame",
            Unpadded::Musttail => "has a call that must become a jump",
            Unpadded::Coroutine => "a coroutine that is not split yet",
            Unpadded::Convention => "a calling convention that may use the frame pointer",
            Unpadded::Registers => "an unusual set of saved registers",
            Unpadded::Funclets => "its exception handlers are functions of their own",
            Unpadded::Collected => "a garbage collector knows its frames",
            Unpadded::OtherStack => "uses a second or a split stack",
            Unpadded::StackProbe => "probes the stack by a function",
            Unpadded::Setjmp => "uses the compiler's own setjmp",
            Unpadded::AlignedArguments => "passes arguments of more than the stack's alignment",
            Unpadded::AddressedArray => "the address of an array of variable length escapes",
            Unpadded::StackRegister => "reads the stack pointer",
            Unpadded::AssemblyStack => "inline assembly names the stack or frame pointer",
            Unpadded::AssemblyRegisters => "inline assembly needs too many registers",
        }
    }
}

fn pinned_text(reason: Stay) -> &'static str {
    match reason {
        Stay::Naked => "naked",
        Stay::Patched => "its entry is prepared for patching",
        Stay::Interrupt => "entered by the hardware",
        Stay::Assembly => "inline assembly switches sections or defines symbols",
    }
}
