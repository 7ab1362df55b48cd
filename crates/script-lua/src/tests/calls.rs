//! The order and number of calls, the first request, and failures before the run.

use super::Bench;
use crate::{Broken, Error, Flavour};

const EVERYTHING: &str = "log('file')
    function setup(thread) log('setup') end
    function init(args) log('init') end
    function request() log('request') return wrk.format() end
    function done() log('done') end";

#[test]
fn calls_come_in_the_order_of_wrk() {
    let mut bench = Bench::new();
    bench.options.threads = 2;
    let expected = [
        "file", // The main state.
        "file", "setup", "init", "request", // The first thread, asked once.
        "file", "setup", "init",
    ];
    assert_eq!(bench.logged(EVERYTHING), expected);
}

#[test]
fn init_gets_the_url_and_what_stood_behind_it() {
    let mut bench = Bench::new();
    bench.options.args = vec!["one".into(), "two".into()];
    let lines =
        bench.logged("function init(args) log(#args, args[0], args[1], args[2], args[3]) end");
    assert_eq!(lines, [format!("2 {} one two nil", bench.options.url)]);
}

#[test]
fn a_script_without_functions_of_the_load_is_static() {
    let bench = Bench::new();
    let is_static = |source: &str| bench.load(source).unwrap().is_static();
    assert!(is_static(
        "wrk.method = 'POST' function init() end function setup() end"
    ));
    assert!(is_static("function done() end request = 'no function'"));
    assert!(!is_static("function request() return wrk.format() end"));
    assert!(!is_static("function response() end"));
    assert!(!is_static("function delay() return 0 end"));
    assert!(!is_static(
        "function init() function request() return wrk.format() end end"
    ));
}

#[test]
fn wrk2_knows_no_delay() {
    let mut bench = Bench::new();
    bench.options.flavour = Flavour::Wrk2;
    assert!(
        bench
            .load("function delay() return 1 end")
            .unwrap()
            .is_static()
    );
}

#[test]
fn the_first_text_says_how_deep_the_pipeline_is() {
    let bench = Bench::new();
    let depth = |source: &str| bench.load(source).unwrap().depth();
    assert_eq!(depth(""), 1);
    assert_eq!(
        depth("function request() return wrk.format():rep(3) end"),
        3
    );
    assert_eq!(
        depth("function request() return wrk.format('POST', '/', nil, 'body'):rep(2) end"),
        2
    );
}

#[test]
fn a_first_text_that_is_no_request_is_told_in_wrks_words() {
    let bench = Bench::new();
    for (source, problem) in [
        ("function request() end", "incomplete request at 1:1"),
        (
            "function request() return '' end",
            "incomplete request at 1:1",
        ),
        (
            "function request() return 'GET / HTTP/1.1\\r\\n' end",
            "incomplete request at 2:1",
        ),
        ("wrk.headers['a b'] = 1", "invalid character in header"),
    ] {
        match bench.load(source) {
            Err(Error::Request(told)) => assert!(told.to_string().starts_with(problem), "{told}"),
            other => panic!("{source}: {other:?}"),
        }
    }
}

#[test]
fn an_error_is_told_with_its_file_line_and_function() {
    let bench = Bench::new();
    for (source, told) in [
        (
            "\nerror('at the top')",
            "script.lua, line 2, while it was loaded: at the top",
        ),
        (
            "\n\nthis is no Lua",
            "script.lua, line 3, while it was loaded: '=' expected near 'is'",
        ),
        (
            "function setup()\nerror('x') end",
            "script.lua, line 2, in setup(): x",
        ),
        (
            "function init()\nerror('x') end",
            "script.lua, line 2, in init(): x",
        ),
        (
            "function request()\n\nerror('x') end",
            "script.lua, line 3, in request(): x",
        ),
        (
            "function init() local t\nt.x = 1 end",
            "script.lua, line 2, in init(): attempt to index local 't' (a nil value)",
        ),
        ("function init() error({}) end", "script.lua, in init(): "),
        (
            "function init() error('bare', 0) end",
            "script.lua, in init(): bare",
        ),
    ] {
        let refused = bench.refused(source);
        assert!(refused.starts_with(told), "{refused}");
    }
}

#[test]
fn lua_s_own_words_are_kept() {
    let bench = Bench::new();
    match bench.load("function init() error('x') end") {
        Err(Error::Script(error)) => {
            let path = bench.path();
            assert_eq!(error.file, path);
            assert!(
                error.lua_message.ends_with("script.lua:1: x"),
                "{}",
                error.lua_message
            );
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let bench = Bench::new();
    let missing = bench.path().with_file_name("missing.lua");
    let error = crate::Script::load(&missing, &bench.options).unwrap_err();
    assert!(
        matches!(&error, Error::Read { path, .. } if *path == missing),
        "{error}"
    );
}

#[test]
fn a_broken_script_goes_on_with_what_it_defined_if_that_is_tolerated() {
    let mut bench = Bench::new();
    bench.options.broken = Broken::Tolerated;
    bench.options.threads = 2;
    let script = bench
        .load("function request() return wrk.format() end\nerror('x')")
        .unwrap();
    // One for each state.
    assert_eq!(script.complaints().len(), 3);
    assert!(!script.is_static());
    let missing = bench.path().with_file_name("missing.lua");
    let script = crate::Script::load(&missing, &bench.options).unwrap();
    assert_eq!((script.complaints().len(), script.is_static()), (3, true));
}

#[test]
fn a_url_needs_a_host() {
    let mut bench = Bench::new();
    bench.options.url = "no url".to_owned();
    assert!(matches!(bench.load(""), Err(Error::Url(_))));
}

#[test]
fn a_first_line_for_the_shell_is_no_lua() {
    let bench = Bench::new();
    let path = bench.path();
    std::fs::write(&path, "#!/usr/bin/lua\nerror('x')").unwrap();
    let error = crate::Script::load(&path, &bench.options).unwrap_err();
    assert!(error.to_string().contains("line 2"), "{error}");
}
