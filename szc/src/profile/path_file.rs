//! The file of a path map, as JSON.
#![forbid(unsafe_code)]

use std::fs;
use std::path::Path as FilePath;

use anyhow::{Context as _, Result, bail};
use object::Object as _;
use serde::{Deserialize, Serialize};
use szc_sampler::heights::map::{Context, Depth, Function, Path, PathMap, Site};

/// The version that is written.
const VERSION: u32 = 1;

/// A path map, and what it was made of.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub struct PathFile {
    /// Version of the form.
    szc_path_map: u32,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Stacks that it was made of.
    pub stacks: u64,
    /// Stacks that were cut off, or of unknown beginning.
    pub unusable: u64,
    /// Seed of the stack whose layout tells most of its paths apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack_seed: Option<u64>,
    files: Vec<File>,
    /// File, function, return address, sizes of the frame.
    sites: Vec<(u32, u64, u64, Vec<u32>)>,
    /// Path to the caller, call.
    paths: Vec<(Option<u32>, u32)>,
    /// File, function, path, samples.
    contexts: Vec<(u32, u64, u32, u64)>,
    /// File, function, instruction, bytes.
    depths: Vec<(u32, u64, u64, u32)>,
}

/// A program or library.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
struct File {
    path: String,
    /// Which build of it.
    build: String,
}

impl PathFile {
    /// Of a map.
    #[must_use]
    pub fn of(map: &PathMap, command: Vec<String>, stacks: u64, unusable: u64) -> Self {
        let file = |path: &String| File { path: path.clone(), build: build(path) };
        let site = |site: &Site| {
            (site.function.file, site.function.start, site.address, site.bytes.clone())
        };
        let context = |context: &Context| {
            let Context { function, path, samples } = *context;
            (function.file, function.start, path, samples)
        };
        let depth =
            |depth: &Depth| (depth.function.file, depth.function.start, depth.address, depth.bytes);
        Self {
            szc_path_map: VERSION,
            command,
            stacks,
            unusable,
            stack_seed: None,
            files: map.files.iter().map(file).collect(),
            sites: map.sites.iter().map(site).collect(),
            paths: map.paths.iter().map(|path| (path.outer, path.site)).collect(),
            contexts: map.contexts.iter().map(context).collect(),
            depths: map.depths.iter().map(depth).collect(),
        }
    }

    /// Reads one.
    ///
    /// # Errors
    /// It cannot be read, or is none.
    pub fn read(path: &FilePath) -> Result<Self> {
        let shown = path.display();
        let text = fs::read(path).with_context(|| format!("cannot read {shown}"))?;
        let file: Self = serde_json::from_slice(&text)
            .with_context(|| format!("{shown} is no path map; `szc profile train` makes one"))?;
        if file.szc_path_map > VERSION {
            let version = file.szc_path_map;
            bail!("{shown} is of version {version}, and this szc reads up to {VERSION}");
        }
        Ok(file)
    }

    /// Writes it: all of it, or nothing.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, path: &FilePath) -> Result<()> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let put = || -> Result<()> {
            let file = tempfile::NamedTempFile::new_in(folder.unwrap_or(FilePath::new(".")))?;
            serde_json::to_writer(std::io::BufWriter::new(&file), self)?;
            file.persist(path)?;
            Ok(())
        };
        put().with_context(|| format!("cannot write {}", path.display()))
    }

    /// The map.
    ///
    /// # Errors
    /// A file is of another build by now, or the map makes no sense.
    pub fn map(&self) -> Result<PathMap> {
        for File { path, build } in &self.files {
            if self::build(path) != *build {
                bail!("{path} is of another build than in the training; run szc profile train");
            }
        }
        let function = |file, start| Function { file, start };
        let map = PathMap {
            files: self.files.iter().map(|file| file.path.clone()).collect(),
            sites: self
                .sites
                .iter()
                .map(|&(file, start, address, ref bytes)| Site {
                    function: function(file, start),
                    address,
                    bytes: bytes.clone(),
                })
                .collect(),
            paths: self.paths.iter().map(|&(outer, site)| Path { outer, site }).collect(),
            contexts: self
                .contexts
                .iter()
                .map(|&(file, start, path, samples)| Context {
                    function: function(file, start),
                    path,
                    samples,
                })
                .collect(),
            depths: self
                .depths
                .iter()
                .map(|&(file, start, address, bytes)| Depth {
                    function: function(file, start),
                    address,
                    bytes,
                })
                .collect(),
        };
        if !map.is_sound() {
            bail!("the path map is damaged");
        }
        Ok(map)
    }
}

/// Which build a program or library is: its build-id, or else its size.
fn build(path: &str) -> String {
    let Ok(data) = fs::read(path) else { return String::new() };
    let id = object::File::parse(&*data).ok().and_then(|file| {
        let id = file.build_id().ok()??;
        Some(id.iter().map(|byte| format!("{byte:02x}")).collect())
    });
    id.unwrap_or_else(|| format!("{} bytes", data.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(file: &FilePath) -> PathMap {
        let function = Function { file: 0, start: 16 };
        PathMap {
            files: vec![file.display().to_string()],
            sites: vec![Site { function, address: 20, bytes: vec![32, 48] }],
            paths: vec![Path { outer: None, site: 0 }],
            contexts: vec![Context { function, path: 0, samples: 2 }],
            depths: vec![Depth { function, address: 17, bytes: 8 }],
        }
    }

    #[test]
    fn a_map_is_read_as_it_was_written_unless_a_file_is_another_one_by_now() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        fs::write(&program, "12345").unwrap();
        let path = folder.path().join("paths");
        let map = map(&program);
        let file = PathFile::of(&map, vec!["a".into()], 3, 1);
        file.write(&path).unwrap();
        let read = PathFile::read(&path).unwrap();
        assert_eq!((read.clone(), read.map().unwrap()), (file, map));
        fs::write(&program, "123456").unwrap();
        let error = format!("{:#}", read.map().unwrap_err());
        assert!(error.contains("of another build"), "{error}");
    }

    #[test]
    fn what_is_no_map_a_newer_one_or_damaged_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("paths");
        let refused = |text: &str| {
            fs::write(&path, text).unwrap();
            let read = PathFile::read(&path).and_then(|file| file.map());
            format!("{:#}", read.unwrap_err())
        };
        assert!(refused("{}").contains("szc profile train"));
        let file = PathFile::of(&map(&folder.path().join("none")), vec![], 0, 0);
        let text = serde_json::to_string(&file).unwrap();
        let newer = text.replace("\"szc_path_map\":1", "\"szc_path_map\":2");
        assert!(refused(&newer).contains("reads up to 1"));
        assert!(refused(&text.replace("[[null,0]]", "[[0,0]]")).contains("damaged"));
        assert!(PathFile::read(FilePath::new("/nowhere/paths")).is_err());
    }
}
