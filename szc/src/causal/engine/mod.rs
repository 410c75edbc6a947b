//! Runs a program, and while it runs makes experiments: a line or a function of it is sped up
//! virtually, by delays of all threads that do not run it.
//!
//! What happens in the program is done by a library that is preloaded into it; `memory` is what
//! both share. `code` knows which addresses a line has and `scope` which lines may be selected;
//! `spaces` finds them in processes and `samples` reads what these report. `experiments` decides
//! what is sped up next, `trial` measures one experiment, with
//! `breakpoints` for points that the program has not, `lengths` for what is under way and
//! `runnable` for threads that could run; `run` is one run of
//! the program, which `child` starts, `ending` what comes of requests to stop, `outcome` what came
//! of the run, and `load` a greater load.

mod breakpoints;
mod child;
mod code;
mod ending;
mod experiments;
mod lengths;
mod load;
mod memory;
mod options;
mod outcome;
mod plan;
mod record;
mod run;
mod runnable;
mod samples;
mod scope;
mod spaces;
mod trial;

pub(crate) use options::RecordOptions;
pub(crate) use record::record;
