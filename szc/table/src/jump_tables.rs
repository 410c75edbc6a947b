//! Finds the jump tables and label arrays of an image: data words that lead into the middle of
//! functions.
//!
//! A copy of a function gets its own copy of its tables, so that a switch or a computed goto stays
//! in randomized code and no shared word ever changes. That is sound only if every reader of a
//! table is known. A 4-byte entry holds the distance from the *table's* start, which its relocation
//! does not tell; the start is the address that code takes. Whatever does not fit pins the
//! functions it may lead into.

use crate::decode::{Element, OperandKind};
use crate::read::{Image, Relocation, Symbol};
use crate::relocation::{Class, classify, is_through_got};
use crate::survey::{CodeReference, Survey};
use crate::switch;
use std::collections::HashSet;
use szc_abi::Reason;

/// A table that every user may copy.
#[derive(Clone, Debug)]
pub struct JumpTable {
    /// The instructions that refer to it.
    pub users: Vec<CodeReference>,
    /// Addresses its entries lead to, in order.
    pub targets: Vec<u64>,
    /// Entries are 8-byte addresses; otherwise 4-byte distances from the table's start.
    pub absolute: bool,
    /// The program can read the entries as data.
    pub readable: bool,
    /// Addresses of the jumps through it.
    pub jumps: Vec<u64>,
}

/// The tables found, and what is pinned because of the words that are not tables.
#[derive(Debug, Default)]
pub struct JumpTables {
    /// Tables that may be copied.
    pub tables: Vec<JumpTable>,
    /// Functions to pin, by index.
    pub pinned: Vec<(usize, Reason)>,
    /// Functions, by index, that may jump by words that are no such table.
    pub unproven: HashSet<usize>,
}

/// A data word that holds or measures an address of code.
#[derive(Clone, Copy, Debug)]
struct DataWord {
    place: u64,
    absolute: bool,
    /// Absolute: the address. Relative: the address if the word's own place were the table's start.
    target: u64,
}

impl DataWord {
    fn bytes(self) -> u64 {
        if self.absolute { 8 } else { 4 }
    }

    /// Where the word leads if its table starts at `base`.
    fn target_from(self, base: u64) -> u64 {
        if self.absolute { self.target } else { self.target.wrapping_sub(self.place - base) }
    }
}

/// Searches the data of an image.
#[must_use]
pub fn find(image: &Image<'_>, survey: &Survey<'_>) -> JumpTables {
    let mut found = JumpTables::default();
    let mut words = Vec::new();
    let mut data_pointers = Vec::new();
    for relocation in &image.relocations {
        let Some(section) = image.section_at(relocation.place) else { continue };
        if section.executable || section.name.starts_with(".eh_frame") {
            continue;
        }
        if is_through_got(relocation.r_type) {
            survey.pin_middle(relocation.symbol, Reason::InteriorInData, &mut found.pinned);
        }
        let leads_to_code = |address| image.section_at(address).is_some_and(|s| s.executable);
        match classify(relocation.r_type) {
            Class::Absolute(8) if leads_to_code(relocation.target) => {
                words.push(word(relocation, true));
            }
            Class::Absolute(8) => data_pointers.push(relocation.target),
            Class::PcRelative
                if leads_to_code(relocation.symbol) || leads_to_code(relocation.target) =>
            {
                words.push(word(relocation, false));
            }
            Class::Absolute(_) | Class::Unknown | Class::FromGot => {
                survey.pin_middle(relocation.target, Reason::InteriorInData, &mut found.pinned);
            }
            Class::PcRelative | Class::Relaxable | Class::Constant => {}
        }
    }
    data_pointers.sort_unstable();
    let context = Context { image, survey, data_pointers };
    for run in words.chunk_by(|a, b| {
        a.absolute == b.absolute && a.place.checked_add(a.bytes()) == Some(b.place)
    }) {
        context.take_run(run, &mut found);
    }
    context.refuse_unexplained(&words, &mut found);
    found
}

fn word(relocation: &Relocation, absolute: bool) -> DataWord {
    DataWord { place: relocation.place, absolute, target: relocation.target }
}

/// What a function that uses an array of addresses jumps to, if it does nothing else with it.
fn jumped_to(user: &CodeReference) -> Option<Element> {
    match user.operand.kind {
        OperandKind::Constant { element } => element.filter(|&element| element != Element::Read),
        _ => None,
    }
}

struct Context<'a, 'data> {
    image: &'a Image<'data>,
    survey: &'a Survey<'data>,
    /// Addresses of data that other data points to, ascending.
    data_pointers: Vec<u64>,
}

impl Context<'_, '_> {
    /// Splits adjacent words where code takes an address, and judges each part.
    fn take_run(&self, run: &[DataWord], found: &mut JumpTables) {
        let is_start = |word: &DataWord| !self.survey.references_to(word.place).is_empty();
        let mut rest = run;
        while !rest.is_empty() {
            let length = 1 + rest[1..].iter().take_while(|word| !is_start(word)).count();
            let (part, behind) = rest.split_at(length);
            rest = behind;
            if !self.leads_to_a_middle(part) {
                found.unproven.extend(self.may_jump_by(part));
                continue;
            }
            match self.accept(part) {
                Some(table) => found.tables.push(table),
                None => {
                    self.pin_whatever_it_may_mean(run, part, found);
                    found.unproven.extend(self.may_jump_by(part));
                }
            }
        }
    }

    fn leads_to_a_middle(&self, part: &[DataWord]) -> bool {
        let base = part[0].place;
        let known = part[0].absolute || !self.survey.references_to(base).is_empty();
        !known || part.iter().any(|word| self.survey.middle_of(word.target_from(base)).is_some())
    }

    /// The functions that may use the words as a jump table. Distances are nothing else; addresses
    /// may be of functions.
    fn may_jump_by(&self, part: &[DataWord]) -> impl Iterator<Item = usize> {
        let absolute = part[0].absolute;
        let users = self.survey.references_to(part[0].place).iter();
        users
            .filter(move |user| !absolute || jumped_to(user).is_some())
            .filter_map(|user| user.function)
    }

    /// Finds jumps by distances that no relocation tells of, because a tool or the linker has
    /// dropped it.
    fn refuse_unexplained(&self, words: &[DataWord], found: &mut JumpTables) {
        for user in &self.survey.references {
            let OperandKind::IpRelative { takes_address: true, .. } = user.operand.kind else {
                continue;
            };
            let Some(index) = user.function else { continue };
            if words.binary_search_by_key(&user.target, |word| word.place).is_err()
                && self.leads_back(index, user.target)
                && !self.jumps_through(index, user).is_empty()
            {
                found.pinned.push((index, Reason::TableUnexplained));
                found.unproven.insert(index);
            }
        }
    }

    /// Whether the data at an address begins with the distance of an instruction of a function.
    fn leads_back(&self, index: usize, table: u64) -> bool {
        let function = &self.survey.functions[index];
        let section = self.image.section_at(table).filter(|section| !section.executable);
        let word = section.and_then(|section| section.bytes(table, 4)?.first_chunk());
        word.is_some_and(|word| {
            let target = table.wrapping_add_signed(i32::from_le_bytes(*word).into());
            function.decoded.is_boundary(target) || target == function.end
        })
    }

    fn accept(&self, part: &[DataWord]) -> Option<JumpTable> {
        let base = part[0].place;
        let absolute = part[0].absolute;
        let users = self.survey.references_to(base);
        if users.is_empty() {
            return None;
        }
        let targets: Vec<u64> = part.iter().map(|word| word.target_from(base)).collect();
        let mut owners = Vec::new();
        for &target in &targets {
            if self.is_end_of_a_user(target, users) {
                continue;
            }
            let (index, function) = self.survey.function_at(target)?;
            if !function.decoded.is_boundary(target) {
                return None;
            }
            owners.push(index);
        }
        let end = part.last()?.place.checked_add(part.last()?.bytes())?;
        // The words between two addresses that code takes may be the end of one table and, behind
        // it, another, whose first cases the compiler folded into the address. If all belong to one
        // function nothing is lost: its copies keep the parts one behind the other.
        let all_own = owners.iter().all(|&owner| users.iter().any(|u| u.function == Some(owner)));
        if absolute && !all_own {
            return None;
        }
        let mut readable = false;
        let mut jumps = Vec::new();
        for user in users {
            // A reader that no entry leads back to may be using the words for something else.
            let function = user.function.filter(|function| owners.contains(function))?;
            match user.operand.kind {
                OperandKind::IpRelative { takes_address: true, .. } if !absolute => {
                    let found = self.jumps_through(function, user);
                    if found.is_empty() {
                        return None;
                    }
                    jumps.extend(found);
                }
                OperandKind::Constant { element: Some(Element::JumpedTo) } if absolute => {
                    jumps.extend(self.jump_of(function, user));
                }
                // The register may hold the address of a label for longer than the jump takes; that
                // of a case of a switch is used for nothing else, and the table of a switch has no
                // name.
                OperandKind::Constant { element: Some(Element::LoadedAndJumpedTo) }
                    if absolute && !self.is_an_object(base) =>
                {
                    jumps.extend(self.jump_of(function, user));
                }
                _ if absolute && self.is_whole_object(base, end) => readable = true,
                _ => return None,
            }
        }
        let frozen = !self.image.is_mutable(base) && !self.image.is_mutable(end - 1);
        let private = !self.is_pointed_to(base, end);
        let users = users.to_vec();
        (frozen && private).then_some(JumpTable { users, targets, absolute, readable, jumps })
    }

    /// The jump by an address that is one of an array's elements.
    fn jump_of(&self, function: usize, user: &CodeReference) -> Option<u64> {
        let function = &self.survey.functions[function];
        let this = function.instruction_at(user.operand.place)?;
        match jumped_to(user)? {
            Element::JumpedTo => Some(this),
            _ => {
                let next =
                    function.decoded.boundaries.partition_point(|&boundary| boundary <= this);
                function.decoded.boundaries.get(next).copied()
            }
        }
    }

    /// The jumps through a table. (The address of an object that ends where a table begins is the
    /// table's address, too.)
    fn jumps_through(&self, function: usize, user: &CodeReference) -> Vec<u64> {
        let function = &self.survey.functions[function];
        let bytes = self.image.bytes(function.start, function.end - function.start);
        bytes.map_or_else(Vec::new, |bytes| {
            switch::jumps_through(function.start, bytes, &function.decoded, user.operand.place)
        })
    }

    /// LLVM gives cases that cannot happen the label behind the last instruction.
    fn is_end_of_a_user(&self, target: u64, users: &[CodeReference]) -> bool {
        users
            .iter()
            .filter_map(|user| user.function)
            .any(|index| self.survey.functions[index].end == target)
    }

    /// A symbol of the compiler says that exactly these bytes are one object.
    fn is_whole_object(&self, base: u64, end: u64) -> bool {
        self.objects_at(base).any(|object| object.size == end - base)
    }

    fn is_an_object(&self, base: u64) -> bool {
        self.objects_at(base).next().is_some()
    }

    fn objects_at(&self, base: u64) -> impl Iterator<Item = &Symbol<'_>> {
        let objects = &self.image.objects;
        let first = objects.partition_point(|object| object.address < base);
        objects[first..].iter().take_while(move |object| object.address == base)
    }

    fn is_pointed_to(&self, base: u64, end: u64) -> bool {
        let first = self.data_pointers.partition_point(|&target| target < base);
        self.data_pointers.get(first).is_some_and(|&target| target < end)
            || self.image.exported.iter().any(|&address| (base..end).contains(&address))
    }

    /// Without the table's start an entry may lead to any of several places: pin them all.
    fn pin_whatever_it_may_mean(
        &self,
        run: &[DataWord],
        part: &[DataWord],
        found: &mut JumpTables,
    ) {
        for word in part {
            for start in run.iter().take_while(|start| start.place <= word.place) {
                let target = word.target_from(start.place);
                self.survey.pin_middle(target, Reason::InteriorInData, &mut found.pinned);
                if word.absolute {
                    break;
                }
            }
        }
    }
}
