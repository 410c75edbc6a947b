//! What debuggers get: an object in memory for each layout, in the list of gdb's JIT
//! interface.
//!
//! A debugger stops the whole program to read an object, so this is for programs that are debugged,
//! never for those that are measured.

use super::described::{Described, PlacesFrom};
use super::elf::object;
use crate::exports::debugger;
use core::sync::atomic::{Ordering, compiler_fence};
use szc_code::layout_ref::LayoutRef;
use szc_sys::os::{self, Mapping};

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

/// Registers a layout. Callers hold the lock of [`super`].
pub fn register(described: &Described, layout: LayoutRef<'_>) {
    let Some(descriptor) = descriptor() else { return };
    let (object_at, object_bytes) = (size_of::<Entry>(), object::bytes(&described.needs));
    let Ok(mapping) = Mapping::anonymous(object_at + object_bytes) else { return };
    let (memory, mapped_bytes) = mapping.into_raw();
    let start = layout.start();
    let places = PlacesFrom { layout, from: 0 };
    // SAFETY: mapped a moment ago, a page at least aligned, with room for the entry and the object.
    // The list holds entries that were made here.
    let entry = unsafe {
        let object = memory.add(object_at);
        let bytes = core::slice::from_raw_parts_mut(object, object_bytes);
        let range = (start as u64, u64::from(layout.drawn.bytes()));
        object::write(bytes, &described.source(layout.image), &described.needs, &places, range);
        let entry: *mut Entry = memory.cast();
        entry.write(Entry {
            next: (*descriptor).first,
            previous: os::null(),
            object,
            bytes: object_bytes as u64,
            layout: start,
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

/// Unregisters the layout at this address, before anything else is written there. Callers hold the
/// lock of [`super`].
pub fn unregister(layout: usize) {
    let Some(descriptor) = descriptor() else { return };
    // SAFETY: the list holds entries that `register` made.
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
