//! The commands that documents show do what they say: in blocks marked `console` a line behind `$ `
//! is a command, which must succeed, and the lines below are what it prints; in blocks marked
//! `console,fails` it must not succeed, and those of `console,long` are run in the long form of the
//! tests only.
//!
//! A page is read from above by somebody in the project's folder, who has szc on the PATH: so its
//! commands run one after the other, in a folder that has the project's files and a `target` of its
//! own. What measuring says is never the same twice and not compared, unless it fails: then the
//! lines must come in this order, with others between them, such as warnings about the machine.
//! Commands about programs that a reader would have, as `./bench`, are in blocks marked
//! `sh,staged`, or `sh,staged,long`: a script in `tests/book` makes such programs for their page.
//! Blocks of the shell that are not run are marked `sh,norun`; the rules of the house (`tidy`) let
//! no other kind be.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use szc_tests::tools::{Place, is_long, szc};

/// Subcommands whose output depends on how fast a machine is.
const MEASURING: [&str; 7] = ["compare", "run", "gate", "sweep", "bias", "baseline", "history"];

/// A command, where it stands, and what is below it.
struct Shown {
    line: usize,
    command: String,
    output: String,
    fails: bool,
    is_long: bool,
}

/// The commands of a page, and how many lines of the shell it has that are not run.
fn read(text: &str) -> (Vec<Shown>, usize) {
    let (mut shown, mut left_out): (Vec<Shown>, _) = (Vec::new(), 0);
    let mut kind = None;
    for (index, line) in text.lines().enumerate() {
        if let Some(name) = line.strip_prefix("```") {
            kind = if kind.is_none() { Some(name) } else { None };
            continue;
        }
        match kind {
            Some("console" | "console,fails" | "console,long") => {}
            Some("sh,norun") => {
                left_out += 1;
                continue;
            }
            _ => continue,
        }
        let goes_on = shown.last().is_some_and(|last| last.command.ends_with('\\'));
        if let Some(command) = line.strip_prefix("$ ") {
            let command = command.to_owned();
            let (fails, is_long) = (kind == Some("console,fails"), kind == Some("console,long"));
            shown.push(Shown { line: index + 1, command, output: String::new(), fails, is_long });
        } else if let Some(last) = shown.last_mut() {
            let text = if goes_on { &mut last.command } else { &mut last.output };
            text.push_str(if goes_on { "\n" } else { "" });
            text.push_str(line);
            text.push_str(if goes_on { "" } else { "\n" });
        }
    }
    (shown, left_out)
}

/// Pages with commands, from the project's folder on.
fn pages(folder: &Path, from: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(from).expect("a folder").flatten() {
        let path = entry.path();
        let inside = path.strip_prefix(folder).expect("below it");
        if path.is_dir() && inside.starts_with("szc/docs") {
            found.extend(pages(folder, &path));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(inside.to_owned());
        }
    }
    found.sort();
    found
}

/// A folder with the project's files and a `target` of its own.
fn copy_of(project: &Path) -> Place {
    let place = Place::new();
    for entry in fs::read_dir(project).expect("the project's folder").flatten() {
        if entry.file_name() != "target" {
            symlink(entry.path(), place.path.join(entry.file_name())).expect("writable");
        }
    }
    fs::create_dir(place.path.join("target")).expect("writable");
    place
}

/// Whether lines were printed in this order, whatever the seeds. Where a page leaves something out
/// it has a line with three dots.
fn has_lines(printed: &str, shown: &str) -> bool {
    let mut printed = printed.lines().map(without_seeds);
    let shown = shown.lines().filter(|line| line.trim() != "…");
    shown.map(without_seeds).all(|line| printed.any(|other| other == line))
}

/// A line with the same word for all numbers that have seven digits or more.
fn without_seeds(line: &str) -> String {
    let is_seed = |word: &str| word.len() >= 7 && word.parse::<u64>().is_ok();
    let masked = line.split(' ').map(|word| if is_seed(word) { "SEED" } else { word });
    masked.collect::<Vec<_>>().join(" ")
}

/// What is wrong with the commands of a page.
fn wrong(project: &Path, page: &Path) -> Vec<String> {
    let text = fs::read_to_string(project.join(page)).expect("a page");
    let (shown, left_out) = read(&text);
    println!("{}: {} commands, {left_out} lines not run", page.display(), shown.len());
    if shown.is_empty() {
        return Vec::new();
    }
    let place = copy_of(project);
    let here = szc().with_file_name("");
    let path = format!("{}:{}", here.display(), std::env::var("PATH").expect("a path"));
    let mut wrong = Vec::new();
    for Shown { line, command, output, fails, .. } in
        shown.into_iter().filter(|shown| is_long() || !shown.is_long)
    {
        let mut shell = place.command("bash");
        shell.args(["-c", &format!("exec 2>&1; {command}")]).env("PATH", &path);
        for name in ["XDG_DATA_HOME", "XDG_CACHE_HOME"] {
            shell.env(name, place.path.with_file_name(name));
        }
        let found = shell.output().expect("bash starts");
        let printed = String::from_utf8_lossy(&found.stdout);
        let measures = MEASURING.iter().any(|name| command.contains(&format!("szc {name} ")));
        let differs = match (measures, fails) {
            (true, false) => false,
            (true, true) => !has_lines(&printed, &output),
            (false, _) => !output.is_empty() && printed != output,
        };
        if found.status.success() == fails || differs {
            let status = found.status;
            wrong.push(format!("{}:{line}: {command}: {status}\n{printed}", page.display()));
        }
    }
    wrong
}

#[test]
fn commands_that_documents_show_do_what_they_say() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("there");
    let mut all = pages(&project, &project);
    all.extend(pages(&project, &project.join("szc/docs")));
    assert!(all.len() > 5, "{all:?}");
    let wrong: Vec<String> = all.iter().flat_map(|page| wrong(&project, page)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The blocks of a page that need a stage, as one script of the shell; empty if it has none.
fn staged(text: &str, with_long: bool) -> String {
    let mut script = String::new();
    let mut inside = false;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        match line.strip_prefix("```") {
            Some(_) if inside => {
                script.push_str(")\n");
                inside = false;
            }
            Some("sh,staged") => inside = true,
            Some("sh,staged,long") => inside = with_long,
            _ if inside => {}
            _ => continue,
        }
        if line.starts_with("```") {
            script.push_str(if inside { "(\n" } else { "" });
            continue;
        }
        let mut command = line.to_owned();
        while command.ends_with('\\') {
            command.push('\n');
            command.push_str(lines.next().expect("a line that goes on"));
        }
        // The verdict of a gate is its exit code.
        let is_gate = command.starts_with("szc gate ") || command.starts_with("cargo szc gate ");
        script.push_str(&if is_gate {
            format!("{{ {command}\n}} || case $? in 1 | 3) ;; *) exit 9 ;; esac\n")
        } else {
            format!("{command}\n")
        });
    }
    script
}

#[test]
fn commands_about_a_readers_programs_do_their_work_where_there_are_such() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("there");
    let here = szc().with_file_name("");
    let path = format!("{}:{}", here.display(), std::env::var("PATH").expect("a path"));
    let mut wrong = Vec::new();
    for page in pages(&project, &project.join("szc/docs/src")) {
        let text = fs::read_to_string(project.join(&page)).expect("a page");
        let script = staged(&text, is_long());
        let stage = project.join("tests/book").join(page.file_name().expect("a name"));
        let stage = stage.with_extension("sh");
        if script.is_empty() {
            continue;
        }
        assert!(stage.exists(), "{} needs {}", page.display(), stage.display());
        let place = Place::new();
        let mut shell = place.command("bash");
        shell.args(["-c", &format!("exec 2>&1; set -eux\n. \"$STAGE\"\n{script}")]);
        shell.env("PATH", &path).env("PROJECT", &project).env("STAGE", &stage);
        for name in ["XDG_DATA_HOME", "XDG_CACHE_HOME"] {
            shell.env(name, place.path.with_file_name(name));
        }
        let found = shell.output().expect("bash starts");
        println!("{}: {}", page.display(), found.status);
        if !found.status.success() {
            let printed = String::from_utf8_lossy(&found.stdout);
            wrong.push(format!("{}: {}\n{printed}", page.display(), found.status));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Examples that a page of the book shows, each with the line from which on it does.
const SHOWN: [(&str, &str); 2] = [
    ("google_benchmark.cpp", "#include <benchmark/benchmark.h>"),
    ("criterion/benches/parse.rs", "use std::hint::black_box;"),
];

#[test]
fn examples_of_in_process_layouts_are_those_that_the_book_shows() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../szc/docs");
    let page = fs::read_to_string(docs.join("src/in-process.md")).expect("a page");
    for (example, first) in SHOWN {
        let text = fs::read_to_string(docs.join("examples/in-process").join(example));
        let text = text.expect("an example");
        let shown = &text[text.find(first).expect("its first line that is shown")..];
        assert!(page.contains(&format!("\n{shown}```\n")), "{example} is not as it is shown");
    }
}

/// The texts of a picture or a page, without what stands between `<` and `>`.
fn texts(svg: &str) -> Vec<String> {
    let of_element = |rest: &str| {
        let text = rest.split_once('>')?.1.split("</text>").next()?;
        Some(text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
    };
    svg.split("<text").skip(1).filter_map(of_element).collect()
}

#[test]
fn the_pictures_of_the_front_page_show_what_szc_says_of_the_samples_beside_them() {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec-scripts");
    let picture = |name| fs::read_to_string(scripts.join("pictures").join(name)).expect("there");
    let samples = scripts.join("results/levels/tachyon.json.gz");
    let place = Place::new();
    place.run("sh", &["-c", &format!("gzip -dc '{}' >tachyon.json", samples.display())]);
    // A terminal breaks lines where they end.
    let letters = |text: &str| text.split_whitespace().collect::<String>();
    let printed = place.run(szc(), &["compare", "tachyon.json"]);
    let shown = texts(&picture("compare.svg"));
    assert_eq!(shown[0], "$ szc compare tachyon.json");
    assert_eq!(letters(&shown[1..].join(" ")), letters(&printed));
    place.run(szc(), &["report", "tachyon.json", "--html", "page.html"]);
    let page = String::from_utf8(place.read("page.html")).expect("text");
    for text in texts(&picture("report.svg")) {
        assert!(page.contains(&format!(">{text}<")), "the page has no {text:?}");
    }
}

#[test]
fn commands_and_what_they_print_are_told_apart() {
    let page = "```console\n$ a \\\n  b\nc\nd\n$ e\n```\n```sh,norun\nf\n```\n```toml\ng\n```\n\
                ```console,fails\n$ h\n```\n```console,long\n$ i\n```\n";
    let (mut shown, left_out) = read(page);
    let long = shown.pop().expect("the last one");
    assert!((long.command.as_str(), long.is_long, long.fails) == ("i", true, false));
    assert!(shown.iter().all(|one| !one.is_long));
    let texts: Vec<(usize, &str, &str, bool)> =
        shown.iter().map(|s| (s.line, s.command.as_str(), s.output.as_str(), s.fails)).collect();
    let expected = [(2, "a \\\n  b", "c\nd\n", false), (6, "e", "", false), (15, "h", "", true)];
    assert_eq!(texts, expected);
    assert_eq!(left_out, 1);
}

#[test]
fn staged_blocks_become_one_script_in_which_a_gate_may_fail() {
    let page = "```sh,staged\na \\\n  b\nszc gate x   # y\n```\nc\n```sh,staged,long\nd\n```\n\
                ```sh,norun\ne\n```\n";
    let short =
        "(\na \\\n  b\n{ szc gate x   # y\n} || case $? in 1 | 3) ;; *) exit 9 ;; esac\n)\n";
    assert_eq!(staged(page, false), short);
    assert_eq!(staged(page, true), format!("{short}(\nd\n)\n"));
}

#[test]
fn lines_are_found_in_order_whatever_the_seeds() {
    let printed = "A: x\n--seed 6796193065244767\nwarning\nerror: block 1\n  a\n  b\n";
    for (shown, expected) in [
        ("A: x\n--seed 2902365356866416\nerror: block 1\n  …\n  b\n", true),
        ("error: block 2\n", false),
        ("error: block 1\nA: x\n", false),
        ("--seed 1\n", false),
        ("", true),
    ] {
        assert_eq!(has_lines(printed, shown), expected, "{shown}");
    }
}
