//! What debuggers are told: an object in memory for each layout, in the list of gdb's JIT
//! interface.
//!
//! A debugger stops the whole program to read an object, so this is for programs that are debugged,
//! never for those that are measured.

use super::object::{self, Function, Outline};
use crate::arch;
use crate::code::arena::Arena;
use crate::code::image::Image;
use crate::code::region::Region;
use crate::exports::debugger;
use crate::os;
use core::sync::atomic::{Ordering, compiler_fence};
use szc_abi::unwind::Frames;

/// `struct jit_code_entry` ("Using gdb", 30.1).
#[repr(C)]
struct Entry {
    next: *mut Entry,
    previous: *mut Entry,
    object: *const u8,
    bytes: u64,
    /// Address of the layout; this and what follows is the runtime's.
    layout: usize,
    mapped_bytes: usize,
}

/// `struct jit_descriptor`.
#[repr(C)]
struct Descriptor {
    version: u32,
    action: u32,
    relevant: *mut Entry,
    first: *mut Entry,
}

const REGISTER: u32 = 1;
const UNREGISTER: u32 = 2;

/// The object of an image, without addresses.
pub struct Template {
    bytes: *const u8,
    outline: Outline,
}

impl Template {
    /// Describes the functions that may move; `frames`: unwind information of the image's file.
    pub fn of(image: &Image, frames: Option<&Frames<'_>>) -> Option<Self> {
        let link_base = image.table().header().link_base();
        let function = |index| {
            let function = image.function(index);
            Function {
                name: image.table().name(function.name_at),
                start: link_base + u64::from(function.start),
                bytes: u64::from(function.size),
            }
        };
        let count = image.count();
        let outline = object::template(None, &Outline::default(), count, function, frames);
        let memory = os::map_anonymous(outline.bytes).ok()?;
        // SAFETY: mapped a moment ago, with room for the object.
        let out = unsafe { core::slice::from_raw_parts_mut(memory, outline.bytes) };
        object::template(Some(out), &outline, count, function, frames);
        Some(Self { bytes: memory, outline })
    }

    /// Gives its memory back. Objects that were made from it stay.
    pub fn free(self) {
        // SAFETY: mapped by `of`; it was the only one to know.
        unsafe { os::unmap(self.bytes.cast_mut(), self.outline.bytes) };
    }
}

/// Tells of a layout. Callers hold the lock of [`super`].
pub fn announce(template: &Template, arena: &Arena, region: &Region) {
    let Some(descriptor) = descriptor() else { return };
    let room = size_of::<Entry>();
    let mapped_bytes = room + template.outline.bytes;
    let Ok(memory) = os::map_anonymous(mapped_bytes) else { return };
    let layout = arena.address(region.place(), 0);
    // SAFETY: mapped a moment ago, a page at least aligned, with room for the entry and the object.
    let entry = unsafe {
        let object = memory.add(room);
        arch::copy_bytes(object, template.bytes, template.outline.bytes);
        let bytes = core::slice::from_raw_parts_mut(object, template.outline.bytes);
        object::fill_in(
            bytes,
            &template.outline,
            layout as u64,
            u64::from(region.bytes()),
            |function| region.body(arena, function) as u64,
        );
        let entry: *mut Entry = memory.cast();
        entry.write(Entry {
            next: (*descriptor).first,
            previous: os::null(),
            object,
            bytes: template.outline.bytes as u64,
            layout,
            mapped_bytes,
        });
        if !(*entry).next.is_null() {
            (*(*entry).next).previous = entry;
        }
        (*descriptor).first = entry;
        entry
    };
    tell(descriptor, REGISTER, entry);
}

/// Takes back what was told of the layout at this address, before anything else is written there.
/// Callers hold the lock of [`super`].
pub fn withdraw(layout: usize) {
    let Some(descriptor) = descriptor() else { return };
    // SAFETY: the list holds entries that `announce` made.
    unsafe {
        let mut entry = (*descriptor).first;
        while !entry.is_null() && (*entry).layout != layout {
            entry = (*entry).next;
        }
        if entry.is_null() {
            return;
        }
        let (next, previous) = ((*entry).next, (*entry).previous);
        if previous.is_null() {
            (*descriptor).first = next;
        } else {
            (*previous).next = next;
        }
        if !next.is_null() {
            (*next).previous = previous;
        }
        tell(descriptor, UNREGISTER, entry);
        os::unmap(entry.cast(), (*entry).mapped_bytes);
    }
}

fn descriptor() -> Option<*mut Descriptor> {
    debugger::debugger_descriptor().map(|address| address as *mut Descriptor)
}

fn tell(descriptor: *mut Descriptor, action: u32, entry: *mut Entry) {
    // SAFETY: the runtime's own descriptor; the lock makes this the only writer.
    unsafe {
        (&raw mut (*descriptor).relevant).write_volatile(entry);
        (&raw mut (*descriptor).action).write_volatile(action);
        // The reader is a debugger, which has stopped this very thread.
        compiler_fence(Ordering::SeqCst);
        debugger::tell_debugger();
        (&raw mut (*descriptor).action).write_volatile(0);
    }
}
