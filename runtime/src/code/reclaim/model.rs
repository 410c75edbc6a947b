//! A model of entries, epochs and reclaiming, run by loom in every order that the memory model allows.
//!
//! The sequence of epochs is the real one ([`Epochs`]). A head, an entry's pointer and the poison of a place are
//! words with the orderings of the real ones; a stack is a list of places; a thread that waits in the
//! kernel is one that has put its stack where it can be seen.
//!
//! What is checked: a thread that comes to a place, is entered there or returns there, finds it as it
//! was, and not filled with traps.
#![forbid(unsafe_code)]

use crate::epoch::{Epochs, Use};
use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use loom::sync::{Arc, Mutex};
use loom::thread;

const PLACES: usize = 3;

/// Forms of a head; others are the place that it sends on to.
const OPEN: usize = 10;
const CLOSED: usize = 11;

struct World {
    /// What the lock of the copies guards.
    epochs: Mutex<Epochs<'static>>,
    pointer: AtomicUsize,
    heads: [AtomicUsize; PLACES],
    poisoned: [AtomicBool; PLACES],
    /// The stack of the thread, while it waits.
    resting: Mutex<Option<Vec<usize>>>,
}

impl World {
    fn new() -> Self {
        let places = vec![Use::Fresh; PLACES].leak();
        let closed = || AtomicUsize::new(CLOSED);
        Self {
            epochs: Mutex::new(Epochs::first(places, PLACES as u32)),
            pointer: AtomicUsize::new(0),
            heads: [AtomicUsize::new(OPEN), closed(), closed()],
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
        let mut place = self.pointer.load(Ordering::Acquire);
        loop {
            self.execute(place);
            match self.heads[place].load(Ordering::Acquire) {
                OPEN => return place,
                CLOSED => place = self.resolve(place),
                newer => place = newer,
            }
        }
    }

    fn resolve(&self, from: usize) -> usize {
        let epochs = self.epochs.lock().unwrap();
        assert!(epochs.is_in_use(from as u32), "a call came from a place that was freed");
        let current = epochs.place() as usize;
        self.heads[current].store(OPEN, Ordering::Release);
        if from != current {
            self.heads[from].store(current, Ordering::Release);
        }
        current
    }

    fn wait_in_the_kernel(&self, stack: &[usize]) {
        *self.resting.lock().unwrap() = Some(stack.to_vec());
        thread::yield_now();
        *self.resting.lock().unwrap() = None;
    }

    /// Begins an epoch, with a copy made ahead or not.
    fn publish(&self, ahead: bool) {
        let next = self.epochs.lock().unwrap().next();
        let Ok((_, place)) = next else { return };
        let new = place as usize;
        // Nobody knows the place yet: it is drawn and filled without the lock.
        self.poisoned[new].store(false, Ordering::Relaxed);
        self.heads[new].store(if ahead { OPEN } else { CLOSED }, Ordering::Release);
        let mut epochs = self.epochs.lock().unwrap();
        let old = epochs.place() as usize;
        // Ways from older layouts to the one that was current.
        for other in (0..PLACES).filter(|&other| other != new && other != old) {
            if epochs.is_in_use(other as u32) {
                self.heads[other].store(CLOSED, Ordering::Release);
            }
        }
        self.pointer.store(new, Ordering::Release);
        epochs.advance(place);
        self.heads[old].store(if ahead { new } else { CLOSED }, Ordering::Release);
    }

    /// One cycle, with one look at the thread.
    fn reclaim(&self, look: bool) {
        self.epochs.lock().unwrap().begin_cycle();
        let seen = {
            let resting = self.resting.lock().unwrap();
            for &place in resting.iter().flatten() {
                self.epochs.lock().unwrap().keep(place as u32);
            }
            resting.is_some()
        };
        if look && !seen {
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

fn check(ahead: bool, look: bool) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(move || {
        let world = Arc::new(World::new());
        let maintenance = {
            let world = world.clone();
            thread::spawn(move || {
                world.publish(ahead);
                world.reclaim(look);
                world.publish(ahead);
            })
        };
        let outer = world.call();
        world.wait_in_the_kernel(&[outer]);
        let inner = world.call();
        world.wait_in_the_kernel(&[outer, inner]);
        world.execute(inner);
        world.execute(outer);
        maintenance.join().unwrap();
    });
}

#[test]
fn no_thread_ever_comes_to_a_place_that_was_freed() {
    check(true, true);
    check(false, true);
}

#[test]
#[should_panic(expected = "freed")]
fn the_model_finds_what_happens_if_threads_are_not_looked_at() {
    check(true, false);
}
