//! Command lines, and the messages of k6 1.8.1 for wrong ones.

use super::*;
use serde_json::json;

fn read(line: &str) -> Result<Invocation, OptionsError> {
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    parse(&words)
}

#[test]
fn flags_are_written_in_each_way_of_pflag() {
    for line in [
        "run -u 3 -d 2s a.js",
        "run -u3 -d2s a.js",
        "run --vus=3 --duration 2s a.js",
        "run a.js --vus 3 -d=2s",
        "-q run -u 3 -d 2s -- a.js",
    ] {
        let read = read(line).expect(line);
        assert_eq!(read.command, Command::Run);
        assert_eq!(read.arguments, ["a.js"]);
        assert_eq!(read.options.get("vus"), Some(&json!(3)));
        assert_eq!(read.options.get("duration"), Some(&json!("2s")));
    }
}

#[test]
fn the_version_is_a_flag_of_the_program_and_of_no_command() {
    assert_eq!(read("--version").unwrap().command, Command::Version);
    let problem = read("run --version a.js").unwrap_err();
    assert_eq!(problem.to_string(), "unknown flag: --version");
}

#[test]
fn repeated_flags_add_up() {
    let read = read("run -s 1s:2 --stage 1m:0 --tag a=b --tag c=d -e A=1 -e B=2 a.js");
    let read = read.expect("a command line");
    assert_eq!(
        read.options.get("stages"),
        Some(&json!([{"duration": "1s", "target": 2}, {"duration": "1m0s", "target": 0}]))
    );
    assert_eq!(read.options.get("tags"), Some(&json!({"a": "b", "c": "d"})));
    assert_eq!(read.all("env"), ["A=1", "B=2"]);
}

#[test]
fn wrong_words_are_refused_in_k6s_words() {
    for (line, refusal) in [
        ("run --nope e.js", "unknown flag: --nope"),
        ("run -z e.js", "unknown shorthand flag: 'z' in -z"),
        ("run e.js -u", "flag needs an argument: 'u' in -u"),
        ("run e.js --vus", "flag needs an argument: --vus"),
        (
            "run",
            "accepts 1 arg(s), received 0: arg should either be \"-\", if reading script from \
             stdin, or a path to a script file",
        ),
        (
            "run -u x e.js",
            "invalid argument \"x\" for \"-u, --vus\" flag: strconv.ParseInt: parsing \"x\": \
             invalid syntax",
        ),
        (
            "run -d abc e.js",
            "invalid argument \"abc\" for \"-d, --duration\" flag: time: invalid duration \"abc\"",
        ),
        (
            "run -s x e.js",
            "error for stage 0: time: invalid duration \"x\"",
        ),
        (
            "run -s 1s:x e.js",
            "error for stage 0: strconv.ParseInt: parsing \"x\": invalid syntax",
        ),
        ("run --dns foo e.js", "no value for key foo"),
        (
            "run --tag foo e.js",
            "error parsing tag 'foo': invalid tag, empty value",
        ),
        ("nope", "unknown command \"nope\" for \"k6\""),
        (
            "run --execution-segment 2 e.js",
            "segment end value can't be more than 1 but was 2.00",
        ),
        (
            "run --blacklist-ip x e.js",
            "error parsing blacklist-ip 'x': invalid CIDR address: x",
        ),
        (
            "run --block-hostnames a*b e.js",
            "invalid hostname pattern 'a*b'",
        ),
        (
            "run --summary-time-unit h e.js",
            "invalid summary time unit 'h', use 's', 'ms' or 'us'",
        ),
        (
            "run --throw=x e.js",
            "invalid argument \"x\" for \"-w, --throw\" flag: strconv.ParseBool: parsing \"x\": \
             invalid syntax",
        ),
    ] {
        let refused = read(line).expect_err(line);
        assert_eq!(
            (refused.text.as_str(), refused.code),
            (refusal, 255),
            "{line}"
        );
    }
}
