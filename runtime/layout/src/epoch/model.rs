//! A model of entries, epochs and reclaiming, run by loom in every order that the memory model
//! allows.
//!
//! The sequence of epochs is the real one ([`Epochs`]). A patchable entry, its pointer and the
//! poison of a place are words with the orderings of the real ones; a stack is a list of places; a
//! thread that waits in the kernel is one that has put its stack where it can be seen.
//!
//! What is checked: a thread that comes to a place, is entered there or returns there, finds it as
//! it was, and not filled with traps.
#![forbid(unsafe_code)]

use crate::epoch::{Epochs, Use};
use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use loom::sync::{Arc, Mutex};
use loom::thread;

const PLACES: usize = 3;

/// States of a patchable entry; others are the place that it is forwarded to.
const RESOLVED: usize = 10;
const UNRESOLVED: usize = 11;

struct World {
    /// What the lock of the copies guards.
    epochs: Mutex<Epochs<&'static mut [Use]>>,
    pointer: AtomicUsize,
    entries: [AtomicUsize; PLACES],
    /// Where the calls of a place's copy lead.
    calls: [AtomicUsize; PLACES],
    poisoned: [AtomicBool; PLACES],
    /// The stack of the thread, while it waits.
    resting: Mutex<Option<Vec<usize>>>,
}

impl World {
    fn new() -> Self {
        let places = vec![Use::Fresh; PLACES].leak();
        let unresolved = || AtomicUsize::new(UNRESOLVED);
        Self {
            epochs: Mutex::new(Epochs::first(places, PLACES as u32)),
            pointer: AtomicUsize::new(0),
            entries: [AtomicUsize::new(RESOLVED), unresolved(), unresolved()],
            calls: core::array::from_fn(AtomicUsize::new),
            poisoned: core::array::from_fn(|_| AtomicBool::new(false)),
            resting: Mutex::new(None),
        }
    }

    /// A thread's next instruction is at this place.
    fn execute(&self, place: usize) {
        assert!(!self.poisoned[place].load(Ordering::Relaxed), "ran into a place that was freed");
    }

    /// A call through the original entry: returns the place whose copy runs.
    fn call(&self) -> usize {
        self.enter(self.pointer.load(Ordering::Acquire), None)
    }

    /// A call by the copy at a place.
    fn call_from(&self, caller: usize) -> usize {
        self.execute(caller);
        self.enter(self.calls[caller].load(Ordering::Acquire), Some(caller))
    }

    fn enter(&self, mut place: usize, caller: Option<usize>) -> usize {
        loop {
            self.execute(place);
            match self.entries[place].load(Ordering::Acquire) {
                RESOLVED => return place,
                UNRESOLVED => place = self.resolve(place, caller),
                newer => place = newer,
            }
        }
    }

    fn resolve(&self, from: usize, caller: Option<usize>) -> usize {
        let epochs = self.epochs.lock().unwrap();
        assert!(epochs.is_in_use(from as u32), "a call came from a place that was freed");
        let current = epochs.place() as usize;
        self.entries[current].store(RESOLVED, Ordering::Release);
        if from != current {
            self.entries[from].store(current, Ordering::Release);
            if let Some(caller) = caller {
                self.calls[caller].store(current, Ordering::Release);
            }
        }
        current
    }

    fn wait_in_the_kernel(&self, stack: &[usize]) {
        *self.resting.lock().unwrap() = Some(stack.to_vec());
        thread::yield_now();
        *self.resting.lock().unwrap() = None;
    }

    /// Begins an epoch, with a copy made ahead or not. `follow`: callers are retargeted to each new
    /// layout.
    fn publish(&self, ahead: bool, follow: bool) {
        let next = self.epochs.lock().unwrap().next();
        let Ok((_, place)) = next else { return };
        let new = place as usize;
        // Nobody knows the place yet: it is drawn and filled without the lock.
        self.poisoned[new].store(false, Ordering::Relaxed);
        self.entries[new].store(if ahead { RESOLVED } else { UNRESOLVED }, Ordering::Release);
        self.calls[new].store(new, Ordering::Relaxed);
        let mut epochs = self.epochs.lock().unwrap();
        let old = epochs.place() as usize;
        // Ways from older layouts to the one that was current.
        for other in (0..PLACES).filter(|&other| other != new && other != old) {
            if epochs.is_in_use(other as u32) {
                self.entries[other].store(UNRESOLVED, Ordering::Release);
            }
        }
        self.pointer.store(new, Ordering::Release);
        epochs.advance(place);
        for other in (0..PLACES).filter(|&other| follow && epochs.is_in_use(other as u32)) {
            if self.calls[other].load(Ordering::Relaxed) != other {
                self.calls[other].store(new, Ordering::Release);
            }
        }
        self.entries[old].store(UNRESOLVED, Ordering::Release);
    }

    /// One cycle, with one stack scan of the thread.
    fn reclaim(&self, scan: bool) {
        self.epochs.lock().unwrap().begin_cycle();
        let seen = {
            let resting = self.resting.lock().unwrap();
            for &place in resting.iter().flatten() {
                self.epochs.lock().unwrap().mark(place as u32);
            }
            resting.is_some()
        };
        if scan && !seen {
            return self.epochs.lock().unwrap().abandon_cycle();
        }
        self.epochs.lock().unwrap().end_cycle();
        loop {
            let unreachable = self.epochs.lock().unwrap().unreachable();
            let Some(place) = unreachable else { return };
            self.poisoned[place as usize].store(true, Ordering::Relaxed);
            self.epochs.lock().unwrap().free(place);
        }
    }
}

/// What the maintenance task does and does not do.
#[derive(Clone, Copy)]
struct Maintenance {
    ahead: bool,
    scans: bool,
    follows: bool,
}

const ALL: Maintenance = Maintenance { ahead: true, scans: true, follows: true };

fn check(maintenance: Maintenance) {
    let Maintenance { ahead, scans, follows } = maintenance;
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(move || {
        let world = Arc::new(World::new());
        let maintenance = {
            let world = world.clone();
            thread::spawn(move || {
                world.publish(ahead, follows);
                world.reclaim(scans);
                world.publish(ahead, follows);
            })
        };
        let outer = world.call();
        world.wait_in_the_kernel(&[outer]);
        let inner = world.call_from(outer);
        world.wait_in_the_kernel(&[outer, inner]);
        world.execute(inner);
        world.execute(outer);
        maintenance.join().unwrap();
    });
}

/// One thread, in whose copy the others change while it runs on.
fn check_a_caller_that_runs_on(follows: bool) {
    loom::model(move || {
        let world = World::new();
        let outer = world.call();
        for _ in 0..PLACES {
            world.publish(false, follows);
            world.execute(world.call_from(outer));
            *world.resting.lock().unwrap() = Some(vec![outer]);
            world.publish(false, follows);
            world.reclaim(true);
            *world.resting.lock().unwrap() = None;
            world.execute(world.call_from(outer));
        }
    });
}

#[test]
fn no_thread_ever_comes_to_a_place_that_was_freed() {
    check(ALL);
    check(Maintenance { ahead: false, ..ALL });
    check_a_caller_that_runs_on(true);
}

#[test]
#[should_panic(expected = "freed")]
fn the_model_finds_what_happens_if_stacks_are_not_scanned() {
    check(Maintenance { scans: false, ..ALL });
}

#[test]
#[should_panic(expected = "freed")]
fn the_model_finds_what_happens_if_callers_are_not_retargeted() {
    check_a_caller_that_runs_on(false);
}
