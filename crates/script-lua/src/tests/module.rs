//! The table `wrk`.

use super::Bench;
use crate::{Flavour, Options};

fn request_of(source: &str, change: impl FnOnce(&mut Options)) -> Vec<String> {
    let mut bench = Bench::new();
    change(&mut bench.options);
    let source = format!(
        "{source}\nlocal init = wrk.init function wrk.init(args) init(args) log(wrk.request()) end"
    );
    let mut lines = bench.logged(&source);
    let address = bench.address();
    lines
        .iter_mut()
        .for_each(|line| *line = line.trim_end().replace(&address, "HOST"));
    lines[1..].sort();
    lines
}

#[test]
fn a_script_sees_the_parts_of_the_url() {
    let mut bench = Bench::new();
    let port = bench.listener.local_addr().unwrap().port().to_string();
    bench.options.url = format!("http://me@127.0.0.1:{port}/a?b#c");
    let lines = bench.logged(
        "log(wrk.scheme, wrk.host, wrk.port, type(wrk.port), wrk.path, wrk.method, wrk.body, \
         wrk.thread)",
    );
    let expected = format!("http 127.0.0.1 {port} string /a?b GET nil nil");
    assert_eq!(lines, [expected.clone(), expected]);
}

#[test]
fn a_port_that_was_not_typed_is_nil() {
    let mut bench = Bench::new();
    bench.options = Options {
        resolve: false,
        ..Options::new("https://example.com")
    };
    let lines = bench.logged("log(wrk.scheme, wrk.host, wrk.port, wrk.path, wrk.addrs)");
    assert_eq!(lines[0], "https example.com nil / nil");
}

#[test]
fn what_was_given_shapes_the_plain_request() {
    let lines = request_of("", |options| {
        options.method = "PUT".to_owned();
        options.body = Some(b"abc".to_vec());
        options.headers = vec![("A".into(), "1".into()), ("A".into(), "2".into())];
    });
    let expected = [
        "PUT /path?query HTTP/1.1",
        "",
        "A: 2",
        "Content-Length: 3",
        "Host: HOST",
        "abc",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn what_a_script_sets_shapes_the_plain_request() {
    let source = "wrk.method = 'POST' wrk.body = 'a=b' wrk.headers['X'] = 7 wrk.path = '/other'
        function init() wrk.headers['Y'] = true end";
    let expected = [
        "POST /other HTTP/1.1",
        "",
        "Content-Length: 3",
        "Host: HOST",
        "X: 7",
        "Y: true",
        "a=b",
    ];
    assert_eq!(request_of(source, |_| ()), expected);
}

#[test]
fn an_ipv6_host_has_brackets_in_its_header_alone() {
    let mut bench = Bench::new();
    bench.options = Options {
        resolve: false,
        ..Options::new("http://[::1]:8080/")
    };
    let lines = bench.logged("function init() log(wrk.host, wrk.headers.Host) end");
    assert_eq!(lines, ["::1 [::1]:8080"]);
}

#[test]
fn a_host_that_was_given_stays() {
    let lines = request_of("", |options| {
        options.headers = vec![("Host".into(), "x".into())]
    });
    assert_eq!(lines, ["GET /path?query HTTP/1.1", "", "", "Host: x"]);
}

#[test]
fn format_takes_what_it_is_given_and_the_rest_from_the_table() {
    let bench = Bench::new();
    let lines = bench.logged(
        "function init()
            log(wrk.format(nil, '/x'))
            log(wrk.format('PUT', nil, { Host = 'h' }, ''))
        end",
    );
    let address = bench.address();
    let text = lines.join("\n");
    assert!(
        text.contains(&format!("GET /x HTTP/1.1\nHost: {address}\n\n")),
        "{text}"
    );
    let put = text.split("PUT").nth(1).unwrap();
    assert!(put.starts_with(" /path?query HTTP/1.1\n"), "{text}");
    assert!(
        put.contains("Host: h\n") && put.contains("Content-Length: 0\n"),
        "{text}"
    );
}

#[test]
fn format_completes_the_headers_it_is_given() {
    let bench = Bench::new();
    let lines = bench.logged(
        "function init()
            local h = { ['Content-Length'] = 'mine' }
            wrk.format('GET', '/', h)
            log(h.Host == wrk.headers.Host, h['Content-Length'])
            wrk.format('GET', '/', h, 'four')
            log(h['Content-Length'], wrk.headers['Content-Length'])
        end",
    );
    assert_eq!(lines, ["true nil", "4 nil"]);
}

#[test]
fn a_replaced_init_of_the_module_is_the_scripts_own() {
    let bench = Bench::new();
    let source = "function wrk.init(args) log('own', args[0] == nil) end
        function request() return 'GET / HTTP/1.1\\r\\n\\r\\n' end";
    assert_eq!(bench.logged(source), ["own false"]);
    let told = bench.refused("function wrk.init() end");
    assert!(told.contains("in request()"), "{told}");
}

#[test]
fn lookup_gives_addresses_and_connect_tries_them() {
    let bench = Bench::new();
    let port = bench.listener.local_addr().unwrap().port();
    let lines = bench.logged(
        "if not wrk.thread then function setup()
            local found = wrk.lookup(wrk.host, wrk.port)
            log(#found, tostring(found[1]), type(found[1]), wrk.connect(found[1]))
            log(wrk.connect(wrk.lookup('127.0.0.1', '1')[1]))
            log(string.format('%s', wrk.lookup('127.0.0.1', 'http')[1]))
            log(pcall(wrk.connect, 'text'))
        end end",
    );
    assert_eq!(lines[0], format!("1 127.0.0.1:{port} userdata true"));
    assert_eq!(lines[1..3], ["false", "127.0.0.1:80"]);
    assert!(
        lines[3].ends_with("bad argument #1 to 'connect' (wrk.addr expected, got string)"),
        "{}",
        lines[3]
    );
}

#[test]
fn a_name_without_address_is_told_as_such() {
    let bench = Bench::new();
    let source = "wrk.lookup('127.0.0.1', 'no-such-service')";
    match bench.load(source) {
        Err(crate::Error::Lookup(error)) => assert_eq!(error.service, "no-such-service"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn resolve_keeps_the_addresses_that_answer() {
    let bench = Bench::new();
    let lines = bench.logged(
        "local lookup = wrk.lookup
        function wrk.lookup(host, service)
            local dead = lookup('127.0.0.1', '1')
            return { dead[1], lookup(host, service)[1], dead[1] }
        end
        function setup(thread)
            log(#wrk.addrs, tostring(thread.addr) == tostring(wrk.addrs[1]))
        end",
    );
    assert_eq!(lines, ["1 true"]);
}

#[test]
fn a_host_that_does_not_answer_is_told_with_its_port() {
    let mut bench = Bench::new();
    bench.options.url = "http://127.0.0.1:1/".to_owned();
    match bench.load("") {
        Err(crate::Error::Connect {
            host,
            service,
            reason,
        }) => {
            assert_eq!((host.as_str(), service.as_str()), ("127.0.0.1", "1"));
            assert!(reason.contains("refused"), "{reason}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_time_is_told_in_wrk2s_words_alone() {
    let mut bench = Bench::new();
    assert_eq!(
        bench.logged("if not wrk.thread then log(wrk.time_us) end")[0],
        "nil"
    );
    bench.options.flavour = Flavour::Wrk2;
    let lines = bench.logged("log(wrk.time_us() > 1.7e15 and wrk.time_us() < 7e15)");
    assert_eq!(lines[2], "true");
}

#[test]
fn the_libraries_are_there() {
    let bench = Bench::new();
    let lines = bench.logged(
        "log(type(io.open), type(os.time), type(bit.band), type(jit.version), type(require))
        log(type(debug.traceback('x')), string.format('%s', wrk.addrs == nil), 1e14)",
    );
    assert_eq!(lines[0], "function function function string function");
    assert_eq!(lines[1], "string true 1e+14");
}
