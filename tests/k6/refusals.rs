//! Options, flags and variables of k6 that mean nothing: one sentence, and k6's exit code.

use crate::k6::{Scripts, default};

/// Options that mean nothing, as a script exports them, and what is said of them.
const BAD_OPTIONS: &[(&str, u8, &str)] = &[
    ("vus: 'x'", 104, "invalid syntax"),
    ("vus: 1.5", 104, "cannot unmarshal number 1.5"),
    ("duration: 'x'", 104, "invalid duration"),
    ("duration: 0", 104, "should be more than 0"),
    ("iterations: 0", 104, "can't be less than"),
    ("stages: {}", 104, "stages should be an array"),
    ("stages: [{ duration: '1s' }]", 104, "doesn't have a target"),
    ("paused: 'maybe'", 104, "of type null.Bool"),
    (
        "executionSegment: 'x'",
        104,
        "'x' is not a valid percentage",
    ),
    ("setupTimeout: 'x'", 104, "invalid duration"),
    ("rps: 'x'", 104, "invalid syntax"),
    (
        "dns: { policy: 'x' }",
        104,
        "x does not belong to DNSPolicy",
    ),
    ("userAgent: 3", 104, "of type null.String"),
    ("tlsVersion: { min: 'x' }", 104, "unknown TLS version 'x'"),
    (
        "tlsCipherSuites: ['NOPE']",
        104,
        "unknown cipher suite 'NOPE'",
    ),
    (
        "tlsAuth: [{ cert: 'x', key: 'y' }]",
        104,
        "failed to find any PEM data",
    ),
    (
        "thresholds: { checks: 'rate>1' }",
        104,
        "cannot unmarshal string",
    ),
    ("thresholds: { checks: ['rate>'] }", 104, "rate>"),
    ("thresholds: { checks: ['avg>1'] }", 104, "avg"),
    (
        "thresholds: { checks: [{ threshold: 'rate>0', delayAbortEval: 'x' }] }",
        104,
        "invalid duration",
    ),
    ("blacklistIPs: ['x']", 104, "failed to parse CIDR 'x'"),
    (
        "blockHostnames: ['a*b']",
        104,
        "invalid hostname pattern 'a*b'",
    ),
    (
        "hosts: { 'a:x': '1.2.3.4' }",
        104,
        "invalid host pattern 'a:x'",
    ),
    ("minIterationDuration: 'x'", 104, "invalid duration"),
    ("tags: { a: 3 }", 104, "cannot unmarshal number"),
    ("summaryTrendStats: ['p(101)']", 255, "between 0 and 100"),
    ("summaryTrendStats: ['nope']", 255, "unknown format"),
    (
        "scenarios: { a: {} }",
        104,
        "doesn't have a specified executor type",
    ),
    (
        "scenarios: { a: { executor: 'nope' } }",
        104,
        "unknown executor type 'nope'",
    ),
    (
        "scenarios: { a: { executor: 'per-vu-iterations', nope: 1 } }",
        104,
        "unknown field",
    ),
    (
        "scenarios: { a: { executor: 'per-vu-iterations', exec: 'nope' } }",
        104,
        "function 'nope' not found in exports",
    ),
    (
        "scenarios: { 'a b': { executor: 'per-vu-iterations' } }",
        104,
        "should contain only numbers",
    ),
    (
        "scenarios: { a: { executor: 'shared-iterations', vus: 3, iterations: 2 } }",
        104,
        "can't be less than the number of VUs",
    ),
    (
        "scenarios: { a: { executor: 'constant-vus' } }",
        104,
        "the duration is unspecified",
    ),
    (
        "scenarios: { a: { executor: 'ramping-vus' } }",
        104,
        "at least one stage has to be specified",
    ),
    (
        "scenarios: { a: { executor: 'constant-arrival-rate', duration: '1s', rate: 1 } }",
        104,
        "preAllocatedVUs isn't specified",
    ),
    (
        "scenarios: { a: {
            executor: 'externally-controlled', vus: 3, maxVUs: 1, duration: '1s' } }",
        104,
        "must be less than or equal to the number of maxVUs (1)",
    ),
    (
        "scenarios: { a: {
            executor: 'externally-controlled', gracefulStop: '1s', duration: '1s' } }",
        104,
        "gracefulStop is not supported",
    ),
    (
        "iterations: 1, stages: [{ duration: '1s', target: 1 }]",
        104,
        "simultaneously is not allowed",
    ),
];

#[test]
fn options_that_mean_nothing_end_as_in_k6() {
    for (options, code, said) in BAD_OPTIONS {
        let script = format!("export const options = {{ {options} }}; {}", default(""));
        let scripts = Scripts::new(&[("bad.js", &script)]);
        let words = ["run", "-q", "bad.js"];
        let ours = scripts.run(&words);
        assert_eq!(
            ours.code,
            Some(i32::from(*code)),
            "{options}: {}",
            ours.stderr
        );
        assert!(ours.stderr.contains(said), "{options}: {}", ours.stderr);
        assert_eq!(ours.stderr.lines().count(), 1, "{options}: {}", ours.stderr);
        if let Some(theirs) = scripts.real(&words) {
            assert_eq!(theirs.code, ours.code, "{options}: {}", theirs.stderr);
        }
    }
}

#[test]
fn flags_and_variables_that_mean_nothing_end_as_in_k6() {
    let good = default("");
    let scripts = Scripts::new(&[("good.js", &good)]);
    for (words, code, said) in [
        (vec!["-u", "x"], 255, "invalid argument"),
        (vec!["-s", "x"], 255, "stage 0"),
        (
            vec!["--dns", "a=b"],
            255,
            "unknown DNS configuration field: a",
        ),
        (vec!["--tag", "a="], 255, "empty value"),
        (
            vec!["--local-ips", "x"],
            255,
            "x is not a valid IP, IP range or CIDR",
        ),
        (
            vec!["--block-hostnames", "a*b"],
            255,
            "invalid hostname pattern",
        ),
        (vec!["--paused=x"], 255, "invalid argument"),
        (vec!["-o", "csv=a=b"], 255, "unknown key \\\"a\\\""),
        (vec!["-t", "x"], 255, "unknown or unspecified test type 'x'"),
        (vec!["--log-output", "file"], 255, "`file` with no value"),
        (vec!["--traces-output", "x"], 255, "invalid traces output"),
        (
            vec!["--console-output", "/no/such"],
            255,
            "no such file or directory",
        ),
        (vec!["-e", "K6_TAGS=x"], 104, "invalid map item: \\\"x\\\""),
        (vec!["-e", "K6_LOCAL_IPS=x"], 104, "x is not a valid IP"),
        (
            vec!["-e", "K6_BLACKLIST_IPS=x"],
            104,
            "failed to parse CIDR 'x'",
        ),
        (vec!["-e", "K6_PAUSED=x"], 104, "invalid input:x"),
    ] {
        let words = [vec!["run", "-q"], words, vec!["good.js"]].concat();
        let ours = scripts.run(&words);
        assert_eq!(ours.code, Some(code), "{words:?}: {}", ours.stderr);
        assert!(ours.stderr.contains(said), "{words:?}: {}", ours.stderr);
        assert_eq!(ours.stderr.lines().count(), 1, "{words:?}: {}", ours.stderr);
        if let Some(theirs) = scripts.real(&words) {
            assert_eq!(theirs.code, ours.code, "{words:?}: {}", theirs.stderr);
        }
    }
}

#[test]
fn what_is_not_there_ends_the_test() {
    let sentences = [
        (
            "check(crypto.subtle, { ok: () => true })",
            "crypto.subtle is not supported yet: use k6/crypto",
        ),
        (
            "http.get('http://127.0.0.1:1', { auth: 'ntlm' })",
            "NTLM is not supported: use basic or digest authentication",
        ),
    ];
    for (call, sentence) in sentences {
        let script = format!(
            "import http from 'k6/http'; import {{ check }} from 'k6';
            export const options = {{ iterations: 5, thresholds: {{ checks: ['rate==1'] }} }};
            export default function () {{
              try {{ {call}; }} catch (e) {{ console.log('caught'); }}
            }}"
        );
        let scripts = Scripts::new(&[("absent.js", &script)]);
        let said = scripts.run(&["run", "-q", "--log-format", "raw", "absent.js"]);
        assert_eq!(said.code, Some(107), "{call}: {}", said.stderr);
        assert_eq!(said.stderr.matches(sentence).count(), 1, "{}", said.stderr);
        assert!(!said.stderr.contains("caught"), "{}", said.stderr);
    }
}

#[test]
fn a_module_that_is_being_loaded_is_not_required() {
    let good = "export default function () {}";
    let cycles: [&[(&str, &str)]; 4] = [
        &[("a.js", "require('./a.js'); export default function () {}")],
        &[
            (
                "a.js",
                "const b = require('./b.js'); export default function () {}",
            ),
            ("b.js", "import * as a from './a.js'; export const x = 1;"),
        ],
        &[
            (
                "a.js",
                "import b from './b.js'; export default function () {}",
            ),
            ("b.js", "const a = require('./a.js'); module.exports = 5;"),
        ],
        &[
            (
                "a.js",
                "try { require('./b.js'); } catch (e) {} require('./b.js'); export let x;",
            ),
            ("b.js", "import './c.js';"),
            ("c.js", "import './a.js'; export default 1;"),
        ],
    ];
    for files in cycles {
        let scripts = Scripts::new(files);
        for command in ["run", "inspect"] {
            let said = scripts.run(&[command, "a.js"]);
            assert_eq!(said.code, Some(107), "{files:?}: {}", said.stderr);
            let sentence = "can't be required while it is being loaded";
            assert!(said.stderr.contains(sentence), "{files:?}: {}", said.stderr);
        }
    }
    let again =
        "import { a } from './b.js'; const b = require('./b.js'); const c = require('./c.js');
        if (a !== b.a || c.a !== a) throw new Error('another');
        export default function () { require('./c.js'); }";
    let scripts = Scripts::new(&[
        ("a.js", again),
        ("b.js", "export const a = {};"),
        ("c.js", "import { a } from './b.js'; export { a };"),
        ("good.js", good),
    ]);
    let said = scripts.run(&["run", "-q", "a.js"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
}

#[test]
fn source_that_is_nested_too_deep_is_refused_with_a_sentence() {
    let nested = |open: &str, close: &str, depth: usize| open.repeat(depth) + &close.repeat(depth);
    for (name, depth) in [("deep.js", 3_000), ("deeper.js", 50_000)] {
        for (open, close) in [("[", "]"), ("(", ")"), ("()=>{", "}")] {
            let inner = nested(open, close, depth);
            let script = format!("export const x = {inner};\nexport default function () {{}}");
            let scripts = Scripts::new(&[(name, &script)]);
            let said = scripts.run(&["run", "-q", name]);
            assert!(
                matches!(said.code, Some(0 | 107)),
                "{open} {depth}: {}",
                said.stderr
            );
            if depth == 50_000 {
                assert!(said.stderr.contains("nested too deep"), "{}", said.stderr);
            }
        }
    }
    let chain = format!(
        "export const x = {}1;\nexport default () => 1",
        "a=>".repeat(5_000)
    );
    let scripts = Scripts::new(&[
        ("chain.js", &chain),
        (
            "types.ts",
            &format!(
                "type T = {}number{};\nexport default () => 1",
                "Array<".repeat(1_500),
                ">".repeat(1_500)
            ),
        ),
    ]);
    for name in ["chain.js", "types.ts"] {
        let said = scripts.run(&["inspect", name]);
        assert!(
            matches!(said.code, Some(0 | 107)),
            "{name}: {}",
            said.stderr
        );
    }
}
