//! Samples where the threads of a program are: at random times, in all its threads and children.
//!
//! The kernel's software clocks (perf_event_open(2)) take the samples into ring buffers, and this
//! process reads them; the program gets no signal and no other code. Each interval between two
//! samples of a clock is drawn anew, so that a program that does something every 10 ms is not
//! sampled in step with it. Addresses in copies of code that moves are translated while the process
//! is there ([`copies`]).
//!
//! Source: Mytkowicz, Diwan, Hauswirth and Sweeney, "Evaluating the accuracy of Java profilers"
//! (2010), whose profiler draws its intervals at random.

pub mod clock;
pub mod copies;
mod descriptor;
pub mod directory;
pub mod event;
mod followed;
pub mod form;
pub mod heights;
pub mod mappings;
pub mod maps;
pub mod memory;
pub mod periods;
pub mod recorder;
pub mod spawn;
pub mod stack;
pub mod switches;
pub mod unwind;
