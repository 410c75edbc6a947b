//! Where things are kept, and how a folder becomes complete all at once.
#![forbid(unsafe_code)]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

/// The cache of the suite.
#[derive(Clone, Debug)]
pub struct Cache(PathBuf);

impl Cache {
    /// The cache in this folder, which is made if it is not there.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn new(folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        // Commands run elsewhere.
        let folder =
            folder.canonicalize().with_context(|| format!("cannot find {}", folder.display()))?;
        Ok(Self(folder))
    }

    /// `KIND/NAME` in it; the folder KIND is there afterwards.
    ///
    /// # Errors
    /// When that cannot be made.
    pub fn place(&self, kind: &str, name: &str) -> Result<PathBuf> {
        let path = self.0.join(kind).join(name);
        let folder = path.parent().expect("it was joined");
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        Ok(path)
    }

    /// A new folder beside where its content belongs, which is removed unless it is [`publish`]ed.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn scratch(&self) -> Result<TempDir> {
        let place = self.place("scratch", "new")?;
        let folder = place.parent().expect("it was joined");
        tempfile::Builder::new()
            .prefix("new-")
            .tempdir_in(folder)
            .with_context(|| format!("cannot make a folder in {}", folder.display()))
    }
}

/// Moves a finished folder to its place; if another process was faster, its result stays.
///
/// # Errors
/// When it cannot be moved.
pub fn publish(scratch: TempDir, place: &Path) -> Result<()> {
    let folder = scratch.path();
    match fs::rename(folder, place) {
        Ok(()) => {
            // What was there is at its place now.
            let _ = scratch.keep();
            Ok(())
        }
        Err(_) if place.is_dir() => Ok(()),
        Err(error) => Err(error).with_context(|| format!("cannot make {}", place.display())),
    }
}

/// Copies a file or a whole folder, with times and links: makefiles compare times.
///
/// # Errors
/// When `cp` fails, with what it says.
pub fn copy(from: &Path, to: &Path) -> Result<()> {
    let output = Command::new("cp")
        .args(["-a", "--reflink=auto", "--"])
        .args([from, to])
        .output()
        .context("cannot run cp")?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}

/// Waits until no other process works at what this file stands for; until the result is dropped.
///
/// # Errors
/// When the file cannot be made or locked.
pub fn lock(path: &Path) -> Result<File> {
    let file = File::create(path).with_context(|| format!("cannot make {}", path.display()))?;
    file.lock().with_context(|| format!("cannot lock {}", path.display()))?;
    Ok(file)
}
