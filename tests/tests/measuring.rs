//! What the laboratory and the scripts around it measure, say and leave behind.

mod by_turns;
mod cargo;
mod causal;
mod causal_experiments;
mod documents;
mod gate;
mod imported;
mod laboratory;
mod paths;
mod profile;
mod profile_callers;
mod profile_heights;
mod report;
mod report_page;
mod scripts;
mod spec;
mod sweep;
