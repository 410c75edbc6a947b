//! Invocations whose result would not be randomized: clang does them alone.

use super::facts::Facts;
use super::warning::warn;
use std::path::Path;

/// Why clang does its work alone: nothing that it makes would be randomized.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Plain {
    /// The result is not for programs of the kind that can be randomized; no reason for worry.
    OtherKind(String),
    /// The user would expect the program to be randomized.
    Sanitizers(String),
}

impl Plain {
    /// Whether an invocation must be left alone.
    pub(super) fn reason(facts: &Facts) -> Option<Self> {
        let other = |text: &str| Some(Plain::OtherKind(text.to_owned()));
        if let Some(mode) = &facts.driver_mode
            && !matches!(mode.as_str(), "gcc" | "g++")
        {
            return Some(Plain::OtherKind(format!("the driver mode is {mode}")));
        }
        let host = format!("{}-linux", std::env::consts::ARCH);
        let target = facts.target.as_deref().unwrap_or(&host);
        if !is_supported(target) {
            return Some(Plain::OtherKind(format!("the target is {target}")));
        }
        if facts.narrow {
            return other("the target is not the 64-bit mode of x86");
        }
        if facts.code_model.as_deref() == Some("kernel") {
            return other("the code model is that of a kernel");
        }
        if facts.offload {
            return other("code for an accelerator is linked too");
        }
        let output = facts.output.as_deref().and_then(Path::file_name);
        if facts.links() && output.is_some_and(|name| name == CGO_IMPORTS) {
            return other("cgo reads from this image what programs import from libraries");
        }
        let untested: Vec<_> = SANITIZERS_WITH_RUNTIME
            .iter()
            .filter(|name| facts.sanitizers.contains(**name))
            .copied()
            .collect();
        (!untested.is_empty()).then(|| Plain::Sanitizers(untested.join(",")))
    }

    /// Tells the user, where the user would wonder.
    pub(super) fn say(&self, facts: &Facts) {
        match self {
            Plain::Sanitizers(names) if facts.links() => {
                warn(format_args!("randomization is off in a build with -fsanitize={names}"));
            }
            Plain::OtherKind(reason) if facts.links() && facts.verbose => {
                eprintln!("szc: note: randomization is off: {reason}");
            }
            _ => {}
        }
    }
}

/// What cgo links to learn which symbols its C code imports. It is never run, and the runtime,
/// which defines some of them (`malloc`), would hide those.
const CGO_IMPORTS: &str = "_cgo_.o";

/// Sanitizers whose runtime libraries take over memory, signals or calls.
const SANITIZERS_WITH_RUNTIME: [&str; 11] = [
    "address",
    "dataflow",
    "fuzzer",
    "hwaddress",
    "leak",
    "memory",
    "memtag",
    "numerical",
    "realtime",
    "thread",
    "type",
];

/// Linux on x86-64, but for the variants with another C library interface.
fn is_supported(triple: &str) -> bool {
    let mut parts = triple.split('-');
    let is_x86_64 = matches!(parts.next(), Some("x86_64" | "amd64"));
    let other_interface = ["android", "gnux32", "musl", "ohos", "uclibc"];
    is_x86_64
        && triple.contains("linux")
        && !other_interface.iter().any(|name| triple.contains(name))
}

#[cfg(test)]
mod tests {
    use super::super::args::facts;
    use super::*;

    #[test]
    fn only_images_for_linux_on_x86_64_are_touched() {
        for (line, plain) in [
            ("x.c", false),
            ("-m64 x.c", false),
            ("-m32 -m64 x.c", false),
            ("--target=x86_64-unknown-linux-musl x.c", true),
            ("--target=x86_64-linux-uclibc x.c", true),
            ("--target=x86_64-unknown-linux-gnu x.c", false),
            ("-shared x.o", false),
            ("-static-pie x.o", false),
            ("-m32 x.c", true),
            ("-mx32 x.c", true),
            ("--target=aarch64-linux-gnu x.c", true),
            ("-target wasm32-wasi x.c", true),
            ("--target=x86_64-apple-darwin x.c", true),
            ("--target=x86_64-linux-android x.c", true),
            ("--target=x86_64-linux-gnux32 x.c", true),
            ("-mcmodel=kernel x.o", true),
            ("-mcmodel=large x.o", false),
            ("x.cu", true),
            ("-fopenmp-targets=nvptx64 x.c", true),
            ("--driver-mode=cl x.c", true),
            ("--driver-mode=g++ x.c", false),
        ] {
            assert_eq!(Plain::reason(&facts(line)).is_some(), plain, "{line}");
        }
    }

    #[test]
    fn sanitizers_with_a_runtime_turn_randomization_off_until_they_are_turned_off() {
        for (line, reason) in [
            ("-fsanitize=undefined x.c", None),
            ("-fsanitize=address,undefined x.c", Some("address")),
            ("-fsanitize=thread x.c", Some("thread")),
            ("-fsanitize=address -fno-sanitize=address x.c", None),
            ("-fsanitize=address -fno-sanitize=all x.c", None),
        ] {
            let expected = reason.map(|name| Plain::Sanitizers(name.to_owned()));
            assert_eq!(Plain::reason(&facts(line)), expected, "{line}");
        }
    }
}
