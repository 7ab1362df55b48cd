"""examples/cluster: its files are whole, and what they start works with a real bus."""

import configparser
import contextlib
import copy
import os
import shutil
import socket
import subprocess
import time

import pytest
import yaml
from machines import ROOT, first_line, program, run

FOLDER = ROOT / "examples/cluster"
COMPOSE = yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf-8"))
KUBERNETES = list(yaml.safe_load_all((FOLDER / "kubernetes.yaml").read_text(encoding="utf-8")))
PASSWORD = "ofTheExample1"


def unit():
    """The systemd unit."""
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.optionxform = str
    parser.read(FOLDER / "loadline-agent.service", encoding="utf-8")
    return parser


def manifest(kind, name):
    """The manifest of this kind and name."""
    found = [one for one in KUBERNETES
             if (one["kind"], one["metadata"]["name"]) == (kind, name)]
    assert len(found) == 1, (kind, name)
    return found[0]


def container(owner):
    """The only container of a manifest's pods."""
    [only] = owner["spec"]["template"]["spec"]["containers"]
    return only


def agents():
    """The words of each file's agent, behind the program."""
    [_, *of_unit] = unit()["Service"]["ExecStart"].split()
    return {
        "compose": COMPOSE["services"]["agent"]["command"],
        "kubernetes": container(manifest("Deployment", "loadline-agent"))["args"],
        "systemd": of_unit,
    }


def on_bus(words, port, password):
    """The same words for a bus on this machine and a password in this file."""
    words = list(words)
    words[words.index("--nats") + 1] = f"nats://127.0.0.1:{port}"
    words[words.index("--nats-password-file") + 1] = str(password)
    return words


@pytest.fixture
def bus():
    """A bus as the example configures it; its port."""
    if not shutil.which("nats-server"):
        pytest.skip("there is no nats-server")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["nats-server", "-a", "127.0.0.1", "-p", str(port), "-c", str(FOLDER / "bus.conf")]
    server = subprocess.Popen(words, env={**os.environ, "NATS_PASSWORD": PASSWORD},
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 20
        while True:
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", port)).close()
                break
            assert time.monotonic() < until, "no bus"
            time.sleep(0.05)
        yield port
    finally:
        server.kill()
        server.wait()


def test_the_agents_of_each_file_wait_on_a_bus_of_the_example(bus, tmp_path):
    password = tmp_path / "password"
    password.write_text(f"{PASSWORD}\n", encoding="utf-8")
    with contextlib.ExitStack() as running:
        for name, words in agents().items():
            words = [str(program()), *on_bus(words, bus, password), "--name", name]
            agent = running.enter_context(
                subprocess.Popen(words, stdout=subprocess.PIPE, text=True))
            running.callback(agent.kill)
            assert "waits for runs" in first_line(agent)
        words = ["agents", "--nats", "", "--nats-user", "loadline", "--nats-password-file", ""]
        listed = run([str(program()), *on_bus(words, bus, password)])
        assert listed.returncode == 0, listed.stderr
        names = [line.split()[0] for line in listed.stdout.splitlines()[1:]]
        assert sorted(names) == sorted(agents())
        wanted = on_bus(container(manifest("Job", "loadline-run"))["args"], bus, password)
        # One too few, for which it does not wait long.
        wanted += ["--agents-timeout", "1s"]
        refused = run([str(program()), *wanted])
        assert refused.returncode == 2
        assert "--agents 4: 3 of the 3 agents" in refused.stderr, refused.stderr


def test_the_run_asks_for_the_agents_that_there_are():
    words = container(manifest("Job", "loadline-run"))["args"]
    replicas = manifest("Deployment", "loadline-agent")["spec"]["replicas"]
    assert words[words.index("--agents") + 1] == str(replicas)
    assert COMPOSE["services"]["agent"]["deploy"]["replicas"] == replicas


def test_each_manifest_refers_to_what_there_is():
    for one in KUBERNETES:
        assert {"apiVersion", "kind", "metadata"} <= set(one), one
    for kind, name in [("Deployment", "loadline-bus"), ("Deployment", "loadline-agent")]:
        spec = manifest(kind, name)["spec"]
        assert spec["selector"]["matchLabels"] == spec["template"]["metadata"]["labels"]
    service = manifest("Service", "loadline-bus")["spec"]
    of_bus = manifest("Deployment", "loadline-bus")["spec"]["template"]
    assert service["selector"] == of_bus["metadata"]["labels"]
    for name in ["loadline-agent", "loadline-run"]:
        [owner] = [one for one in KUBERNETES if one["metadata"]["name"] == name]
        volumes = {volume["name"] for volume in owner["spec"]["template"]["spec"]["volumes"]}
        mounts = container(owner)["volumeMounts"]
        assert {mount["name"] for mount in mounts} == volumes
        [mount] = mounts
        words = container(owner)["args"]
        file = words[words.index("--nats-password-file") + 1]
        assert file.startswith(mount["mountPath"] + "/")
    conf = manifest("ConfigMap", "loadline-bus")["data"]["bus.conf"]
    ours = (FOLDER / "bus.conf").read_text(encoding="utf-8")
    assert conf.splitlines() == ours.splitlines()[2:]


@pytest.mark.parametrize("version", ["1.25", "1.37"])
def test_each_manifest_fits_the_schema_of_kubernetes(version):
    schemas = pytest.importorskip(
        "kubernetes_validate", reason="scripts/test-python installs kubernetes-validate")
    for one in KUBERNETES:
        schemas.validate(one, version, strict=True)
    wrong = copy.deepcopy(manifest("Deployment", "loadline-agent"))
    wrong["spec"]["template"]["spec"]["containers"][0]["imagePullPolice"] = "Always"
    with pytest.raises(schemas.ValidationError):
        schemas.validate(wrong, version, strict=True)


def test_systemd_reads_the_unit():
    service = unit()["Service"]
    assert service["LoadCredential"].split(":")[0] == "password"
    assert unit()["Install"]["WantedBy"] == "multi-user.target"
    if not shutil.which("systemd-analyze"):
        pytest.skip("there is no systemd-analyze")
    verified = run(["systemd-analyze", "verify", str(FOLDER / "loadline-agent.service")])
    # The program itself need not be installed here.
    others = [line for line in verified.stderr.splitlines()
              if "/usr/bin/loadline" not in line and line.strip()]
    assert not [line for line in others if "loadline-agent" in line], others
