//! A model of entries, epochs and reclaiming, run by loom in every order that the memory model
//! allows.
//!
//! The sequence of epochs is the real one ([`Epochs`]). A head, an entry's pointer and the poison
//! of a place are words with the orderings of the real ones; a stack is a list of places; a thread
//! that waits in the kernel is one that has put its stack where it can be seen.
//!
//! What is checked: a thread that comes to a place, is entered there or returns there, finds it as
//! it was, and not filled with traps.
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
    epochs: Mutex<Epochs<&'static mut [Use]>>,
    pointer: AtomicUsize,
    heads: [AtomicUsize; PLACES],
    /// Where the calls of a place's copy lead.
    calls: [AtomicUsize; PLACES],
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
            match self.heads[place].load(Ordering::Acquire) {
                OPEN => return place,
                CLOSED => place = self.resolve(place, caller),
                newer => place = newer,
            }
        }
    }

    fn resolve(&self, from: usize, caller: Option<usize>) -> usize {
        let epochs = self.epochs.lock().unwrap();
        assert!(epochs.is_in_use(from as u32), "a call came from a place that was freed");
        let current = epochs.place() as usize;
        self.heads[current].store(OPEN, Ordering::Release);
        if from != current {
            self.heads[from].store(current, Ordering::Release);
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

    /// Begins an epoch, with a copy made ahead or not. `led_on`: callers are led into each new
    /// layout.
    fn publish(&self, ahead: bool, led_on: bool) {
        let next = self.epochs.lock().unwrap().next();
        let Ok((_, place)) = next else { return };
        let new = place as usize;
        // Nobody knows the place yet: it is drawn and filled without the lock.
        self.poisoned[new].store(false, Ordering::Relaxed);
        self.heads[new].store(if ahead { OPEN } else { CLOSED }, Ordering::Release);
        self.calls[new].store(new, Ordering::Relaxed);
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
        for other in (0..PLACES).filter(|&other| led_on && epochs.is_in_use(other as u32)) {
            if self.calls[other].load(Ordering::Relaxed) != other {
                self.calls[other].store(new, Ordering::Release);
            }
        }
        self.heads[old].store(CLOSED, Ordering::Release);
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

/// What the maintenance task does and does not do.
#[derive(Clone, Copy)]
struct Maintenance {
    ahead: bool,
    looks: bool,
    leads_on: bool,
}

const ALL: Maintenance = Maintenance { ahead: true, looks: true, leads_on: true };

fn check(maintenance: Maintenance) {
    let Maintenance { ahead, looks, leads_on } = maintenance;
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(move || {
        let world = Arc::new(World::new());
        let maintenance = {
            let world = world.clone();
            thread::spawn(move || {
                world.publish(ahead, leads_on);
                world.reclaim(looks);
                world.publish(ahead, leads_on);
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
fn check_a_caller_that_runs_on(leads_on: bool) {
    loom::model(move || {
        let world = World::new();
        let outer = world.call();
        for _ in 0..PLACES {
            world.publish(false, leads_on);
            world.execute(world.call_from(outer));
            *world.resting.lock().unwrap() = Some(vec![outer]);
            world.publish(false, leads_on);
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
fn the_model_finds_what_happens_if_threads_are_not_looked_at() {
    check(Maintenance { looks: false, ..ALL });
}

#[test]
#[should_panic(expected = "freed")]
fn the_model_finds_what_happens_if_callers_are_not_led_on() {
    check_a_caller_that_runs_on(false);
}
