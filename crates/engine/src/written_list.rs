//! A long list of requests, each of which is written when it is sent: a prefix that all lines
//! share, its path, and a shared suffix. That needs no allocation, and touches less memory than
//! bytes that were written before the run.

use crate::batch::Part;
use crate::written_request::{WrittenRequest, requested_of};
use loadline_metrics::SeriesId;
use loadline_plan::{Connection, ListLines, Plan};
use std::sync::Arc;

/// A long list, with its templates as written bytes.
#[derive(Debug)]
pub(crate) struct WrittenList {
    lines: Arc<ListLines>,
    /// The range of the path in the bytes of each template.
    paths: Vec<std::ops::Range<usize>>,
    /// The series of each line.
    series: Vec<SeriesId>,
}

impl WrittenList {
    /// Creates the list of a plan, if it has one that can be written line by line. `ids` are the
    /// series of its lines.
    pub(crate) fn new(plan: &Plan, ids: Vec<SeriesId>) -> Option<WrittenList> {
        let lines = plan.list_lines()?;
        let templates = plan.requests.iter();
        Some(WrittenList {
            lines: Arc::clone(lines),
            paths: templates
                .map(|template| requested_of(template, &plan.connection))
                .collect(),
            series: ids,
        })
    }

    /// Returns the number of requests.
    pub(crate) fn len(&self) -> usize {
        self.lines.len()
    }

    /// Returns the index of the template of a line.
    pub(crate) fn template(&self, index: usize) -> usize {
        self.lines.line(index).0
    }

    /// Appends a line to `bytes`, without a long body; returns its properties.
    #[inline]
    pub(crate) fn write(
        &self,
        index: usize,
        templates: &[WrittenRequest],
        bytes: &mut Vec<u8>,
    ) -> Part {
        let (template, path) = self.lines.line(index);
        let (written, place) = (&templates[template], &self.paths[template]);
        bytes.extend_from_slice(&written.bytes[..place.start]);
        bytes.extend_from_slice(path.as_bytes());
        bytes.extend_from_slice(&written.bytes[place.end..]);
        Part {
            end: bytes.len() + written.body.len(),
            series: self.series[index],
            request: u32::try_from(index).ok(),
            ..written.part
        }
    }
}

/// True if the lines of a plan's list can be written when they are sent: as HTTP/1.1, by users who
/// add nothing. Otherwise the list is written out before the run.
pub(crate) fn is_written_by_line(plan: &Plan, connection: &Connection) -> bool {
    use loadline_plan::HttpVersion::V1_1;
    let is_plain = plan.client.is_plain() && connection.http == V1_1;
    is_plain && plan.part.is_none() && plan.list_lines().is_some_and(has_plain_paths)
}

/// True if no path has a byte that is not allowed in a request: such a line is rejected with its
/// URL when it is written out.
fn has_plain_paths(lines: &Arc<ListLines>) -> bool {
    let visible = |byte: u8| byte > b' ' && byte != 0x7f;
    (0..lines.len()).all(|index| lines.line(index).1.bytes().all(visible))
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_plan::{Header, ListSource, LongList, RequestDefaults};

    fn listed(text: &str, defaults: &RequestDefaults) -> Plan {
        let source = ListSource {
            path: "urls.txt".into(),
            crc32: String::new(),
        };
        let read = LongList::read(text, None, defaults, source);
        let (requests, list) = read.expect("a list").expect("a long list");
        Plan {
            requests,
            list: Some(list),
            ..Plan::default()
        }
    }

    fn write(plan: &Plan) -> Vec<WrittenRequest> {
        let id = SeriesId::default();
        let requests = plan.requests.iter();
        requests
            .map(|request| WrittenRequest::new(request, 0, id, &plan.connection))
            .collect::<Result<_, _>>()
            .expect("requests that can be written")
    }

    #[test]
    fn each_line_goes_out_as_it_would_written_before_the_run() {
        let lines = (0..2_000).map(|at| match at % 3 {
            0 => format!("http://127.0.0.1:81/{at}?q=ü&b\n"),
            1 => format!("http://[::1]/{at}\n"),
            _ => format!(
                "{{\"url\": \"b/\", \"method\": \"PUT\", \"body\": \"{}\"}}\n",
                at % 7
            ),
        });
        let text: String = lines.collect();
        let defaults = RequestDefaults {
            headers: vec!["X-A: GET /1 HTTP".parse::<Header>().expect("a header")],
            ..RequestDefaults::default()
        };
        for proxy in [
            None,
            Some("http://127.0.0.1:3128".parse().expect("a proxy")),
        ] {
            let mut plan = listed(&text, &defaults);
            plan.connection.proxy = proxy;
            let templates = write(&plan);
            assert!(is_written_by_line(&plan, &plan.connection));
            let ids = vec![SeriesId(7); 2_000];
            let list = WrittenList::new(&plan, ids).expect("a list");
            let expected = write(&plan.clone().written_out());
            assert_eq!(list.len(), expected.len());
            let mut bytes = Vec::new();
            for (index, expected) in expected.iter().enumerate() {
                bytes.clear();
                let part = list.write(index, &templates, &mut bytes);
                assert_eq!(bytes, expected.bytes);
                assert_eq!(part.end, bytes.len());
                assert_eq!(
                    (part.series, part.request),
                    (SeriesId(7), Some(index as u32))
                );
                assert_eq!(part.expect, expected.part.expect);
            }
        }
    }

    #[test]
    fn users_who_add_something_have_the_list_written_out() {
        let mut plan = listed(&"b/1\n".repeat(2_000), &RequestDefaults::default());
        assert!(is_written_by_line(&plan, &plan.connection));
        plan.client.cookies = true;
        assert!(!is_written_by_line(&plan, &plan.connection));
        plan.client.cookies = false;
        plan.connection.http = loadline_plan::HttpVersion::V2;
        assert!(!is_written_by_line(&plan, &plan.connection));
    }
}
