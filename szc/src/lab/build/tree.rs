//! The files that a build starts from: which they are, their hash, and a copy of them.
//!
//! In a git repository these are the tracked files and the new ones that are not ignored: objects
//! of an earlier build would otherwise be taken for those of this one. Elsewhere it is every file.
#![forbid(unsafe_code)]

use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::{fs, io};

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};

use super::revision;

/// Files below a folder.
#[derive(Clone, Debug)]
pub struct Tree {
    root: PathBuf,
    /// Relative to `root`, sorted, without folders.
    files: Vec<PathBuf>,
}

impl Tree {
    /// Lists the files below `root`, but none of `except` (where copies are kept).
    ///
    /// # Errors
    /// When `root` is no folder or cannot be read.
    pub fn list(root: &Path, except: &Path) -> Result<Self> {
        let root = fs::canonicalize(root)
            .with_context(|| format!("cannot read the tree {}", root.display()))?;
        if !root.is_dir() {
            bail!("cannot build in {}: a folder is needed (--tree)", root.display());
        }
        let except = fs::canonicalize(except).unwrap_or_else(|_| except.to_owned());
        let mut files = Vec::new();
        match git_files(&root) {
            Some(listed) => {
                for file in listed {
                    add(&root, &file, &except, &mut files)?;
                }
            }
            None => add(&root, Path::new(""), &except, &mut files)?,
        }
        files.sort_unstable();
        files.dedup();
        Ok(Self { root, files })
    }

    /// Where the files are.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// SHA-256 over names, kinds, execute permissions and contents.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn hash(&self) -> Result<String> {
        let mut hash = Sha256::new();
        for file in &self.files {
            let path = self.root.join(file);
            let context = || format!("cannot read {}", path.display());
            let metadata = fs::symlink_metadata(&path).with_context(context)?;
            let (kind, contents) = if metadata.is_symlink() {
                let target = fs::read_link(&path).with_context(context)?;
                ("link", target.into_os_string().into_vec())
            } else {
                let executable = metadata.permissions().mode() & 0o111 != 0;
                let contents = fs::read(&path).with_context(context)?;
                (if executable { "program" } else { "file" }, contents)
            };
            hash.update(file.as_os_str().as_bytes());
            hash.update([0]);
            hash.update(kind);
            hash.update([0]);
            hash.update(Sha256::digest(&contents));
        }
        Ok(format!("{:x}", hash.finalize()))
    }

    /// Copies the files, with permissions and times, for make goes by those.
    ///
    /// # Errors
    /// When a file cannot be read or written.
    pub fn copy_to(&self, target: &Path) -> Result<()> {
        for file in &self.files {
            let (from, to) = (self.root.join(file), target.join(file));
            copy(&from, &to)
                .with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
        }
        Ok(())
    }
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    let metadata = fs::symlink_metadata(from)?;
    if metadata.is_symlink() {
        return symlink(fs::read_link(from)?, to);
    }
    fs::copy(from, to)?;
    let times = fs::FileTimes::new().set_modified(metadata.modified()?);
    // A file without write permission can be opened for reading only, which is enough for its
    // times.
    fs::File::open(to)?.set_times(times)
}

/// Adds a file, or all files of a folder (a submodule, or the tree itself).
fn add(root: &Path, file: &Path, except: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let path = root.join(file);
    // git lists files that were deleted since.
    let Ok(metadata) = fs::symlink_metadata(&path) else {
        return Ok(());
    };
    if metadata.is_dir() {
        if path == except || path.file_name().is_some_and(|name| name == ".git") {
            return Ok(());
        }
        let context = || format!("cannot read the folder {}", path.display());
        for entry in fs::read_dir(&path).with_context(context)? {
            add(root, &file.join(entry.with_context(context)?.file_name()), except, files)?;
        }
    } else if metadata.is_file() || metadata.is_symlink() {
        files.push(file.to_owned());
    }
    Ok(())
}

fn git_files(root: &Path) -> Option<Vec<PathBuf>> {
    let output = revision::command(root)
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .output()
        .ok()?;
    // A folder of a repository that is ignored as a whole is not known to git.
    (output.status.success() && !output.stdout.is_empty()).then(|| {
        output
            .stdout
            .split(|byte| *byte == 0)
            .filter(|name| !name.is_empty())
            .map(|name| PathBuf::from(std::ffi::OsStr::from_bytes(name)))
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn write(root: &Path, file: &str, text: &str) {
        let path = root.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn hash(root: &Path) -> String {
        Tree::list(root, Path::new("/nonexistent")).unwrap().hash().unwrap()
    }

    #[test]
    fn a_copy_has_the_hash_the_permissions_and_the_times_of_the_tree() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        write(&from, "a/b.c", "int x;");
        write(&from, "run.sh", "#!/bin/sh\n");
        fs::set_permissions(from.join("run.sh"), fs::Permissions::from_mode(0o555)).unwrap();
        symlink("a/b.c", from.join("link")).unwrap();
        let long_ago = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000);
        fs::File::open(from.join("a/b.c"))
            .unwrap()
            .set_times(fs::FileTimes::new().set_modified(long_ago))
            .unwrap();
        let tree = Tree::list(&from, &to).unwrap();
        tree.copy_to(&to).unwrap();
        assert_eq!(hash(&to), tree.hash().unwrap());
        assert_eq!(fs::metadata(to.join("a/b.c")).unwrap().modified().unwrap(), long_ago);
        assert_eq!(fs::read_link(to.join("link")).unwrap(), Path::new("a/b.c"));
        assert_eq!(fs::metadata(to.join("run.sh")).unwrap().permissions().mode() & 0o777, 0o555);
    }

    #[test]
    fn names_contents_and_permissions_make_the_hash_and_times_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        write(root, "a", "1");
        let first = hash(root);
        write(root, "a", "1");
        assert_eq!(hash(root), first);
        write(root, "a", "2");
        let second = hash(root);
        assert_ne!(second, first);
        fs::set_permissions(root.join("a"), fs::Permissions::from_mode(0o755)).unwrap();
        assert_ne!(hash(root), second);
        fs::rename(root.join("a"), root.join("b")).unwrap();
        fs::set_permissions(root.join("b"), fs::Permissions::from_mode(0o644)).unwrap();
        assert_ne!(hash(root), second);
    }

    #[test]
    fn in_a_repository_ignored_files_and_git_itself_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        assert!(Command::new("git").args(["init", "-q"]).arg(root).status().unwrap().success());
        write(root, ".gitignore", "*.o\n");
        write(root, "main.c", "");
        write(root, "main.o", "");
        let tree = Tree::list(root, Path::new("/nonexistent")).unwrap();
        assert_eq!(tree.files, [Path::new(".gitignore"), Path::new("main.c")]);
    }

    #[test]
    fn where_copies_are_kept_is_no_part_of_the_tree() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "x", "");
        write(folder.path(), "cache/y", "");
        let tree = Tree::list(folder.path(), &folder.path().join("cache")).unwrap();
        assert_eq!(tree.files, [Path::new("x")]);
    }

    #[test]
    fn a_missing_tree_is_named() {
        let error = Tree::list(Path::new("/no/such/tree"), Path::new("/x")).unwrap_err();
        assert!(error.to_string().contains("/no/such/tree"));
    }
}
