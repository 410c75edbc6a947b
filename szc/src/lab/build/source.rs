//! What builds start from: the tree as it is, or revisions of it.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

use super::cache::Cache;
use super::options::{BuildOptions, Level};
use super::revision::{Repository, Revision};
use super::tree::Tree;
use crate::lab::failure::Failure;

/// What a build starts from.
#[derive(Clone, Debug)]
pub(super) enum Source {
    Tree { tree: Tree, hash: String },
    Revision { repository: Repository, revision: Revision, id: String },
}

impl Source {
    pub(super) fn id(&self) -> &str {
        match self {
            Self::Tree { hash, .. } => hash,
            Self::Revision { id, .. } => id,
        }
    }

    /// Where in the folder of a build the command runs, if in a copy.
    pub(super) fn place_in(&self, folder: &Path) -> PathBuf {
        let copy = folder.join("tree");
        match self {
            Self::Tree { .. } => copy,
            // Joining an empty prefix would leave a slash at the end.
            Self::Revision { repository, .. } if repository.prefix() == Path::new("") => copy,
            Self::Revision { repository, .. } => copy.join(repository.prefix()),
        }
    }
}

/// The source of each level.
pub(super) fn sources(
    options: &BuildOptions,
    levels: &[Level],
    place: &Path,
    cache: &Cache,
) -> Result<Vec<Source>, Failure> {
    if options.revisions.is_empty() {
        let tree = Tree::list(place, cache.folder()).map_err(Failure::Usage)?;
        let hash = tree.hash()?;
        return Ok(vec![Source::Tree { tree, hash }; levels.len()]);
    }
    let repository = Repository::of(place).map_err(Failure::Usage)?;
    let names = levels.iter().filter_map(|level| level.revision.as_deref());
    let revisions: Vec<Revision> = names
        .map(|name| repository.revision(name))
        .collect::<Result<_, _>>()
        .map_err(Failure::Usage)?;
    if !options.allow_dirty {
        repository.check_clean(&revisions).map_err(Failure::Usage)?;
    }
    Ok(revisions
        .into_iter()
        .map(|revision| {
            let id = format!("{} in {}", revision.tree, repository.prefix().display());
            Source::Revision { repository: repository.clone(), revision, id }
        })
        .collect())
}
