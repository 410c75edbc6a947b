//! Turns decisions into the records of a table: for each movable function what its copies must
//! patch.

use crate::canonical::name_hashes;
use crate::decision::{CopiedTable, Decision, MovableFunction, PinnedFunction};
use crate::decode::OperandKind;
use crate::frame::PreparedFrames;
use crate::hot_patch;
use crate::inner_calls;
use crate::jump_tables::JumpTable;
use crate::pins::Dependency;
use crate::read::Image;
use crate::stack_switch::Switches;
use crate::survey::{Function, Survey};
use std::collections::BTreeMap;
use szc_abi::{Field, FieldKind, FixedFrame, Reason, TableTarget};

/// Everything that is decided about an image.
pub(crate) struct Emitter<'a, 'data> {
    image: &'a Image<'data>,
    survey: &'a Survey<'data>,
    tables: &'a [JumpTable],
    /// Why each function of the survey is pinned, if it is.
    pins: &'a [Option<Reason>],
    switches: &'a Switches,
    /// Index of each function among the movable ones.
    indices: Vec<Option<u32>>,
    /// The tables that each function uses, by index of both.
    tables_of: BTreeMap<usize, Vec<usize>>,
}

impl<'a, 'data> Emitter<'a, 'data> {
    pub(crate) fn new(
        image: &'a Image<'data>,
        survey: &'a Survey<'data>,
        tables: &'a [JumpTable],
        pins: &'a [Option<Reason>],
        switches: &'a Switches,
    ) -> Self {
        let mut movable = 0..;
        let index = |pin: &Option<Reason>| pin.is_none().then(|| movable.next()).flatten();
        let indices = pins.iter().map(index).collect();
        let mut tables_of: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (index, table) in tables.iter().enumerate() {
            for user in table.users.iter().filter_map(|user| user.function) {
                let list = tables_of.entry(user).or_default();
                if !list.contains(&index) {
                    list.push(index);
                }
            }
        }
        Self { image, survey, tables, pins, switches, indices, tables_of }
    }

    /// Makes the records.
    pub(crate) fn emit(&self, dependencies: &[Dependency], mut frames: PreparedFrames) -> Decision {
        let targets = hot_patch::Targets::of(self.survey, self.tables);
        let name_hashes = name_hashes(self.image, self.survey);
        let units = units(self.survey.functions.len(), dependencies, &self.indices);
        let mut decision = Decision {
            movable: Vec::new(),
            pinned: Vec::new(),
            switches_in_place: self.switches.outside,
        };
        for (index, function) in self.survey.functions.iter().enumerate() {
            let switches_stacks = self.switches.functions.contains(&index);
            if let Some(reason) = self.pins[index] {
                decision.switches_in_place |= switches_stacks;
                decision.pinned.push(PinnedFunction {
                    name: function.names[0].to_vec(),
                    start: function.start.wrapping_sub(self.image.link_base),
                    size: function.end - function.start,
                    reason,
                });
                continue;
            }
            let mut movable = self.movable(index, function, units[index]);
            movable.name_hash = name_hashes[index];
            movable.switches_stacks = switches_stacks;
            movable.leaves_stack = switches_stacks || function.decoded.enters_kernel;
            let alone = Some(movable.unit_next) == self.indices[index];
            movable.frame = frames.remove(&function.start).map(|frame| {
                if movable.labels_escape {
                    Err(FixedFrame::Labels)
                } else if !alone {
                    Err(FixedFrame::Parts)
                } else {
                    frame
                }
            });
            let bytes = self.image.bytes(function.start, function.end - function.start);
            movable.hot_patch_pushes = bytes
                .and_then(|bytes| hot_patch::pushes_in_front(function, bytes, &movable, &targets));
            decision.movable.push(movable);
        }
        inner_calls::mark(&mut decision.movable);
        decision
    }

    fn movable(&self, index: usize, function: &Function<'_>, unit_next: u32) -> MovableFunction {
        let own_tables = self.tables_of.get(&index).map_or(&[][..], Vec::as_slice);
        MovableFunction {
            name: function.names[0].to_vec(),
            start: self.image_offset(function.start),
            size: self.image_offset(function.end) - self.image_offset(function.start),
            labels_escape: own_tables.iter().any(|&table| self.tables[table].readable),
            unit_next,
            fields: self.fields(index, function, own_tables),
            tables: own_tables
                .iter()
                .map(|&table| CopiedTable {
                    absolute: self.tables[table].absolute,
                    targets: self.tables[table]
                        .targets
                        .iter()
                        .map(|&address| self.table_target(address))
                        .collect(),
                })
                .collect(),
            ..MovableFunction::default()
        }
    }

    fn fields(&self, index: usize, function: &Function<'_>, own_tables: &[usize]) -> Vec<Field> {
        let table_at = |place: u64| {
            own_tables.iter().position(|&table| {
                self.tables[table]
                    .users
                    .iter()
                    .any(|user| user.function == Some(index) && user.operand.place == place)
            })
        };
        let range = function.start..function.end;
        let mut fields = Vec::new();
        for operand in &function.decoded.operands {
            let table = table_at(operand.place).and_then(|table| u32::try_from(table).ok());
            let kind = match (operand.kind, table) {
                (OperandKind::IpRelative { .. }, Some(table)) => FieldKind::TableRelative32(table),
                (OperandKind::Constant { .. }, Some(table)) if operand.width == 8 => {
                    FieldKind::TableAbsolute64(table)
                }
                (OperandKind::Constant { .. }, Some(table)) => FieldKind::TableAbsolute32(table),
                (OperandKind::IpRelative { target, .. }, None)
                    if !range.contains(&target) || target == function.start =>
                {
                    FieldKind::Fixed
                }
                // A call of itself goes through the copy's entry, so that recursion follows the
                // function when it moves; a loop to the first instruction stays in its copy.
                (OperandKind::Branch { target, call }, _)
                    if !range.contains(&target) || (call && target == function.start) =>
                {
                    self.branch(target)
                }
                _ => continue,
            };
            let at = self.image_offset(operand.place) - self.image_offset(function.start);
            fields.push(Field { at, kind });
        }
        fields
    }

    fn branch(&self, target: u64) -> FieldKind {
        match self.movable_at(target) {
            Some((function, offset)) => FieldKind::Function { function, offset },
            None => FieldKind::Fixed,
        }
    }

    fn table_target(&self, target: u64) -> TableTarget {
        match self.movable_at(target) {
            Some((function, offset)) => TableTarget::Function { function, offset },
            None => TableTarget::Image(self.image_offset(target)),
        }
    }

    fn movable_at(&self, target: u64) -> Option<(u32, u32)> {
        let (index, function) = self.survey.function_at(target)?;
        let offset = u32::try_from(target - function.start).ok()?;
        Some((self.indices[index]?, offset))
    }

    fn image_offset(&self, address: u64) -> u32 {
        // Functions beyond `MAX_IMAGE_OFFSET` are pinned before anything is emitted.
        u32::try_from(address.wrapping_sub(self.image.link_base)).unwrap_or(u32::MAX >> 2)
    }
}

/// Links the functions that enter one another's middle into rings of movable indices.
fn units(count: usize, dependencies: &[Dependency], indices: &[Option<u32>]) -> Vec<u32> {
    let mut leader: Vec<usize> = (0..count).collect();
    let find = |leader: &mut Vec<usize>, mut index: usize| {
        while leader[index] != index {
            leader[index] = leader[leader[index]];
            index = leader[index];
        }
        index
    };
    for dependency in dependencies {
        if indices[dependency.user].is_some() && indices[dependency.target].is_some() {
            let (a, b) = (find(&mut leader, dependency.user), find(&mut leader, dependency.target));
            leader[a.max(b)] = a.min(b);
        }
    }
    // A leader is the first of its unit. Each member comes behind the one before, and the leader
    // behind the last.
    let following = |index: usize| indices[index].unwrap_or(0);
    let mut last: Vec<usize> = (0..count).collect();
    let mut next = vec![0; count];
    for index in 0..count {
        let root = find(&mut leader, index);
        if index != root {
            next[last[root]] = following(index);
            last[root] = index;
        }
        next[index] = following(root);
    }
    next
}
