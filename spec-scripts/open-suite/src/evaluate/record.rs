//! Raw samples of the evaluation: szc's samples files, compressed, with what the programs were
//! built of.
//!
//! Names of folders and of the machine are replaced: they say nothing about the measurement, and
//! are nobody's business. The machine's name becomes a hash, so that two machines stay two; with
//! processor and kernel in it, because virtual machines of one image often have the same name.
#![forbid(unsafe_code)]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, thread};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use szc::samples::{SamplesFile, io};

use super::step::Step;
use crate::hash::Key;

/// The field of a samples file that readers of szc skip.
const FIELD: &str = "evaluation";

/// What a samples file of szc does not know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// Name of the step.
    pub step: String,
    /// The program.
    pub program: String,
    /// Size of its workload.
    pub size: String,
    /// Runs of each configuration that were asked for.
    pub runs: u32,
    /// The version of the sources that evaluate, if they are in a git repository.
    pub commit: Option<String>,
    /// Which build of szc it was: [`crate::toolchain::Toolchain::digest`].
    #[serde(default)]
    pub build: Option<String>,
    /// What was compared, in the order of `programs`.
    pub configurations: Vec<ConfigurationRecord>,
}

/// One way to build and run the program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConfigurationRecord {
    /// Its name.
    pub name: String,
    /// `SZC_BUILD`.
    pub randomize: String,
    /// Flags of the compilers.
    pub flags: String,
    /// Variables of its runs.
    pub settings: Vec<String>,
    /// The executable; of random link orders all of them.
    pub files: Vec<FileRecord>,
}

/// An executable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    /// SHA-256 of the file.
    pub sha256: String,
    /// Length of the file.
    pub bytes: u64,
    /// Sections that are executed.
    pub code_bytes: u64,
    /// Memory that is mapped at the start.
    pub loaded_bytes: u64,
}

/// A program's samples of a step.
#[derive(Debug)]
pub struct Measured {
    /// How they came about.
    pub evaluation: Evaluation,
    /// The samples.
    pub file: SamplesFile,
}

/// What is known about a program in a step.
#[derive(Debug)]
pub enum State {
    /// Nothing.
    Missing,
    /// Why it could not be measured.
    Failed(String),
    /// Its samples.
    Measured(Box<Measured>),
}

/// The folder of all results.
#[derive(Clone, Debug)]
pub struct Archive {
    folder: PathBuf,
}

impl Archive {
    /// The results in `folder`.
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    /// A file of a step.
    pub fn place(&self, step: Step, name: &str) -> PathBuf {
        self.folder.join(step.name()).join(name)
    }

    /// Where the samples of a program are.
    pub fn samples(&self, step: Step, program: &str) -> PathBuf {
        self.place(step.source(), &format!("{program}.json.gz"))
    }

    /// Where it is said why there are none.
    pub fn failure(&self, step: Step, program: &str) -> PathBuf {
        self.place(step.source(), &format!("{program}.failure.txt"))
    }

    /// What there is about a program. Samples of other configurations, which an earlier form of the
    /// step compared, are a failure: they say nothing about what its table is of.
    ///
    /// # Errors
    /// When there is a file that cannot be read.
    pub fn state(&self, step: Step, program: &str) -> Result<State> {
        let path = self.samples(step, program);
        if path.is_file() {
            let bytes = decompressed(&path)?;
            let wrong = || format!("cannot use {}", path.display());
            let file = io::parse(&bytes).with_context(wrong)?;
            let mut value: Value = serde_json::from_slice(&bytes).with_context(wrong)?;
            let evaluation = value.get_mut(FIELD).map(Value::take).unwrap_or_default();
            let evaluation: Evaluation = serde_json::from_value(evaluation).with_context(|| {
                format!("{} has no proper field `{FIELD}`: measure again", path.display())
            })?;
            let names = evaluation.configurations.iter().map(|one| one.name.as_str());
            if names.ne(step.source().configurations().iter().map(|one| one.name)) {
                return Ok(State::Failed("samples of other configurations: measure again".into()));
            }
            return Ok(State::Measured(Box::new(Measured { evaluation, file })));
        }
        let reason = fs::read_to_string(self.failure(step, program));
        Ok(reason.map_or(State::Missing, |text| State::Failed(text.trim().to_owned())))
    }

    /// Puts the finished samples file of szc to its place.
    ///
    /// # Errors
    /// When it cannot be read or written.
    pub fn keep(
        &self,
        step: Step,
        evaluation: &Evaluation,
        samples: &Path,
        private: &Private,
    ) -> Result<()> {
        let wrong = || format!("cannot use {}", samples.display());
        let bytes = fs::read(samples).with_context(wrong)?;
        let mut value: Value = serde_json::from_slice(&bytes).with_context(wrong)?;
        value[FIELD] = serde_json::to_value(evaluation).context("cannot write a record")?;
        private.remove_from(&mut value);
        let text = serde_json::to_vec(&value).context("cannot write a samples file")?;
        compress(&self.samples(step, &evaluation.program), &text)?;
        let failure = self.failure(step, &evaluation.program);
        if failure.exists() {
            fs::remove_file(&failure)
                .with_context(|| format!("cannot remove {}", failure.display()))?;
        }
        Ok(())
    }
}

/// Names that do not belong into results, each with what stands for it.
pub struct Private(Vec<(String, String)>);

impl Private {
    /// Folders with the names that stand for them, the longest path first.
    pub fn new(folders: &[(&Path, &str)]) -> Self {
        let mut names: Vec<(String, String)> = folders
            .iter()
            .map(|(path, name)| (path.display().to_string(), (*name).to_owned()))
            .collect();
        names.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
        Self(names)
    }

    /// `text` without them.
    pub fn removed(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (path, name)| text.replace(path, name))
    }

    /// Replaces them in all texts of `value`, and the machine's name.
    pub fn remove_from(&self, value: &mut Value) {
        if let Some(machine) = value.get_mut("machine")
            && machine.get("hostname").is_some_and(Value::is_string)
        {
            let key = ["hostname", "cpu", "kernel"].iter().fold(Key::default(), |key, field| {
                key.with(machine.get(field).and_then(Value::as_str).unwrap_or_default())
            });
            machine["hostname"] = Value::String(format!("machine-{}", &key.digits()[..8]));
        }
        self.walk(value);
    }

    fn walk(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.removed(text),
            Value::Array(list) => list.iter_mut().for_each(|item| self.walk(item)),
            Value::Object(fields) => fields.values_mut().for_each(|item| self.walk(item)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// Writes `content`, compressed, whole or not at all; the same content makes the same file.
///
/// # Errors
/// When it cannot be compressed or written.
pub fn compress(path: &Path, content: &[u8]) -> Result<()> {
    let bytes = filtered(&["-9", "-n", "-c"], content)?;
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    io::write_whole(path, "samples", &bytes)
}

/// The content of a compressed file.
///
/// # Errors
/// When it cannot be read or is damaged.
pub fn decompressed(path: &Path) -> Result<Vec<u8>> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    filtered(&["-d", "-c"], &bytes).with_context(|| format!("cannot use {}", path.display()))
}

fn filtered(options: &[&str], input: &[u8]) -> Result<Vec<u8>> {
    let mut child = Command::new("gzip")
        .args(options)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot run gzip")?;
    let mut stdin = child.stdin.take().context("no standard input")?;
    let output = thread::scope(|scope| {
        // If it ends early, its status says so.
        scope.spawn(move || stdin.write_all(input));
        child.wait_with_output().context("cannot wait for gzip")
    })?;
    if !output.status.success() {
        bail!("gzip failed ({})", output.status);
    }
    Ok(output.stdout)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compressed_is_read_again_and_damage_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b.json.gz");
        let content = "x".repeat(1 << 20);
        compress(&path, content.as_bytes()).unwrap();
        assert_eq!(decompressed(&path).unwrap(), content.as_bytes());
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
        assert!(decompressed(&path).is_err());
    }

    #[test]
    fn folders_and_the_name_of_the_machine_are_taken_out_of_all_texts() {
        let private = Private::new(&[(Path::new("/home"), "{h}"), (Path::new("/home/x"), "{x}")]);
        let mut value = serde_json::json!({
            "machine": {"hostname": "secret"}, "runs": [{"command": "/home/x/a < /home/b"}, 7]
        });
        private.remove_from(&mut value);
        assert_eq!(value["runs"], serde_json::json!([{"command": "{x}/a < {h}/b"}, 7]));
        let name = value["machine"]["hostname"].as_str().unwrap();
        assert!(name.starts_with("machine-") && !name.contains("secret"));
    }

    #[test]
    fn machines_of_one_name_stay_two_if_processor_or_kernel_differ() {
        let name = |cpu: &str, kernel: &str| {
            let machine = serde_json::json!({"hostname": "vm", "cpu": cpu, "kernel": kernel});
            let mut value = serde_json::json!({ "machine": machine });
            Private::new(&[]).remove_from(&mut value);
            value["machine"]["hostname"].as_str().unwrap().to_owned()
        };
        assert_eq!(name("AMD EPYC", "6.1"), name("AMD EPYC", "6.1"));
        let names = [name("AMD EPYC", "6.1"), name("Intel Xeon", "6.1"), name("AMD EPYC", "6.2")];
        assert!(names.iter().all(|one| names.iter().filter(|other| *other == one).count() == 1));
    }
}
