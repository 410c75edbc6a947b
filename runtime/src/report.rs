//! What the runtime tells: the line of `SZC_LOG`, the file of `SZC_MAP`, messages.
//!
//! Written when the program ends, also from a handler of a fatal signal: no libc, no allocation.
#![forbid(unsafe_code)]

use crate::facts::{self, FACTS, Facts};
use crate::images::Images;
use crate::os::{self, EFBIG, Errno, File, PAGE_BYTES};
use crate::reclaim;
use crate::settings::Clock;
use crate::state::CODE;
use crate::{code, heap, library, paths, stack, state};
pub use szc_abi::text::Buffer;

/// Writes the log and the map, once for each process.
pub fn write_log() {
    let Some(facts) = FACTS.get() else { return };
    if let Some(process) = facts::take_log() {
        // A file that may not grow (`ulimit -f`) is no reason to end otherwise than without a log.
        os::without_signal(os::SIGXFSZ, || write_files(facts, process));
    }
}

/// Whether a file would have become larger than it may.
fn write_files(facts: &Facts, process: u32) -> bool {
    let map = facts.map.as_ref().and_then(|path| path.for_process(process));
    let map = map.and_then(|path| File::open(path.as_c_str(), os::OPEN_APPEND).ok());
    let mut too_large = false;
    let counts = Snapshot::take(facts, |images| {
        too_large = map.is_some_and(|map| write_map(&map, images) == Err(EFBIG));
    });
    if let Some(path) = facts.paths.as_ref().and_then(|path| path.for_process(process)) {
        too_large |= paths::write(path.as_c_str(), process) == Err(EFBIG);
    }
    if let Some(path) = facts.log.as_ref().and_then(|path| path.for_process(process)) {
        let mut line = Buffer::<LINE_BYTES>::new();
        write_line(&mut line, facts, &counts, process);
        if let Ok(file) = File::open(path.as_c_str(), os::OPEN_APPEND) {
            // One write: lines of several processes do not mix.
            too_large |= file.write(line.bytes()) == Err(EFBIG);
        }
    }
    too_large
}

/// What was counted up to now; nothing for what is not randomized.
#[derive(Clone, Copy, Debug, Default)]
struct Snapshot {
    code: code::counts::Counts,
    reclaim: reclaim::Counts,
    stack: Option<stack::StackCounts>,
    heap: Option<heap::HeapCounts>,
    libraries: library::LibraryCounts,
    /// Processor time of the process.
    cpu_ns: u64,
}

impl Snapshot {
    /// Reads the counts, with all signals blocked because the lock is taken, and lets `look` see
    /// the images of the same moment.
    fn take(facts: &Facts, look: impl FnOnce(&Images)) -> Self {
        let before = os::signal_mask(2, Some(u64::MAX));
        let (code, pads) = CODE.with(|images| {
            look(images);
            (images.counts(), images.pads())
        });
        let libraries = library::counts();
        if let Ok(before) = before {
            let _ = os::signal_mask(2, Some(before));
        }
        Self {
            code,
            reclaim: reclaim::counts(),
            stack: facts.stack.then(|| stack::counts(pads)),
            heap: facts.heap.then(heap::counts).flatten(),
            libraries,
            cpu_ns: os::cpu_ns_of_process(),
        }
    }
}

/// Room for the log's line: every number has at most 20 digits.
const LINE_BYTES: usize = 2048;

fn write_line(line: &mut Buffer<LINE_BYTES>, facts: &Facts, counts: &Snapshot, process: u32) {
    line.text("{\"abi\":").decimal(u64::from(szc_abi::ABI_VERSION));
    line.text(",\"pid\":").decimal(u64::from(process));
    line.text(",\"seed\":").decimal(facts.seed);
    line.text(",\"interval_ms\":").decimal(u64::from(facts.interval_ms));
    if facts.clock == Clock::Cpu {
        line.text(",\"clock\":\"cpu\"");
    }
    line.text(",\"cpu_ns\":").decimal(counts.cpu_ns);
    line.text(",\"randomize\":{\"code\":")
        .truth(facts.code || (facts.libraries_move && counts.libraries.moving > 0));
    line.text(",\"stack\":").truth(facts.stack);
    line.text(",\"heap\":").truth(facts.heap).text("}");
    if let Some(reason) = facts.refused {
        line.text(",\"code_refused\":\"").text(reason).text("\"");
    }
    if let Some(reason) = facts.heap_refused {
        line.text(",\"heap_refused\":\"").text(reason).text("\"");
    }
    let total = u64::from(facts.movable) + u64::from(facts.pinned);
    line.text(",\"functions\":{\"total\":").decimal(total);
    line.text(",\"movable\":").decimal(u64::from(facts.movable));
    line.text(",\"pinned\":").decimal(u64::from(facts.pinned));
    line.text("},\"epochs\":").decimal(counts.code.epochs);
    line.text(",\"relocations\":").decimal(counts.code.relocations);
    line.text(",\"code_bytes_live\":").decimal(counts.code.live_bytes);
    line.text(",\"code_bytes_retained\":").decimal(counts.code.retained_bytes);
    line.text(",\"exhausted\":").truth(counts.code.exhausted);
    if state::is_frozen() {
        line.text(",\"filtered\":true");
    }
    let follow = facts.interval_ms != 0 || counts.code.epochs > 0;
    if (facts.code || counts.libraries.moving > 0) && follow {
        line.text(",\"code_reclaim\":{\"freed\":").decimal(counts.code.freed);
        line.text(",\"kept\":").decimal(counts.code.kept);
        line.text(",\"skipped\":").decimal(counts.code.skipped);
        line.text(",\"pauses\":").decimal(counts.reclaim.pauses);
        line.text(",\"pause_us\":").decimal(counts.reclaim.pause_ns / 1000);
        line.text(",\"snapshots\":").decimal(counts.reclaim.snapshots);
        if let Some(reason) = counts.reclaim.other_stacks {
            line.text(",\"other_stacks\":\"").text(reason).text("\"");
        }
        if let Some(reason) = counts.reclaim.blocked {
            line.text(",\"blocked\":\"").text(reason).text("\"");
        }
        line.text("}");
    }
    if let Some(stack) = &counts.stack {
        line.text(",\"stack\":{\"functions\":").decimal(stack.functions);
        line.text(",\"mean_pad_bytes\":").decimal(stack.mean_pad_bytes);
        line.text(",\"refills\":").decimal(stack.refills);
        line.text(",\"room_bytes\":").decimal(stack.room_bytes).text("}");
    }
    if let Some(heap) = &counts.heap {
        line.text(",\"heap\":{\"allocations\":").decimal(heap.allocations);
        line.text(",\"frees\":").decimal(heap.frees);
        line.text(",\"classes\":").decimal(heap.classes);
        line.text(",\"large\":").decimal(heap.large);
        line.text(",\"peak_bytes\":").decimal(heap.peak_bytes);
        line.text(",\"base\":\"").text(heap.base.name());
        line.text("\",\"n\":").decimal(u64::from(heap.shuffle)).text("}");
    }
    let libraries = &counts.libraries;
    if libraries.attached > 0 {
        line.text(",\"libraries\":{\"adopted\":").decimal(libraries.attached);
        line.text(",\"moving\":").decimal(libraries.moving);
        line.text(",\"movable\":").decimal(libraries.movable);
        line.text(",\"pinned\":").decimal(libraries.pinned);
        line.text(",\"padded\":").decimal(libraries.padded);
        if let Some(reason) = libraries.refused {
            line.text(",\"refused\":\"").text(reason).text("\"");
            line.text(",\"staying\":").decimal(libraries.staying);
        }
        if libraries.passed_over > 0 {
            line.text(",\"passed_over\":").decimal(libraries.passed_over);
        }
        line.text("}");
    }
    line.text("}\n");
}

/// One line for each copy: address and size in hexadecimal, name, and in brackets its epoch, the
/// pad of its frame, and in front of what return address the frame of its first call begins. `perf`
/// reads the first three. Behind them a line for each size of blocks that has a draw of its own,
/// and for each place in moved code that asked for some.
fn write_map(file: &File, images: &Images) -> Result<(), Errno> {
    let mut result = Ok(());
    let mut page = Buffer::<PAGE_BYTES>::new();
    images.for_each_copy(|layout, function| {
        let record = layout.image.function(function);
        let name = layout.image.table().name(record.name_at);
        page.hexadecimal(layout.body(function) as u64).text(" ");
        page.hexadecimal(u64::from(record.size)).text(" ");
        page.push(name.get(..PAGE_BYTES / 2).unwrap_or(name));
        page.text(" [epoch ").decimal(layout.drawn.epoch());
        if layout.image.slot(function).padded.is_some() {
            page.text(", pad ").decimal(u64::from(layout.pad(function)));
        }
        if let Some(call) = layout.image.first_calls().stack(function) {
            page.text(", stack ").hexadecimal(call as u64);
        }
        page.text("]\n");
        if page.bytes().len() > PAGE_BYTES / 2 {
            result = result.and_then(|()| file.write(page.bytes()));
            page.clear();
        }
    });
    heap::each_drawn(|drawn| {
        page.text("# blocks ").decimal(drawn.least as u64).text(" ");
        match drawn.most {
            Some(most) => page.decimal(most as u64),
            None => page.text("-"),
        };
        page.text(" [draw ").decimal(u64::from(drawn.draw));
        page.text(" of ").decimal(u64::from(drawn.draws));
        page.text(", allocations ").decimal(drawn.allocations).text("]\n");
        if page.bytes().len() > PAGE_BYTES / 2 {
            result = result.and_then(|()| file.write(page.bytes()));
            page.clear();
        }
    });
    heap::each_asked(|asked| {
        page.text("# asked ").decimal(asked.least as u64).text(" ");
        page.hexadecimal(asked.return_address as u64).text(" ");
        page.decimal(asked.count).text("\n");
        if page.bytes().len() > PAGE_BYTES / 2 {
            result = result.and_then(|()| file.write(page.bytes()));
            page.clear();
        }
    });
    result.and_then(|()| file.write(page.bytes()))
}

/// Says on standard error where the runtime contradicts itself, and aborts: what it knows is wrong,
/// so nothing is repaired or written, and a core dump shows it.
#[cold]
#[inline(never)]
pub fn internal_error(what: &str, place: (&str, u32)) -> ! {
    let mut line = Buffer::new();
    let seed = FACTS.get().map(|facts| facts.seed);
    write_internal_error(&mut line, what, place, seed, state::rounds_over());
    os::write_error(line.bytes());
    os::abort()
}

/// `round`: how many rounds of epochs were over; a run with the same seed may get there again.
fn write_internal_error(
    line: &mut Buffer<512>,
    what: &str,
    (file, number): (&str, u32),
    seed: Option<u64>,
    round: u64,
) {
    line.text("szc: internal error in the runtime: ").text(what).text(" at ").text(file);
    line.text(":").decimal(u64::from(number));
    match seed {
        Some(seed) => {
            line.text(" (seed ").decimal(seed).text(", epoch ").decimal(round);
            line.text("); please report it\n");
        }
        None => {
            line.text(" (before the start); please report it\n");
        }
    }
}

/// Says on standard error what is wrong and ends the program.
pub fn stop(code: i32, parts: &[&[u8]]) -> ! {
    let mut text = Buffer::<PAGE_BYTES>::new();
    text.push(b"szc: ");
    for part in parts {
        text.push(part);
    }
    text.push(b"\n");
    os::write_error(text.bytes());
    os::exit_group(code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use szc_heap::HeapBase;

    fn facts() -> Facts {
        Facts {
            log: None,
            map: None,
            paths: None,
            seed: 5,
            interval_ms: 500,
            clock: Clock::Wall,
            code: true,
            refused: None,
            libraries_move: true,
            stack: false,
            heap: false,
            heap_refused: None,
            movable: 3,
            pinned: 2,
        }
    }

    fn line(facts: &Facts, counts: &Snapshot) -> String {
        let mut line = Buffer::new();
        write_line(&mut line, facts, counts, 9);
        String::from_utf8(line.bytes().to_vec()).unwrap()
    }

    #[test]
    fn the_log_line_has_the_names_that_are_an_interface() {
        let code = code::counts::Counts { epochs: 7, ..code::counts::Counts::default() };
        let reclaim = reclaim::Counts {
            other_stacks: Some("where"),
            snapshots: 4,
            blocked: Some("why"),
            ..reclaim::Counts::default()
        };
        let counts = Snapshot { code, reclaim, cpu_ns: 8, ..Snapshot::default() };
        assert_eq!(
            line(&facts(), &counts),
            "{\"abi\":7,\"pid\":9,\"seed\":5,\"interval_ms\":500,\"cpu_ns\":8,\"randomize\":{\
             \"code\":true,\"stack\":false,\"heap\":false},\"functions\":{\"total\":5,\
             \"movable\":3,\"pinned\":2},\"epochs\":7,\"relocations\":0,\"code_bytes_live\":0,\
             \"code_bytes_retained\":0,\"exhausted\":false,\"code_reclaim\":{\"freed\":0,\
             \"kept\":0,\"skipped\":0,\"pauses\":0,\"pause_us\":0,\
             \"snapshots\":4,\"other_stacks\":\"where\",\"blocked\":\"why\"}}\n"
        );
    }

    #[test]
    fn an_internal_error_is_one_line_with_place_and_state() {
        let line = |seed| {
            let mut line = Buffer::new();
            write_internal_error(&mut line, "it panicked", ("src/a.rs", 12), seed, 7);
            String::from_utf8(line.bytes().to_vec()).unwrap()
        };
        assert_eq!(
            line(Some(u64::MAX)),
            "szc: internal error in the runtime: it panicked at src/a.rs:12 (seed \
             18446744073709551615, epoch 7); please report it\n"
        );
        assert_eq!(
            line(None),
            "szc: internal error in the runtime: it panicked at src/a.rs:12 (before the start); \
             please report it\n"
        );
    }

    #[test]
    fn stack_and_heap_add_objects_of_their_own() {
        let counts = Snapshot {
            stack: Some(stack::StackCounts {
                functions: 1,
                mean_pad_bytes: 2040,
                refills: 3,
                room_bytes: 4,
            }),
            heap: Some(heap::HeapCounts {
                allocations: 5,
                frees: 6,
                classes: 7,
                large: 8,
                peak_bytes: 9,
                base: HeapBase::Tlsf,
                shuffle: 256,
            }),
            ..Snapshot::default()
        };
        let line = line(&Facts { stack: true, heap: true, ..facts() }, &counts);
        assert!(line.contains("\"stack\":true,\"heap\":true}"), "{line}");
        assert!(
            line.ends_with(
                ",\"stack\":{\"functions\":1,\"mean_pad_bytes\":2040,\"refills\":3,\
                 \"room_bytes\":4},\"heap\":{\"allocations\":5,\"frees\":6,\"classes\":7,\
                 \"large\":8,\"peak_bytes\":9,\"base\":\"tlsf\",\"n\":256}}\n"
            ),
            "{line}"
        );
    }
}
