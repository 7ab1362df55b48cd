//! `loadline shims`: symlinks that run this program in compatibility mode under other tools' names.

use crate::exit::Exit;
use crate::flags::shims::ShimsFlags;
use anyhow::{Context, Result, bail};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

const NAMES: [&str; 6] = ["wrk", "wrk2", "ab", "oha", "k6", "locust"];

/// Makes the links that are missing. Where one of the names is taken none is made.
pub(crate) fn run(flags: &ShimsFlags) -> Result<Exit> {
    let program = std::env::current_exe().context("this program's own path is not known")?;
    let folder = &flags.folder;
    fs::create_dir_all(folder).with_context(|| format!("{} can't be made", folder.display()))?;
    let mut missing = Vec::new();
    for link in NAMES.map(|name| folder.join(name)) {
        if is_missing(&link, &program)? {
            missing.push(link);
        }
    }
    for link in missing {
        symlink(&program, &link).with_context(|| format!("{} can't be made", link.display()))?;
    }
    Ok(Exit::Good)
}

/// True if a link is to be made; an existing link of ours is kept.
fn is_missing(link: &PathBuf, program: &Path) -> Result<bool> {
    match fs::symlink_metadata(link) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error).with_context(|| format!("{} can't be read", link.display())),
        Ok(_) if fs::read_link(link).is_ok_and(|to| to == program) => Ok(false),
        Ok(_) => bail!(
            "{} exists, and is not a symlink to {}; name another folder or remove it.",
            link.display(),
            program.display()
        ),
    }
}
