"""The command: reads options and locustfiles, and hands over to the run."""

import inspect
import logging
import sys
import traceback

import locust

from . import stats
from .argument_parser import (
    check_options,
    get_locustfiles_locally,
    get_parser,
    parse_locustfile_option,
)
from .env import Environment
from .log import setup_logging, show_prints
from .util.load_locustfile import load_locustfile, load_locustfile_pytest

try:  # registers further arguments and listeners where it is installed
    import locust_plugins  # noqa: F401
except ModuleNotFoundError as e:
    if e.name != "locust_plugins":
        raise

version = locust.__version__
logger = logging.getLogger(__name__)


def create_environment(
    user_classes,
    options,
    events=None,
    shape_class=None,
    locustfile=None,
    parsed_locustfiles=None,
    available_user_classes=None,
    available_shape_classes=None,
    available_user_tasks=None,
):
    """An environment as the options say."""
    return Environment(
        locustfile=locustfile,
        user_classes=user_classes,
        shape_class=shape_class,
        events=events,
        host=options.host,
        reset_stats=options.reset_stats,
        parsed_options=options,
        parsed_locustfiles=parsed_locustfiles,
        available_user_classes=available_user_classes,
        available_shape_classes=available_shape_classes,
        available_user_tasks=available_user_tasks,
        profile=options.profile,
    )


class CannotLoad(Exception):
    """A locustfile can't be used; the text says why, and what to do."""


class Loaded:
    """What the locustfiles have. Raises CannotLoad where they can't be used."""

    def __init__(self, paths):
        self.paths = paths
        self.user_classes = {}
        self.shapes = {}
        for path in paths:
            users, shapes = _load(load_locustfile, path)
            self._add(self.user_classes, users, "Duplicate user class names: {name} is defined in "
                      "both {before} and {now}")
            self._add(self.shapes, {type(one).__name__: one for one in shapes},
                      "Duplicate shape classes: {name}")
        if not self.user_classes:
            for path in paths:
                self.user_classes.update(_load(load_locustfile_pytest, path))

    def _add(self, known, found, sentence):
        for name, item in found.items():
            if name not in known:
                known[name] = item
            elif _file_of(known[name]) != _file_of(item):
                raise CannotLoad(
                    sentence.format(name=name, before=_file_of(known[name]), now=_file_of(item))
                )

    @property
    def shape(self):
        """The first shape, if there is any."""
        return next(iter(self.shapes.values()), None)

    @property
    def tasks(self):
        """`{class name: its tasks}` before anything changed them."""
        return {name: kind.tasks for name, kind in self.user_classes.items()}


def _file_of(item):
    kind = item if inspect.isclass(item) else type(item)
    return inspect.getfile(kind)


def _load(how, path):
    try:
        return how(path)
    except (SystemExit, KeyboardInterrupt):
        raise
    except BaseException as e:
        if "DEBUG" in " ".join(sys.argv).upper():
            traceback.print_exc()
        raise CannotLoad(
            f"Could not load the locustfile '{path}': {type(e).__name__}: {e}{_place(e, path)}. "
            "Correct it, or run with --loglevel DEBUG to see where it failed."
        ) from e


def _place(error, path):
    if isinstance(error, SyntaxError):
        return ""
    frames = [one for one in traceback.extract_tb(error.__traceback__) if one.filename == path]
    return f" at line {frames[-1].lineno}" if frames else ""


def main():
    """Run the command. Ends the process with Locust's exit code."""
    from loadline.locust_runner import agents as machines, steering, worker

    show_prints()
    control = steering.take_control()
    first = parse_locustfile_option()
    if first.worker and not first.master:
        worker.main(first)
    agents = machines.agents_of(first)
    loaded = load(get_locustfiles_locally(first))
    parser = get_parser()
    options = parser.parse_args()
    check_options(parser, options)
    stats.validate_stats_configuration()
    if options.headful:
        options.headless = False
    set_up_logging(options)
    logger.info(f"Starting Locust {version}")
    _refuse_contradictions(options)
    if options.list_commands:
        _list(loaded)
    if agents is not None:
        agents.check(options)
    _run(options, loaded, agents, control)


def load(paths):
    """What the locustfiles have; ends the process with a sentence where they can't be used."""
    try:
        return Loaded(paths)
    except CannotLoad as e:
        sys.stderr.write(f"{e}\n")
        sys.exit(1)


def set_up_logging(options):
    """Send the log where options say; ends the process if that can't be written."""
    if options.skip_log_setup:
        return
    try:
        setup_logging(options.loglevel, options.logfile)
    except OSError as e:
        sys.exit(f"The log can't be written: {e}. Name another file after --logfile.")


def _list(loaded):
    print("Available Users:")
    for name in loaded.user_classes:
        print("    " + name)
    sys.exit(0)


def _refuse_contradictions(options):
    """One sentence for options that contradict each other."""
    from loadline.locust_runner.processes import check_count

    check_count(options)
    if options.master and options.worker:
        refuse("The --master argument cannot be combined with --worker", -1)


def refuse(sentence, exit_code=1):
    logger.error(sentence)
    sys.exit(exit_code)


def _run(options, loaded, agents, control):
    from loadline.locust_runner.command import Command

    if not loaded.user_classes:
        refuse("No User class found!")
    Command(options, loaded, chosen(options, loaded), agents, control).run()


def chosen(options, loaded):
    """The user classes that were asked for."""
    if not options.user_classes:
        return list(loaded.user_classes.values())
    missing = [name for name in options.user_classes if name not in loaded.user_classes]
    if missing:
        refuse(f"Unknown User(s): {', '.join(missing)}\n")
    return [kind for name, kind in loaded.user_classes.items() if name in options.user_classes]
