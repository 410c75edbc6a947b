//! How code randomization of an image begins, with its first layout.

use crate::alias::Form;
use crate::arena::{Arena, Private, Unavailable};
use crate::budget::{Budget, Reclaim};
use crate::callers::Callers;
use crate::code::Code;
use crate::copy::{complete_for_debugger, resolve_copies};
use crate::counts::Counts;
use crate::description::describe;
use crate::draw::draw;
use crate::epoch_layout::EpochLayouts;
use crate::image::{Image, Parts};
use crate::image_file::FileRoom;
use crate::loaded_image::LoadedImage;
use crate::original_text::OriginalText;
use crate::refused::Refused;
use crate::self_test;
use crate::side_memory::SideMemory;
use crate::space::CodeSpace;
use crate::table::MappedTable;
use crate::unpadded_clones;
use crate::wanted::Wanted;
use core::ffi::CStr;
use szc_abi::PLACEMENT_GRAIN_BYTES;
use szc_layout::arch::patch;
use szc_layout::epoch::Epochs;
use szc_layout::placement::{Room, Turn, in_steps};
use szc_layout::rng::Seeds;
use szc_layout::slot::CopyShape;
use szc_sys::arch;
use szc_sys::os::{self, Array, PAGE_BYTES, Shared};

/// An image whose code is to be randomized.
pub struct Request<'a> {
    /// The image in memory.
    pub loaded: LoadedImage,
    /// The file that it was loaded from.
    pub file: &'a CStr,
    /// Its table.
    pub table: MappedTable,
    /// Seeds of its layouts.
    pub seeds: Seeds,
    /// What copies are to be like.
    pub shape: CopyShape,
    /// What is exported of its layouts.
    pub audience: Audience,
    /// What unwinders get at each place.
    pub side_memory: SideMemory,
    /// What stubs enter, and their pattern.
    pub resolver: usize,
    /// The pattern of stubs.
    pub stub_pattern: usize,
}

/// What is exported of layouts, and what that takes.
#[derive(Clone, Copy, Debug)]
pub struct Audience {
    /// How memory has to be mapped for them.
    pub form: Form,
    /// Bytes that a file says of layouts.
    pub file_room: FileRoom,
    /// Whether any are exported: where a function was said to lie, no other may come.
    pub is_exported: bool,
}

/// Places are multiples of one part in so many of their size, so that those of programs that differ
/// by little begin at the same addresses. What is not used of a place is never touched.
const PLACE_STEPS: u32 = 8;

/// Where the parts of layouts go.
struct Sizes {
    room: Room,
    place_bytes: usize,
}

fn sizes(request: &Request<'_>) -> Result<Sizes, Refused> {
    let (table, shape) = (request.table.table(), request.shape);
    let functions = || (0..table.movable_count()).filter_map(|index| table.movable(index));
    let (room, clone_bytes) =
        Room::of(functions().map(|function| Turn::of(0, &function, shape)), shape)
            .zip(unpadded_clones::bytes(functions(), shape.frames))
            .ok_or(Refused::Arena(Unavailable::Budget))?;
    let place_bytes = (room.bytes().next_multiple_of(PLACEMENT_GRAIN_BYTES) as usize)
        + clone_bytes as usize
        + table.movable_count() * patch::STUB_BYTES;
    let pages = u32::try_from(place_bytes.div_ceil(PAGE_BYTES))
        .map_err(|_| Refused::Arena(Unavailable::Budget))?;
    Ok(Sizes { room, place_bytes: in_steps(pages, PLACE_STEPS) as usize * PAGE_BYTES })
}

/// Draws the first layout of an image; nothing of it changes yet. `budget` says how much memory
/// copies may take, and then whether to try again with another budget where there was none.
///
/// # Errors
/// Why the functions of the image are pinned, all of them. Everything is given back.
///
/// # Safety
/// Only one thread may exist or know of the image.
pub unsafe fn prepare(
    request: Request<'_>,
    mut budget: impl FnMut(Option<Unavailable>) -> Option<Budget>,
) -> Result<Code, Refused> {
    if request.table.table().movable_count() == 0 {
        return Err(Refused::NothingMovable);
    }
    if !arch::is_simulated() && arch::has_shadow_stack() {
        return Err(Refused::ShadowStack);
    }
    os::register_core_synchronization().map_err(|_| Refused::Membarrier)?;
    let sizes = sizes(&request)?;
    let mut granted = budget(None).ok_or(Refused::Arena(Unavailable::Budget))?;
    let (arena, pointers) = loop {
        match arena(&request, sizes.place_bytes, granted) {
            Ok(made) => break made,
            Err(reason) => granted = budget(Some(reason)).ok_or(Refused::Arena(reason))?,
        }
    };
    // SAFETY: nobody knows the arena yet.
    if let Some(reason) = unsafe { self_test::obstacle(&arena) } {
        return Err(reason);
    }
    let (seeds, is_exported) = (request.seeds, request.audience.is_exported);
    let (loaded, stub_pattern) = (request.loaded, request.stub_pattern);
    let parts = Parts {
        loaded,
        original_text: OriginalText::of(loaded, request.file),
        table: request.table,
        shape: request.shape,
        room: sizes.room,
        side_memory: request.side_memory,
        resolver: request.resolver,
        has_breakpoints: arena.is_breakable(),
    };
    // SAFETY: the arena has that room in front, and stays as long as the image: both go together.
    let image = unsafe { Image::new(parts, pointers) }.map_err(|_| Refused::Memory)?;
    let layouts = EpochLayouts::of(arena.places()).map_err(|_| Refused::Memory)?;
    let preferred = granted.preferred_places(&arena);
    // SAFETY: a use of a place is a byte, and 0 is one that nobody has used.
    let uses = unsafe { Array::zeroed(arena.places() as usize) }.map_err(|_| Refused::Memory)?;
    let callers = Callers::new().map_err(|_| Refused::Memory)?;
    let wanted = Wanted::of(image.count());
    let description = describe(&image, &arena, &layouts);
    let space = CodeSpace { image, arena, layouts, stub_pattern, wanted, description };
    let space = Shared::new(space).map_err(|_| Refused::Memory)?;
    // SAFETY: nobody knows the arena yet.
    let first = unsafe { draw(&space, (0, false), (seeds, 0)) }.ok_or(Refused::Memory)?;
    let live_bytes = complete_for_debugger(first);
    resolve_copies(first, 0);
    let relocations = u64::from(first.drawn.copied_count());
    let code = Code {
        space,
        epochs: Epochs::first(uses, preferred),
        seeds,
        callers,
        reclaims: granted.reclaim != Reclaim::Off && !is_exported,
        stopped: false,
        counts: Counts { relocations, live_bytes, ..Counts::default() },
    };
    code.install(0);
    code.space.arena.note_published(0);
    // The stubs and entries of the first epoch were written through the other alias of the memory.
    os::synchronize_cores();
    Ok(code)
}

/// Memory for the copies of an image, and in front of it, within reach of the image, for its
/// pointers and for what unwinders get.
fn arena(
    request: &Request<'_>,
    place_bytes: usize,
    budget: Budget,
) -> Result<(Arena, *mut u8), Unavailable> {
    // Where address space is limited, most of it is left to the program.
    let limit_bytes = os::limit(os::LIMIT_ADDRESS_BYTES) / 16;
    let Audience { form, file_room, .. } = request.audience;
    let budget_bytes = budget.bytes_for(place_bytes + file_room.place_bytes).min(limit_bytes);
    let private = Private {
        bytes: Image::pointer_bytes(request.table.table()),
        side_bytes: request.side_memory.bytes(),
    };
    Arena::new(&request.loaded.range(), place_bytes, budget_bytes, private, form, file_room)
}
