//! k6's modules that send nothing, with the parts of the program that they need: its files, its
//! shared arrays, its secrets.

use super::globals::caller;
use crate::errors::k6_error;
use crate::modules::resolve::resolve_file;
use crate::vu::Vu;
use loadline_k6_modules::{self as offline, Files, OpenError, Opened, Secrets};
use rquickjs::{Ctx, Object, Result};
use std::rc::Rc;
use std::sync::Arc;
use url::Url;

/// Creates the module `k6/data`.
pub(super) fn data<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let arrays = Vu::of(ctx).program.arrays.clone();
    offline::data(ctx, &arrays, |ctx| match Vu::of(ctx).is_init() {
        true => Ok(()),
        false => Err(k6_error(
            ctx,
            "new SharedArray must be called in the init context",
        )),
    })
}

/// Creates the module `k6/experimental/fs`.
pub(super) fn fs<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    offline::experimental_fs(ctx, Rc::new(OfScript))
}

/// Creates the module `k6/experimental/csv`.
pub(super) fn csv<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let arrays = Vu::of(ctx).program.arrays.clone();
    offline::experimental_csv(ctx, Rc::new(OfScript), &arrays)
}

/// Creates the module `k6/secrets`.
pub(super) fn secrets<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let secrets = Arc::clone(&Vu::of(ctx).program.secrets);
    offline::secrets(ctx, Rc::new(OfProgram(secrets)))
}

/// The files of a script.
struct OfScript;

impl Files for OfScript {
    fn is_init(&self, ctx: &Ctx<'_>) -> bool {
        Vu::of(ctx).is_init()
    }

    fn open(&self, ctx: &Ctx<'_>, path: &str) -> std::result::Result<Opened, OpenError> {
        let vu = Vu::of(ctx);
        let url = resolve_file(&caller(ctx, &vu), path);
        let url = url.ok_or_else(|| OpenError::Other(format!("\"{path}\" is no path")))?;
        let path = path_of(&url);
        match vu.program.store.open(&url) {
            Ok(bytes) => Ok(Opened { path, bytes }),
            Err(problem) if problem.ends_with(": no such file or directory") => {
                Err(OpenError::NotFound(path))
            }
            Err(problem) if problem.ends_with(": is a directory") => Err(OpenError::Folder(path)),
            Err(problem) => Err(OpenError::Other(problem)),
        }
    }

    fn opened(&self, ctx: &Ctx<'_>, path: &str) -> Option<Arc<[u8]>> {
        let vu = Vu::of(ctx);
        let url = resolve_file(vu.program.main.as_str(), path)?;
        vu.program.store.open(&url).ok()
    }
}

/// Returns the path of a file, or the whole URL of one on the web.
fn path_of(url: &Url) -> String {
    let path = url.to_file_path().ok();
    path.map_or_else(
        || url.to_string(),
        |path| path.to_string_lossy().into_owned(),
    )
}

/// The secrets of a program.
struct OfProgram(Arc<dyn Secrets + Send + Sync>);

impl Secrets for OfProgram {
    fn value(&self, source: Option<&str>, name: &str) -> std::result::Result<String, String> {
        self.0.value(source, name)
    }

    fn redacted(&self, text: &str) -> Option<String> {
        self.0.redacted(text)
    }
}
