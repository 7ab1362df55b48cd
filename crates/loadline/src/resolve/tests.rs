//! Tests of the runs that flags and files describe.

use super::*;
use crate::output::{Color, Format, Output, Sink};
use loadline_plan::{Arrivals, Body, Load, Order, Rate, Request, Shape, Think};
use std::fs;
use std::time::Duration;

fn resolve_words(words: &[&str], stdin: &str) -> Result<Invocation, Error> {
    let flags = flags::parse_planned::<RunFlags>(words.iter().map(Into::into)).expect("flags");
    resolve(
        flags,
        RunEnvironment {
            cores: 8,
            open_files: 4_096,
            seed: 42,
            stdin: &mut stdin.as_bytes(),
        },
    )
}

fn invocation(words: &[&str]) -> Invocation {
    resolve_words(words, "").unwrap_or_else(|error| panic!("{words:?}: {error}"))
}

fn refusal(words: &[&str]) -> String {
    resolve_words(words, "").expect_err("a refusal").to_string()
}

fn only_request(words: &[&str]) -> Request {
    let mut requests = invocation(words).plan.requests;
    assert_eq!(requests.len(), 1);
    requests.remove(0)
}

fn headers(request: &Request) -> Vec<String> {
    request.headers.iter().map(ToString::to_string).collect()
}

/// A folder with one file in it, and the file's path.
fn file(name: &str, content: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    fs::write(&path, content).expect("a file");
    (folder, path.to_str().expect("a path of text").to_owned())
}

#[test]
fn a_url_alone_is_a_whole_run() {
    let invocation = invocation(&["http://127.0.0.1:8080/"]);
    let request = &invocation.plan.requests[0];
    assert_eq!(
        (request.method.as_str(), request.url.as_str()),
        ("GET", "http://127.0.0.1:8080/")
    );
    assert_eq!(
        (&request.headers, &request.body, request.weight),
        (&vec![], &Body::None, 1)
    );
    let expected = Plan {
        requests: vec![request.clone()],
        load: Load {
            users: 50,
            max_users: 50,
            shape: Shape::Closed,
        },
        threads: 7,
        duration: Some(Duration::from_secs(10)),
        seed: 42,
        ..Plan::default()
    };
    assert_eq!(invocation.plan, expected);
    assert_eq!(invocation.reports.outputs, [Output::TEXT]);
    assert_eq!(
        invocation.reports.style.percentiles,
        [50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99]
    );
    assert!(invocation.session.progress && invocation.reports.style.color == Color::Auto);
    assert!(invocation.session.save.is_none() && invocation.session.log.is_none());
}

#[test]
fn a_run_drains_as_long_as_its_checks_need() {
    let drain = |words: &[&str]| invocation(words).plan.connection.drain;
    let ms = std::time::Duration::from_millis;
    assert_eq!(drain(&["127.0.0.1"]), ms(0));
    assert_eq!(drain(&["127.0.0.1", "--check", "rate>5"]), ms(0));
    assert_eq!(drain(&["127.0.0.1", "--check", "p99<200ms"]), ms(200));
    let failures = ["127.0.0.1", "--check", "errors<1%"];
    assert_eq!(drain(&failures), ms(30_000), "failures are known then");
    let checks = ["127.0.0.1", "--check", "p99<200ms", "--check", "max<90s"];
    assert_eq!(drain(&checks), ms(30_000), "the timeout");
    assert_eq!(
        drain(&[&checks[..], &["--drain", "2s"]].concat()),
        ms(2_000)
    );
    assert_eq!(drain(&[&checks[..], &["-n", "5"]].concat()), ms(0));
    let both = ["127.0.0.1", "-n", "5", "-d", "3s", "--drain", "1s"];
    assert_eq!(drain(&both), ms(1_000), "-d may end it first");
    let refused = refusal(&["127.0.0.1", "-n", "5", "--drain", "1s"]);
    assert!(
        refused.starts_with("--drain waits after the end"),
        "{refused}"
    );
}

#[test]
fn a_drain_that_checks_need_ends_when_none_can_change() {
    let to_age = |words: &[&str]| invocation(words).plan.connection.drains_to_age;
    let checked = ["127.0.0.1", "--check", "p99<200ms"];
    assert!(to_age(&checked));
    assert!(!to_age(&[&checked[..], &["--drain", "2s"]].concat()));
    assert!(!to_age(&["127.0.0.1"]), "there is none");
}

#[test]
fn threads_are_never_more_than_connections() {
    assert_eq!(invocation(&["-c", "3", "a/"]).plan.threads, 3);
    assert_eq!(invocation(&["-c", "100", "a/"]).plan.threads, 8);
    assert_eq!(invocation(&["--stages", "1s:2", "a/"]).plan.threads, 2);
    assert_eq!(invocation(&["-t", "1", "a/"]).plan.threads, 1);
    assert!(refusal(&["-t", "9", "-c", "8", "a/"]).starts_with("--threads 9 is more than"));
}

#[test]
fn each_stream_of_http2_has_a_user_and_workers_have_whole_connections() {
    let plan = |words: &[&str]| invocation(&[&["--http", "2", "a/"], words].concat()).plan;
    let ten = plan(&["-c", "12", "--streams", "10"]);
    assert_eq!((ten.load.users, ten.load.max_users), (120, 120));
    assert_eq!((ten.connection.streams, ten.threads), (10, 6));
    assert_eq!(plan(&["-c", "1", "--streams", "100"]).threads, 1);
    let open = plan(&[
        "-c",
        "8",
        "--streams",
        "5",
        "-r",
        "100",
        "--max-connections",
        "16",
    ]);
    assert_eq!((open.load.users, open.load.max_users), (40, 80));
    let refused = refusal(&["-t", "2", "-c", "1", "--http", "2", "--streams", "9", "a/"]);
    assert!(
        refused.starts_with("--threads 2 is more than --connections 1"),
        "{refused}"
    );
}

#[test]
fn a_target_on_this_host_is_left_a_core() {
    let threads = |words: &[&str]| invocation(words).plan.threads;
    for words in [
        &["localhost:8080"] as &[&str],
        &["127.0.0.2"],
        &["http://[::1]:80/"],
        &["http://api.localhost./"],
        &["--unix-socket", "s", "http://example.org/"],
        &["--connect-to", "::127.0.0.1:", "http://example.org/"],
        &["--proxy", "http://localhost:3128", "http://example.org/"],
    ] {
        assert_eq!(threads(words), 7, "{words:?}");
        assert_eq!(threads(&[&["-t", "8"], words].concat()), 8, "{words:?}");
    }
    for words in [
        &["http://example.org/"] as &[&str],
        &["http://192.0.2.1/"],
        &["--connect-to", "::192.0.2.1:", "http://localhost/"],
        &["--proxy", "http://192.0.2.1:3128", "http://localhost/"],
    ] {
        assert_eq!(threads(words), 8, "{words:?}");
    }
}

#[test]
fn the_limit_of_connections_that_nobody_asked_for_fits_the_open_files() {
    let most = |words: &[&str], open_files| {
        let flags = flags::parse_planned::<RunFlags>(words.iter().map(Into::into)).expect("flags");
        let surroundings = RunEnvironment {
            cores: 2,
            open_files,
            seed: 42,
            stdin: &mut std::io::empty(),
        };
        let plan = resolve(flags, surroundings).expect("a plan").plan;
        (plan.load.users, plan.load.max_users)
    };
    assert_eq!(most(&["-r", "10", "a/"], 4_096), (50, 1_000));
    assert_eq!(most(&["-r", "10", "a/"], 256), (50, 240));
    let four = ["-r", "10", "-t", "4", "--processes", "4", "a/"];
    assert_eq!(most(&four, 256), (50, 960));
    assert_eq!(most(&["-r", "10", "-c", "500", "a/"], 256), (500, 500));
    let asked = ["-r", "10", "--max-connections", "900", "a/"];
    assert_eq!(most(&asked, 256), (50, 900));
}

#[test]
fn what_is_said_arrives_in_the_plan() {
    let words = "-r 2.5k --arrivals poisson -n 1k -d 1m --warmup 2s --seed 7 --check p99<50ms \
                 --abort-on errors<5% --max-connections 80 --urls-order random --pipeline 4 a/";
    let plan = invocation(&words.split_whitespace().collect::<Vec<_>>()).plan;
    let shape = Shape::Rate {
        rate: Rate::each_second(2_500),
        arrivals: Arrivals::Poisson,
    };
    assert_eq!(
        plan.load,
        Load {
            users: 50,
            max_users: 80,
            shape
        }
    );
    assert_eq!(
        (plan.request_limit, plan.duration),
        (Some(1_000), Some(Duration::from_secs(60)))
    );
    assert_eq!((plan.warmup, plan.seed), (Duration::from_secs(2), 7));
    assert_eq!((plan.order, plan.connection.pipeline), (Order::Random, 4));
    let texts = [&plan.checks[0].text, &plan.abort_on[0].text];
    assert_eq!(texts, ["p99<50ms", "errors<5%"]);
}

#[test]
fn users_think_as_long_as_is_said_above_or_in_their_scenario() {
    let think = |words: &[&str]| invocation(words).plan.think;
    let exponential = Think::Exponential(Duration::from_millis(250));
    assert_eq!(think(&["--think", "exp:250ms", "a/"]), Some(exponential));
    assert_eq!(think(&["a/"]), None);
    let text = "think = '1s'\nurl = 'a/'\n[[scenario]]\nname = 'x'\n\
                [[scenario]]\nname = 'y'\nthink = 'exp:250ms'\n";
    let (_folder, path) = file("plan.toml", text);
    let plan = invocation(&[&path]).plan;
    let each: Vec<_> = plan.parts().iter().map(|part| part.think).collect();
    let second = Think::Constant(Duration::from_secs(1));
    assert_eq!(each, [Some(second), Some(exponential)]);
}

#[test]
fn classes_of_users_share_the_stages_of_the_run() {
    let text = "url = 'a/'\nstages = '10s:8,20s:0'\n[[scenario]]\nname = 'x'\nweight = 3\n\
                [[scenario]]\nname = 'y'\nweight = 1\n";
    let (_folder, path) = file("plan.toml", text);
    let plan = invocation(&[&path]).plan;
    let users: Vec<_> = plan.scenarios.iter().map(|own| own.load.users).collect();
    assert_eq!(users, [6, 2]);
    for own in &plan.scenarios {
        assert_eq!(own.duration, Some(Duration::from_secs(30)));
        let Shape::ClosedStages { start: 0, stages } = &own.load.shape else {
            panic!("{:?}", own.load);
        };
        assert_eq!((stages[0].target, stages[1].target), (own.load.users, 0));
    }
    assert_eq!(plan.load.users, 8);
}

#[test]
fn bodies_come_from_texts_files_and_stdin() {
    let (_folder, path) = file("body.txt", "from a file");
    let request = only_request(&["-b", "from here", "a/"]);
    assert_eq!(
        (&*request.method, request.body),
        ("POST", Body::Bytes(b"from here".to_vec().into()))
    );
    let request = only_request(&["-b", &format!("@{path}"), "a/"]);
    assert_eq!(request.body, Body::Bytes(b"from a file".to_vec().into()));
    let plan = resolve_words(&["-b", "-", "-X", "PUT", "a/"], "from stdin")
        .expect("a run")
        .plan;
    assert_eq!(
        plan.requests[0].body,
        Body::Bytes(b"from stdin".to_vec().into())
    );
    assert_eq!(plan.requests[0].method, "PUT");
}

#[test]
fn forms_are_joined_and_named() {
    let (_folder, path) = file("photo.png", "pixels");
    let request = only_request(&[
        "-F",
        "a=b",
        "-F",
        &format!("photo=@{path}"),
        "-H",
        "X: 1",
        "a/",
    ]);
    assert_eq!(request.method, "POST");
    let headers = headers(&request);
    assert_eq!(headers[0], "X: 1");
    assert!(headers[1].starts_with("Content-Type: multipart/form-data; boundary=loadline-"));
    let Body::Bytes(body) = request.body else {
        panic!("no body")
    };
    let body = String::from_utf8(body.to_vec()).expect("text");
    assert!(
        body.contains("filename=\"photo.png\"") && body.contains("\r\n\r\npixels\r\n"),
        "{body}"
    );
}

#[test]
fn lists_of_urls_are_completed_by_the_flags() {
    let list = "a/1\n{\"url\": \"a/2\", \"method\": \"PUT\", \"headers\": {\"x\": \"own\"}, \
                \"weight\": 3}";
    let (_folder, path) = file("urls.txt", list);
    let plan = invocation(&["--urls", &path, "-H", "X: all", "-u", "me:1", "a/0"]).plan;
    let told: Vec<_> = plan
        .requests
        .iter()
        .map(|request| format!("{} {} {:?}", request.method, request.url, headers(request)))
        .collect();
    assert_eq!(
        told,
        [
            r#"GET http://a/0 ["X: all", "Authorization: Basic bWU6MQ=="]"#,
            r#"GET http://a/1 ["X: all", "Authorization: Basic bWU6MQ=="]"#,
            r#"PUT http://a/2 ["x: own", "Authorization: Basic bWU6MQ=="]"#,
        ]
    );
    assert_eq!(plan.requests[2].weight, 3);
}

#[test]
fn a_list_of_urls_may_come_from_stdin() {
    let plan = resolve_words(&["--urls", "-"], "http://a/1\n\nhttp://a/2\n")
        .expect("a run")
        .plan;
    assert_eq!(plan.requests.len(), 2);
    let said = refusal(&["--urls", "-", "-b", "-"]);
    assert_eq!(
        said,
        "--body - and --urls - both read stdin; give one of them a file."
    );
    let scenarios = "urls = '-'\n[[scenario]]\nname = 'x'\n[[scenario]]\nname = 'y'\n";
    let (_folder, path) = file("plan.toml", scenarios);
    assert!(refusal(&[&path]).contains("--urls - reads stdin, which several scenarios can't"));
}

#[test]
fn values_of_variables_are_secret_where_they_are_sent() {
    // Cargo sets this one for tests.
    let text = "url = 'http://a/${CARGO_PKG_NAME}'\nmethod = 'PUT'\n";
    let (_folder, path) = file("plan.toml", text);
    let plan = invocation(&[&path]).plan;
    assert_eq!(plan.requests[0].url.as_str(), "http://a/loadline");
    assert!(plan.secrets.is_empty());
    let text = "url = 'http://a/'\nheader = ['X: ${CARGO_PKG_NAME}', 'Y: $${Z}']\n";
    let (_folder, path) = file("plan.toml", text);
    let plan = invocation(&[&path]).plan;
    assert_eq!(headers(&plan.requests[0]), ["X: loadline", "Y: ${Z}"]);
    assert_eq!(plan.secrets, ["loadline"]);
}

#[test]
fn a_list_of_relative_urls_has_a_base() {
    let (_folder, path) = file("urls.txt", "/a\n{\"url\": \"/b?c\", \"name\": \"b\"}");
    let plan = invocation(&["--urls", &path, "--base-url", "http://me:1@a/api"]).plan;
    let urls: Vec<_> = plan.requests.iter().map(|one| one.url.as_str()).collect();
    assert_eq!(urls, ["http://a/api/a", "http://a/api/b?c"]);
    assert!(headers(&plan.requests[0])[0].starts_with("Authorization: "));
    let said = refusal(&["--urls", &path]);
    let start = format!("--urls {path}: line 1: `/a` is relative, and nothing says to what: ");
    assert!(said.starts_with(&start), "{said}");
    let (_folder, path) = file("plan.toml", "urls_inline = '/a'\nbase_url = 'b:1'");
    let plan = invocation(&[&path]).plan;
    assert_eq!(plan.requests[0].url.as_str(), "http://b:1/a");
    let (_folder, path) = file("plan.toml", "urls_inline = '/a'");
    let said = refusal(&[&path]);
    assert!(
        said.contains("urls_inline: in its line 1: `/a` is relative"),
        "{said}"
    );
}

#[test]
fn plan_files_stand_under_the_flags() {
    let (_folder, path) = file(
        "soak.toml",
        "url = 'http://a/'\nrate = '100'\nduration = '1h'\ncheck = ['p99<1s']\ninsecure = true\n\
         urls_inline = '''\n{\"url\": \"b/\", \"weight\": 2}'''",
    );
    let plan = invocation(&[&path, "-d", "5s"]).plan;
    assert_eq!(plan.duration, Some(Duration::from_secs(5)));
    assert!(matches!(plan.load.shape, Shape::Rate { rate, .. } if rate == Rate::each_second(100)));
    assert!(plan.connection.tls.insecure && plan.checks.len() == 1);
    let urls: Vec<_> = plan
        .requests
        .iter()
        .map(|request| request.url.as_str())
        .collect();
    assert_eq!(urls, ["http://a/", "http://b/"]);
    let plan = invocation(&["c/", &path]).plan;
    assert_eq!(plan.requests.len(), 1);
    assert_eq!(plan.requests[0].url.as_str(), "http://c/");
}

#[test]
fn reports_go_where_they_are_sent() {
    let to_file = |format, path: &str| Output {
        format,
        to: Sink::File(path.into()),
    };
    let json = to_file(Format::Json, "a.json");
    for (words, outputs) in [
        (vec!["-o", "json=a.json"], vec![Output::TEXT, json.clone()]),
        (vec!["-q", "-o", "json=a.json"], vec![json.clone()]),
        (vec!["-q"], vec![]),
        (
            vec!["-o", "csv"],
            vec![Output {
                format: Format::Csv,
                to: Sink::Stdout,
            }],
        ),
        (
            vec!["-o", "text=a", "-o", "csv=b"],
            vec![
                Output::TEXT,
                to_file(Format::Text, "a"),
                to_file(Format::Csv, "b"),
            ],
        ),
    ] {
        let words: Vec<_> = words.into_iter().chain(["a/"]).collect();
        assert_eq!(invocation(&words).reports.outputs, outputs, "{words:?}");
    }
    assert!(!invocation(&["-q", "a/"]).session.progress);
    assert!(!invocation(&["--no-progress", "a/"]).session.progress);
}

#[test]
fn nothing_is_written_over_something_else() {
    assert!(refusal(&["-o", "json", "-o", "text", "a/"]).starts_with("two outputs go to stdout"));
    for words in [
        ["-o", "json=x", "--save", "x", "a/"],
        ["--save", "x", "--log", "x", "a/"],
        ["-o", "csv=x", "-o", "text=x", "a/"],
    ] {
        assert!(
            refusal(&words).starts_with("x would be written twice"),
            "{words:?}"
        );
    }
}

#[test]
fn contradictions_are_sentences() {
    for (words, start) in [
        ("", "there is no URL to load"),
        ("-r 5 --burst 1/s a/", "--burst and --rate both say"),
        ("-d 5s --stages 1s:1 a/", "--stages and --duration both say"),
        (
            "--max-connections 5 a/",
            "--max-connections is for an open load",
        ),
        (
            "-r 5 -c 50 --max-connections 5 a/",
            "--max-connections 5 is below --connections 50",
        ),
        ("-b x -F a=b a/", "--body and --form both set"),
        (
            "-F a=b -H content-type:x a/",
            "--form sets the Content-Type itself",
        ),
        (
            "-u me -H authorization:x a/",
            "--user and the header Authorization both",
        ),
        ("-c 0 a/", "--connections 0 sends nothing"),
        ("-d 0 a/", "--duration must be more than 0"),
        (
            "--base-url a/ b/",
            "--base-url is the beginning of relative URLs",
        ),
        ("-n 0 a/", "--requests 0 sends nothing"),
        ("-r 0 a/", "--rate 0/s sends nothing"),
        ("--stages 0s:5 a/", "--stages ends at once"),
        ("p.toml q.toml", "p.toml and q.toml are two plan files"),
    ] {
        let refusal = refusal(&words.split_whitespace().collect::<Vec<_>>());
        assert!(refusal.starts_with(start), "{words}: {refusal}");
    }
}

#[test]
fn files_that_can_not_be_read_are_named_with_their_flag() {
    for (words, start) in [
        (
            "--urls none.txt",
            "--urls none.txt can't be read: No such file",
        ),
        ("-b @none.txt a/", "--body none.txt can't be read: "),
        ("-F a=@none.txt a/", "--form none.txt can't be read: "),
        ("--cacert none.pem a/", "--cacert none.pem can't be read: "),
        ("--cert none.pem a/", "--cert none.pem can't be read: "),
        ("none.toml", "plan file none.toml can't be read: "),
        ("--urls / a/", "--urls / can't be read: "),
    ] {
        let refusal = refusal(&words.split_whitespace().collect::<Vec<_>>());
        assert!(refusal.starts_with(start), "{words}: {refusal}");
    }
}

#[test]
fn lists_of_urls_are_refused_with_their_line() {
    let (_folder, path) = file("urls.txt", "a/\n\nftp://b");
    let start = format!("--urls {path}: line 3: `ftp://b` is not a URL to load: ");
    assert!(refusal(&["--urls", &path]).starts_with(&start));
    let (_folder, path) = file("empty.txt", "# nothing\n");
    assert!(refusal(&["--urls", &path]).ends_with("{\"url\": \"http://…\"}."));
}

#[test]
fn series_of_single_agents_need_agents_that_merge_nothing_and_an_exporter() {
    let flags = |outputs: &[&str]| {
        let words = ["--nats", "nats://b", "--agents", "region=eu", "--per-agent"];
        let words = [&words[..], outputs, &["http://127.0.0.1:9/"]].concat();
        flags::parse_planned::<RunFlags>(words.iter().map(Into::into)).expect("flags")
    };
    let scraped = flags(&["-o", "scrape=127.0.0.1:1"]);
    assert!(refuse_too_many_series(&scraped, 64).is_ok());
    let refusal = refuse_too_many_series(&scraped, 65).expect_err("a refusal");
    assert_eq!(
        refusal.to_string(),
        "--per-agent is for at most 64 agents, and there are 65: beyond, some of them merge the \
         figures of others; leave it out, or take fewer agents."
    );
    assert!(refuse_no_series(&scraped).is_ok());
    for outputs in [
        &[][..],
        &["-o", "json"],
        &["-o", "webhook=http://127.0.0.1:1/"],
    ] {
        assert!(refuse_no_series(&flags(outputs)).is_err(), "{outputs:?}");
    }
}
