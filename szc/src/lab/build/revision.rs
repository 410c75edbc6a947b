//! Revisions of a git repository: their names, their trees, and checkouts of them.
//!
//! A checkout is a git worktree while it is built, so that `git describe` and the like work; then
//! git is made to forget it, and only its files stay in the cache.
#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, anyhow, bail};

/// A git repository seen from one of its folders.
#[derive(Clone, Debug)]
pub struct Repository {
    folder: PathBuf,
    /// From the top of the repository to `folder`; empty at the top.
    prefix: PathBuf,
}

/// A commit by one of its names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    /// As the user called it.
    pub name: String,
    /// Full id of the commit.
    pub commit: String,
    /// Full id of its tree.
    pub tree: String,
}

impl Revision {
    /// "main (1a2b3c4)", or the id alone if that is how it was called.
    #[must_use]
    pub fn title(&self) -> String {
        let short = self.commit.get(..7).unwrap_or(&self.commit);
        if self.commit.starts_with(&self.name) {
            short.to_owned()
        } else {
            format!("{} ({short})", self.name)
        }
    }
}

impl Repository {
    /// The repository that `folder` belongs to.
    ///
    /// # Errors
    /// When it belongs to none, or git cannot be run.
    pub fn of(folder: &Path) -> Result<Self> {
        let prefix = git(folder, ["rev-parse", "--show-prefix"]).map_err(|error| {
            anyhow!(
                "{} is in no git repository, which --rev needs: run szc inside one, or give --tree\
                 \n  ({error:#})",
                folder.display()
            )
        })?;
        Ok(Self { folder: folder.to_owned(), prefix: prefix.into() })
    }

    /// Where in a checkout the folder of this repository is.
    #[must_use]
    pub fn prefix(&self) -> &Path {
        &self.prefix
    }

    /// Finds a commit.
    ///
    /// # Errors
    /// When there is no commit of that name.
    pub fn revision(&self, name: &str) -> Result<Revision> {
        let resolve = |what: String| {
            git(&self.folder, ["rev-parse", "--verify", "--quiet", "--end-of-options", &what])
        };
        let commit = resolve(format!("{name}^{{commit}}")).map_err(|_| {
            anyhow!(
                "there is no revision {name:?} in the repository of {}: a branch, tag or commit is \
                 needed; `git log --oneline --all` lists them, and a shallow clone lacks most \
                 (`git fetch --unshallow`)",
                self.folder.display()
            )
        })?;
        let tree = resolve(format!("{commit}^{{tree}}"))?;
        Ok(Revision { name: name.to_owned(), commit, tree })
    }

    /// Refuses to let HEAD stand for files that differ from it.
    ///
    /// # Errors
    /// When one of `revisions` is HEAD and tracked files have changed since.
    pub fn check_clean(&self, revisions: &[Revision]) -> Result<()> {
        let head = self.revision("HEAD")?.commit;
        let Some(revision) = revisions.iter().find(|revision| revision.commit == head) else {
            return Ok(());
        };
        let changed = git(&self.folder, ["status", "--porcelain", "--untracked-files=no"])?;
        if let Some(first) = changed.lines().next() {
            bail!(
                "{} is built as it was committed, but {} tracked files have changed since ({}): \
                 commit or stash the changes, or add --allow-dirty to leave them out",
                revision.title(),
                changed.lines().count(),
                first.trim(),
            );
        }
        Ok(())
    }

    /// Checks `revision` out into `target`, which does not exist yet.
    ///
    /// # Errors
    /// What git says.
    pub fn check_out(&self, revision: &Revision, target: &Path) -> Result<()> {
        // A worktree whose folder is gone would be in the way.
        git(&self.folder, ["worktree", "prune"])?;
        let target = target.as_os_str();
        let args = ["-c", "core.hooksPath=/dev/null", "worktree", "add", "--quiet", "--force"];
        let args = args.into_iter().chain(["--detach"]).map(OsStr::new);
        git(&self.folder, args.chain([target, OsStr::new(&revision.commit)]))
            .with_context(|| format!("cannot check out {}", revision.title()))?;
        Ok(())
    }

    /// Makes git forget a checkout; its files stay.
    ///
    /// # Errors
    /// What git says.
    pub fn release(&self, target: &Path) -> Result<()> {
        let link = target.join(".git");
        if link.is_file() {
            fs::remove_file(&link).with_context(|| format!("cannot remove {}", link.display()))?;
        }
        git(&self.folder, ["worktree", "prune"]).map(drop)
    }
}

/// git in `folder`, whatever repository a hook that runs szc belongs to.
pub(super) fn command(folder: &Path) -> Command {
    let mut command = Command::new("git");
    for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
        command.env_remove(variable);
    }
    command.arg("-C").arg(folder);
    command
}

/// What git prints, without the line end.
fn git<S: AsRef<OsStr>>(folder: &Path, args: impl IntoIterator<Item = S>) -> Result<String> {
    let output = command(folder)
        .args(args)
        .output()
        .context("git cannot be run: install it, or leave --rev out")?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        bail!("git: {}", stderr.trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim_end_matches('\n').to_owned())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A repository with a first commit, in which `run` carries out git's commands.
    pub(in crate::lab::build) fn repository(folder: &Path) {
        run(folder, &["init", "-q", "-b", "main"]);
        run(folder, &["config", "user.name", "somebody"]);
        run(folder, &["config", "user.email", "somebody@example.org"]);
        fs::write(folder.join("value"), "1\n").unwrap();
        commit(folder, "one");
    }

    pub(in crate::lab::build) fn commit(folder: &Path, message: &str) {
        run(folder, &["add", "-A"]);
        run(folder, &["commit", "-q", "-m", message]);
    }

    pub(in crate::lab::build) fn run(folder: &Path, args: &[&str]) {
        git(folder, args).unwrap();
    }

    #[test]
    fn revisions_are_found_by_name_and_unknown_ones_refused() {
        let folder = tempfile::tempdir().unwrap();
        repository(folder.path());
        let repository = Repository::of(folder.path()).unwrap();
        let main = repository.revision("main").unwrap();
        assert_eq!(main.commit.len(), 40);
        assert_eq!(repository.revision("HEAD").unwrap().tree, main.tree);
        assert_eq!(main.title(), format!("main ({})", &main.commit[..7]));
        assert_eq!(repository.revision(&main.commit).unwrap().title(), main.commit[..7]);
        for name in ["no-such-branch", "--upload-pack=x", "", "main:value"] {
            let error = repository.revision(name).unwrap_err().to_string();
            assert!(error.contains("there is no revision"), "{error}");
        }
    }

    #[test]
    fn a_folder_outside_of_any_repository_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let error = Repository::of(folder.path()).unwrap_err().to_string();
        assert!(error.contains("is in no git repository"), "{error}");
    }

    #[test]
    fn changes_since_head_matter_only_when_head_is_built() {
        let folder = tempfile::tempdir().unwrap();
        repository(folder.path());
        fs::write(folder.path().join("value"), "2\n").unwrap();
        commit(folder.path(), "two");
        let repository = Repository::of(folder.path()).unwrap();
        let [old, new] = ["HEAD~1", "main"].map(|name| repository.revision(name).unwrap());
        repository.check_clean(&[old.clone(), new.clone()]).unwrap();
        fs::write(folder.path().join("new-file"), "").unwrap();
        repository.check_clean(&[old.clone(), new.clone()]).unwrap();
        fs::write(folder.path().join("value"), "3\n").unwrap();
        repository.check_clean(std::slice::from_ref(&old)).unwrap();
        let error = repository.check_clean(&[old, new]).unwrap_err().to_string();
        assert!(error.contains("1 tracked files have changed"), "{error}");
        assert!(error.contains("--allow-dirty"), "{error}");
    }

    #[test]
    fn a_checkout_is_a_worktree_until_it_is_released() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().join("repository");
        fs::create_dir_all(top.join("inner")).unwrap();
        fs::write(top.join("inner/x"), "").unwrap();
        repository(&top);
        let repository = Repository::of(&top.join("inner")).unwrap();
        assert_eq!(repository.prefix(), Path::new("inner/"));
        let target = folder.path().join("checkout");
        let main = repository.revision("main").unwrap();
        repository.check_out(&main, &target).unwrap();
        assert_eq!(git(&target, ["rev-parse", "HEAD"]).unwrap(), main.commit);
        repository.release(&target).unwrap();
        assert_eq!(fs::read_to_string(target.join("value")).unwrap(), "1\n");
        assert_eq!(git(&top, ["worktree", "list"]).unwrap().lines().count(), 1);
        fs::remove_dir_all(&target).unwrap();
        repository.check_out(&main, &target).unwrap();
    }
}
