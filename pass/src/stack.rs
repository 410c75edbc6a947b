//! Puts pads into functions. A pad is a number of bytes, read from a table, by which the function
//! moves the stack pointer below its own frame before its first call; it is given back with the
//! frame.
//!
//! ```text
//! head:   if rsp - state.low < state.span         unsigned
//! pad:        rsp -= 16 * table[index]; index += 1
//! tail:   …
//! ```
//!
//! To LLVM the pad is an array of variable length, so that everything it knows about those holds:
//! frame and unwind tables, exceptions, tail calls, `setjmp`.
//!
//! The state of the thread lies at a fixed distance from the thread pointer in programs. Code that
//! may become part of a shared library reads the distance from a variable of its image; the models
//! of thread-local storage for libraries would call a function at each entry, or need a piece of
//! the memory that the loader keeps for such variables of libraries.

use crate::llvm::{Block, Builder, Function, GlobalShape, Integer, Module, RoomShape, Value};
use crate::mode::Mode;
use crate::plan::Site;
use szc_abi::stack::{
    PAD_GRAIN_BYTES, PAD_STATE_OFFSET_SYMBOL, PAD_STATE_SYMBOL, PAD_TABLE_BYTES, PAD_TABLE_SYMBOL,
    PAD_TABLES_SECTION, PadState, RESIZABLE_BYTES, ROOM_MARK,
};

/// Alignment of tables, in bytes: that of cache lines.
const TABLE_ALIGNMENT: u32 = 64;

/// What makes code generation guard a frame with a large object, but not every frame.
const PROTECTOR_ATTRIBUTES: [&str; 2] = ["ssp", "sspstrong"];

/// What is added to a frame must not make the protector want to guard it.
fn keep_unguarded(function: Function) {
    if !function.needs_stack_protector() {
        for attribute in PROTECTOR_ATTRIBUTES {
            function.remove(attribute);
        }
    }
}

/// Makes a frame resizable: takes room that nothing uses, wherever a pad would be due, so that the
/// constants which move the stack pointer take 4 bytes. Where variables are `addressed` it gets a
/// frame pointer: copies take their pads at the end that is away from it, so such a variable lies
/// at one distance from the caller's frame in all of them.
pub(crate) fn make_resizable(function: Function, addressed: bool, sites: &[Site]) {
    keep_unguarded(function);
    if addressed && !function.keeps_frame_pointer() {
        function.keep_frame_pointer();
    }
    let build = Builder::new(function);
    let shape = if function.keeps_frame_pointer() { RoomShape::Lowest } else { RoomShape::Highest };
    let room = build.frame_room(function, RESIZABLE_BYTES, shape);
    for &site in sites {
        let at = match site {
            Site::Entry(first) | Site::Later(first, _) => first,
            Site::Edge(from, to) => Block::between(from, to).terminator(),
        };
        build.hold(&room, ROOM_MARK, at);
    }
}

/// Pads one module's functions.
pub(crate) struct Pads {
    module: Module,
    mode: Mode,
    /// The module's code can become part of a shared library.
    library: bool,
}

impl Pads {
    pub(crate) fn new(module: Module, mode: Mode) -> Self {
        let is_set = |flag| module.flag(flag).is_some_and(|level| level > 0);
        Self { module, mode, library: is_set("PIC Level") && !is_set("PIE Level") }
    }

    /// Pads `function` at these places.
    pub(crate) fn insert(&self, function: Function, sites: &[Site]) {
        keep_unguarded(function);
        for &site in sites {
            self.insert_at(function, site);
        }
    }

    fn insert_at(&self, function: Function, site: Site) {
        let build = Builder::new(function);
        let first = match site {
            Site::Entry(first) | Site::Later(first, _) => first,
            Site::Edge(from, to) => Block::between(from, to).terminator(),
        };
        let head = first.block();
        let tail = Block::split(first);
        let pad = tail.insert_before(c"szc.pad");
        build.at_end(head);
        let state = if self.library {
            let check = pad.insert_before(c"szc.check");
            let offset = build.load(Integer::Word, self.state_offset());
            build.branch(build.is_not_zero(offset), check, tail);
            build.at_end(check);
            build.thread_pointer_plus(offset)
        } else {
            self.state()
        };
        let field = |at| build.offset(state, build.constant(Integer::Word, at));
        let low = build.load(Integer::Word, field(PadState::LOW_AT));
        let above = build.subtract(build.stack_pointer(), low);
        let span = build.load(Integer::Word, field(PadState::SPAN_AT));
        build.branch(build.below(above, span), pad, tail);

        build.at_end(pad);
        let one = build.constant(Integer::Byte, 1);
        let entry = if self.mode == Mode::PerFunction {
            let (table, index) = self.of_function(function);
            let current = build.load_shared_byte(index);
            build.store_shared_byte(build.add(current, one), index);
            build.offset(table, build.widen(current))
        } else {
            let index = field(PadState::INDEX_AT);
            let current = build.load(Integer::Byte, index);
            build.store(build.add(current, one), index);
            build.offset(self.table(), build.widen(current))
        };
        let grains = build.widen(build.load_shared_byte(entry));
        let shift = build.constant(Integer::Word, PAD_GRAIN_BYTES.trailing_zeros().into());
        build.take_stack(build.shift_left(grains, shift), PAD_GRAIN_BYTES);
        build.jump(tail);
    }

    fn state(&self) -> Value {
        let shape = GlobalShape {
            bytes: size_of::<PadState>() as u64,
            alignment: 8,
            section: None,
            thread_local: true,
            owner: None,
        };
        self.module.variable(PAD_STATE_SYMBOL, &shape).address()
    }

    fn state_offset(&self) -> Value {
        let shape =
            GlobalShape { bytes: 8, alignment: 8, section: None, thread_local: false, owner: None };
        self.module.variable(PAD_STATE_OFFSET_SYMBOL, &shape).address()
    }

    fn table(&self) -> Value {
        self.module.variable(PAD_TABLE_SYMBOL, &Self::table_shape(None)).address()
    }

    /// Table and index of a function that has its own.
    fn of_function(&self, function: Function) -> (Value, Value) {
        let index = GlobalShape {
            bytes: 1,
            alignment: 1,
            section: None,
            thread_local: false,
            owner: Some(function),
        };
        let name = function.name();
        let table = self
            .module
            .variable(&format!("{PAD_TABLE_SYMBOL}.{name}"), &Self::table_shape(Some(function)));
        let index = self.module.variable(&format!("szc_pad_index.{name}"), &index);
        (table.address(), index.address())
    }

    fn table_shape(owner: Option<Function>) -> GlobalShape {
        GlobalShape {
            bytes: PAD_TABLE_BYTES as u64,
            alignment: TABLE_ALIGNMENT,
            section: Some(PAD_TABLES_SECTION),
            thread_local: false,
            owner,
        }
    }
}
