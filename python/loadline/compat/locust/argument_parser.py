"""The command line: Locust's options, from arguments, environment and configuration files."""

import ast
import atexit
import difflib
import os
import re
import sys
import tempfile
import textwrap
from collections import OrderedDict
from typing import NamedTuple
from urllib.parse import urlparse

import configargparse

import locust

from loadline.locust_runner import options

from .util.directory import get_abspaths_in
from .util.url import is_url

version = locust.__version__

DEFAULT_CONFIG_FILES = ("~/.locust.conf", "locust.conf", "pyproject.toml")

_DESCRIPTION = textwrap.dedent(
    """
    Usage: locust [options] [UserClass ...]
    """
)
_EPILOG = """Examples:

    50 users of the file shop.py, 10 more each second, for a minute:
    locust -f shop.py --headless -u 50 -r 10 -t 1m -H http://127.0.0.1:8080

    two classes alone, over all cores, with a report whose name says how many users there were:
    locust -f shop.py --headless -u 400 --processes -1 --html "shop-{u}.html" Buyer Visitor

What differs from Locust is in docs/guide/locust.md."""

# Names options that were typed on a page, which are to be those of the locustfile.
_OPTIONS_OF_FILE = "LOADLINE_OPTIONS_OF_FILE"

# Flags of the command that stand in front of Locust's words, as in its `dialect/front.rs`.
_OF_COMMAND = (
    "--agents", "--agents-timeout", "--elastic", "--insecure-bus", "--nats", "--nats-ca",
    "--nats-creds", "--nats-password-file", "--nats-user", "--on-loss", "--per-agent", "--web",
    "--web-cert", "--web-key", "--web-password-file", "--web-user",
)

# Arguments of add_argument that are ours, and what they are unless given.
_PAGE_SETTINGS = {
    "include_in_web_ui": True,
    "is_secret": False,
    "is_required": False,
    "is_multiple": False,
}


class LocustArgumentParser(configargparse.ArgumentParser):
    """A parser whose arguments also say how the web page shows them."""

    def error(self, message):
        """Say what is wrong, and which option may have been meant; exit code 2."""
        self.exit(2, f"{self.prog}: error: {message}{self._advice(message)}\n")

    def _advice(self, message):
        """A line with the place of a flag of the command, or with the option that an unknown one
        resembles; nothing if none does."""
        unknown = re.search(r"unrecognized arguments: ([^\s=]+)", message)
        if unknown and unknown[1] in _OF_COMMAND:
            return (f"\n{unknown[1]} is a flag of Loadline's own: write it before Locust's words, "
                    "as in loadline --nats URL --agents 4 locust -f FILE.")
        known = self._option_string_actions
        similar = unknown and difflib.get_close_matches(unknown[1], known, n=1)
        return f"\nDid you mean '{similar[0]}'?" if similar else ""

    def add_argument(self, *args, **kwargs):
        """As argparse's, with `include_in_web_ui`, `is_secret`, `is_required`, `is_multiple`."""
        settings = {name: kwargs.pop(name, usual) for name, usual in _PAGE_SETTINGS.items()}
        action = super().add_argument(*args, **kwargs)
        for name, value in settings.items():
            setattr(action, name, value)
        return action

    def _shown(self, setting=None):
        return {
            action.dest: action
            for action in self._actions
            if getattr(action, "include_in_web_ui", False)
            and (setting is None or getattr(action, setting, False))
        }

    @property
    def args_included_in_web_ui(self):
        """Arguments that the page shows, by their destination."""
        return self._shown()

    @property
    def secret_args_included_in_web_ui(self):
        """Those whose value is hidden."""
        return self._shown("is_secret")

    @property
    def required_args_included_in_web_ui(self):
        """Those that must be filled in."""
        return self._shown("is_required")

    @property
    def multiple_args_included_in_web_ui(self):
        """Those with several values."""
        return self._shown("is_multiple")


class LocustConfigParser(configargparse.ConfigFileParser):
    """Reads `key = value` files, and the table [tool.locust] of TOML files."""

    def parse(self, stream):
        """All settings of a file."""
        if not stream.name.endswith(".toml"):
            return configargparse.DefaultConfigFileParser().parse(stream)
        table = _toml(stream.read()).get("tool", {}).get("locust", {})
        settings = OrderedDict()
        for key, value in table.items():
            settings[key] = [str(one) for one in value] if isinstance(value, list) else str(value)
        return settings

    def get_syntax_description(self):
        """What a file may contain."""
        return "key = value, or in a TOML file the table [tool.locust]."


def _toml(text):
    try:
        import tomllib
    except ModuleNotFoundError:  # Python 3.10
        try:
            import tomli as tomllib
        except ModuleNotFoundError:
            return _without_toml(text)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as e:
        raise configargparse.ConfigFileParserException(f"Couldn't parse TOML file: {e}") from e


def _without_toml(text):
    if "[tool.locust]" in text:
        raise configargparse.ConfigFileParserException(
            "Reading [tool.locust] needs Python 3.11 or the package tomli: "
            "pip install 'loadline[locust]'"
        )
    return {}


def get_empty_argument_parser(add_help=True, default_config_files=DEFAULT_CONFIG_FILES):
    """A parser that knows the locustfile and the configuration file only."""
    parser = LocustArgumentParser(
        prog="locust",
        default_config_files=default_config_files,
        config_file_parser_class=LocustConfigParser,
        add_env_var_help=False,
        add_config_file_help=False,
        add_help=add_help,
        # What begins as an option of Locust's own is none of the locustfile.
        allow_abbrev=not _options_of_file(),
        formatter_class=configargparse.RawDescriptionHelpFormatter,
        usage=configargparse.SUPPRESS,
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    options.add_locustfile(parser)
    return parser


def setup_parser_arguments(parser):
    """Add all other options of Locust."""
    options.add_all(parser)


def get_parser(default_config_files=DEFAULT_CONFIG_FILES):
    """A parser for everything, with what the locustfile adds."""
    parser = get_empty_argument_parser(default_config_files=default_config_files)
    setup_parser_arguments(parser)
    locust.events.init_command_line_parser.fire(parser=parser)
    return parser


def parse_options(args=None):
    """All options."""
    parser = get_parser()
    parsed = parser.parse_args(args=args)
    check_options(parser, parsed)
    return parsed


def check_options(parser, parsed):
    """End with a sentence where options contradict each other."""
    if parsed.stats_history_enabled and parsed.csv_prefix is None:
        parser.error("'--csv-full-history' requires '--csv'.")
    if parsed.autoquit != -1 and not parsed.autostart:
        sys.stderr.write("--autoquit is only meaningful in combination with --autostart\n")
        sys.exit(1)


def parse_locustfile_option(args=None):
    """What must be known before the locustfile is loaded, which may add options itself."""
    _refuse_own_options(_options_of_file())
    parser = get_empty_argument_parser(add_help=False)
    parser.add_argument("-h", "--help", action="store_true", default=False)
    parser.add_argument("--version", "-V", action="store_true", default=False)
    # Named here so that they are no ambiguous beginnings of other names.
    parser.add_argument("--worker", action="store_true", env_var="LOCUST_MODE_WORKER")
    parser.add_argument("--master", action="store_true", env_var="LOCUST_MODE_MASTER")
    parser.add_argument("--master-host", default="127.0.0.1")
    parser.add_argument("--master-port", type=int, default=5557)
    parser.add_argument("--master-token", env_var="LOADLINE_MASTER_TOKEN")
    parsed, _ = parser.parse_known_args(args=args)
    if parsed.help or parsed.version:
        get_parser().parse_args(args=args)
    return parsed


def _options_of_file():
    """Names of options that no option of Locust's own may have: they were typed on a page."""
    return [name for name in os.environ.get(_OPTIONS_OF_FILE, "").split(",") if name]


def is_started_from_page():
    """Whether the words are those of a page's form, which has fields in place of options."""
    return _OPTIONS_OF_FILE in os.environ


def _refuse_own_options(names):
    """End with a sentence where one of these names is an option of Locust's own."""
    if not names:
        return
    parser = get_empty_argument_parser()
    setup_parser_arguments(parser)
    for name in names:
        if f"--{name}" in parser._option_string_actions:
            parser.error(f"--{name} is an option of Locust: only those that the locustfile adds "
                         "can be set here.")


def get_locustfiles_locally(parsed):
    """Absolute paths of all locustfiles."""
    if parsed.locustfile == "-":
        _refuse("Only a worker gets its locustfile from a master (-f -): name a file after -f.")
    return parse_locustfile_paths([one.strip() for one in parsed.locustfile.split(",")])


def parse_locustfile_paths(paths):
    """Absolute paths of files, of the files in folders, and of what URLs lead to."""
    return [found for path in paths for found in _parse_locustfile_path(path)]


def _parse_locustfile_path(path):
    if is_url(path):
        return [download_locustfile_from_url(path)]
    if os.path.isdir(path):
        found = get_abspaths_in(path, extension=".py")
        return found or _refuse(f"Could not find any locustfiles in directory '{path}'")
    if os.path.exists(path) and path.endswith(".py"):
        return [os.path.abspath(path)]
    return _refuse(
        f"Could not find '{path}'. Ensure your locustfile ends with '.py' or is a directory with "
        "locustfiles. See --help for available options."
    )


def _refuse(sentence):
    sys.stderr.write(sentence + "\n")
    sys.exit(1)


def download_locustfile_from_url(url):
    """Fetch a locustfile; it is removed when the process ends."""
    import requests

    try:
        text = requests.get(url, timeout=60).text
    except requests.exceptions.RequestException as e:
        _refuse(f"Failed to get locustfile from: {url}. Exception: {e}")
    try:
        ast.parse(text)
    except SyntaxError:
        _refuse(
            f"Failed to get locustfile from: {url}. Response was not valid python code: "
            f"'{text[:100]}'"
        )
    folder = tempfile.mkdtemp(prefix="locustfile-")
    path = os.path.join(folder, os.path.basename(urlparse(url).path) or "locustfile.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    atexit.register(exit_handler, path)
    return path


def exit_handler(filename):
    """Remove a fetched file."""
    try:
        os.remove(filename)
        os.rmdir(os.path.dirname(filename))
    except OSError:
        pass


def default_args_dict():
    """All options of Locust itself with their defaults."""
    parser = get_empty_argument_parser()
    setup_parser_arguments(parser)
    # A configuration file may have options that only a locustfile knows.
    parser._default_config_files = {}
    return vars(parser.parse([]))


class UIExtraArgOptions(NamedTuple):
    """How the page shows an argument that a locustfile added."""

    default_value: str
    is_secret: bool
    is_required: bool
    help_text: str
    is_multiple: bool
    choices: list = None


def ui_extra_args_dict(args=None):
    """The arguments that a locustfile added and that the page shows.

    Words that no option takes are left alone: a program may have options of its own.
    """
    own = default_args_dict()
    parser = get_parser()
    shown = parser.args_included_in_web_ui
    return {
        name: UIExtraArgOptions(
            default_value=value,
            is_secret=shown[name].is_secret,
            is_required=shown[name].is_required,
            help_text=shown[name].help,
            is_multiple=shown[name].is_multiple,
            choices=shown[name].choices,
        )._asdict()
        for name, value in vars(parser.parse_known_args(args)[0]).items()
        if name not in own and name in shown
    }
