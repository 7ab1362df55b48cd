"""The page as an application of Flask, for locustfiles that add routes, templates or a login."""

import importlib
from functools import wraps

from .errors import MissingPackage
from .messages import Request
from .routes import ROUTES
from .template import FOLDER

_UNCONFIGURED = (
    "Locust auth exception: {error}<br/><br/>See https://docs.locust.io/en/stable/"
    "extending-locust.html#adding-authentication-to-the-web-ui for configuring authentication, or "
    "disable login by removing --web-login argument."
)


def imported(package, what):
    """A package that only a part of the page needs; MissingPackage says how to install it."""
    try:
        return importlib.import_module(package.replace("-", "_"))
    except ImportError as e:
        raise MissingPackage(
            f"{what} needs the Python package {package} ({e}): pip install {package}"
        ) from e


def create(page):
    """An application with the routes of a page, each under Locust's name for it."""
    flask = imported("flask", "environment.web_ui.app")
    if page.web_login:
        imported("flask-login", "--web-login")
    app = flask.Flask(
        "locust.web", static_folder=None, template_folder=page.build_path or FOLDER
    )
    app.jinja_env.add_extension("jinja2.ext.do")
    blueprint = flask.Blueprint("locust", "locust.web", url_prefix=page.web_base_path or None)
    for route in ROUTES:
        _add(blueprint, page, route)

    @blueprint.route("/assets/<path:path>")
    def send_assets(path):
        return _response(page.routes.send_assets(path))

    app.register_blueprint(blueprint)
    return app


def _add(blueprint, page, route):
    flask = importlib.import_module("flask")

    def view():
        asked = flask.request
        if route.name == "login" and page.web_login:
            page.auth_args["error"] = flask.session.get("auth_error")
            page.auth_args["info"] = flask.session.get("auth_info")
        request = Request.of(asked.environ, asked.get_data())
        return _response(page.routes.respond(route, request))

    view.clear_cache = page.routes.remembered.clear_cache
    guarded = view if route.is_public else page.auth_required_if_enabled(view)
    blueprint.add_url_rule(route.path, route.name, guarded, methods=[route.method])


def _response(answer):
    flask = importlib.import_module("flask")
    response = flask.Response(answer.body, answer.status)
    response.headers.clear()
    response.headers.extend(answer.all_fields())
    return response


def create_login_manager(app):
    """What knows who is logged in; a locustfile says how users are found."""
    manager = importlib.import_module("flask_login").LoginManager()
    manager.init_app(app)
    manager.login_view = "locust.login"
    return manager


def requiring_login(view, log):
    """A view for those who are logged in."""
    flask = importlib.import_module("flask")
    login_required = importlib.import_module("flask_login").login_required

    @wraps(view)
    def guarded(*args, **kwargs):
        try:
            flask.session["auth_error"] = None
            flask.session["auth_info"] = None
            return login_required(view)(*args, **kwargs)
        except Exception as e:
            log.exception("Locust auth exception")
            return _UNCONFIGURED.format(error=e)

    return guarded
