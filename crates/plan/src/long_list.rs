//! Long lists of URLs, in little more memory than their text.
//!
//! A request of a plan takes hundreds of bytes, most of which are the same for each line of a list.
//! For a long list the plan's requests are only its *templates*: one for each host, method, set of
//! header fields, body and name that occurs. The list itself has for each line the path and the
//! index of the template. In files and reports the list is identified by its file, its length and
//! its hash.

use crate::url_list::listed_lines;
use crate::{BaseUrl, Error, ListedRequest, Plan, Request, RequestDefaults};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;
use url::{Position, Url};

/// The most lines of a list that is written out as requests; longer lists are held as [`LongList`].
pub const LONGEST_WRITTEN_LIST: usize = 1_000;
/// The most templates of a list.
const MOST_TEMPLATES: usize = 1 << u8::BITS;

/// A long list, whose templates are the plan's requests.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LongList {
    /// The file's path, as given.
    pub path: PathBuf,
    /// The number of requests.
    pub count: u64,
    /// The CRC-32 of the file (that of zip and gzip), as eight hexadecimal digits.
    pub crc32: String,
    /// The lines; `None` if the plan was read from a file.
    #[serde(skip)]
    pub lines: Option<Arc<ListLines>>,
}

/// The source of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListSource {
    /// The file's path, as given.
    pub path: PathBuf,
    /// The CRC-32 of the file's text, as eight hexadecimal digits.
    pub crc32: String,
}

/// The lines of a long list: for each a path and the index of its template.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListLines {
    /// All paths with their queries, one after the other.
    paths: String,
    /// The offset at which each path ends.
    ends: Vec<u64>,
    templates: Vec<u8>,
}

/// A request's name in reports, and its URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedRequest<'a> {
    /// The name of the series that counts the request.
    pub name: Cow<'a, str>,
    /// The whole URL.
    pub url: Cow<'a, str>,
}

/// Two lists are equal if their files have the same text, wherever they are.
impl PartialEq for LongList {
    fn eq(&self, other: &LongList) -> bool {
        self.count == other.count && self.crc32 == other.crc32
    }
}

impl LongList {
    /// Reads the text of a list: its templates and its lines. `None` if the list is short, has too
    /// many different templates, or has weights.
    ///
    /// # Errors
    /// As [`parse_url_list`](crate::parse_url_list).
    pub fn read(
        text: &str,
        base: Option<&BaseUrl>,
        defaults: &RequestDefaults,
        source: ListSource,
    ) -> Result<Option<(Vec<Request>, LongList)>, Error> {
        if text.lines().nth(LONGEST_WRITTEN_LIST).is_none() {
            return Ok(None);
        }
        let mut templates = Templates::new(defaults);
        let mut lines = ListLines::default();
        let mut last = LastOrigin::default();
        for line in listed_lines(text) {
            if let Some(path) = last.path_in(line.text) {
                lines.push(last.template, path);
                continue;
            }
            let listed = line.read(base)?;
            let is_plain = is_plain(&listed);
            let path = listed.target.url[Position::BeforePath..].to_owned();
            let Some(template) = templates.of(listed) else {
                return Ok(None);
            };
            lines.push(template, &path);
            if is_plain {
                last.note(line.text, &path, template);
            }
        }
        if lines.len() <= LONGEST_WRITTEN_LIST {
            return Ok(None);
        }
        let list = LongList {
            path: source.path,
            count: lines.len() as u64,
            crc32: source.crc32,
            lines: Some(Arc::new(lines)),
        };
        Ok(Some((templates.requests, list)))
    }
}

impl ListLines {
    fn push(&mut self, template: u8, path: &str) {
        self.paths.push_str(path);
        self.ends.push(self.paths.len() as u64);
        self.templates.push(template);
    }

    /// Returns the number of lines.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// True if there are no lines.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the index of a line's template, and the line's path with its query.
    ///
    /// # Panics
    /// If there is no such line.
    #[inline]
    pub fn line(&self, index: usize) -> (usize, &str) {
        let begin = index.checked_sub(1).map_or(0, |last| self.ends[last]);
        let path = &self.paths[begin as usize..self.ends[index] as usize];
        (usize::from(self.templates[index]), path)
    }
}

/// The beginning of the last line that was parsed as a URL, up to its path. Most lines of a list
/// begin alike, and parsing a URL takes many times as long as comparing its beginning.
#[derive(Default)]
struct LastOrigin<'a> {
    text: &'a str,
    template: u8,
}

impl<'a> LastOrigin<'a> {
    /// Returns the path of a line that has the same beginning, if the path is sent as written.
    fn path_in(&self, line: &'a str) -> Option<&'a str> {
        let path = line.strip_prefix(self.text)?;
        (!self.text.is_empty() && is_sent_as_written(path)).then_some(path)
    }

    /// Records the beginning of a line with this path, if the line ends in the path.
    fn note(&mut self, line: &'a str, path: &str, template: u8) {
        let origin = line.strip_suffix(path).unwrap_or_default();
        *self = LastOrigin {
            text: origin,
            template,
        };
    }
}

/// True if parsing a path with its query as part of a URL leaves it unchanged. Parsing removes
/// segments of dots, and may encode characters that are not listed here as `%XX`.
fn is_sent_as_written(path: &str) -> bool {
    let is_kept = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~!$&()*+,;=:@/?%".contains(&byte);
    let dots = ["/.", "/%2e", "/%2E"];
    path.starts_with('/')
        && path.bytes().all(is_kept)
        && !dots.iter().any(|dots| path.contains(dots))
}

/// True if a line has only a URL, without credentials.
fn is_plain(listed: &ListedRequest) -> bool {
    let ListedRequest {
        target,
        method,
        headers,
        body,
        weight,
        name,
    } = listed;
    let is_bare = method.is_none() && headers.is_empty() && body.is_none();
    is_bare && *weight == 1 && name.is_none() && target.credentials.is_none()
}

/// The templates of a list that have been found so far.
struct Templates<'a> {
    defaults: &'a RequestDefaults,
    requests: Vec<Request>,
    /// The templates of lines that have only a URL.
    plain: Vec<u8>,
}

impl<'a> Templates<'a> {
    fn new(defaults: &'a RequestDefaults) -> Templates<'a> {
        Templates {
            defaults,
            requests: Vec::new(),
            plain: Vec::new(),
        }
    }

    /// Returns the index of a line's template, which is added if there is room for it.
    fn of(&mut self, listed: ListedRequest) -> Option<u8> {
        let is_plain = is_plain(&listed);
        let here = origin(&listed.target.url);
        let mut plain = self.plain.iter();
        let known = plain.find(|index| origin(&self.requests[usize::from(**index)].url) == here);
        if let Some(known) = known.filter(|_| is_plain) {
            return Some(*known);
        }
        let request = self.defaults.complete(listed);
        if request.weight != 1 {
            return None;
        }
        let known = self.requests.iter().position(|one| is_same(one, &request));
        let index = known.unwrap_or(self.requests.len());
        if index == self.requests.len() {
            self.requests.push(request);
        }
        let index = u8::try_from(index).ok()?;
        debug_assert!(self.requests.len() <= MOST_TEMPLATES);
        if is_plain {
            self.plain.push(index);
        }
        Some(index)
    }
}

/// True if two requests differ only in their paths.
fn is_same(one: &Request, other: &Request) -> bool {
    origin(&one.url) == origin(&other.url)
        && (&one.method, &one.headers) == (&other.method, &other.headers)
        && (&one.body, &one.name) == (&other.body, &other.name)
}

/// Returns scheme, host and port.
fn origin(url: &Url) -> &str {
    &url[..Position::BeforePath]
}

impl Plan {
    /// Returns the number of requests that are sent in turn.
    pub fn request_count(&self) -> u64 {
        let written = self.requests.len() as u64;
        self.list.as_ref().map_or(written, |list| list.count)
    }

    /// Returns the lines of the plan's long list, if it has one whose lines are known.
    pub fn list_lines(&self) -> Option<&Arc<ListLines>> {
        self.list.as_ref()?.lines.as_ref()
    }

    /// Returns the name and the URL of the request of this index, among those that are sent in
    /// turn; `None` also if it belongs to a list whose lines are not known.
    pub fn named_request(&self, index: usize) -> Option<NamedRequest<'_>> {
        if self.list.is_none() {
            let request = self.requests.get(index)?;
            return Some(NamedRequest {
                name: request.series_name(),
                url: Cow::Borrowed(request.url.as_str()),
            });
        }
        let lines = self.list_lines()?;
        if index >= lines.len() {
            return None;
        }
        let (template, path) = lines.line(index);
        let template = self.requests.get(template)?;
        let url = format!("{}{path}", origin(&template.url));
        let name = template.series_name_of(&url).into_owned();
        Some(NamedRequest {
            name: Cow::Owned(name),
            url: Cow::Owned(url),
        })
    }

    /// Returns the names and the URLs of all requests that are sent in turn.
    pub fn named_requests(&self) -> impl Iterator<Item = NamedRequest<'_>> {
        (0..).map_while(|index| self.named_request(index))
    }

    /// Calls `each` with the name of each request that is sent in turn, without allocating a text
    /// for each URL.
    pub fn each_series_name(&self, mut each: impl FnMut(&str)) {
        let Some(lines) = self.list_lines() else {
            self.named_requests()
                .for_each(|request| each(&request.name));
            return;
        };
        let mut url = String::new();
        for index in 0..lines.len() {
            let (template, path) = lines.line(index);
            let Some(template) = self.requests.get(template) else {
                return;
            };
            url.clear();
            url.push_str(origin(&template.url));
            url.push_str(path);
            each(&template.series_name_of(&url));
        }
    }

    /// Returns the same plan with a request for each line of its list.
    ///
    /// # Panics
    /// Never: the URLs of a list were parsed before.
    #[must_use]
    pub fn written_out(self) -> Plan {
        let Some(lines) = self.list_lines().cloned() else {
            return self;
        };
        let request = |index| {
            let (template, path) = lines.line(index);
            let template = &self.requests[template];
            let url = format!("{}{path}", origin(&template.url));
            Request {
                url: Url::parse(&url).expect("a path behind the origin that it was read with"),
                ..template.clone()
            }
        };
        Plan {
            requests: (0..lines.len()).map(request).collect(),
            list: None,
            ..self
        }
    }
}

#[cfg(test)]
mod tests;
