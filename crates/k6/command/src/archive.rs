//! Archives: a test with all its files in one tar, to be run on another machine.
//!
//! The layout is k6's, so that each program runs archives of the other one: `metadata.json` with
//! the options, `data` with the main script, and the files by scheme and path below `file` and
//! `https`, including the main script as a link.

mod metadata;
mod names;
#[cfg(test)]
mod tests;

use super::go_words;
use loadline_runner::preflight::write_whole;
use metadata::Metadata;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};
use tar::{Builder, Entry, EntryType, Header};
use url::Url;

/// A test in an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Archive {
    /// The consolidated options: one JSON object.
    pub options_json: String,
    /// The main script; `file:///-` if it came by stdin.
    pub script: Url,
    /// The directory from which the test was started.
    pub directory: Url,
    /// The environment of the script, unless it is excluded.
    pub env: Option<BTreeMap<String, String>>,
    /// The compatibility mode: `extended`, `base` or `experimental_enhanced`.
    pub compatibility_mode: String,
    /// The modules and opened files by their URLs, including the main script.
    pub files: BTreeMap<Url, Vec<u8>>,
}

/// The reason why an archive can't be written or read. Each ends the command with
/// [`FAILED`](super::FAILED).
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The file can't be written.
    #[error("open {path}: {problem}")]
    Unwritable {
        /// The path of the file.
        path: String,
        /// The system's message.
        problem: String,
    },
    /// The main script is not among the files.
    #[error("the script {0} is not among the files of the archive")]
    NoScript(Url),
    /// A system call failed on writing or reading.
    #[error("the archive can't be written or read: {}", go_words::system(.0))]
    System(#[from] io::Error),
    /// A part is missing.
    #[error("the archive has no {0}; write it again with `k6 archive`")]
    Missing(&'static str),
    /// The options and names can't be read.
    #[error("the archive's metadata.json can't be read: {0}")]
    Metadata(String),
}

/// True if these are the bytes of a tar: an archive instead of a script.
pub fn is_archive(bytes: &[u8]) -> bool {
    bytes.get(257..262) == Some(b"ustar")
}

impl Archive {
    /// Writes the archive to a file, either completely or not at all.
    ///
    /// # Errors
    /// If the file can't be written, or the main script is missing.
    pub fn save(&self, path: &Path, now: SystemTime) -> Result<(), ArchiveError> {
        let mut bytes = Vec::new();
        self.write(&mut bytes, now)?;
        write_whole(path, &bytes).map_err(|error| ArchiveError::Unwritable {
            path: path.display().to_string(),
            problem: go_words::system(&error),
        })
    }

    /// Writes the archive; `now` becomes the time of its files.
    ///
    /// # Errors
    /// If the writer fails, or the main script is missing.
    pub fn write(&self, writer: impl Write, now: SystemTime) -> Result<(), ArchiveError> {
        let script = self.files.get(&self.script);
        let script = script.ok_or_else(|| ArchiveError::NoScript(self.script.clone()))?;
        let seconds = now.duration_since(SystemTime::UNIX_EPOCH);
        let mut tar = Tar {
            builder: Builder::new(writer),
            seconds: seconds.unwrap_or(Duration::ZERO).as_secs(),
        };
        let metadata = Metadata::of(self).text(&self.options_json);
        tar.file("metadata.json", metadata.as_bytes())?;
        tar.file("data", script)?;
        for scheme in ["file", "https"] {
            self.write_scheme(&mut tar, scheme)?;
        }
        tar.builder.into_inner()?.flush()?;
        Ok(())
    }

    /// Writes the files of a scheme: first their directories, then the files.
    fn write_scheme<W: Write>(&self, tar: &mut Tar<W>, scheme: &str) -> io::Result<()> {
        let of_scheme = self.files.iter().filter(|(url, _)| url.scheme() == scheme);
        let named = of_scheme.map(|(url, bytes)| (names::of(url), (url, bytes)));
        let files: BTreeMap<String, (&Url, &Vec<u8>)> = named.collect();
        let folders: BTreeSet<&str> = files.keys().flat_map(|name| names::above(name)).collect();
        for folder in folders {
            tar.folder(folder)?;
        }
        for (name, (url, bytes)) in &files {
            match **url == self.script {
                true => tar.link(name)?,
                false => tar.file(name, bytes)?,
            }
        }
        Ok(())
    }

    /// Reads an archive.
    ///
    /// # Errors
    /// If it is cut off or damaged, or lacks a part of an archive.
    pub fn read(bytes: &[u8]) -> Result<Archive, ArchiveError> {
        let mut parts = Parts::default();
        for entry in tar::Archive::new(bytes).entries()? {
            parts.add(entry?, bytes.len() as u64)?;
        }
        let metadata = parts
            .metadata
            .ok_or(ArchiveError::Missing("metadata.json"))?;
        let script = parts.script.ok_or(ArchiveError::Missing("data"))?;
        let mut archive = Metadata::read(&metadata)?;
        parts.files.insert(archive.script.clone(), script);
        archive.files = parts.files;
        Ok(archive)
    }
}

/// A tar that is being written.
struct Tar<W: Write> {
    builder: Builder<W>,
    /// The time of its files, in seconds since 1970.
    seconds: u64,
}

impl<W: Write> Tar<W> {
    fn file(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let mut header = header(EntryType::Regular, 0o644, self.seconds);
        header.set_size(bytes.len() as u64);
        self.builder.append_data(&mut header, name, bytes)
    }

    fn folder(&mut self, name: &str) -> io::Result<()> {
        let mut header = header(EntryType::Directory, 0o755, self.seconds);
        self.builder.append_data(&mut header, name, io::empty())
    }

    /// Adds the main script as a link to `data`.
    fn link(&mut self, name: &str) -> io::Result<()> {
        let mut header = header(EntryType::Link, 0, 0);
        self.builder.append_link(&mut header, name, "data")
    }
}

fn header(kind: EntryType, mode: u32, seconds: u64) -> Header {
    let mut header = Header::new_ustar();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_mtime(seconds);
    header.set_uid(0);
    header.set_gid(0);
    header.set_size(0);
    header
}

/// The parts of an archive that have been read.
#[derive(Default)]
struct Parts {
    metadata: Option<Vec<u8>>,
    script: Option<Vec<u8>>,
    files: BTreeMap<Url, Vec<u8>>,
}

impl Parts {
    /// Adds an entry. It is read up to the length of the archive only, because a sparse entry may
    /// claim a much larger size.
    fn add<R: Read>(&mut self, entry: Entry<'_, R>, most: u64) -> Result<(), ArchiveError> {
        if !entry.header().entry_type().is_file() {
            return Ok(());
        }
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let mut bytes = Vec::new();
        entry.take(most).read_to_end(&mut bytes)?;
        match name.as_str() {
            "metadata.json" => self.metadata = Some(bytes),
            "data" => self.script = Some(bytes),
            _ => {
                self.files.extend(names::url(&name).map(|url| (url, bytes)));
            }
        }
        Ok(())
    }
}
