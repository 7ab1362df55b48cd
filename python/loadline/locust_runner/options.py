"""Every option of the command, as a table: names, environment variable, meaning."""

import json
import math
import os
import platform

import configargparse

import locust
from locust._version import __version__
from locust.util.timespan import parse_timespan


def add_locustfile(parser):
    """The options that are needed before a locustfile is loaded."""
    parser.add_argument(
        "-f",
        "--locustfile",
        metavar="<filename>",
        default="locustfile.py",
        env_var="LOCUST_LOCUSTFILE",
        help="Python file with the test; several with commas, a folder, or a URL. "
        "Default: locustfile.py",
    )
    parser.add_argument(
        "--config",
        is_config_file_arg=True,
        metavar="<filename>",
        help="File with further options, such as 'users = 10'",
    )


def add_all(parser):
    """All other options."""
    parser._optionals.title = "Common options"
    _add_load(parser)
    _add_page(parser)
    _add_processes(parser)
    _add_tags(parser)
    _add_statistics(parser)
    _add_logging(parser)
    _add_others(parser)
    group = parser.add_argument_group("User classes")
    group.add_argument(
        "user_classes",
        nargs="*",
        metavar="<UserClass1 UserClass2>",
        default=os.environ.get("LOCUST_USER_CLASSES", "").split(),
        help="Which user classes to use. Default: all of the locustfile; see --list",
    )


def _add_load(parser):
    add = parser.add_argument
    add("-H", "--host", metavar="<base url>", env_var="LOCUST_HOST",
        help="Where requests go, such as http://127.0.0.1:8080")
    add("-u", "--users", type=int, dest="num_users", metavar="<int>", env_var="LOCUST_USERS",
        help="Number of users. While a test runs, the keys w and W add 1 and 10, s and S stop "
        "as many")
    add("-r", "--spawn-rate", type=gt_zero(float), metavar="<float>", env_var="LOCUST_SPAWN_RATE",
        help="Users to start per second")
    add("-t", "--run-time", type=timespan, metavar="<time string>", env_var="LOCUST_RUN_TIME",
        help="When to stop, such as 300s, 20m or 1h30m. Default: never")
    add("-l", "--list", action="store_true", dest="list_commands",
        help="List the user classes and exit")
    add("--config-users", type=json_user_config, nargs="*", action="append",
        env_var="LOCUST_CONFIG_USERS",
        help="Attributes of user classes as JSON, or as files with JSON")


def _add_page(parser):
    group = parser.add_argument_group("Web UI options")
    add = group.add_argument
    add("--web-host", default="", metavar="<ip>", env_var="LOCUST_WEB_HOST",
        help="Address of the page. Default: 127.0.0.1, for this machine alone; 0.0.0.0 or * is "
        "all, and others then need the token of the address that is printed, or a login")
    add("--web-host-display-name", default=None, env_var="LOCUST_WEB_HOST_DISPLAY_NAME",
        help=configargparse.SUPPRESS)
    add("--web-port", "-P", type=int, default=8089, metavar="<port number>",
        env_var="LOCUST_WEB_PORT", help="Port of the page. Default: 8089")
    add("--headless", action="store_true", env_var="LOCUST_HEADLESS",
        help="Start the test at once, without the page")
    add("--autostart", action="store_true", env_var="LOCUST_AUTOSTART",
        help="Start the test at once, with the page")
    add("--autoquit", type=int, default=-1, metavar="<seconds>", env_var="LOCUST_AUTOQUIT",
        help="With --autostart: exit that many seconds after the test")
    add("--headful", action="store_true", env_var="LOCUST_HEADFUL", help=configargparse.SUPPRESS)
    add("--web-auth", type=str, dest="web_auth", metavar="<username:password>", default=None,
        env_var="LOCUST_WEB_AUTH", help=configargparse.SUPPRESS,
        action=raise_argument_type_error(
            "The --web-auth parameters has been replaced with --web-login. See https://docs.locust."
            "io/en/stable/extending-locust.html#authentication for details"))
    add("--web-login", default=False, action="store_true", env_var="LOCUST_WEB_LOGIN",
        help="Ask for a login before the page; the locustfile says who may log in")
    add("--tls-cert", default="", metavar="<filename>", env_var="LOCUST_TLS_CERT",
        help="Certificate of the page, which is served with TLS then")
    add("--tls-key", default="", metavar="<filename>", env_var="LOCUST_TLS_KEY",
        help="Private key of the page")
    add("--class-picker", default=False, action="store_true", env_var="LOCUST_USERCLASS_PICKER",
        help="Let the page choose among all user classes and shapes")
    add("--build-path", type=str, default="", env_var="LOCUST_BUILD_PATH",
        help=configargparse.SUPPRESS)
    add("--web-base-path", type=str, default="", env_var="LOCUST_WEB_BASE_PATH",
        help="Path below which the page is")
    add("--legacy-ui", default=False, nargs=0, env_var="LOCUST_LEGACY_UI",
        help=configargparse.SUPPRESS,
        action=raise_argument_type_error(
            "--legacy-ui is no longer supported, remove the parameter to continue"))


def _add_processes(parser):
    _add_master(parser.add_argument_group("Master options"))
    _add_worker(parser.add_argument_group("Worker options"))


def _add_master(group):
    add = group.add_argument
    add("--master", action="store_true", env_var="LOCUST_MODE_MASTER",
        help="Be the master: spread the users over workers, on this machine or on others")
    add("--master-bind-host", default="", metavar="<ip>", env_var="LOCUST_MASTER_BIND_HOST",
        help="Address that workers connect to. Default: 127.0.0.1, for this machine alone; 0.0.0.0 "
        "or * is all, and workers then need the token that is printed")
    add("--master-bind-port", type=int, default=5557, metavar="<port number>",
        env_var="LOCUST_MASTER_BIND_PORT", help="Port that workers connect to. Default: 5557")
    add("--master-token", metavar="<token>", env_var="LOADLINE_MASTER_TOKEN",
        help="Secret without which no worker joins, of letters and digits; workers give the same")
    add("--expect-workers", type=positive_integer, default=1, metavar="<int>",
        env_var="LOCUST_EXPECT_WORKERS", help="Wait for that many workers before the test")
    add("--expect-workers-max-wait", type=int, default=0, metavar="<int>",
        env_var="LOCUST_EXPECT_WORKERS_MAX_WAIT", help="Seconds to wait for them. Default: forever")
    add("--enable-rebalancing", action="store_true", default=False, dest="enable_rebalancing",
        help="Spread users anew when workers come and go")
    add("--expect-slaves", nargs=0, help=configargparse.SUPPRESS,
        action=raise_argument_type_error(
            "The --expect-slaves parameter has been renamed --expect-workers"))


def _add_worker(group):
    add = group.add_argument
    add("--worker", action="store_true", env_var="LOCUST_MODE_WORKER",
        help="Be a worker: have some of the users of a master; -f - gets the locustfile from it")
    add("--processes", type=int, metavar="<int>", env_var="LOCUST_PROCESSES",
        help="Spread the users over that many processes; -1 is one for each core")
    add("--slave", nargs=0, help=configargparse.SUPPRESS,
        action=raise_argument_type_error("The --slave parameter has been renamed --worker"))
    add("--master-host", default="127.0.0.1", metavar="<hostname>",
        env_var="LOCUST_MASTER_NODE_HOST", help="Where the master is. Default: 127.0.0.1")
    add("--master-port", type=int, default=5557, metavar="<port number>",
        env_var="LOCUST_MASTER_NODE_PORT", help="Port of the master. Default: 5557")


def _add_tags(parser):
    group = parser.add_argument_group("Tag options")
    group.add_argument("-T", "--tags", nargs="*", metavar="<tag>", env_var="LOCUST_TAGS",
                       help="Run only tasks with one of these tags")
    group.add_argument("-E", "--exclude-tags", nargs="*", metavar="<tag>",
                       env_var="LOCUST_EXCLUDE_TAGS", help="Run no tasks with one of these tags")


def _add_statistics(parser):
    group = parser.add_argument_group("Request statistics options")
    add = group.add_argument
    add("--csv", dest="csv_prefix", metavar="<filename>", env_var="LOCUST_CSV",
        help="Write <filename>_stats.csv, _stats_history.csv, _failures.csv and _exceptions.csv")
    add("--csv-full-history", action="store_true", default=False, dest="stats_history_enabled",
        env_var="LOCUST_CSV_FULL_HISTORY", help="With --csv: the history of each name as well")
    add("--print-stats", action="store_true", env_var="LOCUST_PRINT_STATS",
        help="Print tables while a test runs with the page")
    add("--only-summary", action="store_true", env_var="LOCUST_ONLY_SUMMARY",
        help="Print no tables before the end")
    add("--reset-stats", action="store_true", env_var="LOCUST_RESET_STATS",
        help="Begin to count anew when all users are started")
    add("--html", dest="html_file", metavar="<filename>", env_var="LOCUST_HTML",
        help="Write the report as a page; {u}, {r} and {t} in the name are users, spawn rate and "
        "run time")
    add("--json", default=False, action="store_true", help="Print the statistics as JSON on stdout")
    add("--out", action="append", metavar="<kind>=<filename>", env_var="LOCUST_OUT",
        help="Write Loadline's own output beside Locust's: loadline saves the run for 'loadline "
        "report' and 'loadline compare', html is its page; also json, csv, text and sqlite. May be "
        "repeated")
    add("--check", action="append", metavar="<condition>", env_var="LOCUST_CHECK",
        help="Judge the test by a condition such as 'p99<50ms' or 'errors<1%%': exit code 1 if one "
        "fails, 3 if it cannot be decided or the measurement is invalid. May be repeated")
    add("--allow-invalid", action="store_true", dest="allow_invalid",
        env_var="LOCUST_ALLOW_INVALID",
        help="With --check: let the conditions alone set the exit code")
    add("--json-file", dest="json_file", metavar="<filename>",
        help="Write the statistics as JSON to <filename>.json")


def _add_logging(parser):
    group = parser.add_argument_group("Logging options")
    add = group.add_argument
    add("--skip-log-setup", action="store_true", dest="skip_log_setup", default=False,
        env_var="LOCUST_SKIP_LOG_SETUP", help="Leave logging to the locustfile")
    add("--loglevel", "-L", default="INFO", metavar="<level>", env_var="LOCUST_LOGLEVEL",
        choices=["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"], type=str.upper,
        help="DEBUG, INFO, WARNING, ERROR or CRITICAL. Default: INFO")
    add("--logfile", metavar="<filename>", env_var="LOCUST_LOGFILE",
        help="Where the log goes. Default: stderr")


def _add_others(parser):
    group = parser.add_argument_group("Other options")
    add = group.add_argument
    add("--show-task-ratio", action="store_true", help="Print how often each task runs, and exit")
    add("--show-task-ratio-json", action="store_true", help="The same as JSON")
    add("--version", "-V", action="version", version=version_line(), help="Print the version")
    add("--exit-code-on-error", type=int, default=1, metavar="<int>",
        env_var="LOCUST_EXIT_CODE_ON_ERROR",
        help="Exit code of a test with failures or exceptions. Default: 1")
    add("-s", "--stop-timeout", dest="stop_timeout", metavar="<number>", default="0",
        type=timespan, env_var="LOCUST_STOP_TIMEOUT",
        help="Seconds that users have to finish their task at the end. Default: 0")
    add("--equal-weights", action="store_true", default=False, dest="equal_weights",
        help="Let all classes and tasks be equally frequent")
    add("--profile", type=str, help="A name that groups test runs in the report")
    add("--otel", action="store_true", env_var="LOCUST_ENABLE_OPENTELEMETRY",
        help="Send metrics by OpenTelemetry, where its variables OTEL_… say")


def version_line():
    """What --version prints."""
    return (
        f"locust {__version__} from {os.path.dirname(locust.__file__)} "
        f"(Python {platform.python_version()}), Loadline"
    )


def raise_argument_type_error(err_msg):
    """An action for options that are gone: it says what to use instead."""

    class RefusingAction(configargparse.Action):
        def __call__(self, parser, namespace, values, option_string=None):
            raise configargparse.ArgumentError(self, err_msg)

    return RefusingAction


def timespan(time_str):
    """Seconds of a span of time."""
    try:
        return parse_timespan(time_str)
    except ValueError as e:
        raise configargparse.ArgumentTypeError(str(e)) from e


def positive_integer(string):
    """A number of workers."""
    try:
        value = int(string)
    except ValueError:
        raise configargparse.ArgumentTypeError(f"invalid int value: '{string}'") from None
    if value < 1:
        raise configargparse.ArgumentTypeError(
            f"Invalid --expect-workers argument ({value}), must be a positive number"
        )
    return value


def gt_zero(kind):
    """A finite number above zero."""

    def check(text):
        value = kind(text)
        if not math.isfinite(value):
            raise configargparse.ArgumentTypeError("must be a finite number")
        if value <= 0:
            raise configargparse.ArgumentTypeError("must be > 0")
        return value

    check.__name__ = kind.__name__
    return check


def json_user_config(text):
    """One dict of attributes, or a list of them, from JSON or from a file with JSON."""
    try:
        if text.endswith(".json"):
            with open(text, encoding="utf-8") as file:
                return json.load(file)
        return json.loads(text)
    except (OSError, ValueError) as e:
        sentence = f"An error occured while parsing your JSON: {e}"
        raise configargparse.ArgumentTypeError(sentence) from e
