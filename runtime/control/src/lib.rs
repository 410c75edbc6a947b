//! What a Rust program says to szc's runtime by itself: a new layout now, its number, and times
//! without new layouts. `szc.h` is the same for C and C++.
//!
//! In a program that szc did not link, and in one whose layout it does not change, every call does
//! nothing. The functions may be called on any thread and in signal handlers.
//!
//! ```
//! for _ in 0..10 {
//!     szc_rt::relayout();
//!     // Measure: every call from here on has the new layout.
//! }
//! ```
//!
//! In criterion's `iter_batched` the set-up of an iteration is the place, with
//! `BatchSize::PerIteration`: `szc/docs/examples/in-process/criterion` is such a bench.
#![no_std]

/// The address of a function of the runtime; 0 where there is no runtime. (A weak reference, which
/// stable Rust has in assembly alone. Each use states it anew, which is allowed.)
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
macro_rules! address {
    ($name:literal) => {{
        let address: usize;
        // SAFETY: reads a word that the linker or the loader filled in.
        unsafe {
            core::arch::asm!(
                concat!(".weak ", $name),
                concat!("mov {0}, qword ptr [rip + ", $name, "@GOTPCREL]"),
                out(reg) address,
                options(pure, readonly, nostack, preserves_flags),
            );
        }
        address
    }};
}

/// There is no runtime for this machine.
#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
macro_rules! address {
    ($name:literal) => {
        0
    };
}

type Number = extern "C" fn() -> u64;
type Action = extern "C" fn();

fn number(address: usize) -> u64 {
    // SAFETY: null, which an `Option` of a function can be, or the function of that name and type.
    let function: Option<Number> = unsafe { core::mem::transmute(address) };
    function.map_or(0, |function| function())
}

fn act(address: usize) {
    // SAFETY: as `number`.
    let function: Option<Action> = unsafe { core::mem::transmute(address) };
    if let Some(function) = function {
        function();
    }
}

/// Begins a new layout of code and stack and waits for it, mostly for a fraction of a millisecond.
/// It holds for every call that begins after this returns; functions that are running go on where
/// they are. Several threads that ask at a time may get one layout together.
///
/// Returns the number of the layout in use. It is the one from before if there can be no other: the
/// memory for copies is used up and none of it can be freed, the program has installed a system
/// call filter, a child that it forked still needs the layout, or it is just changing its user.
pub fn relayout() -> u64 {
    number(address!("szc_rt_relayout"))
}

/// The number of the layout in use, from 1 on; 0 if the program has none that can change.
#[must_use]
pub fn layout() -> u64 {
    number(address!("szc_rt_layout"))
}

/// From now on a layout begins only by [`relayout`], and no more at every interval. (One that has
/// begun meanwhile is finished.) Times may be nested and overlap: each needs its [`resume`].
pub fn pause() {
    act(address!("szc_rt_pause"));
}

/// Ends what one [`pause`] began; without one it does nothing.
pub fn resume() {
    act(address!("szc_rt_resume"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_runtime_every_call_does_nothing() {
        assert_eq!((relayout(), layout()), (0, 0));
        pause();
        resume();
        assert_eq!(layout(), 0);
    }
}
