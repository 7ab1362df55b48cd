"""OpenTelemetry over gRPC and HTTP, to a receiver of another make."""

import json
import subprocess

import grpc
import pytest
from command_support import Server, native_command, run, write
from otlp_receiver import Receiver, attributes, metrics_of, resource_of

EVERY_SECOND = {"OTEL_METRIC_EXPORT_INTERVAL": "1000"}


def count_of(histogram):
    """The values of all points of a histogram."""
    return sum(point.count for point in histogram.data_points)


def load(receiver, variables=(), output="otlp-grpc", requests=400, words=()):
    """The result of a run of the native command whose metrics go to a receiver."""
    with Server() as server:
        port = receiver.port if output == "otlp-grpc" else receiver.http_port
        words = [*words, "-n", str(requests), "-c", "1", "--rate", "100/s", "--no-watch", "-q",
                 "--allow-invalid", "-o", f"{output}=http://127.0.0.1:{port}", server.url]
        return subprocess.run([native_command(), *words], capture_output=True, text=True,
                              timeout=60, env={**EVERY_SECOND, **dict(variables)})


def answered(metrics):
    """The counter of answered requests."""
    points = metrics["loadline.requests"].sum.data_points
    return sum(one.as_double for one in points if attributes(one)["outcome"] == "answered")


@pytest.mark.parametrize("output", ["otlp-grpc", "otlp"])
def test_a_run_arrives_whole(output):
    with Receiver() as receiver:
        ran = load(receiver, {"OTEL_RESOURCE_ATTRIBUTES": "a=b", "OTEL_SERVICE_NAME": "shop"},
                   output)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert len(receiver.requests) >= 2
    assert resource_of(receiver.requests[-1]) == {"a": "b", "service.name": "shop"}
    metrics = receiver.last()
    assert answered(metrics) == 400
    response = metrics["loadline.response.duration"]
    assert response.unit == "s"
    [point] = response.exponential_histogram.data_points
    assert point.count == sum(point.positive.bucket_counts) == 400
    assert 0 < point.min <= point.sum / point.count <= point.max


@pytest.mark.parametrize("protocol", ["http/protobuf", "http/json"])
@pytest.mark.parametrize("compression", ["none", "gzip"])
def test_json_and_compressed_messages_arrive_as_others_do(protocol, compression):
    variables = {"OTEL_EXPORTER_OTLP_PROTOCOL": protocol,
                 "OTEL_EXPORTER_OTLP_COMPRESSION": compression,
                 "OTEL_EXPORTER_OTLP_METRICS_TIMEOUT": "2500"}
    with Receiver() as receiver:
        ran = load(receiver, variables, "otlp")
    assert (ran.returncode, ran.stderr) == (0, "")
    encoding = "application/json" if protocol == "http/json" else "application/x-protobuf"
    for head in receiver.heads:
        assert head["Content-Type"] == encoding
        assert head.get("Content-Encoding", "none") == compression
    metrics = receiver.last()
    assert answered(metrics) == 400
    [point] = metrics["loadline.response.duration"].exponential_histogram.data_points
    assert point.count == sum(point.positive.bucket_counts) == 400


def test_compressed_calls_arrive_as_others_do():
    with Receiver() as receiver:
        ran = load(receiver, {"OTEL_EXPORTER_OTLP_COMPRESSION": "gzip"})
    assert (ran.returncode, ran.stderr) == (0, "")
    assert answered(receiver.last()) == 400


@pytest.mark.parametrize("output", ["otlp-grpc", "otlp"])
def test_exemplars_name_the_traces_of_the_report(output):
    with Receiver() as receiver:
        ran = load(receiver, {}, output, words=["--traceparent", "-o", "json", "--seed", "7"])
    assert (ran.returncode, ran.stderr) == (0, "")
    slowest = {one["trace_id"]: one["response_us"] for one in
               json.loads(ran.stdout)["summary"]["slowest_traces"]}
    found = {}
    for request in receiver.requests:
        response = metrics_of(request).get("loadline.response.duration")
        for point in response.exponential_histogram.data_points if response else []:
            assert len(point.exemplars) <= 4
            for one in point.exemplars:
                assert one.trace_id.hex() not in found
                assert len(one.span_id) == 8
                found[one.trace_id.hex()] = one.as_double * 1e6
    assert found
    slow = max(slowest, key=slowest.get)
    assert found[slow] == pytest.approx(slowest[slow], rel=1e-3)


def test_fields_go_with_each_call_and_a_wrong_token_is_said():
    with Receiver(token="right") as receiver:
        right = load(receiver, {"OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20right"})
        assert (right.returncode, right.stderr) == (0, "")
        assert receiver.metadata[0]["user-agent"].startswith("Loadline/")
        calls = len(receiver.metadata)
        wrong = load(receiver, {"OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20wrong"})
    assert wrong.returncode == 0
    assert len(receiver.metadata) > calls
    sentence = "it answered UNAUTHENTICATED (no such token), which is about the user or the token"
    assert f"{sentence}; the run goes on." in wrong.stderr
    assert f"batches were not delivered: {sentence}." in wrong.stderr


def test_a_refusal_that_may_pass_costs_nothing():
    busy = (grpc.StatusCode.UNAVAILABLE, "restarting", None)
    full = (grpc.StatusCode.RESOURCE_EXHAUSTED, "later", 1)
    with Receiver(refusals=[busy, full]) as receiver:
        ran = load(receiver)
    assert ran.returncode == 0
    assert "it answered UNAVAILABLE (restarting); it is tried again" in ran.stderr
    assert "not delivered" not in ran.stderr
    assert answered(receiver.last()) == 400


def test_values_that_are_rejected_are_said():
    with Receiver(partial=3) as receiver:
        ran = load(receiver)
    assert ran.returncode == 0
    assert "it rejected 3 of the values (no histograms here)" in ran.stderr


def test_a_receiver_over_http_is_no_receiver_over_grpc():
    with Receiver() as receiver:
        receiver.port = receiver.http_port
        ran = load(receiver)
    assert ran.returncode == 0
    assert "not delivered" in ran.stderr and "HTTP/2" in ran.stderr


K6 = """
    import http from 'k6/http';
    import { check } from 'k6';
    export const options = { vus: 2, iterations: 40 };
    export default function () {
      const answer = http.get(__ENV.URL);
      check(answer, { 'is there': (one) => one.status === 200 });
    }
"""


@pytest.mark.parametrize("words", [[], ["--processes", "2"]])
def test_k6_sends_its_own_layout_each_request_once(tmp_path, words):
    write(tmp_path, K6, "test.js")
    with Server() as server, Receiver() as receiver:
        variables = {
            "K6_OTEL_GRPC_EXPORTER_ENDPOINT": f"127.0.0.1:{receiver.port}",
            "K6_OTEL_GRPC_EXPORTER_INSECURE": "true",
            "K6_OTEL_METRIC_PREFIX": "mine.",
            "K6_OTEL_EXPORT_INTERVAL": "500ms",
            "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip",
            "OTEL_EXPORTER_OTLP_HEADERS": "x-scope=7",
            "OTEL_EXPORTER_OTLP_TIMEOUT": "3000",
            "URL": server.url,
        }
        told = subprocess.run(
            [native_command(), "k6", "run", *words, "--out", "opentelemetry", "test.js"],
            cwd=tmp_path, env=variables, capture_output=True, text=True, timeout=60)
    assert told.returncode == 0, told.stderr
    assert f"opentelemetry (grpc (insecure), 127.0.0.1:{receiver.port})" in told.stdout
    assert {call["x-scope"] for call in receiver.metadata} == {"7"}
    metrics = receiver.last()
    assert sum(one.as_double for one in metrics["mine.http_reqs"].sum.data_points) == 40
    duration = metrics["mine.http_req_duration"]
    assert duration.unit == "ms"
    assert count_of(duration.histogram) == 40
    assert len(duration.histogram.data_points[0].explicit_bounds) == 15
    checks = {attributes(one)["condition"]: one.as_double
              for one in metrics["mine.checks.total"].sum.data_points}
    assert checks["nonzero"] == 40
    assert resource_of(receiver.requests[-1])["service.name"] == "k6"


LOCUST = """
    from locust import HttpUser, constant, task
    from locust.exception import StopUser

    class Shopper(HttpUser):
        wait_time = constant(0.1)
        turns = 0

        @task
        def one(self):
            self.client.get("/good", name="good")
            with self.client.get("/good", name="odd", catch_response=True) as answer:
                answer.failure(ValueError("odd"))
            self.turns += 1
            if self.turns == 30:
                raise StopUser()
"""


@pytest.mark.parametrize("words", [[], ["--processes", "2"]])
@pytest.mark.parametrize("protocol", ["grpc", "http/protobuf"])
def test_locust_sends_its_own_layout_each_request_once(tmp_path, protocol, words):
    write(tmp_path, LOCUST)
    with Server() as server, Receiver() as receiver:
        port = receiver.port if protocol == "grpc" else receiver.http_port
        ended = run(
            tmp_path, "--headless", *words, "-u", "2", "-r", "2", "-t", "6", "--otel",
            "-H", server.url, "--only-summary", "--profile", "smoke",
            env={**EVERY_SECOND, "OTEL_EXPORTER_OTLP_PROTOCOL": protocol,
                 "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip", "OTEL_EXPORTER_OTLP_TIMEOUT": "3",
                 "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{port}"})
    assert ended.code == 1, ended.err
    assert "--otel sends metrics; traces and logs are not sent." in ended.err
    assert len(receiver.requests) >= 2
    about = resource_of(receiver.requests[-1])
    assert (about["service.name"], about["profile"]) == ("locust", "smoke")
    assert about["filename"] == "locustfile.py"
    duration = receiver.last()["locust.client.duration"]
    assert duration.unit == "s"
    counts = {(attributes(one)["name"], attributes(one).get("error.type")): one.count
              for one in duration.histogram.data_points}
    assert counts == {("good", None): 60, ("odd", "ValueError"): 60}
    users = [point for request in receiver.requests
             for point in metrics_of(request)["locust.users.count"].gauge.data_points]
    assert {attributes(one)["user_class"] for one in users} == {"Shopper"}
    assert max(one.as_double for one in users) == 2


def test_a_wrong_variable_ends_a_locust_run_before_it_begins(tmp_path):
    write(tmp_path, LOCUST)
    ended = run(tmp_path, "--headless", "-t", "1", "--otel", "-H", "http://127.0.0.1:1",
                env={"OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"})
    assert ended.code == 1
    said = "--otel cannot send: the variable OTEL_EXPORTER_OTLP_PROTOCOL is `http/json`"
    assert said in ended.err


def test_a_receiver_that_is_away_leaves_a_locust_run_alone(tmp_path):
    write(tmp_path, LOCUST)
    with Server() as server:
        ended = run(tmp_path, "--headless", "-u", "1", "-t", "6", "--otel", "-H", server.url,
                    "--only-summary",
                    env={**EVERY_SECOND, "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1",
                         "OTEL_TRACES_EXPORTER": "none"})
    assert ended.code == 1
    assert "--otel sends metrics; logs are not sent." in ended.err
    assert "were not delivered: nothing listens there" in ended.err
    assert "good" in ended.err
