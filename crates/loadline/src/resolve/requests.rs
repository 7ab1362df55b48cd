//! The requests of a run: every URL that was named, with the method, headers and body for all.

use super::{Error, read_bytes, read_text, unreadable};
use crate::flags::run::request::{BodySource, RequestFlags, TargetWord};
use flate2::Crc;
use loadline_plan::{
    BaseUrl, Body, Client, Contradiction, FormField, FormPart, FormSource, Header, ListSource,
    ListedRequest, LongList, Multipart, Plan, Request, RequestDefaults, Script, parse_url_list,
};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The most bytes of a body that are read: a body is held in memory while the run lasts.
const MOST_BODY: u64 = 1 << 30;

/// The script that makes up the requests, if there is one.
pub(super) fn script(flags: &RequestFlags) -> Result<Option<Script>, Contradiction> {
    if flags.script.is_none() && !flags.script_arg.is_empty() {
        return Err(Contradiction::ScriptArgWithoutScript);
    }
    Ok(flags.script.clone().map(|path| Script {
        crc32: std::fs::read(&path).ok().map(|text| crc32(&text)),
        path,
        args: flags.script_arg.clone(),
        names_urls: false,
    }))
}

/// In eight hexadecimal digits.
fn crc32(text: &[u8]) -> String {
    let mut crc = Crc::new();
    crc.update(text);
    format!("{:08x}", crc.sum())
}

/// Returns the options for the handling of responses.
pub(super) fn client(flags: &RequestFlags) -> Result<Client, Contradiction> {
    if flags.digest && flags.user.is_none() {
        return Err(Contradiction::DigestWithoutUser);
    }
    Ok(Client {
        follow_redirects: flags.follow_redirects,
        cookies: flags.cookies,
        compressed: flags.compressed,
        digest: flags.user.clone().filter(|_| flags.digest),
    })
}

/// The requests of a whole run, of which a long list stands in the plan as one.
pub(super) fn of_run(flags: &RequestFlags, seed: u64, stdin: &mut dyn Read) -> Result<Plan, Error> {
    refuse_contradictions(flags)?;
    let defaults = defaults(flags, seed, stdin)?;
    let text = list_text(flags, stdin)?;
    let (requests, list) = match long_list(flags, text.as_deref(), &defaults)? {
        Some((templates, list)) => (templates, Some(list)),
        None => (completed(flags, text.as_deref(), &defaults)?, None),
    };
    Ok(Plan {
        requests,
        list,
        ..Plan::default()
    })
}

/// All requests, in the order of the command line, then of the file, then of the plan's lines.
pub(super) fn requests(
    flags: &RequestFlags,
    seed: u64,
    stdin: &mut dyn Read,
) -> Result<Vec<Request>, Error> {
    refuse_contradictions(flags)?;
    let defaults = defaults(flags, seed, stdin)?;
    completed(flags, list_text(flags, stdin)?.as_deref(), &defaults)
}

/// The text of the list, which is read once: it may come through a pipe; stdin where its name is
/// `-`.
fn list_text(flags: &RequestFlags, stdin: &mut dyn Read) -> Result<Option<String>, Error> {
    let Some(path) = &flags.urls else {
        return Ok(None);
    };
    let text = match path == Path::new("-") {
        true => io::read_to_string(stdin).map_err(unreadable("--urls", path))?,
        false => read_text("--urls", path)?,
    };
    Ok(Some(text))
}

fn completed(
    flags: &RequestFlags,
    text: Option<&str>,
    defaults: &RequestDefaults,
) -> Result<Vec<Request>, Error> {
    let listed = listed(flags, text)?.into_iter();
    Ok(listed.map(|request| defaults.complete(request)).collect())
}

/// A list that is long, and all that is sent.
fn long_list(
    flags: &RequestFlags,
    text: Option<&str>,
    defaults: &RequestDefaults,
) -> Result<Option<(Vec<Request>, LongList)>, Error> {
    let mut places = flags.places.iter().filter_map(TargetWord::request);
    let has_others = places.next().is_some() || flags.urls_inline.is_some();
    let (Some(path), Some(text), false) = (&flags.urls, text, has_others) else {
        return Ok(None);
    };
    let source = ListSource {
        path: path.clone(),
        crc32: crc32(text.as_bytes()),
    };
    let read = LongList::read(text, flags.base_url.as_ref(), defaults, source);
    read.map_err(|error| Error::UrlList {
        path: path.clone(),
        error,
    })
}

fn refuse_contradictions(flags: &RequestFlags) -> Result<(), Contradiction> {
    let has_header = |name| flags.header.iter().any(|header| header.is(name));
    let has_form = !flags.form.is_empty();
    if flags.body.is_some() && has_form {
        return Err(Contradiction::BodyAndForm);
    }
    if has_form && has_header("Content-Type") {
        return Err(Contradiction::FormAndContentType);
    }
    let has_list = flags.urls.is_some() || flags.urls_inline.is_some();
    if flags.base_url.is_some() && !has_list {
        return Err(Contradiction::BaseUrlWithoutList);
    }
    let list_is_stdin = flags.urls.as_deref() == Some(Path::new("-"));
    if list_is_stdin && flags.body == Some(BodySource::Stdin) {
        return Err(Contradiction::StdinTwice);
    }
    if flags.user.is_some() && has_header("Authorization") {
        return Err(Contradiction::AuthorizationTwice);
    }
    Ok(())
}

fn listed(flags: &RequestFlags, text: Option<&str>) -> Result<Vec<ListedRequest>, Error> {
    let base = flags.base_url.as_ref();
    let mut listed: Vec<_> = flags
        .places
        .iter()
        .filter_map(TargetWord::request)
        .collect();
    if let (Some(path), Some(text)) = (&flags.urls, text) {
        listed.extend(read_list(path, text, base)?);
    }
    if let Some(lines) = &flags.urls_inline {
        let lines = lines.requests(base);
        listed.extend(lines.map_err(|sentence| Error::Flags(format!("urls_inline: {sentence}")))?);
    }
    Ok(listed)
}

fn read_list(path: &Path, text: &str, base: Option<&BaseUrl>) -> Result<Vec<ListedRequest>, Error> {
    parse_url_list(text, base).map_err(|error| Error::UrlList {
        path: path.to_owned(),
        error,
    })
}

impl TargetWord {
    fn request(&self) -> Option<ListedRequest> {
        match self {
            TargetWord::Plan(_) => None,
            TargetWord::Url(target) => Some(ListedRequest::new(target.clone())),
        }
    }
}

fn defaults(
    flags: &RequestFlags,
    seed: u64,
    stdin: &mut dyn Read,
) -> Result<RequestDefaults, Error> {
    let mut headers = flags.header.clone();
    let body = match &flags.body {
        Some(source) => Body::Bytes(read_body(source, stdin)?.into()),
        None if flags.form.is_empty() => Body::None,
        None => {
            let form = Multipart::new(&read_form(&flags.form)?, seed);
            headers.push(Header {
                name: "Content-Type".to_owned(),
                value: form.content_type,
            });
            Body::Bytes(form.body.into())
        }
    };
    let credentials = flags.user.clone().filter(|_| !flags.digest);
    Ok(RequestDefaults {
        method: flags.method.clone(),
        headers,
        body,
        credentials,
    })
}

fn read_body(source: &BodySource, stdin: &mut dyn Read) -> Result<Vec<u8>, Error> {
    match source {
        BodySource::File(path) => {
            let file = File::open(path).map_err(unreadable("--body", path))?;
            let size = file.metadata().map_or(0, |metadata| metadata.len());
            let body = read_at_most(MOST_BODY, size, file);
            let body = body.map_err(unreadable("--body", path))?;
            body.ok_or(Error::BodyTooLong)
        }
        BodySource::Text(text) => Ok(text.as_bytes().to_vec()),
        BodySource::Stdin => {
            let body = read_at_most(MOST_BODY, 0, stdin).map_err(Error::Stdin)?;
            body.ok_or(Error::BodyTooLong)
        }
    }
}

/// All that comes, which may be about `size` bytes; `None` where that is more than `most`.
fn read_at_most(most: u64, size: u64, source: impl Read) -> io::Result<Option<Vec<u8>>> {
    // Room that grows by doubling would be twice as much as is needed.
    let room = usize::try_from(size.min(most).saturating_add(1)).unwrap_or(0);
    let mut bytes = Vec::with_capacity(room);
    let read = source.take(most + 1).read_to_end(&mut bytes)? as u64;
    Ok((read <= most).then_some(bytes))
}

fn read_form(fields: &[FormField]) -> Result<Vec<FormPart>, Error> {
    let parts = fields
        .iter()
        .map(|FormField { name, source }| match source {
            FormSource::Text(text) => Ok(FormPart::text(name, text)),
            FormSource::File(path) => Ok(FormPart::file(name, path, read_bytes("--form", path)?)),
        });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_that_does_not_end_is_read_no_further_than_its_bound() {
        assert_eq!(read_at_most(3, 0, io::repeat(b'x')).unwrap(), None);
        assert_eq!(read_at_most(3, 9, &b"abcd"[..]).unwrap(), None);
        assert_eq!(
            read_at_most(3, 1, &b"abc"[..]).unwrap(),
            Some(b"abc".to_vec())
        );
    }
}
