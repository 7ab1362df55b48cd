"""The web page of an environment: `environment.web_ui`."""

import errno
import logging
import os
import socket

import gevent

from loadline.locust_web import flask_app, template
from loadline.locust_web.access import Access
from loadline.locust_web.errors import CannotServe
from loadline.locust_web.messages import Request
from loadline.locust_web.notes import Notes
from loadline.locust_web.routes import Routes
from loadline.locust_web.server import Server, drop, receive
from loadline.locust_web.swarm import Swarm

from . import stats
from .argument_parser import ui_extra_args_dict
from .log import greenlet_exception_logger

logger = logging.getLogger(__name__)

# Whether the page asks for a host before it starts a test. May be assigned by a locustfile.
HOST_IS_REQUIRED = False

_LOOPBACK = "127.0.0.1"
_EVERYWHERE = {"*": "0.0.0.0"}


class WebUI:
    """The page of an environment, and Locust's endpoints.

    Without a host it is served to this machine alone. Beyond it, whoever asks needs the token of
    its `url`, unless `web_login` asks for a login.
    """

    def __init__(
        self,
        environment,
        host="",
        port=8089,
        web_base_path=None,
        web_login=False,
        tls_cert=None,
        tls_key=None,
        stats_csv_writer=None,
        delayed_start=False,
        userclass_picker_is_active=False,
        build_path=None,
        display_name=None,
    ):
        environment.web_ui = self
        self.environment = environment
        self.host = _EVERYWHERE.get(host, host) or _LOOPBACK
        self.port = port
        self.web_base_path = (web_base_path or "").rstrip("/")
        self.web_login = web_login
        self.tls_cert = tls_cert
        self.tls_key = tls_key
        self.userclass_picker_is_active = userclass_picker_is_active
        self.build_path = os.path.abspath(build_path) if build_path else None
        self.stats_csv_writer = stats_csv_writer or stats.StatsCSV(
            environment, stats.PERCENTILES_TO_REPORT
        )
        # Arguments of the templates of the page and of the login.
        self.template_args = {}
        self.auth_args = {}
        self.greenlet = None
        self.server = None
        self.access = Access(self.host, web_login, display_name)
        self.routes = Routes(self)
        self.notes = Notes(environment.events)
        self.swarm = Swarm(self)
        self._display_name = display_name
        self._app = None
        self._extra_options = None
        self._login_manager = flask_app.create_login_manager(self.app) if web_login else None
        if environment.runner:
            self.update_template_args()
        if not delayed_start:
            self.start()

    @property
    def app(self):
        """The page as an application of Flask: made, and all requests given to it, once asked for.

        Raises MissingPackage, an ImportError, where Flask is not installed.
        """
        if self._app is None:
            self._app = flask_app.create(self)
        return self._app

    @property
    def login_manager(self):
        """Flask-Login's manager, where there is a login."""
        if self.web_login:
            return self._login_manager
        raise AttributeError("The login_manager is only available with --web-login.\n")

    @login_manager.setter
    def login_manager(self, value):
        self._login_manager = value

    @property
    def extra_options(self):
        """The options that the locustfile added, by their names."""
        if self._extra_options is None:
            # Without options nobody has read the command line of the program.
            words = None if self.environment.parsed_options else []
            self._extra_options = ui_extra_args_dict(words)
        return self._extra_options

    @property
    def is_host_required(self):
        """Whether the page asks for a host before it starts a test."""
        return HOST_IS_REQUIRED

    @property
    def url(self):
        """Where the page is, with its token if it needs one."""
        if self._display_name:
            return self._display_name + self.access.query
        protocol = "https" if self.tls_cert and self.tls_key else "http"
        host = socket.gethostname() if self.host in ("0.0.0.0", "::") else self.host
        host = f"[{host}]" if ":" in host else host
        port = self.server.server_port if self.server else self.port
        query = self.access.query and f"/{self.access.query}"
        return f"{protocol}://{host}:{port}{self.web_base_path}{query}"

    def start(self):
        """Serve from now on, in a greenlet; CannotServe if the address or the files are no use."""
        try:
            self.server = Server((self.host, self.port), self, self.tls_cert, self.tls_key)
            self.server.start()
        except (OSError, ValueError) as e:
            raise CannotServe(self._why(e)) from e
        self.greenlet = gevent.spawn(self.server.serve_forever)
        self.greenlet.link_exception(greenlet_exception_logger(logger))

    def _why(self, error):
        place = f"The web interface can't be served at {self.host}:{self.port}: {_reason(error)}."
        if getattr(error, "errno", None) in (errno.EADDRINUSE, errno.EACCES):
            return f"{place} Choose another port with --web-port."
        return f"{place} Check --web-host, --tls-cert and --tls-key."

    def stop(self):
        """Serve no longer."""
        if self.server is not None:
            self.server.stop(timeout=0)

    def __call__(self, environ, start_response):
        """Answer a request, as an application of WSGI."""
        refusal, body = self.access.ruling(environ), None
        if refusal is None:
            body, refusal = receive(environ)
        if refusal is not None:
            drop(environ)
            refusal.fields.append(("Connection", "close"))
            return refusal.send(environ, start_response)
        if self._app is not None:
            return self._app(environ, start_response)
        return self.routes.answer(Request.of(environ, body)).send(environ, start_response)

    def auth_required_if_enabled(self, view_func):
        """A view of Flask that asks for a login where there is one."""
        return flask_app.requiring_login(view_func, logger) if self.web_login else view_func

    def update_template_args(self):
        """Let `template_args` say how the test stands now; what a locustfile added stays."""
        self.template_args = {**self.template_args, **template.template_args(self)}


def _reason(error):
    return getattr(error, "strerror", None) or str(error)
