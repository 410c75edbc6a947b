//! Where builds are kept: one folder for each, named by a hash of all that decides about it.
//!
//! A build's folder never moves, for programs keep paths of where they were built. It counts only
//! with `done.json` in it, which is written last; a lock file beside it lets one szc at a time
//! make it. Builds that nobody used for a month are removed.
#![forbid(unsafe_code)]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, anyhow};
use serde::{Deserialize, Serialize};

const DONE: &str = "done.json";
const KEPT_UNUSED: Duration = Duration::from_secs(30 * 24 * 3600);

/// The folder of all builds.
#[derive(Clone, Debug)]
pub struct Cache(PathBuf);

/// What is kept with a build, for whoever looks into the cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// What the build was called.
    pub label: String,
    /// The command after substitution.
    pub command: String,
    /// Hash or git id of the tree it was made from.
    pub tree: String,
    /// Version of szc.
    pub szc_version: String,
}

/// A build that this process alone may change; unlocked when dropped.
#[derive(Debug)]
pub struct CachedBuild {
    folder: PathBuf,
    _lock: File,
}

impl Cache {
    /// A cache in `folder`, or where the XDG base directories say.
    ///
    /// # Errors
    /// When the folder cannot be made, or there is no home to have it in.
    pub fn open(folder: Option<&Path>) -> Result<Self> {
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let folder = match folder {
            Some(folder) => folder.to_owned(),
            None => variable("XDG_CACHE_HOME")
                .map(PathBuf::from)
                .or_else(|| Some(PathBuf::from(variable("HOME")?).join(".cache")))
                .ok_or_else(|| {
                    anyhow!("there is no folder to keep builds in: set HOME, or give --cache DIR")
                })?
                .join("szc/builds"),
        };
        let context = || format!("cannot keep builds in {}: give --cache DIR", folder.display());
        fs::create_dir_all(&folder).with_context(context)?;
        Ok(Self(fs::canonicalize(&folder).with_context(context)?))
    }

    /// Where it is.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.0
    }

    /// Waits for the build `key` and locks it.
    ///
    /// # Errors
    /// When the lock file cannot be made.
    pub fn lock(&self, key: &str) -> Result<CachedBuild> {
        let path = self.0.join(format!("{key}.lock"));
        let context = || format!("cannot lock {}", path.display());
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .with_context(context)?;
        lock.lock().with_context(context)?;
        Ok(CachedBuild { folder: self.0.join(key), _lock: lock })
    }

    /// Removes builds that nobody used for a month; what cannot be removed stays.
    pub fn clean(&self) {
        let Ok(entries) = fs::read_dir(&self.0) else {
            return;
        };
        for entry in entries.flatten() {
            let used = fs::metadata(entry.path().join(DONE)).and_then(|found| found.modified());
            let age = used.ok().and_then(|used| SystemTime::now().duration_since(used).ok());
            if age.is_some_and(|age| age > KEPT_UNUSED)
                && let Some(key) = entry.file_name().to_str()
                && let Ok(locked) = self.lock(key)
            {
                let _ = locked.empty();
            }
        }
    }
}

impl CachedBuild {
    /// Where the build is, or is to be.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether the build is there; then it counts as used now.
    #[must_use]
    pub fn is_done(&self) -> bool {
        let Ok(done) = File::options().append(true).open(self.folder.join(DONE)) else {
            return false;
        };
        // Only the removal of unused builds goes by this time.
        let _ = done.set_modified(SystemTime::now());
        true
    }

    /// Removes what is there.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn empty(&self) -> Result<()> {
        if self.folder.exists() {
            // First of all it must no longer count as done.
            let _ = fs::remove_file(self.folder.join(DONE));
            fs::remove_dir_all(&self.folder)
                .with_context(|| format!("cannot remove {}", self.folder.display()))?;
        }
        Ok(())
    }

    /// Declares the build done.
    ///
    /// # Errors
    /// When the record cannot be written.
    pub fn done(&self, record: &Record) -> Result<()> {
        let path = self.folder.join(DONE);
        let text = serde_json::to_string_pretty(record)?;
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        let text = |text: &str| text.to_owned();
        Record {
            label: text("-O2"),
            command: text("make"),
            tree: text("1"),
            szc_version: text("1"),
        }
    }

    #[test]
    fn only_a_build_that_was_declared_done_counts() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(Some(&folder.path().join("a/b"))).unwrap();
        let entry = cache.lock("key").unwrap();
        assert!(!entry.is_done());
        fs::create_dir(entry.folder()).unwrap();
        assert!(!entry.is_done());
        entry.done(&record()).unwrap();
        assert!(entry.is_done());
        entry.empty().unwrap();
        assert!(!entry.is_done());
    }

    #[test]
    fn one_at_a_time_has_the_build() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(Some(folder.path())).unwrap();
        let entry = cache.lock("key").unwrap();
        let other = File::open(folder.path().join("key.lock")).unwrap();
        assert!(other.try_lock().is_err());
        drop(entry);
        other.try_lock().unwrap();
    }

    #[test]
    fn builds_that_nobody_used_for_a_month_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(Some(folder.path())).unwrap();
        for key in ["old", "new"] {
            let entry = cache.lock(key).unwrap();
            fs::create_dir(entry.folder()).unwrap();
            entry.done(&record()).unwrap();
        }
        let long_ago = SystemTime::now() - KEPT_UNUSED - Duration::from_secs(60);
        File::options()
            .append(true)
            .open(folder.path().join("old").join(DONE))
            .unwrap()
            .set_modified(long_ago)
            .unwrap();
        cache.clean();
        assert!(!folder.path().join("old").exists());
        assert!(folder.path().join("new").exists());
    }

    #[test]
    fn a_cache_that_cannot_be_made_is_named() {
        let error = Cache::open(Some(Path::new("/proc/no"))).unwrap_err().to_string();
        assert!(error.contains("/proc/no"), "{error}");
    }
}
