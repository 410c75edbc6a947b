//! Gets sources: from the package archive that this system is set up for, or from the program's own
//! site, and checks their SHA-256 in both cases.
#![forbid(unsafe_code)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use anyhow::{Context, Result, bail};

use crate::files::Cache;
use crate::hash::{self, Key};
use crate::suite::{Archive, Program, Suite};

/// apt's own downloader: it knows the system's proxies and ways of access.
const APT_HELPER: &str = "/usr/lib/apt/apt-helper";

/// Seconds to wait for a connection to a program's site.
const CONNECT_SECONDS: &str = "20";

/// The tree of a program's sources, which is fetched and unpacked if it is not in the cache.
///
/// # Errors
/// When no place has a source with the right hash; the message names all that were tried.
pub fn source(suite: &Suite, program: &Program, cache: &Cache) -> Result<PathBuf> {
    if program.bundled {
        return Ok(program.files(suite));
    }
    let mut key = Key::default();
    for archive in &program.sources {
        let hashes = archive.sha256.iter().chain(&archive.url_sha256);
        for part in hashes.map(toml::Spanned::get_ref).chain(&archive.into) {
            key = key.with(part);
        }
    }
    let name = format!("{}-{}-{}", program.name(), program.version, key.digits());
    let place = cache.place("sources", &name)?;
    if place.is_dir() {
        return Ok(place);
    }
    let scratch = cache.scratch()?;
    for archive in &program.sources {
        let file = download(archive, cache)?;
        let into = scratch.path().join("tree").join(archive.into.as_deref().unwrap_or(""));
        unpack(&file, &into, scratch.path())?;
    }
    let tree = scratch.path().join("tree");
    match fs::rename(&tree, &place) {
        Ok(()) => Ok(place),
        Err(_) if place.is_dir() => Ok(place),
        Err(error) => Err(error).with_context(|| format!("cannot make {}", place.display())),
    }
}

/// The file of an archive in the cache.
fn download(archive: &Archive, cache: &Cache) -> Result<PathBuf> {
    let mut tried = Vec::new();
    let own = archive.sha256.as_ref().map(|hash| hash.get_ref().as_str());
    if let (Some(pool), Some(sha256)) = (&archive.pool, own) {
        for repository in repositories() {
            let address = format!("{}/{pool}", repository.trim_end_matches('/'));
            match download_from(&address, sha256, cache, apt_helper) {
                Ok(file) => return Ok(file),
                Err(error) => tried.push(format!("{address} ({error:#})")),
            }
        }
        if repositories().is_empty() {
            tried.push("this system's package archive (apt names none)".to_owned());
        }
    }
    let other = archive.url_sha256.as_ref().map(|hash| hash.get_ref().as_str());
    if let (Some(address), Some(sha256)) = (&archive.url, other.or(own)) {
        match download_from(address, sha256, cache, curl) {
            Ok(file) => return Ok(file),
            Err(error) => tried.push(format!("{address} ({error:#})")),
        }
    }
    bail!("no source; tried {}. Check the network and try again", tried.join(", "))
}

fn download_from(
    address: &str,
    sha256: &str,
    cache: &Cache,
    get: fn(&str, &Path) -> Result<Output>,
) -> Result<PathBuf> {
    let name = address.rsplit('/').next().unwrap_or_default();
    let place = cache.place("archives", &format!("{}-{name}", &sha256[..16]))?;
    if place.is_file() {
        return Ok(place);
    }
    let scratch = cache.scratch()?;
    let file = scratch.path().join(name);
    let output = get(address, &file)?;
    if !output.status.success() || !file.is_file() {
        let said = String::from_utf8_lossy(&output.stderr);
        let reason = said.lines().map(str::trim).find(|line| !line.is_empty());
        bail!("{}", reason.unwrap_or("it could not be fetched"));
    }
    let found = hash::of_file(&file)?;
    if found != sha256 {
        bail!("its SHA-256 is {found}, {sha256} is needed");
    }
    fs::rename(&file, &place).with_context(|| format!("cannot make {}", place.display()))?;
    Ok(place)
}

/// Addresses of the package archives that the system uses.
fn repositories() -> &'static [String] {
    static FOUND: OnceLock<Vec<String>> = OnceLock::new();
    FOUND.get_or_init(|| {
        let listing = Command::new("apt-get")
            .args(["indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"])
            .stderr(Stdio::null())
            .output();
        let text = listing.map(|output| output.stdout).unwrap_or_default();
        let mut addresses: Vec<String> =
            String::from_utf8_lossy(&text).lines().map(str::to_owned).collect();
        // Debian's own archive first: most others have no sources of these programs.
        addresses.sort_by_key(|address| (!address.contains("debian.org/debian/"), address.clone()));
        addresses.dedup();
        addresses
    })
}

fn apt_helper(address: &str, file: &Path) -> Result<Output> {
    Command::new(APT_HELPER)
        .args(["-o", "Acquire::Retries=1", "-o", "APT::Sandbox::User="])
        .args(["download-file", address])
        .arg(file)
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot run {APT_HELPER}"))
}

fn curl(address: &str, file: &Path) -> Result<Output> {
    let curl = Command::new("curl")
        .args(["-fsSL", "--connect-timeout", CONNECT_SECONDS, "-o"])
        .arg(file)
        .arg(address)
        .stdin(Stdio::null())
        .output();
    curl.or_else(|_| {
        Command::new("wget")
            .args(["-q", "--tries=1", "--timeout", CONNECT_SECONDS, "-O"])
            .arg(file)
            .arg(address)
            .stdin(Stdio::null())
            .output()
    })
    .context("neither curl nor wget is installed")
}

/// Unpacks an archive, without the folder that its name stands for if there is one.
fn unpack(archive: &Path, into: &Path, scratch: &Path) -> Result<()> {
    let all = scratch.join("all");
    fs::create_dir(&all).with_context(|| format!("cannot make {}", all.display()))?;
    let output = Command::new("tar")
        .args(["--no-same-owner", "-xf"])
        .arg(archive)
        .arg("-C")
        .arg(&all)
        .output()
        .context("cannot run tar")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("{} does not unpack (is xz-utils installed?): {}", archive.display(), said.trim());
    }
    let entries: Vec<PathBuf> = all
        .read_dir()
        .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect())
        .with_context(|| format!("cannot list {}", all.display()))?;
    let top = match entries.as_slice() {
        [folder] if folder.is_dir() => folder.clone(),
        _ => all.clone(),
    };
    if into.is_dir() {
        bail!("two archives are to be unpacked to {}: give one an `into`", into.display());
    }
    fs::rename(&top, into).with_context(|| format!("cannot make {}", into.display()))?;
    if all.is_dir() {
        fs::remove_dir_all(&all).with_context(|| format!("cannot remove {}", all.display()))?;
    }
    Ok(())
}
