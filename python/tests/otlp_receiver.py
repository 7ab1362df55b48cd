"""A receiver of OpenTelemetry's metrics, of the published definitions and the gRPC of others.

It speaks gRPC and HTTP, keeps what it was sent, and refuses on demand. It is a process of its own:
gRPC waits in threads, which gevent has replaced in that of the tests.
"""

import base64
import concurrent.futures
import gzip
import http.server
import json
import select
import subprocess
import sys
import tempfile
import threading

import grpc
from google.protobuf import duration_pb2, json_format
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2 as service
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2_grpc as service_grpc


class Receiver:
    """Takes metrics until the end of a `with` block.

    `refusals` are statuses with which it answers first, each `(code, message, seconds)`; seconds is
    the pause that it asks for, or None. `partial` is a number of values that it says it rejected.
    """

    def __init__(self, refusals=(), partial=0, token=None):
        named = [(code.name, message, seconds) for code, message, seconds in refusals]
        self._settings = json.dumps({"refusals": named, "partial": partial, "token": token})

    def __enter__(self):
        self._kept = tempfile.NamedTemporaryFile("r")
        self._process = subprocess.Popen(
            [sys.executable, __file__, self._kept.name, self._settings],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert select.select([self._process.stdout], [], [], 60)[0], "the receiver does not listen"
        self.port, self.http_port = map(int, self._process.stdout.readline().split())
        return self

    def __exit__(self, *_):
        self._process.stdin.close()
        self._process.wait(30)
        self._process.stdout.close()

    def _lines(self):
        with open(self._kept.name) as kept:
            return [json.loads(line) for line in kept if line.endswith("\n")]

    @property
    def requests(self):
        """The messages that it took, oldest first."""
        texts = [line["message"] for line in self._lines() if "message" in line]
        parse = service.ExportMetricsServiceRequest.FromString
        return [parse(base64.b64decode(text)) for text in texts]

    @property
    def metadata(self):
        """The fields of each call over gRPC."""
        return [line["metadata"] for line in self._lines() if "metadata" in line]

    @property
    def heads(self):
        """The header fields of each message over HTTP."""
        return [line["head"] for line in self._lines() if "head" in line]

    def last(self):
        """The metrics of the last message, by name."""
        return metrics_of(self.requests[-1])


class _Service(service_grpc.MetricsServiceServicer):
    """The method of the service, and the file that keeps what it was sent."""

    def __init__(self, kept, refusals, partial, token):
        self._kept = open(kept, "a")
        self._refusals = refusals
        self._partial = partial
        self._token = token

    def keep(self, **line):
        """Add a line to the file."""
        self._kept.write(json.dumps(line) + "\n")
        self._kept.flush()

    def keep_message(self, message):
        """Add the bytes of a message to the file."""
        self.keep(message=base64.b64encode(message).decode())

    def Export(self, request, context):  # noqa: N802
        """The method of the service."""
        metadata = dict(context.invocation_metadata())
        self.keep(metadata=metadata)
        if self._token and metadata.get("authorization") != f"Bearer {self._token}":
            context.abort(grpc.StatusCode.UNAUTHENTICATED, "no such token")
        if self._refusals:
            name, message, seconds = self._refusals.pop(0)
            _refuse(context, grpc.StatusCode[name], message, seconds)
        self.keep_message(request.SerializeToString())
        response = service.ExportMetricsServiceResponse()
        if self._partial:
            response.partial_success.rejected_data_points = self._partial
            response.partial_success.error_message = "no histograms here"
        return response


def metrics_of(request):
    """The metrics of a message, by name."""
    scopes = [scope for one in request.resource_metrics for scope in one.scope_metrics]
    return {metric.name: metric for scope in scopes for metric in scope.metrics}


def resource_of(request):
    """The attributes of a message's resource."""
    return attributes(request.resource_metrics[0].resource)


def attributes(one):
    """The attributes of a point or a resource."""
    return {pair.key: pair.value.string_value for pair in one.attributes}


def _refuse(context, code, message, seconds):
    if seconds is None:
        context.abort(code, message)
    info = error_details_pb2.RetryInfo(retry_delay=duration_pb2.Duration(seconds=seconds))
    status = status_pb2.Status(code=code.value[0], message=message)
    status.details.add().Pack(info)
    context.abort_with_status(rpc_status.to_status(status))


def _decoded(body, head):
    """A message of HTTP in protobuf. What the definitions do not have in JSON is an error."""
    if head["Content-Encoding"] == "gzip":
        body = gzip.decompress(body)
    if head["Content-Type"] != "application/json":
        return body
    request = json.loads(body, object_hook=_with_bytes)
    message = service.ExportMetricsServiceRequest()
    return json_format.ParseDict(request, message).SerializeToString()


def _with_bytes(object_):
    """An object whose identifiers are as protobuf has bytes in JSON: in hex they are OTLP's own."""
    for key in ("traceId", "spanId"):
        if key in object_:
            object_[key] = base64.b64encode(bytes.fromhex(object_[key])).decode()
    return object_


def _http_server(taken):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            """Say nothing."""

        def do_POST(self):  # noqa: N802
            """Take a message at the path of metrics."""
            body = self.rfile.read(int(self.headers["Content-Length"]))
            is_known = self.path == "/v1/metrics"
            if is_known:
                taken.keep(head=dict(self.headers))
                taken.keep_message(_decoded(body, self.headers))
            self.send_response(200 if is_known else 404)
            self.send_header("Content-Length", "0")
            self.end_headers()

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    return server


def _serve(kept, settings):
    taken = _Service(kept, **json.loads(settings))
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(4))
    service_grpc.add_MetricsServiceServicer_to_server(taken, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    http_server = _http_server(taken)
    threading.Thread(target=http_server.serve_forever, daemon=True).start()
    print(port, http_server.server_port, flush=True)
    sys.stdin.read()
    server.stop(None).wait()


if __name__ == "__main__":
    _serve(*sys.argv[1:])
