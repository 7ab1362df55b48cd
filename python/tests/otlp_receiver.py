"""A receiver of OpenTelemetry's metrics, of the published definitions and the gRPC of others.

It speaks gRPC and HTTP, keeps what it was sent, and refuses on demand.
"""

import concurrent.futures
import http.server
import threading

import grpc
from google.protobuf import duration_pb2
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2 as service
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2_grpc as service_grpc


class Receiver(service_grpc.MetricsServiceServicer):
    """Takes metrics until the end of a `with` block.

    `refusals` are statuses with which it answers first, each `(code, message, seconds)`; seconds is
    the pause that it asks for, or None. `partial` is a number of values that it says it rejected.
    """

    def __init__(self, refusals=(), partial=0, token=None):
        self.requests = []
        self.metadata = []
        self._refusals = list(refusals)
        self._partial = partial
        self._token = token

    def __enter__(self):
        self._server = grpc.server(concurrent.futures.ThreadPoolExecutor(4))
        service_grpc.add_MetricsServiceServicer_to_server(self, self._server)
        self.port = self._server.add_insecure_port("127.0.0.1:0")
        self._server.start()
        self._http = _http_server(self)
        self.http_port = self._http.server_port
        threading.Thread(target=self._http.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.stop(None).wait()
        self._http.shutdown()
        self._http.server_close()

    def Export(self, request, context):  # noqa: N802
        """The method of the service."""
        metadata = dict(context.invocation_metadata())
        self.metadata.append(metadata)
        if self._token and metadata.get("authorization") != f"Bearer {self._token}":
            context.abort(grpc.StatusCode.UNAUTHENTICATED, "no such token")
        if self._refusals:
            code, message, seconds = self._refusals.pop(0)
            _refuse(context, code, message, seconds)
        self.requests.append(request)
        response = service.ExportMetricsServiceResponse()
        if self._partial:
            response.partial_success.rejected_data_points = self._partial
            response.partial_success.error_message = "no histograms here"
        return response

    def last(self):
        """The metrics of the last message, by name."""
        return metrics_of(self.requests[-1])


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


def _http_server(receiver):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            """Say nothing."""

        def do_POST(self):  # noqa: N802
            """Take a message at the path of metrics."""
            body = self.rfile.read(int(self.headers["Content-Length"]))
            is_known = self.path == "/v1/metrics"
            if is_known:
                receiver.requests.append(service.ExportMetricsServiceRequest.FromString(body))
            self.send_response(200 if is_known else 404)
            self.send_header("Content-Length", "0")
            self.end_headers()

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    return server
