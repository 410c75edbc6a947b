//! Runs real commands and checks what is reported about them.

use super::*;
use crate::measure::pipe::STDERR_TAIL_BYTES;

fn run_shell(script: &str) -> Outcome {
    run_with(&["/bin/sh", "-c", script], &[], None, &Stop::new())
}

fn run_with(
    argv: &[&str],
    environment: &[(&str, &OsStr)],
    timeout: Option<Duration>,
    stop: &Stop,
) -> Outcome {
    let argv: Vec<String> = argv.iter().map(|word| (*word).to_owned()).collect();
    run(&Invocation { environment, timeout, ..Invocation::new(&argv) }, stop).unwrap()
}

#[test]
fn exit_statuses_are_reported() {
    let outcome = run_with(&["true"], &[], None, &Stop::new());
    assert_eq!(outcome.end, End::Exited(0));
    assert!(outcome.wall_ns > 0);
    assert!(outcome.usage.minor_faults > 0);
    let outcome = run_with(&["false"], &[], None, &Stop::new());
    assert_eq!(outcome.end, End::Exited(1));
}

#[test]
fn death_by_a_signal_is_reported() {
    let outcome = run_shell("kill -SEGV $$");
    assert_eq!(outcome.end, End::Signalled(libc::SIGSEGV));
}

#[test]
fn a_program_that_is_not_there_is_an_error() {
    let argv = ["/nonexistent/program".to_owned()];
    let error = run(&Invocation::new(&argv), &Stop::new()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
}

#[test]
fn stdout_is_hashed() {
    let outcome = run_shell("printf abc");
    // FIPS 180-2, appendix B.1.
    assert_eq!(
        outcome.stdout_sha256,
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    );
    assert_eq!(outcome.stdout_bytes, 3);
    assert_eq!(outcome.stdout_tail, b"abc");
}

#[test]
fn output_larger_than_a_pipe_does_not_block_the_child() {
    let outcome =
        run_shell("head -c 5000000 /dev/zero; head -c 300000 /dev/zero >&2; echo end >&2");
    assert_eq!(outcome.end, End::Exited(0));
    assert_eq!(outcome.stdout_bytes, 5_000_000);
    assert_eq!(outcome.stderr_tail.len(), STDERR_TAIL_BYTES);
    assert!(outcome.stderr_tail.ends_with(b"end\n"));
}

#[test]
fn cpu_time_is_that_of_this_child_alone() {
    let busy = run_shell("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done");
    let idle = run_shell("sleep 0.2");
    let cpu = |outcome: &Outcome| outcome.usage.user_us + outcome.usage.sys_us;
    assert!(cpu(&busy) > 20_000, "{busy:?}");
    assert!(cpu(&idle) < cpu(&busy), "{idle:?} after {busy:?}");
    assert!(idle.wall_ns >= 200_000_000);
    assert!(idle.usage.voluntary_switches > 0);
}

#[test]
fn memory_of_an_allocating_child_shows_in_its_peak() {
    // The memory of this process, which grows with other tests, is the floor of what can be seen.
    let floor_kib = run_with(&["true"], &[], None, &Stop::new()).usage.max_rss_kib;
    let bytes = (floor_kib + 120_000) * 1024;
    let large = run_shell(&format!("x=$(head -c {bytes} /dev/zero | tr '\\0' x); :"));
    assert!(large.usage.max_rss_kib >= floor_kib + 120_000, "{large:?} above {floor_kib} KiB");
}

#[test]
fn peak_memory_of_the_measuring_process_does_not_leak_into_the_child() {
    let before = run_with(&["true"], &[], None, &Stop::new()).usage.max_rss_kib;
    // Resident for a moment, then returned: only the peak of this process remembers it.
    let ballast = vec![1_u8; 64 << 20];
    assert_eq!(std::hint::black_box(&ballast)[4096], 1);
    drop(ballast);
    let after = run_with(&["true"], &[], None, &Stop::new()).usage.max_rss_kib;
    assert!(after < before + 16_000, "{before} KiB, then {after} KiB");
}

#[test]
fn memory_that_was_given_back_is_no_part_of_a_childs_peak() {
    let before = run_with(&["true"], &[], None, &Stop::new()).usage.max_rss_kib;
    // The last of them keeps what lies before it from going back to the kernel by itself.
    let mut blocks: Vec<Box<[u8; 512]>> = (0..40_000).map(|_| Box::new([1; 512])).collect();
    blocks.drain(..39_999);
    let after = run_with(&["true"], &[], None, &Stop::new()).usage.max_rss_kib;
    assert_eq!(blocks.len(), 1);
    assert!(after < before + 4_000, "{before} KiB, then {after} KiB");
}

#[test]
fn a_child_that_outstays_its_time_is_killed() {
    let started = Instant::now();
    let outcome = run_with(&["sleep", "30"], &[], Some(Duration::from_millis(100)), &Stop::new());
    assert_eq!(outcome.end, End::TimedOut);
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_descendant_that_keeps_the_pipe_open_is_not_waited_for() {
    let started = Instant::now();
    let outcome = run_shell("printf seen; sleep 5 & exit 0");
    assert_eq!(outcome.end, End::Exited(0));
    assert_eq!(outcome.stdout_bytes, 4);
    assert!(started.elapsed() < Duration::from_secs(4));
}

#[test]
fn the_environment_given_overrides_the_inherited_one() {
    let outcome = run_with(
        &["/bin/sh", "-c", "test \"$SZC_SEED\" = 17 && test -n \"$PATH\""],
        &[("SZC_SEED", OsStr::new("17"))],
        None,
        &Stop::new(),
    );
    assert_eq!(outcome.end, End::Exited(0));
}

#[test]
fn stdin_is_empty() {
    let outcome = run_shell("cat");
    assert_eq!((outcome.end, outcome.stdout_bytes), (End::Exited(0), 0));
}

#[test]
fn one_interrupt_lets_the_child_finish_and_a_second_kills_it() {
    let stop = Stop::new();
    stop.request(libc::SIGINT);
    assert_eq!(run_with(&["true"], &[], None, &stop).end, End::Exited(0));
    stop.request(libc::SIGINT);
    assert_eq!(run_with(&["sleep", "30"], &[], None, &stop).end, End::Signalled(libc::SIGKILL));
}

#[test]
fn termination_and_the_loss_of_the_terminal_are_passed_on_to_the_child() {
    // Under nohup, what tests start would ignore the loss of the terminal.
    // SAFETY: no handler, and no other test sends this signal to itself.
    unsafe { nix::sys::signal::signal(Signal::SIGHUP, nix::sys::signal::SigHandler::SigDfl) }
        .unwrap();
    for signal in [libc::SIGTERM, libc::SIGHUP] {
        let stop = Stop::new();
        stop.request(signal);
        assert_eq!(run_with(&["sleep", "30"], &[], None, &stop).end, End::Signalled(signal));
        assert_eq!(stop.signal(), Some(signal));
    }
}

#[test]
fn what_a_child_started_ends_with_it_when_its_time_is_up() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("number");
    let script = format!("sh -c 'echo $$ >{}; sleep 30; true'; true", file.display());
    let argv = ["/bin/sh", "-c", &script];
    let limit = Some(Duration::from_secs(2));
    assert_eq!(run_with(&argv, &[], limit, &Stop::new()).end, End::TimedOut);
    let number: i32 = std::fs::read_to_string(&file).unwrap().trim().parse().unwrap();
    let started = Instant::now();
    while kill(Pid::from_raw(number), None).is_ok() {
        assert!(started.elapsed() < Duration::from_secs(10), "{number} goes on");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_pinned_child_may_use_one_cpu_and_this_process_all_it_could() {
    let before = usable_cpus().unwrap();
    let argv = ["/bin/sh", "-c", "grep Cpus_allowed_list /proc/self/status"].map(str::to_owned);
    let last = *before.last().unwrap();
    let invocation = Invocation { cpu: Some(last), ..Invocation::new(&argv) };
    let outcome = run(&invocation, &Stop::new()).unwrap();
    let text = String::from_utf8(outcome.stdout_tail).unwrap();
    assert_eq!(text.trim().rsplit('\t').next(), Some(last.to_string().as_str()), "{text}");
    assert_eq!(usable_cpus().unwrap(), before);
}

#[test]
fn a_cpu_that_does_not_exist_is_an_error() {
    let argv = ["true".to_owned()];
    for cpu in [1023, 1 << 20] {
        let invocation = Invocation { cpu: Some(cpu), ..Invocation::new(&argv) };
        assert!(run(&invocation, &Stop::new()).is_err(), "{cpu}");
    }
}

#[test]
fn a_child_asked_for_slices_is_still_an_ordinary_process_of_the_same_priority() {
    let argv = ["/bin/sh", "-c", "cut -d' ' -f19,41 /proc/self/stat"].map(str::to_owned);
    let plain = run(&Invocation::new(&argv), &Stop::new()).unwrap();
    let slice = Some(Duration::from_millis(5));
    let sliced = run(&Invocation { slice, ..Invocation::new(&argv) }, &Stop::new()).unwrap();
    assert_eq!(sliced.stdout_tail, plain.stdout_tail);
    assert!(plain.stdout_tail.ends_with(b" 0\n"), "{plain:?}");
}

#[test]
fn a_child_that_nobody_wants_any_more_is_killed() {
    let argv = ["sleep", "30"].map(str::to_owned);
    let abandoned = AtomicBool::new(true);
    let invocation = Invocation { abandoned: Some(&abandoned), ..Invocation::new(&argv) };
    assert_eq!(run(&invocation, &Stop::new()).unwrap().end, End::Signalled(libc::SIGKILL));
}

/// What a shell sees of its own addresses, and of the limit and the signals that it has.
const WHERE: &str = r#"while read line; do case "$line" in
    *stack*|*libc*r-xp*|*r-xp*libc*) echo "${line%%-*}";; esac; done </proc/self/maps
    ulimit -s; ulimit -Hs; while read key value; do
    case $key in SigBlk:|TracerPid:) echo "$value";; esac; done </proc/self/status"#;

fn seen(addresses: Option<Addresses>) -> Vec<String> {
    let argv = ["/bin/sh", "-c", WHERE].map(str::to_owned);
    let outcome = run(&Invocation { addresses, ..Invocation::new(&argv) }, &Stop::new()).unwrap();
    assert_eq!(outcome.end, End::Exited(0), "{outcome:?}");
    let text = String::from_utf8(outcome.stdout_tail).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn mappings_begin_as_many_pages_lower_as_asked_and_the_limit_is_as_before() {
    let at = |pages| seen(Some(Addresses { mapping_pages: Some(pages), lowered_bytes: 0 }));
    let plain = seen(None);
    let (high, low) = (at(3), at(1003));
    assert_eq!(high, at(3));
    let [libc_high, libc_low] =
        [&high[0], &low[0]].map(|address| u64::from_str_radix(address, 16).unwrap());
    assert_eq!(libc_high - libc_low, 1000 * 4096);
    // The stack's lowest page is where it was; limits, signals and tracer are those of any child.
    assert_eq!(high[1..], low[1..]);
    assert_eq!(plain[2..], low[2..]);
}

#[test]
fn without_a_choice_of_mappings_they_are_the_same_in_all_runs() {
    let fixed = Some(Addresses { mapping_pages: None, lowered_bytes: 0 });
    assert_eq!(seen(fixed), seen(fixed));
}

#[test]
fn a_program_that_is_not_there_is_an_error_with_chosen_addresses_too() {
    let argv = ["/nonexistent/program".to_owned()];
    let addresses = Some(Addresses { mapping_pages: Some(1), lowered_bytes: 0 });
    let error = run(&Invocation { addresses, ..Invocation::new(&argv) }, &Stop::new()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
}

#[test]
fn the_stack_begins_as_many_bytes_lower_as_asked_and_all_else_is_as_before() {
    let printed = |lowered_bytes, argv: &[&str]| {
        let argv: Vec<String> = argv.iter().map(|word| (*word).to_owned()).collect();
        let addresses = Some(Addresses { mapping_pages: None, lowered_bytes });
        let outcome =
            run(&Invocation { addresses, ..Invocation::new(&argv) }, &Stop::new()).unwrap();
        assert_eq!(outcome.end, End::Exited(0), "{outcome:?}");
        outcome.stdout_tail
    };
    // The last but one word is the stack pointer, while it reads this.
    let stack_pointer = |lowered_bytes| {
        let line = printed(lowered_bytes, &["cat", "/proc/self/syscall"]);
        let line = String::from_utf8(line).unwrap();
        let word = line.split_whitespace().rev().nth(1).unwrap().to_owned();
        u64::from_str_radix(word.trim_start_matches("0x"), 16).unwrap()
    };
    assert_eq!(stack_pointer(0) - stack_pointer(8192), 8192);
    // What the program is told by its stack, and what the kernel says of it.
    for argv in [&["env"][..], &["cat", "/proc/self/environ"], &["cat", "/proc/self/auxv"]] {
        assert_eq!(printed(0, argv), printed(4112, argv));
    }
}
