//! What cargo says of a workspace: where it builds, and which benches its packages have.
#![forbid(unsafe_code)]

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::error::{Class, report};

/// The part of `cargo metadata` that is needed here.
#[derive(Debug, Deserialize)]
pub(super) struct Workspace {
    pub(super) target_directory: PathBuf,
    packages: Vec<Package>,
}

#[derive(Debug, Deserialize)]
struct Package {
    name: String,
    manifest_path: PathBuf,
    targets: Vec<Target>,
}

#[derive(Debug, Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

/// A bench of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bench {
    pub(super) name: String,
    pub(super) package: String,
    /// The folder of the package, in which its benches run.
    pub(super) folder: PathBuf,
}

/// The cargo that runs this subcommand.
pub(super) fn cargo() -> Command {
    let named = env::var_os("CARGO").filter(|value| !value.is_empty());
    Command::new(named.unwrap_or_else(|| "cargo".into()))
}

impl Workspace {
    /// The workspace of the current folder, or of `--manifest-path` in the arguments of cargo.
    ///
    /// # Errors
    /// With the exit code of cargo, which has said why.
    pub(super) fn of(args: &[OsString]) -> Result<Self, ExitCode> {
        let mut command = cargo();
        command.args(["metadata", "--no-deps", "--format-version=1"]).args(about_manifests(args));
        let failed = |error: anyhow::Error| report(Class::Failed, error);
        let output = command
            .stderr(Stdio::inherit())
            .output()
            .context("cargo cannot be run: it comes with Rust (rustup.rs)")
            .map_err(failed)?;
        if !output.status.success() {
            let code = output.status.code().and_then(|code| u8::try_from(code).ok());
            return Err(code.unwrap_or(1).into());
        }
        serde_json::from_slice(&output.stdout)
            .context("what `cargo metadata` says cannot be read: is this cargo 1.60 or newer?")
            .map_err(failed)
    }

    /// The one bench that is meant: of this name, of this package, or the only one of the package
    /// that `here` lies in.
    ///
    /// # Errors
    /// There is none, or there are several; both with the list of all.
    pub(super) fn bench(
        &self,
        name: Option<&str>,
        package: Option<&str>,
        here: &Path,
    ) -> Result<Bench> {
        let all = self.benches();
        let fits = |bench: &&Bench| {
            name.is_none_or(|name| bench.name == name)
                && package.is_none_or(|package| bench.package == package)
        };
        let fitting: Vec<&Bench> = all.iter().filter(fits).collect();
        let depth = |bench: &Bench| {
            here.starts_with(&bench.folder).then(|| bench.folder.components().count())
        };
        let deepest = fitting.iter().filter_map(|bench| depth(bench)).max();
        let near: Vec<&&Bench> =
            fitting.iter().filter(|bench| deepest.is_none() || depth(bench) == deepest).collect();
        if let [one] = near[..] {
            return Ok((*one).clone());
        }
        if all.is_empty() {
            bail!(
                "there is no bench in this workspace\n  needed: a target of cargo bench\n  next: \
                 put one into benches/, or run cargo szc in the folder of another package"
            );
        }
        let title = |bench: &Bench| format!("--bench {} -p {}", bench.name, bench.package);
        let list: Vec<String> = all.iter().map(title).collect();
        bail!(
            "{} benches fit, and one is needed\n  next: choose one of\n    {}",
            near.len(),
            list.join("\n    ")
        )
    }

    fn benches(&self) -> Vec<Bench> {
        let of_package = |package: &Package| {
            let benches =
                package.targets.iter().filter(|one| one.kind.iter().any(|k| k == "bench"));
            let folder = package.manifest_path.parent().unwrap_or(Path::new("/")).to_owned();
            let bench = |target: &Target| Bench {
                name: target.name.clone(),
                package: package.name.clone(),
                folder: folder.clone(),
            };
            benches.map(bench).collect::<Vec<_>>()
        };
        self.packages.iter().flat_map(of_package).collect()
    }
}

/// The arguments that decide about which workspace it is and how it is configured.
fn about_manifests(args: &[OsString]) -> Vec<OsString> {
    let mut found = Vec::new();
    let mut args = args.iter().take_while(|arg| *arg != "--");
    while let Some(arg) = args.next() {
        let text = arg.to_string_lossy();
        let is = |option: &str| text.strip_prefix(option).is_some_and(|rest| rest.starts_with('='));
        if text == "--manifest-path" || text == "--config" {
            found.push(arg.clone());
            found.extend(args.next().cloned());
        } else if is("--manifest-path") || is("--config") {
            found.push(arg.clone());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workspace() -> Workspace {
        serde_json::from_str(
            r#"{"target_directory": "/w/target", "packages": [
                {"name": "one", "manifest_path": "/w/Cargo.toml", "targets": [
                    {"name": "one", "kind": ["lib"]}, {"name": "parser", "kind": ["bench"]}]},
                {"name": "two", "manifest_path": "/w/two/Cargo.toml", "targets": [
                    {"name": "parser", "kind": ["bench"]},
                    {"name": "sort", "kind": ["bench"]}]}]}"#,
        )
        .expect("metadata")
    }

    #[test]
    fn a_bench_is_found_by_name_package_and_where_one_is() {
        let found = |name, package, here: &str| {
            let found =
                workspace().bench(name, package, Path::new(here)).map_err(|e| e.to_string());
            found.map(|bench| format!("{} of {}", bench.name, bench.package))
        };
        assert_eq!(found(Some("sort"), None, "/w").as_deref(), Ok("sort of two"));
        assert_eq!(found(Some("parser"), None, "/w/two/src").as_deref(), Ok("parser of two"));
        assert_eq!(found(Some("parser"), None, "/w").as_deref(), Ok("parser of one"));
        assert_eq!(found(None, None, "/w").as_deref(), Ok("parser of one"));
        assert_eq!(found(None, Some("one"), "/w/two").as_deref(), Ok("parser of one"));
        let error = found(None, Some("two"), "/w").expect_err("two of them");
        assert!(error.starts_with("2 benches fit") && error.contains("--bench sort -p two"));
        assert!(found(Some("no"), None, "/w").expect_err("none").starts_with("0 benches fit"));
    }

    #[test]
    fn arguments_about_the_workspace_are_told_from_others() {
        let args =
            ["--release", "--manifest-path", "a/Cargo.toml", "--config=x=1", "--", "--config"];
        let args: Vec<OsString> = args.map(OsString::from).to_vec();
        assert_eq!(about_manifests(&args), args[1..4]);
    }
}
