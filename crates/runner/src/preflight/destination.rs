//! The destination of an output's path, and the writing of a whole file to it.
//!
//! A file is written next to its destination and then renamed in one step: a report that breaks
//! off, on a full disk for instance, leaves the earlier file. Links are followed. A destination
//! that can't be replaced, such as a pipe or a terminal, is written directly; and if a path names a
//! descriptor of this process, such as `/dev/stdout`, the output is written to that descriptor,
//! after the present content of its file.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::{Path, PathBuf};

/// The most links to a descriptor that are followed, one from another.
const MOST_LINKS: usize = 8;

/// The destination of a path.
#[derive(Debug)]
pub enum Destination {
    /// A file, which need not exist yet.
    File(PathBuf),
    /// A descriptor of this process.
    Descriptor(File),
    /// Not a regular file: a pipe, a terminal, a device.
    Stream(PathBuf),
}

impl Destination {
    /// Returns the destination of this path.
    ///
    /// # Errors
    /// If it can't be determined: the error of the system.
    pub fn of(path: &Path) -> io::Result<Self> {
        if let Some(number) = descriptor(path) {
            return open_descriptor(number).map(Destination::Descriptor);
        }
        match path.metadata() {
            Ok(metadata) if metadata.is_file() => Ok(Destination::File(path.canonicalize()?)),
            Ok(_) => Ok(Destination::Stream(path.to_owned())),
            // A link without a target is not replaced by a file.
            Err(_) if path.symlink_metadata().is_ok() => Ok(Destination::Stream(path.to_owned())),
            Err(_) => Ok(Destination::File(path.to_owned())),
        }
    }
}

/// Writes a whole file.
///
/// # Errors
/// The error of the system; an earlier file still exists then.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match Destination::of(path)? {
        Destination::File(path) => replace(&path, bytes),
        Destination::Descriptor(mut file) => file.write_all(bytes),
        Destination::Stream(path) => {
            let mut options = OpenOptions::new();
            let stream = options.write(true).create(true).truncate(false).open(path);
            stream?.write_all(bytes)
        }
    }
}

/// Writes next to the destination, and renames. If no file can be created there, as in a folder of
/// another owner, the existing file is overwritten.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let before = path.metadata().ok();
    let Some(beside) = beside(path) else {
        return fs::write(path, bytes);
    };
    let mut file = match OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&beside)
    {
        Ok(file) => file,
        Err(error) if before.is_none() => return Err(error),
        Err(_) => return fs::write(path, bytes),
    };
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    let placed = written.and_then(|()| {
        if let Some(before) = &before {
            resemble(&beside, before)?;
        }
        fs::rename(&beside, path)
    });
    if placed.is_err() {
        // The first error has been reported already.
        let _ = fs::remove_file(&beside);
    }
    match placed {
        // A mounted file can't be replaced.
        Err(error) if error.kind() == ErrorKind::ResourceBusy => fs::write(path, bytes),
        placed => placed,
    }
}

/// Returns the name of a new file in the same folder.
fn beside(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_string_lossy();
    Some(path.with_file_name(format!(".{name}.{}.part", std::process::id())))
}

/// Gives a file the permissions, and if allowed the owner, of the one that it replaces.
fn resemble(path: &Path, before: &fs::Metadata) -> io::Result<()> {
    let own = path.metadata()?;
    if (own.uid(), own.gid()) != (before.uid(), before.gid()) {
        // Most users may not change an owner.
        let _ = chown(path, Some(before.uid()), Some(before.gid()));
    }
    let rights: Permissions = before.permissions();
    fs::set_permissions(path, rights)
}

/// Returns the number of the descriptor of this process that a path names, such as `/dev/stdout`
/// and `/dev/fd/3`.
fn descriptor(path: &Path) -> Option<u32> {
    let ours = Path::new("/proc/self/fd").canonicalize().ok()?;
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let folder = match path.parent()? {
            folder if folder.as_os_str().is_empty() => Path::new("."),
            folder => folder,
        };
        let folder = folder.canonicalize().ok()?;
        if folder == ours {
            return path.file_name()?.to_str()?.parse().ok();
        }
        path = folder.join(path.read_link().ok()?);
    }
    None
}

/// Returns the descriptor itself for the standard ones, so that the output follows earlier output;
/// others are opened again, at the end of their file.
fn open_descriptor(number: u32) -> io::Result<File> {
    let own = match number {
        1 => io::stdout().as_fd().try_clone_to_owned()?,
        2 => io::stderr().as_fd().try_clone_to_owned()?,
        _ => {
            let mut options = OpenOptions::new();
            return options.append(true).open(format!("/proc/self/fd/{number}"));
        }
    };
    Ok(own.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_file_is_replaced_in_one_step_and_keeps_its_rights() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("report"), "old").unwrap();
        fs::set_permissions(at("report"), Permissions::from_mode(0o640)).unwrap();
        let reader = File::open(at("report")).unwrap();
        write_whole(&at("report"), b"new").unwrap();
        assert_eq!(fs::read(at("report")).unwrap(), b"new");
        // A reader of the old file keeps reading it.
        assert_eq!(io::read_to_string(reader).unwrap(), "old");
        let rights = at("report").metadata().unwrap().permissions();
        assert_eq!(rights.mode() & 0o777, 0o640);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn links_are_followed_and_stay_links() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("there"), "old").unwrap();
        symlink(at("there"), at("link")).unwrap();
        symlink(at("new"), at("ahead")).unwrap();
        for (link, file) in [("link", "there"), ("ahead", "new")] {
            write_whole(&at(link), b"text").unwrap();
            assert_eq!(fs::read(at(file)).unwrap(), b"text");
            assert!(at(link).symlink_metadata().unwrap().is_symlink());
        }
    }

    #[test]
    fn descriptors_are_known_by_their_paths() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        symlink("/dev/stdout", &link).unwrap();
        for (path, number) in [
            ("/dev/stdout", Some(1)),
            ("/dev/stderr", Some(2)),
            ("/dev/fd/7", Some(7)),
            ("/proc/self/fd/1", Some(1)),
            (link.to_str().unwrap(), Some(1)),
            ("/dev/null", None),
            ("report", None),
        ] {
            assert_eq!(descriptor(Path::new(path)), number, "{path}");
        }
        let null = Destination::of(Path::new("/dev/null")).unwrap();
        assert!(matches!(null, Destination::Stream(_)), "{null:?}");
        write_whole(Path::new("/dev/null"), b"gone").unwrap();
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        assert!(write_whole(&folder.path().join("no/such"), b"text").is_err());
        assert!(write_whole(folder.path(), b"text").is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
