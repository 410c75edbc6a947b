//! The findings for people: what was found, and below what to do.
#![forbid(unsafe_code)]

use std::fmt::Write as _;

use super::finding::{Area, Finding, Status};
use crate::samples::machine::{Machine, cpus};
use crate::version;

const NAME_WIDTH: usize = 30;

/// All of it.
pub(super) fn text(machine: &Machine, findings: &[Finding]) -> String {
    let known = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
    let mut text = format!(
        "{}, Linux {}, {}, {}{}\n",
        version::words(),
        known(&machine.kernel),
        known(&machine.cpu),
        cpus(machine.cores.unwrap_or(1)),
        if machine.virtual_machine == Some(true) { ", a virtual machine" } else { "" }
    );
    for area in Area::ALL {
        let _ = writeln!(text, "\n{}", area.title());
        for finding in findings.iter().filter(|finding| finding.area == area) {
            let Finding { name, found, .. } = finding;
            let _ = writeln!(text, "  {:8}{name:NAME_WIDTH$}{found}", finding.status.word());
            if let Some(next) = &finding.next {
                let _ = writeln!(text, "{:width$}-> {next}", "", width = 10 + NAME_WIDTH);
            }
        }
    }
    let count = |status| findings.iter().filter(|finding| finding.status == status).count();
    let closing = match (count(Status::Missing), count(Status::Limited)) {
        (0, 0) => "Everything works.".to_owned(),
        (0, limited) => format!("Programs can be built and measured; {limited} limited."),
        (missing, _) => format!("{missing} missing: programs cannot be built, or do not move."),
    };
    let _ = writeln!(text, "\n{closing}");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_finding_has_a_line_and_what_to_do_stands_below_it() {
        let findings = [
            Finding::ok(Area::Building, "clang", "/usr/bin/clang-22"),
            Finding::limited(Area::Measuring, "valgrind", "does not run", "install it"),
        ];
        let shown = text(&Machine::default(), &findings);
        assert!(shown.contains("  ok      clang                         /usr/bin/clang-22\n"));
        assert!(shown.contains("does not run\n"), "{shown}");
        assert!(shown.contains("-> install it\n"), "{shown}");
        assert!(shown.ends_with("can be built and measured; 1 limited.\n"), "{shown}");
        let missing = [Finding::missing(Area::Running, "membarrier", "no", "a newer kernel")];
        assert!(text(&Machine::default(), &missing).contains("1 missing"));
    }
}
