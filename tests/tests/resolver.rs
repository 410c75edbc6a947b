//! The machine code that runs inside a program's first calls: which instructions it has, what it
//! calls, how much stack it takes. Read from the runtime's object, as programs get it.

use iced_x86::{
    CpuidFeature, Decoder, DecoderOptions, EncodingKind, FlowControl, Instruction, Mnemonic,
    OpKind, Register,
};
use object::read::archive::ArchiveFile;
use object::{File, Object as _, ObjectSection as _, ObjectSymbol as _, RelocationTarget};
use std::collections::{BTreeSet, HashMap};
use szc_tests::tools::szc;

/// A section of code: rustc gives each function one, and the assembly parts share `.text`.
struct Section {
    name: String,
    instructions: Vec<Instruction>,
    callees: Vec<usize>,
    /// Symbols of other objects that it calls.
    foreign: Vec<String>,
}

struct Runtime {
    sections: HashMap<usize, Section>,
    by_symbol: HashMap<String, usize>,
}

impl Runtime {
    fn read() -> Self {
        let path = szc().with_file_name("libszc_runtime.a");
        let archive = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let parsed = ArchiveFile::parse(archive.as_slice()).expect("an archive");
        let object = parsed
            .members()
            .filter_map(|member| member.ok()?.data(archive.as_slice()).ok())
            .filter_map(|data| File::parse(data).ok())
            .find(|file| {
                file.symbols().any(|symbol| {
                    symbol.is_definition() && symbol.name() == Ok(szc_abi::RUNTIME_START_SYMBOL)
                })
            })
            .expect("the runtime is in its archive");
        let sections = object
            .sections()
            .filter(|section| section.name().is_ok_and(|name| name.starts_with(".text")))
            .map(|section| (section.index().0, read_section(&object, &section)))
            .collect();
        let by_symbol = object
            .symbols()
            .filter_map(|symbol| Some((symbol.name().ok()?.to_owned(), symbol.section_index()?.0)))
            .collect();
        Self { sections, by_symbol }
    }

    fn of(&self, symbol: &str) -> usize {
        *self.by_symbol.get(symbol).unwrap_or_else(|| panic!("the runtime has no {symbol}"))
    }

    /// What a section calls, less what does not return, because it ends the process, and the
    /// assembly parts, which take no stack.
    fn callees(&self, section: usize) -> impl Iterator<Item = usize> {
        let returns = |name: &str| {
            !(name == ".text"
                || name.starts_with(".text.unlikely")
                || name.contains("report4stop")
                || name.contains("rust_begin_unwind"))
        };
        self.sections[&section].callees.iter().copied().filter(move |callee| {
            self.sections.get(callee).is_some_and(|section| returns(&section.name))
        })
    }

    /// Bytes of stack that a section and what it calls take, less the return address of its caller.
    fn stack_bytes(&self, section: usize) -> u64 {
        let own: u64 = self.sections[&section].instructions.iter().map(stack_growth).sum();
        let deepest = self.callees(section).map(|callee| 8 + self.stack_bytes(callee)).max();
        own + deepest.unwrap_or(0)
    }
}

fn read_section(object: &File<'_>, section: &object::Section<'_, '_>) -> Section {
    let code = section.data().expect("readable");
    let instructions: Vec<Instruction> =
        Decoder::with_ip(64, code, 0, DecoderOptions::NONE).into_iter().collect();
    let enters = |at: u64| {
        let index = instructions.partition_point(|instruction| instruction.next_ip() <= at);
        instructions[index].flow_control() != FlowControl::Next
    };
    let mut callees = BTreeSet::new();
    let mut foreign = Vec::new();
    for (_, relocation) in section.relocations().filter(|&(at, _)| enters(at)) {
        let target = match relocation.target() {
            RelocationTarget::Symbol(index) => object.symbol_by_index(index).expect("a symbol"),
            RelocationTarget::Section(index) => {
                callees.insert(index.0);
                continue;
            }
            other => panic!("a relocation without a target: {other:?}"),
        };
        match target.section_index() {
            Some(index) => {
                callees.insert(index.0);
            }
            None => foreign.push(target.name().expect("a name").to_owned()),
        }
    }
    callees.remove(&section.index().0);
    Section {
        name: section.name().expect("a name").to_owned(),
        instructions,
        callees: callees.into_iter().collect(),
        foreign,
    }
}

fn stack_growth(instruction: &Instruction) -> u64 {
    match instruction.mnemonic() {
        Mnemonic::Push => 8,
        Mnemonic::Sub if instruction.op0_register() == Register::RSP => {
            assert!(instruction.op1_kind() != OpKind::Register, "a frame of unknown size");
            instruction.immediate(1)
        }
        _ => 0,
    }
}

#[test]
fn no_instruction_of_the_runtime_touches_what_the_resolver_does_not_save() {
    let runtime = Runtime::read();
    let mut count = 0;
    for section in runtime.sections.values() {
        for instruction in &section.instructions {
            assert!(!instruction.is_invalid(), "{}: {:#x}", section.name, instruction.ip());
            assert_eq!(instruction.encoding(), EncodingKind::Legacy, "{}", section.name);
            let outside = [CpuidFeature::FPU, CpuidFeature::FPU287, CpuidFeature::MMX];
            assert!(
                !instruction.cpuid_features().iter().any(|feature| outside.contains(feature)),
                "{}: {:?}",
                section.name,
                instruction.code()
            );
            count += 1;
        }
    }
    assert!(count > 2000, "{count} instructions are not the whole runtime");
}

#[test]
fn the_resolver_calls_nothing_outside_of_the_runtime() {
    let runtime = Runtime::read();
    let mut queue = vec![runtime.of("szc_rt_resolve_call")];
    let mut reached = BTreeSet::from([queue[0]]);
    while let Some(index) = queue.pop() {
        let section = &runtime.sections[&index];
        assert!(section.foreign.is_empty(), "{} calls {:?}", section.name, section.foreign);
        queue.extend(runtime.callees(index).filter(|callee| reached.insert(*callee)));
    }
    assert!(reached.len() > 2, "the resolver copies functions by functions of its own");
}

#[test]
fn the_resolver_needs_no_more_stack_than_is_touched_before_signals_are_blocked() {
    let runtime = Runtime::read();
    let entry = &runtime.sections[&runtime.of("szc_rt_resolve")];
    let touch = entry
        .instructions
        .windows(2)
        .find(|pair| pair[1].mnemonic() == Mnemonic::Mov && pair[1].op0_register() == Register::AL)
        .expect("the stack is touched");
    assert_eq!((touch[0].mnemonic(), touch[1].memory_base()), (Mnemonic::Lea, Register::RSP));
    let touched = touch[0].memory_displacement64().wrapping_neg();
    let needed = 8 + runtime.stack_bytes(runtime.of("szc_rt_resolve_call"));
    assert!((100..=touched).contains(&needed), "{needed} bytes, {touched} are touched");
}
