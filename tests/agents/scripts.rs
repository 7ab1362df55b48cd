//! Other tools' loads on agents, and scripts, which travel with the files that they read.

use super::{Agent, Bus, Run, assert_sums, end, url};
#[cfg(feature = "k6")]
use crate::k6::certificates::requiring_server;
use crate::rig::{beside_others, command, count, loadline, serve, text};
use std::fs;

#[test]
fn another_tools_load_is_sent_by_agents_too() {
    let (bus, server) = (Bus::start(&[]), serve());
    let _agents = Agent::three(&bus);
    let (nats, url) = (bus.url(), url(&server));
    let front = ["--nats", &nats, "--agents", "3"];
    let said = loadline(&[&front[..], &["ab", "-n", "300", "-c", "6", &url]].concat());
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(
        said.stdout.contains("Complete requests:      300\n"),
        "{}",
        said.stdout
    );
    assert_eq!(server.stop().answers, 300);
}

#[cfg(feature = "k6")]
#[test]
fn a_k6_script_and_what_it_imports_go_to_the_agents() {
    let (bus, server) = (Bus::start(&[]), serve());
    let _agents = Agent::three(&bus);
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("lib.js"),
        format!("export const url = \"{}\";", url(&server)),
    )
    .unwrap();
    let script = folder.path().join("a.js");
    let source = "import http from 'k6/http';\nimport { url } from './lib.js';\n\
                  export default function () { http.get(url); }\n";
    fs::write(&script, source).unwrap();
    let nats = bus.url();
    let words = [
        "--nats", &nats, "--agents", "3", "k6", "run", "-u", "6", "-i", "120",
    ];
    let said = loadline(&[&words[..], &[text(&script)]].concat());
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    assert_eq!(server.stop().answers, 120);
}

#[cfg(feature = "k6")]
#[test]
fn what_a_k6_script_does_once_is_done_by_the_command() {
    let (bus, server) = (Bus::start(&[]), serve());
    let _agents = Agent::three(&bus);
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("once.js");
    let source = "import http from 'k6/http';\nimport { check } from 'k6';\n\
        export const options = { scenarios: { one: { executor: 'constant-arrival-rate', \
        rate: 100, duration: '2s', preAllocatedVUs: 6 } }, \
        thresholds: { checks: ['rate==1'], http_reqs: ['count==202'] } };\n\
        export function setup() { http.get(__ENV.URL); return { word: 'told' }; }\n\
        export default function (data) {\n\
        check(http.get(__ENV.URL), { told: () => data.word === 'told' }); }\n\
        export function teardown(data) {\n\
        http.get(__ENV.URL); console.log(data.word + ' again'); }\n\
        export function handleSummary(data) { return { stdout: `summary of \
        ${data.metrics.http_reqs.values.count}\\n` }; }\n";
    fs::write(&script, source).unwrap();
    let (nats, url) = (bus.url(), format!("URL={}", url(&server)));
    let front = ["--nats", &nats, "--agents", "3", "k6", "run", "-e", &url];
    let said = loadline(&[&front[..], &[text(&script)]].concat());
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    let found = said.stdout.matches("summary of 202\n").count();
    assert_eq!(found, 1, "{}", said.stdout);
    let found = said.stderr.matches("told again").count();
    assert_eq!(found, 1, "{}", said.stderr);
    assert_eq!(server.stop().answers, 202);
}

#[cfg(feature = "k6")]
#[test]
fn the_certificates_of_a_k6_script_go_to_the_agents_and_are_used_there() {
    let bus = Bus::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    // The agents have neither the script nor the files beside it.
    let _agents = ["one", "two"].map(|name| Agent::start_in(folder.path(), &bus, name));
    let (scripts, server) = requiring_server();
    let (nats, url) = (bus.url(), format!("URL=https://{}/", server.addr()));
    let front = ["--nats", &nats, "--agents", "2", "k6"];
    let load = ["run", "-u", "4", "-i", "40", "-e", &url];
    let script = scripts.path().join("tls.js");
    let run = |more: &[&str]| {
        let said = loadline(&[&front[..], &load, more, &[text(&script)]].concat());
        assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    };
    run(&["-e", "BARE=1"]);
    let refused = server.counts();
    assert_eq!(refused.answers, 0);
    assert!(refused.tls_failed >= 4, "{refused:?}");
    run(&[]);
    assert_eq!(server.stop().answers, 40);
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

/// A script that reads two files by names that only the coordinator's folder has, and numbers its
/// threads.
const LUA: &str = "local names = require('names')\n\
    local paths = {}\n\
    for line in io.lines('paths.txt') do paths[#paths + 1] = line end\n\
    local seen = loadline.counter('seen')\n\
    local threads = 0\n\
    function setup(thread) threads = threads + 1 thread:set('number', threads) end\n\
    function request()\n\
    wrk.name = names[number]\n\
    return wrk.format('GET', paths[number])\n\
    end\n\
    function response(status) seen:add(status == 200 and 1 or 1000) end\n";

/// Writes the script and its files into a folder.
fn lua_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, contents) in [
        ("a.lua", LUA),
        ("names.lua", "return { 'first', 'second', 'third' }"),
        ("paths.txt", "/a\n/b\n/c\n"),
    ] {
        fs::write(folder.path().join(name), contents).unwrap();
    }
    folder
}

#[test]
fn a_lua_script_and_the_files_that_it_reads_go_to_the_agents() {
    let (bus, server) = (Bus::start(&[]), serve());
    let _agents = Agent::three(&bus);
    let folder = lua_folder();
    let (nats, url) = (bus.url(), url(&server));
    let front = ["--nats", &nats, "--agents", "3"];
    let load = ["-t", "3", "-c", "3", "-n", "300", "-s", "a.lua", &url];
    let words = [&front[..], &["--allow-invalid", "-o", "json"], &load].concat();
    let beside_others = beside_others();
    let coordinator = command(&words).current_dir(folder.path()).spawn();
    let run = Run {
        coordinator: coordinator.expect("the command"),
        _beside_others: beside_others,
    };
    let (found, stderr, code) = end(run);
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(assert_sums(&found), 0);
    assert_eq!(count(&found, "answered"), 300);
    let rows = found["names"].as_array().expect("names");
    for name in ["first", "second", "third"] {
        let row = rows.iter().find(|row| row["name"] == name);
        let row = row.unwrap_or_else(|| panic!("no {name}: {found:#}"));
        assert_eq!(row["answered"], 100, "{row}");
    }
    let seen = &found["metrics"][0];
    assert_eq!(seen["name"], "seen", "{seen}");
    assert_eq!(seen["sum"], 300.0, "{seen}");
    assert_eq!(server.stop().answers, 300);
    bus.await_free(3);
}

#[test]
fn a_lua_script_of_wrk_runs_on_agents_and_its_errors_come_back() {
    let (bus, server) = (Bus::start(&[]), serve());
    let _agents = Agent::three(&bus);
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("a.lua");
    let source = "function request() return wrk.format('GET', '/?from=agent') end\n\
                  function done(summary) print('done after ' .. summary.requests) end\n";
    fs::write(&script, source).unwrap();
    let (nats, url) = (bus.url(), url(&server));
    let front = [
        "--nats", &nats, "--agents", "3", "wrk", "-t", "3", "-c", "6",
    ];
    let words = [&front[..], &["-d", "2", "-s", text(&script), &url]].concat();
    let said = loadline(&words);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let counted = said.stdout.split("done after ").nth(1).map(str::trim);
    let counted: u64 = counted
        .and_then(|number| number.parse().ok())
        .expect("a number");
    assert!(counted > 0, "{}", said.stdout);
    let reported = format!("{counted} requests in ");
    assert!(said.stdout.contains(&reported), "{}", said.stdout);
    let answered = server.stop().answers;
    assert!(
        (counted..=counted + 6).contains(&answered),
        "{counted} of {answered}"
    );
    // Globals stay where the load is sent.
    let server = serve();
    let asks = "local one\n\
                function setup(thread) one = thread end\n\
                function done() print(one:get('n')) end\n";
    fs::write(&script, asks).unwrap();
    let url = format!("http://{}/", server.addr());
    let said = loadline(&[&front[..], &["-d", "1", "-s", text(&script), &url]].concat());
    assert_eq!(said.code, Some(1), "{}", said.stderr);
    assert!(said.stdout.contains(" requests in "), "{}", said.stdout);
    assert!(
        said.stderr.contains("loadline.counter()"),
        "{}",
        said.stderr
    );
}
