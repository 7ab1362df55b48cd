//! Tests of command lines, as read and as refused.

use super::*;
use loadline_plan::Connection;

fn words(line: &str) -> Vec<OsString> {
    line.split_whitespace().map(OsString::from).collect()
}

fn run_flags(line: &str) -> run::RunFlags {
    match parse(words(line)) {
        Ok(Command::Run(flags)) => *flags,
        other => panic!("{line}: {other:?}"),
    }
}

fn mistake(line: &str) -> String {
    match parse(words(line)) {
        Err(Refusal::Mistake(sentence)) => sentence,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn the_declarations_agree_with_each_other() {
    command().debug_assert();
    planned_command::<run::RunFlags>().debug_assert();
}

#[test]
fn the_word_run_may_be_left_out() {
    for line in [
        "loadline run -c 5 http://a/ -d 3s",
        "loadline -c 5 http://a/ -d 3s",
    ] {
        let flags = run_flags(line);
        assert_eq!(flags.load.connections, Some(5));
        assert_eq!(flags.request.places.len(), 1);
        assert_eq!(flags.typed, words("-c 5 http://a/ -d 3s"));
    }
}

#[test]
fn a_command_behind_flags_is_told_to_come_first() {
    for (line, first) in [
        (
            "loadline -s a.lua capacity http://a/",
            "loadline capacity -s a.lua http://a/",
        ),
        (
            "loadline --check p99<1s capacity --users a/",
            "loadline capacity --check 'p99<1s' --users a/",
        ),
        ("loadline -c 5 report a.run", "loadline report -c 5 a.run"),
    ] {
        let said = mistake(line);
        assert!(
            said.starts_with(&format!("put the command first: `{first}`.")),
            "{said}"
        );
    }
    for line in ["loadline -X report http://a/", "loadline http://capacity/"] {
        run_flags(line);
    }
}

#[test]
fn one_side_of_a_comparison_is_told_to_need_the_other() {
    for line in ["loadline compare --base a/", "loadline compare --with a"] {
        let sentence =
            "--base and --with belong together: give the saved runs of A and those of B.";
        assert_eq!(mistake(line), sentence);
    }
}

#[test]
fn other_first_words_are_commands() {
    for (line, name) in [
        ("loadline report a.run", "Report"),
        ("loadline compare a.run b.run", "Compare"),
        ("loadline serve --tls", "Serve"),
        ("loadline demo --stall 2s", "Demo"),
        ("loadline man report", "Man"),
        ("loadline completions bash", "Completions"),
    ] {
        let command = parse(words(line)).unwrap_or_else(|error| panic!("{line}: {error:?}"));
        assert!(
            format!("{command:?}").starts_with(name),
            "{line}: {command:?}"
        );
    }
}

#[test]
fn defaults_of_the_connections_are_the_plans() {
    assert_eq!(
        run_flags("loadline a/").connection.options(),
        Connection::default()
    );
}

#[test]
fn every_flag_of_the_run_is_declared_once() {
    let line = command();
    let names = |command: &clap::Command| -> Vec<String> {
        command
            .get_arguments()
            .map(|argument| argument.get_id().to_string())
            .collect()
    };
    let run = line
        .find_subcommand("run")
        .expect("the run is a subcommand");
    assert_eq!(names(&line), names(run));
    assert_eq!(names(&line), names(&planned_command::<run::RunFlags>()));
}

#[test]
fn every_flag_says_what_it_does() {
    let line = command();
    let commands = std::iter::once(&line).chain(line.get_subcommands());
    for argument in commands.flat_map(clap::Command::get_arguments) {
        let help = argument
            .get_help()
            .map(ToString::to_string)
            .unwrap_or_default();
        assert!(
            !help.is_empty() && !help.ends_with('.'),
            "{}: {help}",
            argument.get_id()
        );
    }
}

#[test]
fn addresses_are_of_one_family_or_of_any() {
    use loadline_plan::IpVersion::{Any, V4, V6};
    for (flags, version) in [("", Any), ("-4", V4), ("-6", V6)] {
        let flags = run_flags(&format!("loadline {flags} a/"));
        assert_eq!(flags.connection.options().ip_version, version);
    }
}

#[test]
fn lists_are_split_at_commas_and_add_up() {
    let flags = run_flags("loadline --local-address 127.0.0.1,127.0.0.2 --percentiles 50,p99.9 a/");
    assert_eq!(flags.connection.options().local_addresses.len(), 2);
    assert_eq!(flags.output.report.percentiles, [50.0, 99.9]);
    let flags = run_flags("loadline -H A:1 -H B:2 -H A:3 a/");
    let names: Vec<_> = flags
        .request
        .header
        .iter()
        .map(|header| &*header.name)
        .collect();
    assert_eq!(names, ["A", "B", "A"]);
}

#[test]
fn places_are_urls_or_plan_files() {
    use run::request::TargetWord;
    let flags = run_flags("loadline plans/soak.toml http://a/b.toml a:80/x");
    assert!(
        matches!(&flags.request.places[0], TargetWord::Plan(path) if path.ends_with("soak.toml"))
    );
    assert!(
        flags.request.places[1..]
            .iter()
            .all(|place| matches!(place, TargetWord::Url(_)))
    );
}

#[test]
fn bodies_are_texts_files_or_stdin() {
    use run::request::BodySource::{File, Stdin, Text};
    for (text, source) in [
        ("text", Text("text".into())),
        ("", Text("".into())),
        ("@a/b", File("a/b".into())),
        ("-", Stdin),
        ("@-", Stdin),
        ("--", Text("--".into())),
    ] {
        let line = [
            "loadline".into(),
            format!("--body={text}").into(),
            "a/".into(),
        ];
        match parse(line) {
            Ok(Command::Run(flags)) => assert_eq!(flags.request.body, Some(source)),
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn a_mistyped_command_is_no_host() {
    assert_eq!(
        mistake("loadline demoo"),
        "there is no command demoo; did you mean demo? (A host of that name is written \
         http://demoo/.)"
    );
    assert!(mistake("loadline reprot a.run").contains("did you mean report?"));
    for word in ["a", "work", "backend"] {
        assert_eq!(
            mistake(&format!("loadline {word}")),
            format!(
                "`{word}` is not a URL to load: it is a single word. A host of that name is \
                 written http://{word}/."
            )
        );
    }
    for host in [
        "server:80",
        "http://servr/",
        "localhost",
        "serve.example.com",
    ] {
        assert_eq!(
            run_flags(&format!("loadline {host}")).request.places.len(),
            1
        );
    }
}

#[test]
fn a_number_is_no_host() {
    for line in [
        "-q 10 -n 4 http://a/",
        "-n 4 http://a/ -q 10",
        "-q10 http://a/",
        "-q=10 a/",
    ] {
        assert_eq!(
            mistake(&format!("loadline {line}")),
            "-q is --quiet here and takes no value; for 10 requests a second write --rate 10 (-r)."
        );
    }
    for line in [
        "-c 10 20 http://a/",
        "http://a/ 20",
        "-k 20 http://a/",
        "capacity 20",
    ] {
        let said = mistake(&format!("loadline {line}"));
        assert!(
            said.starts_with("`20` is not a URL to load: it looks like a number"),
            "{said}"
        );
    }
    assert!(mistake("loadline versus http://a/ 5000").contains("http://127.0.0.1:5000/"));
}

#[test]
fn other_load_testers_are_told_apart_from_hosts() {
    let said = mistake("loadline hey -z 10s -q 5 http://a/");
    assert!(
        said.starts_with("there are no words of hey here: "),
        "{said}"
    );
    let said = mistake("loadline attack -rate 5");
    assert!(said.contains("write -rate as --rate"), "{said}");
    run_flags("loadline http://hey/");
}

#[test]
fn habits_of_other_command_lines_are_told() {
    for (line, part) in [
        (
            "-rate 5 http://a/",
            "-rate has two dashes here: write --rate.",
        ),
        (
            "-timeout 5s http://a/",
            "-timeout has two dashes here: write --timeout.",
        ),
        ("-d {\"a\":1} http://a/", "is given with --body (-b)."),
        ("-d a=1&b=2 http://a/", "is given with --body (-b)."),
    ] {
        let said = mistake(&format!("loadline {line}"));
        assert!(said.ends_with(part), "{said}");
    }
    assert!(!mistake("loadline -d 5x http://a/").contains("--body"));
}

#[test]
fn a_flag_that_is_a_number_is_no_negative_value() {
    let said = mistake("loadline -2 http://a/");
    assert!(
        said.starts_with("there is no flag -2; use --http 2"),
        "{said}"
    );
    let said = mistake("loadline -3 http://a/");
    assert!(said.starts_with("there is no flag -3."), "{said}");
    let said = mistake("loadline -c -2 http://a/");
    assert_eq!(
        said,
        "-c: `-2` is negative; no flag takes a negative value."
    );
}

#[test]
fn mistakes_are_one_line() {
    for line in [
        "loadline --conections 5 a/",
        "loadline -r fast a/",
        "loadline -r",
        "loadline --color red a/",
        "loadline -c 5 -c 6 a/",
        "loadline --frobnicate a/",
        "loadline report",
        "loadline man serve x",
        "loadline -c 5x a/",
        "loadline --no-keepalive=1 a/",
        "loadline completions fish2",
        "loadline ftp://a",
        "loadline -c 6G a/",
        "loadline --seed x a/",
    ] {
        let sentence = mistake(line);
        assert!(!sentence.contains('\n'), "{sentence}");
        assert!(sentence.ends_with(['.', '?']), "{sentence}");
    }
}
