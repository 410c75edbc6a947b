//! Builds of small trees, with cp and sh as compilers.

use std::fs;

use super::revision::tests::{commit, repository, run};
use super::*;

struct Workshop {
    folder: tempfile::TempDir,
}

impl Workshop {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("tree")).unwrap();
        fs::write(folder.path().join("tree/source"), "hello\n").unwrap();
        Self { folder }
    }

    fn tree(&self) -> PathBuf {
        self.folder.path().join("tree")
    }

    fn options(&self, build: &str, flags: &str) -> BuildOptions {
        BuildOptions {
            build: Some(build.to_owned()),
            flags: if flags.is_empty() { Vec::new() } else { vec![flags.to_owned()] },
            tree: Some(self.tree()),
            cache: Some(self.folder.path().join("cache")),
            ..BuildOptions::default()
        }
    }
}

fn build(options: &BuildOptions, command: &str) -> Result<Vec<Version>, Failure> {
    versions(options, &[command.to_owned()], &Stop::new(), &mut |_| {})
}

#[test]
fn each_version_is_built_in_its_own_copy_and_only_once() {
    let workshop = Workshop::new();
    let options = workshop.options("cat source > made; echo {flags} >> made", "-O2,-O3");
    let built = build(&options, "cat made").unwrap();
    assert_eq!(
        built.iter().map(|version| version.label.as_str()).collect::<Vec<_>>(),
        ["-O2", "-O3"]
    );
    for version in &built {
        assert!(!version.reused);
        let folder = version.folder.as_ref().unwrap();
        let made = fs::read_to_string(folder.join("made")).unwrap();
        assert_eq!(made, format!("hello\n{}\n", version.label));
        assert_eq!(version.command("cat made {flags}"), format!("cat made {}", version.label));
    }
    assert!(!workshop.tree().join("made").exists(), "the tree itself stays as it is");
    let again = build(&options, "cat made").unwrap();
    assert!(again.iter().all(|version| version.reused));
    assert_eq!(again[0].folder, built[0].folder);
    let forced = BuildOptions { rebuild: true, ..options };
    assert!(build(&forced, "cat made").unwrap().iter().all(|version| !version.reused));
}

#[test]
fn a_change_of_the_tree_or_of_the_command_is_another_build() {
    let workshop = Workshop::new();
    let first = build(&workshop.options("cp source made", ""), "cat made").unwrap();
    let other = build(&workshop.options("cp source  made", ""), "cat made").unwrap();
    assert_ne!(first[0].folder, other[0].folder);
    fs::write(workshop.tree().join("source"), "bye\n").unwrap();
    let changed = build(&workshop.options("cp source made", ""), "cat made").unwrap();
    assert_ne!(first[0].folder, changed[0].folder);
    let made = changed[0].folder.as_ref().unwrap().join("made");
    assert_eq!(fs::read_to_string(made).unwrap(), "bye\n");
}

#[test]
fn a_build_into_out_leaves_programs_where_the_user_is() {
    let workshop = Workshop::new();
    let options = workshop.options("cp source {out}/made", "");
    let built = build(&options, "cat {out}/made").unwrap();
    assert_eq!(built[0].folder, None);
    let command = built[0].command("cat {out}/made");
    let path = command.strip_prefix("cat ").unwrap();
    assert_eq!(fs::read_to_string(path).unwrap(), "hello\n");
    let error = build(&options, "cat made").unwrap_err();
    assert!(
        matches!(&error, Failure::Usage(error) if error.to_string().contains("{out}/bench")),
        "{error:?}"
    );
}

#[test]
fn a_failed_build_shows_the_end_of_its_output_and_is_tried_again() {
    let workshop = Workshop::new();
    let options = workshop.options("seq 100; echo no such thing >&2; exit 3", "");
    for _ in 0..2 {
        let error = build(&options, "true").unwrap_err();
        assert_eq!(error.exit_code(), crate::lab::exit::EXIT_PROGRAM);
        let text = error.message();
        assert!(text.contains("exit status: 3"), "{text}");
        assert!(text.ends_with("\n    100\n    no such thing"), "{text}");
        assert!(!text.contains("\n    80\n"), "{text}");
    }
}

#[test]
fn flags_that_no_command_uses_are_refused() {
    let workshop = Workshop::new();
    let error = build(&workshop.options("true", "-O2,-O3"), "true").unwrap_err();
    assert_eq!(error.exit_code(), crate::lab::exit::EXIT_USAGE);
    assert!(error.message().contains("{flags} stands in no command"));
}

#[test]
fn without_a_build_parameters_go_into_the_commands() {
    let options = BuildOptions { parameters: vec!["n=1,2".to_owned()], ..BuildOptions::default() };
    let found = build(&options, "./bench {n}").unwrap();
    assert_eq!(
        found.iter().map(|one| one.command("./bench {n}")).collect::<Vec<_>>(),
        ["./bench 1", "./bench 2"]
    );
    assert_eq!(found[0].folder, None);
}

#[test]
fn revisions_are_built_side_by_side_and_forgotten_by_git() {
    let workshop = Workshop::new();
    repository(&workshop.tree());
    fs::write(workshop.tree().join("value"), "2\n").unwrap();
    commit(&workshop.tree(), "two");
    let options = BuildOptions {
        revisions: vec!["HEAD~1".to_owned(), "main".to_owned()],
        ..workshop.options("git rev-parse HEAD > made; cat value >> made", "")
    };
    let built = build(&options, "cat made").unwrap();
    for (version, value) in built.iter().zip(["1", "2"]) {
        let made = fs::read_to_string(version.folder.as_ref().unwrap().join("made")).unwrap();
        let lines: Vec<&str> = made.lines().collect();
        assert_eq!((lines[0].len(), lines[1]), (40, value));
    }
    // The same files at another commit are the same build.
    run(&workshop.tree(), &["commit", "-q", "--allow-empty", "-m", "nothing"]);
    let options = BuildOptions { revisions: vec!["main".to_owned()], ..options };
    let again = build(&options, "cat made").unwrap();
    assert!(again[0].reused);
    assert_eq!(again[0].folder, built[1].folder);
    let worktrees =
        revision::command(&workshop.tree()).args(["worktree", "list"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&worktrees.stdout).lines().count(), 1);
}

#[test]
fn unknown_revisions_and_changed_files_are_usage_errors() {
    let workshop = Workshop::new();
    repository(&workshop.tree());
    let with = |revision: &str| BuildOptions {
        revisions: vec![revision.to_owned()],
        ..workshop.options("true", "")
    };
    let error = build(&with("nowhere"), "true").unwrap_err();
    assert_eq!(error.exit_code(), crate::lab::exit::EXIT_USAGE);
    assert!(error.message().contains("there is no revision \"nowhere\""));
    fs::write(workshop.tree().join("value"), "changed\n").unwrap();
    let error = build(&with("HEAD"), "true").unwrap_err();
    assert_eq!(error.exit_code(), crate::lab::exit::EXIT_USAGE);
    build(&BuildOptions { allow_dirty: true, ..with("HEAD") }, "true").unwrap();
}

#[test]
fn a_request_to_stop_ends_building() {
    let workshop = Workshop::new();
    let stop = Stop::new();
    stop.request(2);
    let options = workshop.options("true", "");
    let error = versions(&options, &["true".to_owned()], &stop, &mut |_| {}).unwrap_err();
    assert_eq!(error.exit_code(), 130);
}
