//! The runtime beside a program: its settings, its log, its memory, what it does when it cannot
//! work. What a program itself can see is tested by the programs below `programs/invisible`.

mod internal;
mod logs;
mod pads;
mod settings;
mod starts;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::OnceLock;
use std::time::Duration;
use szc_tests::build::moving;
use szc_tests::run::{command, run};

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/runtime").join(name)
}

/// The worker, built once for all tests.
fn worker() -> &'static Path {
    static WORKER: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, image) = WORKER.get_or_init(|| {
        let place = tempfile::tempdir().expect("a temporary directory");
        let image = moving(&source("worker.c"), &["-O2"], place.path());
        (place, image)
    });
    image
}

fn worker_output() -> Vec<u8> {
    run(worker(), &[("SZC_CODE", "0")], &[]).stdout
}

/// Starts a worker that first says "ready" and then lives for a while.
fn started(settings: &[(&str, &str)], log: &Path) -> Child {
    let mut child = command(worker(), settings)
        .env("SZC_LOG", log)
        .args(["20000", "sleep"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut ready = [0; 5];
    child.stdout.as_mut().expect("piped").read_exact(&mut ready).expect("it says so");
    child
}

#[test]
fn no_page_is_ever_writable_and_executable() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let mut child = started(&[("SZC_INTERVAL_MS", "1")], &place.path().join("log"));
    let mut both_views = false;
    for _ in 0..60 {
        let maps = std::fs::read_to_string(format!("/proc/{}/maps", child.id())).expect("alive");
        for line in maps.lines() {
            let rights = line.split_whitespace().nth(1).expect("rights");
            assert!(!(rights.contains('w') && rights.contains('x')), "{line}");
        }
        let views =
            |rights| maps.lines().any(|line| line.contains("szc code") && line.contains(rights));
        both_views |= views(" r-xs ") && views(" rw-s ");
        let text_is_mapped_from_file = maps
            .lines()
            .any(|line| line.contains(" r-xp ") && line.ends_with(&worker().display().to_string()));
        assert!(text_is_mapped_from_file, "{maps}");
        std::thread::sleep(Duration::from_millis(3));
    }
    child.kill().expect("the child is ours");
    child.wait().expect("the child is ours");
    assert!(both_views, "the copies of code were not found");
}
