"""action.yml: its steps, run as GitHub runs them."""

import os
import re
import subprocess

import pytest
import yaml
from machines import ROOT, VERSION, target

ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
FEW = "-n 200 -c 2 --allow-invalid"


class Job:
    """A job of a workflow that uses the action."""

    def __init__(self, folder, releases):
        self.folder = folder
        self.files = {name: folder / name.lower() for name in
                      ("GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STEP_SUMMARY")}
        self.environment = {**os.environ, "LOADLINE_RELEASES": releases, "HOME": str(folder),
                            **{name: str(file) for name, file in self.files.items()}}
        self.said = ""

    def use(self, **inputs):
        """Run the steps; gives the exit code of the one that failed, or 0, and the outputs."""
        known = {name: about.get("default", "") for name, about in ACTION["inputs"].items()}
        assert not set(inputs) - set(known)
        self.values = {f"inputs.{name}": value for name, value in {**known, **inputs}.items()}
        self.values |= {"runner.temp": str(self.folder / "temp"), "github.action_path": str(ROOT)}
        for file in self.files.values():
            file.write_text("", encoding="utf-8")
        code, self.said = 0, ""
        for step in ACTION["runs"]["steps"]:
            code = self.step(step)
            if code:
                break
        outputs = {name: self.fill(about["value"]) for name, about in ACTION["outputs"].items()}
        return code, outputs

    def step(self, step):
        """Run one step, and take what it tells."""
        given = {name: self.fill(value) for name, value in step.get("env", {}).items()}
        path = [*self.lines("GITHUB_PATH")[::-1], self.environment["PATH"]]
        ended = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", self.fill(step["run"])],
            env={**self.environment, **given, "PATH": ":".join(path)}, cwd=self.folder, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
        self.said += ended.stdout
        for line in self.lines("GITHUB_OUTPUT"):
            name, _, value = line.partition("=")
            self.values[f"steps.{step.get('id')}.outputs.{name}"] = value
        return ended.returncode

    def fill(self, text):
        """A text with the values of its expressions; one that is not known is an error of ours."""
        def value(found):
            return self.values.get(found[1], "" if found[1].startswith("steps.") else None)

        return re.sub(r"\$\{\{ (.+?) \}\}", value, text)

    def lines(self, name):
        """The lines of one of GitHub's files."""
        file = self.files[name]
        return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


@pytest.fixture
def job(tmp_path, released):
    """A job on a machine without Loadline."""
    return Job(tmp_path, released)


def test_a_run_that_passes_gives_verdict_report_and_summary(job):
    with target() as server:
        code, outputs = job.use(args=f"{FEW} --check 'errors<1%' {server}")
    assert (code, outputs["verdict"]) == (0, "passed"), job.said
    with open(outputs["report"], encoding="utf-8") as report:
        assert report.read(15).lower() == "<!doctype html>"
    summary = "\n".join(job.lines("GITHUB_STEP_SUMMARY"))
    assert summary.startswith("### Loadline: passed") and "passed: errors<1%" in summary
    assert os.path.getsize(outputs["run"]) > 0


def test_a_plan_file_is_run(job):
    with target() as server:
        plan = f'url = "{server}"\nrequests = 200\nconnections = 2\ncheck = ["rate<1"]\n'
        (job.folder / "plan.toml").write_text(plan, encoding="utf-8")
        code, outputs = job.use(plan="plan.toml")
    assert (code, outputs["verdict"]) == (1, "failed"), job.said
    assert "failed: rate<1" in job.said


def test_it_is_compared_with_a_baseline_if_there_is_one(job):
    with target() as server:
        args = f"-d 2200ms -c 2 --allow-invalid {server}?delay=5ms"
        # Whatever else runs on this machine: two runs of the same server are not so far apart. A
        # comparison of runs that were stalled is invalid, whoever stalled them.
        rules = {"fail-on": "p50:+100000% rate:-99.9%"}
        for _ in range(5):
            code, outputs = job.use(args=args, baseline="none.run")
            assert (code, outputs["verdict"]) == (0, "passed"), job.said
            assert "::notice::There is no baseline in none.run yet" in job.said
            os.replace(outputs["run"], job.folder / "base.run")
            code, outputs = job.use(args=args, baseline="base.run", **rules)
            if outputs["verdict"] != "invalid":
                break
        assert (code, outputs["verdict"]) == (0, "passed"), job.said
        summary = "\n".join(job.lines("GITHUB_STEP_SUMMARY"))
        assert "B / A" in summary
        for rule in ["p50:+100000%", "rate:-99.9%"]:
            assert re.search(rf"^  {re.escape(rule)} +passed", summary, re.MULTILINE), summary
        slow = f"-d 2200ms -c 2 --allow-invalid {server}?delay=50ms"
        code, outputs = job.use(args=slow, baseline="base.run", **{"fail-on": "p50:+50% p75:+50%"})
    assert (code, outputs["verdict"]) == (1, "failed"), job.said


def test_words_are_quoted_as_in_a_shell_and_nothing_in_them_is_run(job):
    with target() as server:
        args = f"{FEW} -H 'X: $(touch made) `touch made`; touch made'\n-H \"Y: b  c\"\n{server}"
        code, _ = job.use(args=args)
    assert code == 0, job.said
    assert not (job.folder / "made").exists()


@pytest.mark.parametrize("inputs, sentence", [
    ({}, "Give the input args (--rate 500 URL, say) or the input plan."),
    ({"args": "-H 'a: b"}, "A quote in the input args has no other one: -H 'a: b"),
])
def test_inputs_that_can_not_be_are_refused(job, inputs, sentence):
    code, outputs = job.use(**inputs)
    assert (code, outputs["verdict"], outputs["report"]) == (2, "error", "")
    assert f"::error::{sentence}" in job.said.splitlines()


def test_a_mistake_in_the_words_is_an_error(job):
    code, outputs = job.use(args="--no-such-flag")
    assert (code, outputs["verdict"]) == (2, "error")
    assert "--no-such-flag" in job.said


def test_a_version_is_installed_or_named(job):
    code, outputs = job.use(version="99.0.0", args="http://127.0.0.1:1/")
    assert (code, outputs["verdict"]) == (1, "")
    assert "/download/v99.0.0/" in job.said
    job.use(version=VERSION, args="--version")
    assert f"loadline {VERSION} is now {job.folder}/temp/loadline/bin/loadline." in job.said
