//! A report as text.

use super::report::Report;
use std::fmt::Write as _;

/// The report in lines, with every function if `list` says so.
pub(super) fn text(report: &Report, list: bool) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{}: {}", report.file, report.image);
    let _ = writeln!(
        out,
        "  runtime         {}",
        if report.runtime { "linked in" } else { "not linked in (its host has to have it)" }
    );
    let _ = writeln!(out, "  table           {} bytes, format {}", report.table_bytes, report.abi);
    let _ = writeln!(out, "  functions       {}", report.total);
    let _ = writeln!(
        out,
        "  movable         {} ({} bytes, {} fields, {} jump tables)",
        report.movable, report.movable_bytes, report.fields, report.jump_tables
    );
    let _ = writeln!(out, "  pinned          {} ({} bytes)", report.pinned, report.pinned_bytes);
    for (reason, count) in &report.pinned_by_reason {
        let _ = writeln!(out, "    {count:>6}  {reason}");
    }
    let _ = writeln!(
        out,
        "  stack pads      {} ({} by copies, {} by the functions themselves)",
        report.padded_by_copies + report.padded,
        report.padded_by_copies,
        report.padded
    );
    for (reason, count) in &report.fixed_frames_by_reason {
        let _ = writeln!(out, "    {count:>6}  none: {reason}");
    }
    if report.padded_by_copies > 0 {
        let _ = writeln!(
            out,
            "    {:>6}  calls between them need no stack-room check",
            report.unchecked_calls
        );
    }
    for name in &report.stack_bounds {
        let _ = writeln!(
            out,
            "  bounds its stack by addresses {name} (pads count: SZC_STACK_ROOM_KIB)"
        );
    }
    for name in &report.stack_switches {
        let _ = writeln!(out, "  switches stacks {name}");
    }
    if report.stack_switches_in_place {
        let _ = writeln!(out, "  switches stacks pinned code");
    }
    if list {
        for function in &report.functions {
            let state = match function.pinned {
                Some(reason) => format!("pinned: {reason}"),
                None => format!("movable, {} fields", function.fields.unwrap_or(0)),
            };
            let pad = match function.fixed_frame {
                Some(reason) => format!(", no pad: {reason}"),
                None if function.padded => ", padded".to_owned(),
                None => String::new(),
            };
            let _ = writeln!(
                out,
                "  {:#010x} {:>7}  {}  {state}{pad}",
                function.offset, function.size, function.name
            );
        }
    }
    out
}
