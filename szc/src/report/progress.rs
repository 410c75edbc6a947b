//! A live progress bar on a terminal, and silence anywhere else.
//!
//! With a fixed number of blocks the running estimate is there to be watched, not to stop by:
//! that rule is valid for one look at the end. The sequential rule may be watched at will.
#![forbid(unsafe_code)]

use std::io::{IsTerminal, Write};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Progress and warnings on stderr.
pub struct Progress {
    command: String,
    bar: Option<ProgressBar>,
    quiet: bool,
}

impl Progress {
    /// A bar of `runs` steps for a subcommand of that name if stderr is a terminal that can redraw
    /// a line; `quiet` also silences warnings.
    #[must_use]
    pub fn new(command: &str, runs: u64, quiet: bool) -> Self {
        let redraws = std::env::var_os("TERM").is_some_and(|terminal| terminal != "dumb");
        let visible = !quiet && redraws && std::io::stderr().is_terminal();
        let bar = visible.then(|| {
            let bar = ProgressBar::with_draw_target(Some(runs), ProgressDrawTarget::stderr());
            bar.set_style(style());
            bar.tick();
            bar
        });
        Self { command: command.to_owned(), bar, quiet }
    }

    /// One more run is done.
    pub fn advance(&self) {
        if let Some(bar) = &self.bar {
            bar.inc(1);
        }
    }

    /// Whether [`Progress::show`] shows anything.
    #[must_use]
    pub fn is_visible(&self) -> bool {
        self.bar.is_some()
    }

    /// Shows a running estimate beside the bar.
    pub fn show(&self, estimate: String) {
        if let Some(bar) = &self.bar {
            bar.set_message(estimate);
        }
    }

    /// As many steps are expected now.
    pub fn expect(&self, runs: u64) {
        if let Some(bar) = &self.bar {
            bar.set_length(runs.max(bar.position()));
        }
    }

    /// Prints a warning above the bar.
    pub fn warn(&self, text: &str) {
        if self.quiet {
            return;
        }
        // A closed stderr is no reason to stop measuring.
        let print = || {
            let _ = writeln!(std::io::stderr(), "szc {}: warning: {text}", self.command);
        };
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    /// Removes the bar.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Plain unless colour is welcome (<https://no-color.org>).
fn style() -> ProgressStyle {
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let template = if no_color {
        "[{bar:24}] {pos}/{len} runs, {eta} left  {msg}"
    } else {
        "[{bar:24.cyan}] {pos}/{len} runs, {eta} left  {msg:.bold}"
    };
    ProgressStyle::with_template(template)
        .expect("the template is constant and tested")
        .progress_chars("=> ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_of_the_bar_is_valid() {
        let _ = style();
    }

    #[test]
    fn a_quiet_progress_shows_nothing() {
        let progress = Progress::new("compare", 10, true);
        progress.advance();
        progress.show("estimate".to_owned());
        progress.warn("not printed");
        progress.finish();
        assert!(!progress.is_visible());
    }
}
