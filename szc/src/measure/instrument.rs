//! Instruments: what measures figures that the kernel does not account, such as simulated cycles.
//!
//! An instrument may run the program under another one, and reads the figures afterwards. The
//! session knows nothing more about it, so a new kind of metric is a new instrument.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::Path;

use super::child::Outcome;

/// Measures further figures of each run. One run at a time: runs that are under way at once have
/// instruments of their own.
pub trait Instrument: Send {
    /// Another one of the same kind.
    fn another(&self) -> Box<dyn Instrument>;

    /// The words to execute in place of `argv`. `scratch` is a folder for files of this run.
    fn command(&self, argv: Vec<String>, scratch: &Path) -> Vec<String> {
        let _ = scratch;
        argv
    }

    /// Variables to add to the environment of the run.
    fn environment(&self, scratch: &Path) -> Vec<(String, OsString)> {
        let _ = scratch;
        Vec::new()
    }

    /// Called directly in front of each measured run, on the thread that starts it.
    ///
    /// # Errors
    /// When the instrument does not work; the session ends with that.
    fn start(&mut self, scratch: &Path) -> io::Result<()> {
        let _ = scratch;
        Ok(())
    }

    /// Figures of a run that ended well, by name, as they stand in
    /// [`crate::samples::Sample::figures`]. Files in `scratch` are removed afterwards.
    ///
    /// # Errors
    /// When there is no such figure: what was found, what is needed, what to do next.
    fn figures(
        &mut self,
        scratch: &Path,
        outcome: &Outcome,
    ) -> Result<BTreeMap<String, f64>, String>;
}
