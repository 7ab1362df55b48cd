//! Compares long lists with the same lists written out.

use super::*;
use crate::{Body, parse_url_list};
use std::fmt::Write as _;

fn source() -> ListSource {
    ListSource {
        path: "urls.txt".into(),
        crc32: "0badcafe".to_owned(),
    }
}

fn read(text: &str, defaults: &RequestDefaults) -> Option<Plan> {
    let read = LongList::read(text, None, defaults, source()).expect("a list");
    read.map(|(requests, list)| Plan {
        requests,
        list: Some(list),
        ..Plan::default()
    })
}

/// A list of this many lines, of two hosts, both as plain URLs and as JSON.
fn mixed(lines: usize) -> String {
    let mut text = "# all pages\n".to_owned();
    for index in 0..lines {
        match index % 3 {
            0 => writeln!(text, "http://a:81/items/{index}?q=ü#part"),
            1 => writeln!(text, "b/{index}"),
            _ => writeln!(
                text,
                r#"{{"url": "b/{index}", "method": "PUT", "name": "put"}}"#
            ),
        }
        .expect("writing to memory");
    }
    text
}

#[test]
fn a_long_list_says_the_same_as_one_that_is_written_out() {
    let defaults = RequestDefaults {
        headers: vec!["X-A: 1".parse().expect("a header")],
        ..RequestDefaults::default()
    };
    let text = mixed(3_000);
    let plan = read(&text, &defaults).expect("a long list");
    assert_eq!(plan.requests.len(), 3);
    assert_eq!(plan.request_count(), 3_000);
    let listed = parse_url_list(&text, None).expect("a list");
    let written: Vec<Request> = listed
        .into_iter()
        .map(|one| defaults.complete(one))
        .collect();
    let names: Vec<_> = plan.named_requests().collect();
    assert_eq!(names.len(), 3_000);
    for (named, written) in names.iter().zip(&written) {
        assert_eq!(named.name, written.series_name());
        assert_eq!(named.url, written.url.as_str());
    }
    assert_eq!(plan.named_request(3_000), None);
    let out = plan.written_out();
    assert_eq!((out.requests, out.list), (written, None));
}

#[test]
fn short_lists_and_those_of_weights_or_many_kinds_are_written_out() {
    let defaults = RequestDefaults::default();
    assert!(read(&mixed(LONGEST_WRITTEN_LIST), &defaults).is_none());
    assert!(read(&mixed(LONGEST_WRITTEN_LIST + 1), &defaults).is_some());
    let weighted = mixed(2_000) + "{\"url\": \"b/x\", \"weight\": 2}\n";
    assert!(read(&weighted, &defaults).is_none());
    let hosts = |count| -> String {
        (0..count)
            .map(|at| format!("http://h{}/\n", at % count))
            .collect()
    };
    let repeated = |count: usize| hosts(count).repeat(20);
    assert!(read(&repeated(MOST_TEMPLATES), &defaults).is_some());
    assert!(read(&repeated(MOST_TEMPLATES + 1), &defaults).is_none());
}

#[test]
fn a_line_that_cant_be_read_is_named_by_its_number() {
    let text = mixed(2_000) + "a b\n";
    let refusal = LongList::read(&text, None, &RequestDefaults::default(), source());
    let refusal = refusal.expect_err("a blank in a line").to_string();
    assert!(refusal.contains("line 2002"), "{refusal}");
}

/// The memory of each line in addition to its text: an offset, and a template's index.
#[test]
fn a_line_costs_its_path_and_nine_bytes() {
    let text = mixed(30_000);
    let plan = read(&text, &RequestDefaults::default()).expect("a long list");
    let lines = plan.list_lines().expect("lines");
    let paths: usize = (0..lines.len()).map(|at| lines.line(at).1.len()).sum();
    assert_eq!(lines.paths.len(), paths);
    assert!(paths < text.len());
    assert_eq!((lines.ends.len(), lines.templates.len()), (30_000, 30_000));
}

#[test]
fn in_files_a_list_is_its_name_its_length_and_its_hash() {
    let plan = read(&mixed(2_000), &RequestDefaults::default()).expect("a long list");
    let json = serde_json::to_value(&plan).expect("a plan is JSON");
    let expected = serde_json::json!({"path": "urls.txt", "count": 2000, "crc32": "0badcafe"});
    assert_eq!(json["list"], expected);
    assert_eq!(json["requests"].as_array().map(Vec::len), Some(3));
    let again: Plan = serde_json::from_value(json).expect("a plan");
    assert_eq!(again, plan);
    assert_eq!((again.request_count(), again.list_lines()), (2_000, None));
}

#[test]
fn a_body_for_all_is_in_the_template() {
    let defaults = RequestDefaults {
        body: Body::Bytes(b"x".to_vec().into()),
        ..RequestDefaults::default()
    };
    let plan = read(&"b/1\n".repeat(2_000), &defaults).expect("a long list");
    assert_eq!(plan.requests[0].method, "POST");
    assert_eq!(plan.requests[0].body, defaults.body);
}

proptest::proptest! {
    /// Lines that are copied as written give the same requests as lines that are parsed one by one.
    #[test]
    fn lines_that_begin_alike_are_read_as_any(
        paths in proptest::collection::vec("[/.%a2E?#&=' {é\\\\-]{0,12}", 1..40),
        hosts in proptest::collection::vec(proptest::sample::select(vec![
            "http://a", "http://A", "a", "http://a:80", "https://a", "http://u:p@a", "http://b:81",
        ]), 40),
    ) {
        let each = paths.iter().zip(&hosts).map(|(path, host)| format!("{host}/{path}\n"));
        let mut text: String = each.filter(|line| !line.trim().contains(' ')).collect();
        let Ok(listed) = parse_url_list(&text, None) else {
            return Ok(());
        };
        // Enough identical lines to make it a long list.
        text.push_str(&"http://a/x\n".repeat(LONGEST_WRITTEN_LIST + 1));
        let plan = read(&text, &RequestDefaults::default()).expect("a long list");
        let defaults = RequestDefaults::default();
        let written = listed.into_iter().map(|one| defaults.complete(one));
        for (named, written) in plan.named_requests().zip(written) {
            proptest::prop_assert_eq!(&*named.url, written.url.as_str());
            proptest::prop_assert_eq!(&*named.name, &*written.series_name());
        }
    }
}
