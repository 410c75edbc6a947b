//! Everything that the code of an image refers to: the functions, decoded, and their references.

use crate::by_address::ByAddress;
use crate::decode::{Decoded, Operand, OperandKind, decode_function};
use crate::read::{Image, Section, Symbol, without_version};
use crate::relocation::{Class, TLS_SEQUENCE_BYTES, classify, is_through_got, starts_tls_sequence};
use szc_abi::Reason;

/// A function of the image.
#[derive(Debug)]
pub struct Function<'data> {
    /// The names of the function; the table has the first one.
    pub names: Vec<&'data [u8]>,
    /// The file that all of its names are local to.
    pub file: Option<&'data [u8]>,
    /// First address.
    pub start: u64,
    /// First address behind it.
    pub end: u64,
    /// Name of its section.
    pub section: &'data str,
    /// One of its symbols is an ifunc.
    pub ifunc: bool,
    /// Its instructions.
    pub decoded: Decoded,
    /// Why it is pinned, as far as its own symbols, bytes and relocations tell.
    pub pinned: Option<Reason>,
}

impl Function<'_> {
    /// Whether one of its names, without version, is such.
    pub fn has_name(&self, is: impl Fn(&[u8]) -> bool) -> bool {
        self.names.iter().any(|name| is(without_version(name)))
    }

    /// The address of the instruction that has a byte at `place`.
    #[must_use]
    pub fn instruction_at(&self, place: u64) -> Option<u64> {
        let behind = self.decoded.boundaries.partition_point(|&boundary| boundary <= place);
        self.decoded.boundaries.get(behind.checked_sub(1)?).copied()
    }
}

/// An instruction that refers to an address other than by a branch.
#[derive(Clone, Copy, Debug)]
pub struct CodeReference {
    /// Address referred to.
    pub target: u64,
    /// Index of the function that holds the instruction; none for code outside all functions.
    pub function: Option<usize>,
    /// The operand.
    pub operand: Operand,
}

/// A branch that leaves its function.
#[derive(Clone, Copy, Debug)]
pub struct OutwardBranch {
    /// Address branched to.
    pub target: u64,
    /// Index of the function that holds the branch; none for code outside all functions.
    pub function: Option<usize>,
    /// The branch is a call.
    pub call: bool,
}

/// Functions and references of an image.
#[derive(Debug)]
pub struct Survey<'data> {
    /// Functions by address.
    pub functions: Vec<Function<'data>>,
    by_start: ByAddress,
    /// References by target.
    pub references: Vec<CodeReference>,
    /// Branches out of functions and out of code that belongs to none.
    pub branches: Vec<OutwardBranch>,
    /// Addresses that code refers to in other ways, by the global offset table among them.
    pub stray_targets: Vec<u64>,
    /// Ranges of code that belongs to no function and may set the stack pointer to something new.
    pub gaps_that_set_stack_pointer: Vec<(u64, u64)>,
}

impl<'data> Survey<'data> {
    /// Decodes all code of the image and collects what it refers to.
    #[must_use]
    pub fn new(image: &Image<'data>) -> Self {
        let functions = collect_functions(image);
        let by_start = ByAddress::new(functions.iter().map(|function| function.start).collect());
        let mut survey = Self {
            functions,
            by_start,
            references: Vec::new(),
            branches: Vec::new(),
            stray_targets: Vec::new(),
            gaps_that_set_stack_pointer: Vec::new(),
        };
        for index in 0..survey.functions.len() {
            survey.survey_function(image, index);
        }
        for section in image.sections.iter().filter(|section| section.executable) {
            survey.survey_gaps(image, section);
        }
        survey.references.sort_by_key(|reference| reference.target);
        survey
    }

    /// The function whose bytes contain `address`, with its index.
    #[must_use]
    pub fn function_at(&self, address: u64) -> Option<(usize, &Function<'data>)> {
        let index = self.by_start.up_to(address).checked_sub(1)?;
        let function = &self.functions[index];
        (address < function.end).then_some((index, function))
    }

    /// The function in whose middle `address` lies.
    #[must_use]
    pub fn middle_of(&self, address: u64) -> Option<(usize, &Function<'data>)> {
        self.function_at(address).filter(|(_, function)| function.start != address)
    }

    /// Records that the function in whose middle `address` lies is pinned.
    pub fn pin_middle(&self, address: u64, reason: Reason, pinned: &mut Vec<(usize, Reason)>) {
        if let Some((index, _)) = self.middle_of(address) {
            pinned.push((index, reason));
        }
    }

    /// The references whose target is exactly `address`.
    #[must_use]
    pub fn references_to(&self, address: u64) -> &[CodeReference] {
        let first = self.references.partition_point(|reference| reference.target < address);
        let last = self.references.partition_point(|reference| reference.target <= address);
        &self.references[first..last]
    }

    fn survey_function(&mut self, image: &Image<'data>, index: usize) {
        let (start, end) = (self.functions[index].start, self.functions[index].end);
        let Some(bytes) = image.bytes(start, end - start) else {
            self.functions[index].pinned = Some(Reason::Undecodable);
            return;
        };
        let mut decoded = decode_function(start, bytes);
        self.collect_operands(&decoded.operands, Some(index), (start, end));
        let reason = self.check_relocations(image, &decoded, Some(index), (start, end));
        let first = image.caller_sensitive_calls.partition_point(|&place| place < start);
        let asks = image.caller_sensitive_calls.get(first).is_some_and(|&place| place < end);
        let reason = reason.or(asks.then_some(Reason::CallerMatters));
        let function = &mut self.functions[index];
        function.pinned = function.pinned.or(decoded.pinned.take()).or(reason);
        function.decoded = decoded;
    }

    /// Code that no function symbol covers still refers to functions. It is decoded as if it were
    /// one function; too many references found are harmless, they only pin.
    fn survey_gaps(&mut self, image: &Image<'data>, section: &Section<'data>) {
        let mut gaps = Vec::new();
        let mut position = section.address;
        for function in &self.functions {
            if function.end <= section.address || function.start >= section.end() {
                continue;
            }
            if function.start > position {
                gaps.push((position, function.start));
            }
            position = position.max(function.end);
        }
        if position < section.end() {
            gaps.push((position, section.end()));
        }
        for (start, end) in gaps {
            let Some(bytes) = section.bytes(start, end - start) else { continue };
            let decoded = decode_function(start, bytes);
            self.collect_operands(&decoded.operands, None, (start, end));
            self.check_relocations(image, &decoded, None, (start, end));
            if decoded.stack_pointer.may_switch() {
                self.gaps_that_set_stack_pointer.push((start, end));
            }
        }
    }

    fn collect_operands(
        &mut self,
        operands: &[Operand],
        function: Option<usize>,
        (start, end): (u64, u64),
    ) {
        for &operand in operands {
            match operand.kind {
                OperandKind::Branch { target, call } if !(start..end).contains(&target) => {
                    self.branches.push(OutwardBranch { target, function, call });
                }
                OperandKind::IpRelative { target, .. } => {
                    self.references.push(CodeReference { target, function, operand });
                }
                _ => {}
            }
        }
    }

    /// Holds every relocation against the decoded operands, and learns from the absolute ones what
    /// the constants mean.
    fn check_relocations(
        &mut self,
        image: &Image<'data>,
        decoded: &Decoded,
        function: Option<usize>,
        (start, end): (u64, u64),
    ) -> Option<Reason> {
        let mut mismatch = None;
        let mut tls_sequence_until = 0;
        for relocation in image.relocations_in(start, end) {
            let operand = decoded.operand_at(relocation.place);
            if is_through_got(relocation.r_type) {
                self.stray_targets.push(relocation.symbol);
            }
            match classify(relocation.r_type) {
                Class::Constant => {}
                Class::FromGot => self.stray_targets.push(relocation.target),
                Class::Relaxable => {
                    if starts_tls_sequence(relocation.r_type) {
                        tls_sequence_until = relocation.place.saturating_add(TLS_SEQUENCE_BYTES);
                    }
                }
                Class::PcRelative => {
                    let is_field = operand.is_some_and(|operand| {
                        operand.width == 4 && !matches!(operand.kind, OperandKind::Constant { .. })
                    });
                    if !is_field && relocation.place > tls_sequence_until {
                        mismatch.get_or_insert(Reason::RelocationMismatch);
                        // What the field means, if it ends an instruction, and what it says.
                        self.stray_targets
                            .extend([relocation.target, relocation.target.wrapping_add(4)]);
                    }
                }
                Class::Absolute(width) => match operand {
                    Some(operand)
                        if operand.width == width
                            && matches!(operand.kind, OperandKind::Constant { .. }) =>
                    {
                        let operand = *operand;
                        self.references.push(CodeReference {
                            target: relocation.target,
                            function,
                            operand,
                        });
                    }
                    _ => {
                        mismatch.get_or_insert(Reason::RelocationMismatch);
                        self.stray_targets.push(relocation.target);
                    }
                },
                Class::Unknown => {
                    mismatch.get_or_insert(Reason::RelocationUnknown);
                    self.stray_targets.push(relocation.target);
                }
            }
        }
        mismatch
    }
}

/// One function for each start address; what overlaps is pinned.
fn collect_functions<'data>(image: &Image<'data>) -> Vec<Function<'data>> {
    let mut functions: Vec<Function<'data>> = Vec::new();
    for symbol in &image.functions {
        let Some(section) = image.section_at(symbol.address).filter(|s| s.executable) else {
            continue;
        };
        let end = symbol.address.saturating_add(symbol.size);
        match functions.last_mut() {
            Some(last) if last.start == symbol.address => add_alias(last, symbol, end),
            _ => functions.push(Function {
                names: vec![symbol.name],
                file: symbol.file,
                start: symbol.address,
                end,
                section: section.name,
                ifunc: symbol.ifunc,
                decoded: Decoded::default(),
                pinned: (end > section.end()).then_some(Reason::Overlaps),
            }),
        }
    }
    pin_overlapping(&mut functions);
    functions
}

/// A function can contain several others, one behind the other.
fn pin_overlapping(functions: &mut [Function<'_>]) {
    let mut farthest: Option<usize> = None;
    for index in 0..functions.len() {
        if let Some(outer) = farthest.filter(|&outer| functions[outer].end > functions[index].start)
        {
            functions[outer].pinned = Some(Reason::Overlaps);
            functions[index].pinned = Some(Reason::Overlaps);
        }
        if farthest.is_none_or(|outer| functions[outer].end < functions[index].end) {
            farthest = Some(index);
        }
    }
}

fn add_alias<'data>(function: &mut Function<'data>, symbol: &Symbol<'data>, end: u64) {
    if end != function.end {
        function.end = function.end.max(end);
        function.pinned = Some(Reason::Overlaps);
    }
    function.ifunc |= symbol.ifunc;
    function.file = function.file.filter(|_| symbol.file.is_some());
    function.names.push(symbol.name);
}
