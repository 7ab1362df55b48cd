//! The contents of study files, and their mistakes with position.

use super::*;
use crate::peer::ToolKind;
use crate::study::{Command, Cores, WarmUp, What};

const TARGET: &str = "[[target]]\nname = \"t\"\nurl = \"127.0.0.1:{port}/a\"\n";
const RUNS: &str = "[[runs]]\ntool = \"wrk\"\nduration = \"1s\"\n";

fn parse(text: &str) -> Result<Study, String> {
    Study::parse(Path::new("some/where.toml"), text).map_err(|error| error.to_string())
}

fn refusal(text: &str) -> String {
    let error = parse(text).unwrap_err();
    error.strip_prefix("some/where.toml, ").unwrap().to_owned()
}

#[test]
fn a_file_says_all_of_a_study() {
    let study = parse(&format!(
        "name = \"n\"\nseed = 9\nrepeats = 3\npause = \"0s\"\ntime_limit = \"5m\"\n\
         pin = {{ tools = \"1\", targets = 0 }}\n\
         [[tool]]\nname = \"ours\"\nkind = \"wrk\"\ncommand = [\"loadline\", \"wrk\"]\n\
         {TARGET}start = [\"serve\", \"{{port}}\"]\nreset = \"true; true\"\npatience = \"1s\"\n\
         files = {{ \"a_b.conf\" = \"x\" }}\n{RUNS}[quick]\npause = \"1s\"\nduration = \"1s\"\n"
    ))
    .unwrap();
    assert_eq!((study.name.as_str(), study.repeats), ("n", 3));
    assert_eq!(study.order, Order::Random(9));
    assert_eq!(study.pause, Duration::ZERO);
    assert_eq!(study.time_limit, Some(Duration::from_secs(300)));
    assert_eq!(study.pin.tools, Cores::parse("1"));
    assert_eq!(study.tools[0].kind, ToolKind::Wrk);
    let target = &study.targets[0];
    assert_eq!(target.url, "http://127.0.0.1:{port}/a");
    assert_eq!(target.files, [("a_b.conf".to_owned(), "x".to_owned())]);
    let start = Command {
        line: 14,
        what: What::Words(vec!["serve".to_owned(), "{port}".to_owned()]),
    };
    assert_eq!(target.start, Some(start));
    let reset = target.reset.as_ref().map(|reset| &reset.what);
    assert_eq!(reset, Some(&What::Shell("true; true".to_owned())));
    assert_eq!(study.quick.pause, Some(Duration::from_secs(1)));
    assert_eq!(study.quick.axes[0].name, "duration");
}

#[test]
fn backends_warm_ups_and_plots_are_read() {
    let study = parse(&format!(
        "description = \"why\"\norder = \"by-target\"\nseed = 3\n\
         warm-up = {{ round = \"8s\", connections = 7 }}\n\
         [[backend]]\nname = \"db\"\nprepare = \"true\"\ncores = \"1\"\n\
         [[alike]]\npath = \"/a\"\n[[alike]]\nmethod = \"POST\"\npath = \"/b\"\nbody = \"{{}}\"\n\
         [[plot]]\nname = \"p\"\ntitle = \"P\"\nx = \"rate\"\ny = \"p99_us\"\nlog = true\n\
         {TARGET}{RUNS}[quick]\nwarm-up = {{ most = \"8s\" }}\npause = \"0s\"\n"
    ))
    .unwrap();
    assert_eq!(
        (study.description.as_str(), &study.order),
        ("why", &Order::ByTarget(3))
    );
    let db = &study.backends[0];
    assert_eq!(db.url, "http://127.0.0.1:{port}/", "a backend needs no URL");
    assert_eq!(
        (&db.cores, db.prepare.is_some()),
        (&Cores::parse("1"), true)
    );
    assert_eq!(
        (study.alike[0].method.as_str(), study.alike[0].line),
        ("GET", 9)
    );
    assert_eq!(study.alike[1].body.as_deref(), Some("{}"));
    assert!(study.plots[0].is_log);
    let seconds = |warm_up: &WarmUp| (warm_up.round.as_secs(), warm_up.most.as_secs());
    assert_eq!(study.warm_up.as_ref().map(seconds), Some((8, 120)));
    let quick = study.for_quick();
    assert_eq!(quick.warm_up.as_ref().map(seconds), Some((10, 8)));
    assert_eq!(quick.pause, Duration::ZERO);
}

#[test]
fn what_is_wrong_around_targets_is_said_with_its_line() {
    for (text, expected) in [
        (
            format!("warm-up = {{ round = \"2s\" }}\n{TARGET}{RUNS}"),
            "line 1, warm-up: a round takes at least 8s: what is shorter does not show whether it \
             settled.",
        ),
        (
            format!("warm-up = {{ script = \"none.lua\" }}\n{TARGET}{RUNS}"),
            "line 1, warm-up: there is no file none.lua; paths begin at the folder of the study.",
        ),
        (
            format!("[[alike]]\npath = \"a\"\n{TARGET}{RUNS}"),
            "line 1: path is missing; say what is requested, beginning with a slash.",
        ),
        (
            format!("[[plot]]\nname = \"p\"\ntitle = \"P\"\nx = \"rate\"\n{TARGET}{RUNS}"),
            "line 1: y is missing; name the column from bottom to top.",
        ),
        (
            format!("{TARGET}{RUNS}against = \"u\"\n"),
            "line 7, against: there is no target u; write a [[target]] of that name.",
        ),
        (
            format!("[[backend]]\nname = \"a\"\n[[backend]]\nname = \"a\"\n{TARGET}{RUNS}"),
            "line 3: the name a is given twice.",
        ),
    ] {
        assert_eq!(refusal(&text), expected);
    }
    let column = format!("[[plot]]\nname = \"p\"\nx = \"validity\"\n{TARGET}{RUNS}");
    let refusal = refusal(&column);
    let begin = "line 3, x: `validity` is not one of threads, connections, rate,";
    assert!(refusal.starts_with(begin), "{refusal}");
}

#[test]
fn what_is_not_said_has_a_default() {
    let study = parse(&format!("{TARGET}{RUNS}")).unwrap();
    assert_eq!((study.name.as_str(), study.repeats), ("where", 1));
    assert_eq!(study.order, Order::Random(1));
    assert_eq!(study.pause, Duration::from_secs(1));
    assert_eq!(study.targets[0].start, None);
    let listed = parse(&format!("order = \"listed\"\nseed = 3\n{TARGET}{RUNS}")).unwrap();
    assert_eq!(listed.order, Order::Listed);
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    for (text, expected) in [
        (
            format!("repeat = 2\n{TARGET}{RUNS}"),
            "line 1, repeat: there is no such key; did you mean repeats?",
        ),
        (
            format!("{TARGET}port = 1\n{RUNS}"),
            "line 4, port: there is no such key. Known here are name, url, prepare, start, check, \
             stop, reset, patience, cores, files.",
        ),
        (
            format!("{TARGET}{RUNS}connections = []\n"),
            "line 7, connections: an axis needs at least one value.",
        ),
        (
            format!("{TARGET}{RUNS}connections = 0\n"),
            "line 7, connections: it must be at least 1.",
        ),
        (
            format!("{TARGET}{RUNS}conections = 3\n"),
            "line 7, conections: there is no such key; did you mean connections?",
        ),
        (
            format!("{TARGET}start = []\n{RUNS}"),
            "line 4, start: a command needs at least the name of a program.",
        ),
        (
            format!("{TARGET}start = 5\n{RUNS}"),
            "line 4, start: it takes a list of words, a program and its arguments, or one text for \
             a shell.",
        ),
        (
            format!("{TARGET}{TARGET}{RUNS}"),
            "line 4: the name t is given twice.",
        ),
        (
            format!("[[target]]\nname = \"t\"\n{RUNS}"),
            "line 1: url is missing; say where the requests go.",
        ),
    ] {
        assert_eq!(refusal(&text), expected);
    }
}

#[test]
fn what_is_missing_or_unknown_is_said_with_its_line() {
    for (text, expected) in [
        (
            RUNS.to_owned(),
            "line 1: [[target]] is missing; say where the load goes.",
        ),
        (
            TARGET.to_owned(),
            "line 1: [[runs]] is missing; say what is to be run.",
        ),
        (
            format!("{TARGET}[[runs]]\nduration = \"1s\"\n"),
            "line 4: tool is missing; say what the runs are made with, such as \"wrk\".",
        ),
        (
            format!("{TARGET}{RUNS}target = \"u\"\n"),
            "line 7, target: there is no target u; write a [[target]] of that name.",
        ),
        (
            format!("{TARGET}[[runs]]\ntool = \"wrx\"\n"),
            "line 5, tool: there is no tool wrx. Known are loadline, capacity, versus, wrk, wrk2, \
             oha, ab, h2load, hey, k6, locust, and what a [[tool]] names.",
        ),
        (
            format!("{TARGET}{RUNS}script = \"none.lua\"\n"),
            "line 7, script: there is no file none.lua; paths begin at the folder of the study.",
        ),
        (
            format!("pin = {{ tools = \"x\" }}\n{TARGET}{RUNS}"),
            "line 1, tools: `x` is not a set of cores. Write their numbers, such as 0 or 1-3,8.",
        ),
        (
            format!("order = \"any\"\n{TARGET}{RUNS}"),
            "line 1, order: `any` is not one of random, by-target, listed.",
        ),
        (
            format!("name = \"a/b\"\n{TARGET}{RUNS}"),
            "line 1, name: `a/b` is not a name: use letters, digits and - _ . +, and begin with \
             no dot.",
        ),
        (
            format!("{TARGET}{RUNS}keep-alive = \"yes\"\n"),
            "line 7, keep-alive: it takes true or false.",
        ),
    ] {
        assert_eq!(refusal(&text), expected);
    }
    assert!(refusal("a = \n").starts_with("line 1: this is not TOML: "));
}
