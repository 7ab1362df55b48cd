//! A check that no output overwrites another one, or an input of the command.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The file that would be lost.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Overwriting {
    /// Two outputs would overwrite each other.
    #[error("{} would be written twice; give each output a file of its own.", .0.display())]
    Twice(PathBuf),
    /// An output would overwrite an input.
    #[error("{} is read, so it can't be written; give the output a file of its own.", .0.display())]
    Read(PathBuf),
}

/// Refuses files that are written twice, or read and written, by any path.
///
/// # Errors
/// The first file that would be lost.
pub fn refuse_overwriting<'a>(
    written: impl IntoIterator<Item = &'a Path>,
    read: impl IntoIterator<Item = &'a Path>,
) -> Result<(), Overwriting> {
    let mut places = HashMap::new();
    for path in written {
        if places.insert(place(path), path).is_some() {
            return Err(Overwriting::Twice(path.to_owned()));
        }
    }
    let lost = read.into_iter().find_map(|path| places.get(&place(path)));
    match lost {
        Some(path) => Err(Overwriting::Read(path.to_path_buf())),
        None => Ok(()),
    }
}

/// The identity of a path's target.
#[derive(PartialEq, Eq, Hash)]
enum FileIdentity {
    /// An existing file, by its device and inode, which all its names share.
    File(u64, u64),
    /// A path without a file so far.
    Free(PathBuf),
}

fn place(path: &Path) -> FileIdentity {
    match path.metadata() {
        Ok(metadata) => FileIdentity::File(metadata.dev(), metadata.ino()),
        Err(_) => FileIdentity::Free(free_place(path)),
    }
}

/// Returns the target of a path without a file.
fn free_place(path: &Path) -> PathBuf {
    let folder = match path.parent() {
        Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
        Some(folder) => folder,
        None => path,
    };
    let new = || Some(folder.canonicalize().ok()?.join(path.file_name()?));
    let known = path.canonicalize().ok();
    known.or_else(new).unwrap_or_else(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_file_is_known_by_every_path() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("there"), "").unwrap();
        symlink(at("there"), at("link")).unwrap();
        fs::hard_link(at("there"), at("second-name")).unwrap();
        fs::create_dir(at("below")).unwrap();
        let refuse = |written: &[PathBuf], read: &[PathBuf]| {
            let paths = |paths: &[PathBuf]| paths.to_vec();
            let (written, read) = (paths(written), paths(read));
            refuse_overwriting(
                written.iter().map(PathBuf::as_path),
                read.iter().map(PathBuf::as_path),
            )
        };
        let twice = |path| Err(Overwriting::Twice(path));
        assert_eq!(refuse(&[at("a"), at("b")], &[at("there")]), Ok(()));
        for same in ["./a", "below/../a"] {
            assert_eq!(refuse(&[at("a"), at(same)], &[]), twice(at(same)));
        }
        assert_eq!(refuse(&[at("there"), at("link")], &[]), twice(at("link")));
        let read = refuse(&[at("a"), at("link")], &[at("there")]);
        assert_eq!(read, Err(Overwriting::Read(at("link"))));
        let read = refuse(&[at("second-name")], &[at("there")]);
        assert_eq!(read, Err(Overwriting::Read(at("second-name"))));
    }

    #[test]
    fn a_name_alone_is_in_this_folder() {
        let (name, path) = (Path::new("no-such-file"), Path::new("./no-such-file"));
        let refused = refuse_overwriting([name, path], []);
        assert_eq!(refused, Err(Overwriting::Twice(path.to_owned())));
    }
}
