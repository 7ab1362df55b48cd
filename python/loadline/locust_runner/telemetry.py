"""Metrics by OpenTelemetry while a test lasts (`--otel`): those of Locust, under its names.

Each process counts the times of its requests. One process sends: that of the test, or the parent
of several, which adds up what its children report.
"""

import logging
import os
import socket

import gevent

from loadline import native

from locust import __version__
from locust.log import greenlet_exception_logger

logger = logging.getLogger("locust.main")
log_death = greenlet_exception_logger(logger)

# What children call their part of a report.
_PART = "otel"


def is_requested(options):
    """Whether metrics are to be sent: `--otel`, unless a variable says that there are none."""
    if not options.otel:
        return False
    exporters = os.environ.get("OTEL_METRICS_EXPORTER", "otlp").split(",")
    if "otlp" in [name.strip().lower() for name in exporters]:
        return True
    logger.info("OTEL_METRICS_EXPORTER names no otlp: no metrics are sent.")
    return False


def _not_sent():
    """What Locust would send besides metrics, as far as variables leave it on."""
    def is_on(signal):
        return os.environ.get(f"OTEL_{signal.upper()}_EXPORTER", "otlp").strip().lower() != "none"

    return [signal for signal in ("traces", "logs") if is_on(signal)]


class Telemetry:
    """What a test sends. To be made before its processes part, and begun in the one that sends."""

    def __init__(self, environment):
        self._environment = environment
        self._durations = native.Durations()
        self._exporter = None
        self._sending = None
        events = environment.events
        events.request.add_listener(self._on_request)
        events.report_to_master.add_listener(self._on_report_to_master)
        events.worker_report.add_listener(self._on_worker_report)

    def _on_request(self, name, response_time, exception=None, **_kwargs):
        if response_time is not None:
            error = type(exception).__name__ if exception else None
            self._durations.add(name, error, response_time / 1000)

    def _on_report_to_master(self, client_id, data):
        data[_PART] = self._durations.take()

    def _on_worker_report(self, client_id, data):
        self._durations.merge(data.get(_PART, []))

    def begin(self, options):
        """Send from now on. Raises ValueError if a variable can't be used."""
        self._exporter = native.Telemetry([
            ("service.name", os.environ.get("OTEL_SERVICE_NAME") or "locust"),
            ("service.version", __version__),
            ("host.name", socket.gethostname()),
            ("filename", self._environment.locustfile or ""),
            ("profile", options.profile or ""),
        ])
        if without := _not_sent():
            logger.warning("--otel sends metrics; %s are not sent.", " and ".join(without))
        self._sending = gevent.spawn(self._send_for_ever)
        self._sending.link_exception(log_death)

    def _send_for_ever(self):
        while True:
            gevent.sleep(1)
            self._send()

    def _send(self):
        users = self._environment.runner.user_classes_count
        _log(self._exporter.put(self._durations, users))

    def end(self):
        """Wait until all is delivered, for at most some seconds."""
        if self._exporter is not None:
            self._sending.kill()
            self._send()
            _log(self._exporter.end())


def _log(sentences):
    for sentence in sentences:
        logger.warning("%s", sentence)
