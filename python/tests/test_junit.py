"""JUnit XML of the native command, read by a parser that others maintain."""

import subprocess

import junitparser
from command_support import Server, native_command, write


def outcomes(path):
    """The outcome of each case, by suite and name."""
    kinds = {junitparser.Failure: "failure", junitparser.Error: "error",
             junitparser.Skipped: "skipped"}
    xml = junitparser.JUnitXml.fromfile(str(path))
    found = {}
    for suite in xml:
        for case in suite:
            results = [kinds[type(result)] for result in case.result]
            found[suite.name, case.name] = results or ["passed"]
    counts = (xml.tests, xml.failures, xml.errors, xml.skipped)
    return found, counts


def load(folder, *words):
    """Run the native command for a moment, in a folder."""
    with Server() as server:
        return subprocess.run(
            [native_command(), "-c", "2", "-q", "--no-watch", *words, server.url],
            cwd=folder, capture_output=True, text=True, timeout=120)


def test_checks_and_validity_are_cases(tmp_path):
    ran = load(tmp_path, "-n", "100", "--allow-invalid", "--check", "p50<1ns", "--check",
               "errors<1%", "--check", "p99.99<1s", "-o", "junit=a.xml")
    assert ran.returncode == 1, ran.stderr
    found, counts = outcomes(tmp_path / "a.xml")
    assert found == {
        ("checks", "p50<1ns"): ["failure"],
        ("checks", "errors<1%"): ["passed"],
        ("checks", "p99.99<1s"): ["skipped"],
        ("validity", "the run"): ["passed"],
    }
    assert counts == (4, 1, 0, 1)


def test_a_failure_says_what_was_expected_and_what_to_do(tmp_path):
    load(tmp_path, "-n", "100", "--allow-invalid", "--check", "p50<1ns", "-o", "junit=a.xml")
    xml = junitparser.JUnitXml.fromfile(str(tmp_path / "a.xml"))
    [failure] = [result for suite in xml for case in suite for result in case.result]
    assert failure.type and failure.message
    assert "p50" in failure.message + (failure.text or "")
    outputs = [case.system_out for suite in xml for case in suite if case.system_out]
    assert any("response" in text for text in outputs)


def test_rules_of_a_comparison_are_cases(tmp_path):
    with Server() as server:
        words = [native_command(), "-c", "2", "-q", "--no-watch", "-d", "3s", "--allow-invalid"]
        told = {"cwd": tmp_path, "capture_output": True, "text": True, "timeout": 120}
        subprocess.run([*words, "--save", "a.run", server.url], **told)
        ran = subprocess.run([*words, "--baseline", "a.run", "--fail-on", "p50:+100000%",
                              "-o", "junit=b.xml", server.url], **told)
    assert ran.returncode == 0, ran.stderr
    found, _ = outcomes(tmp_path / "b.xml")
    assert found["regressions", "p50:+100000%"] == ["passed"]


K6 = """
    import http from 'k6/http';
    export const options = {
      iterations: 10,
      thresholds: { http_req_duration: ['p(95)<0.001', 'max<60000'] },
    };
    export default function () { http.get(__ENV.URL); }
"""


def test_thresholds_of_k6_are_cases_in_its_dialect(tmp_path):
    write(tmp_path, K6, "test.js")
    with Server() as server:
        told = subprocess.run(
            [native_command(), "k6", "run", "--out", "junit=a.xml", "test.js"], cwd=tmp_path,
            env={"URL": server.url}, capture_output=True, text=True, timeout=60)
    assert told.returncode == 99, told.stderr
    found, _ = outcomes(tmp_path / "a.xml")
    assert found["k6 thresholds", "http_req_duration - p(95)<0.001"] == ["failure"]
    assert found["k6 thresholds", "http_req_duration - max<60000"] == ["passed"]
