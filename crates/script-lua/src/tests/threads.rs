//! The userdata `thread`.

use super::Bench;

#[test]
fn setup_gives_globals_to_each_thread() {
    let mut bench = Bench::new();
    bench.options.threads = 2;
    let lines = bench.logged(
        "local n = 0
        function setup(thread)
            n = n + 1
            thread:set('id', n)
            thread:set('list', { 'a', { b = n } })
            log('setup', thread:get('id'), thread:get('nothing'), thread:get('list')[2].b)
        end
        function init() log('init', id, list[1], list[2].b) end",
    );
    let expected = ["setup 1 nil 1", "init 1 a 1", "setup 2 nil 2", "init 2 a 2"];
    assert_eq!(lines, expected);
}

#[test]
fn done_gets_globals_from_each_thread() {
    let mut bench = Bench::new();
    bench.options.threads = 2;
    let script = bench.load(
        "threads = {}
        function setup(thread) threads[#threads + 1] = thread end
        function init() seen = { n = 5, deep = { 'x' } } end
        function done()
            for i, thread in ipairs(threads) do
                log(i, thread:get('seen').n, thread:get('seen').deep[1], seen)
            end
        end",
    );
    script.unwrap().done(&Default::default()).unwrap();
    assert_eq!(bench.lines(), ["1 5 x nil", "2 5 x nil"]);
}

#[test]
fn a_thread_reaches_itself() {
    let bench = Bench::new();
    let lines = bench.logged(
        "x = 1
        function init()
            wrk.thread:set('x', { 2 })
            log(type(wrk.thread), x[1], wrk.thread:get('x')[1])
            log(tostring(wrk.thread.addr) == wrk.host .. ':' .. wrk.port)
            wrk.thread:stop()
        end",
    );
    assert_eq!(lines, ["userdata 2 2", "true"]);
}

#[test]
fn what_belongs_to_a_state_is_refused_with_the_scripts_line() {
    let bench = Bench::new();
    for (source, told) in [
        (
            "function setup(t)\nt:set('x', print) end",
            "cannot transfer 'function' to thread",
        ),
        (
            "function setup(t)\nt:get('print') end",
            "cannot transfer 'function' to thread",
        ),
        (
            "function setup(t)\nt.name = 'x' end",
            "cannot set 'string' on thread",
        ),
        (
            "function setup(t)\nt.addr = 'x' end",
            "bad argument #3 to '__newindex' (wrk.addr expected, got string)",
        ),
        (
            "function setup(t)\nt.stop() end",
            "bad argument #1 to 'stop' (wrk.thread expected, got nil)",
        ),
        (
            "function setup(t)\nt.get('x') end",
            "bad argument #1 to 'get' (wrk.thread expected, got string)",
        ),
        (
            "function setup(t)\nt:set({}, 1) end",
            "bad argument #1 to 'set' (string expected, got table)",
        ),
        (
            "function setup(t)\nt:get() end",
            "bad argument #1 to 'get' (string expected, got nil)",
        ),
    ] {
        assert_eq!(
            bench.refused(source),
            format!("script.lua, line 2, in setup(): {told}")
        );
    }
}

#[test]
fn an_error_of_a_thread_is_a_text_that_can_be_caught() {
    let bench = Bench::new();
    let source =
        "function setup(t) local ok, text = pcall(t.set, t, 'x', print) log(ok, type(text)) end";
    assert_eq!(bench.logged(source), ["false string"]);
}

#[test]
fn an_unknown_field_reads_as_its_own_name() {
    let bench = Bench::new();
    assert_eq!(
        bench.logged("function setup(t) log(t.nothing) end"),
        ["nothing"]
    );
}

#[test]
fn an_address_is_copied_from_one_state_to_the_other() {
    let bench = Bench::new();
    let lines = bench.logged(
        "function setup(thread)
            thread.addr = wrk.lookup('127.0.0.1', '4711')[1]
            log(tostring(thread.addr))
        end
        function init() log(tostring(wrk.thread.addr)) end",
    );
    assert_eq!(lines, ["127.0.0.1:4711", "127.0.0.1:4711"]);
}
