"""One run of the command: from the environment to the exit code."""

import contextlib
import itertools
import json
import logging
import os
import signal
import sys
import time

import gevent

import locust

from locust import log, stats
from locust.html import process_html_filename
from locust.input_events import listen_to_keys
from locust.log import greenlet_exception_logger
from locust.main import create_environment
from locust.stats.json_report import json_name
from locust.user.inspectuser import print_task_ratio, print_task_ratio_json

from loadline.locust_web.errors import CannotServe, MissingPackage
from loadline.locust_web.loopback import is_loopback

from .ending import end_busy_users
from .outputs import Outputs
from .steering import Steering
from .telemetry import Telemetry, is_requested
from .writable import ensure_output, ensure_writable, log_unwritable, make_folder_of

logger = logging.getLogger("locust.main")
log_death = greenlet_exception_logger(logger)

_ENOUGH_OPEN_FILES = 10000
# Options that a shape ignores unless it says that it reads them.
_OF_PLAIN_LOADS = {"num_users": "users", "spawn_rate": "spawn-rate", "run_time": "run-time"}


_HOW_TO_OPEN = (
    "Only this machine reaches it. --web-host 0.0.0.0 opens it to others, who then need the token "
    "of its address, or a login (--web-login)."
)
_WHAT_THE_PAGES_DO = (
    "This page starts tests, changes and ends them; Loadline's live page shows the first one, from "
    "its start on. With --headless a test begins at once, and there is the live page alone."
)
# The exit code of a test of which a process was lost, as of a run of Loadline's own.
_LOST = 2


class _Terminated(BaseException):
    """A signal asked the process to end."""


class _Interrupted(_Terminated):
    """It was Ctrl-C."""


class Command:
    """Options, locustfiles and what comes of them."""

    def __init__(self, options, loaded, user_classes, agents=None, control=None):
        # The agents that have the users, if this process and its children don't.
        self.agents = agents
        # The socket on which the number of users is changed, if another program does that.
        self.control = control
        self.options = options
        self.loaded = loaded
        self.user_classes = user_classes
        self.environment = None
        self.runner = None
        self.page = None
        self.csv = None
        self.outputs = None
        self.telemetry = None
        self.printer = None
        # The files that were asked for and could not be written.
        self.unwritten = set()

    def run(self):
        """Run the test, report, and end the process."""
        raise_open_files()
        self.make_environment()
        self._show_ratios()
        self._name_outputs()
        if is_requested(self.options):
            self.telemetry = Telemetry(self.environment)
        self._make_runner()
        self._make_csv()
        self._make_page()
        self._init_listeners()
        if self.agents is not None:
            self.agents.await_ready(self.runner)
        self._serve_page()
        self._begin_outputs()
        main = gevent.getcurrent()
        on_signal(signal.SIGTERM, lambda: self._got_signal("SIGTERM", main))
        on_signal(signal.SIGINT, lambda: self._interrupt(main, _Interrupted()))
        # Whoever began the command with nohup wants it to go on.
        if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
            on_signal(signal.SIGHUP, lambda: self._got_signal("SIGHUP", main))
        try:
            self._start()
            self._wait()
        except (_Terminated, KeyboardInterrupt):
            pass
        self._shut_down()

    def _got_signal(self, name, main):
        logger.info(f"Got {name} signal")
        self._interrupt(main, _Terminated())

    def _interrupt(self, main, why):
        self.outputs.interrupt()
        gevent.kill(main, why)
        end_busy_users(self.runner, self.environment.stop_timeout)

    def make_environment(self):
        """Make the environment of the test; returns it."""
        options, loaded = self.options, self.loaded
        self._warn_of_fixed_counts()
        self.environment = create_environment(
            self.user_classes,
            options,
            events=locust.events,
            shape_class=loaded.shape,
            locustfile=os.path.basename(loaded.paths[0]),
            parsed_locustfiles=loaded.paths,
            available_user_classes=loaded.user_classes,
            available_shape_classes=loaded.shapes,
            available_user_tasks=loaded.tasks,
        )
        self._configure_users()
        self._warn_of_ignored_options()
        return self.environment

    def _warn_of_fixed_counts(self):
        fixed = sum(kind.fixed_count for kind in self.user_classes)
        wanted = self.options.num_users
        if not self.loaded.shape and wanted and fixed > wanted:
            logger.info(
                f"Total fixed_count of User classes ({fixed}) is greater than the specified number "
                f"of users ({wanted}), so not all will be spawned."
            )

    def _configure_users(self):
        for settings in itertools.chain(*(self.options.config_users or [])):
            try:
                self.environment.update_user_class(settings)
            except KeyError as e:
                logger.error(
                    "Error applying user config, probably you tried to specify config for a User "
                    f"not present in your locustfile: {e}"
                )
                sys.exit(-1)
            except (TypeError, ValueError) as e:
                logger.error(f"Error applying user config {json.dumps(settings)}: {e}")
                sys.exit(-1)

    def _warn_of_ignored_options(self):
        shape = self.loaded.shape
        given = [f"--{name}" for option, name in _OF_PLAIN_LOADS.items()
                 if getattr(self.options, option)]
        if shape and given and not shape.use_common_options:
            logger.warning(
                "--run-time, --users or --spawn-rate have no impact on LoadShapes unless the shape "
                "class explicitly reads them. See: docs.locust.io/en/stable/"
                "custom-load-shape.html#use-common-options"
            )
            logger.warning(f"The following option(s) will be ignored: {', '.join(given)}")

    def _show_ratios(self):
        wanted = self.options.num_users
        if self.options.show_task_ratio:
            for title, total in (("Task ratio per User class", False), ("Total task ratio", True)):
                print(f"\n {title}")
                print("-" * 80)
                print_task_ratio(self.user_classes, wanted, total)
            sys.exit(0)
        if self.options.show_task_ratio_json:
            print_task_ratio_json(self.user_classes, wanted)
            sys.exit(0)

    def _name_outputs(self):
        options = self.options
        self.outputs = Outputs(options)
        for path in self.outputs.files:
            ensure_output(path)
        if options.csv_prefix:
            make_folder_of(options.csv_prefix)
            ensure_writable(options.csv_prefix + "_stats.csv")
        if options.json_file:
            ensure_writable(json_name(options.json_file))
        # The name of a page may have marks that are replaced at the end.
        if options.html_file and "{" not in os.path.dirname(options.html_file):
            ensure_writable(options.html_file)

    def _make_runner(self):
        if self.agents is not None:
            self.outputs.of_parts = True
            self.runner = self.agents.create_runner(
                self.environment, self.options, self.outputs, self.loaded.paths
            )
        elif self.options.processes:
            from .processes import create_runner

            # The children do not come back from here.
            self.runner = create_runner(self.environment, self.options, self.outputs)
        else:
            self.runner = self.environment.create_local_runner()

    def _make_csv(self):
        options = self.options
        if options.csv_prefix:
            self.runner.stats.remembers_all = options.stats_history_enabled
            self.csv = stats.StatsCSVFileWriter(
                self.environment,
                stats.PERCENTILES_TO_REPORT,
                options.csv_prefix,
                options.stats_history_enabled,
            )

    def _make_page(self):
        options = self.options
        if options.headless:
            return
        check_page_options(options)
        try:
            self.page = self.environment.create_web_ui(
                host=options.web_host,
                port=options.web_port,
                web_base_path=options.web_base_path,
                web_login=options.web_login,
                tls_cert=options.tls_cert,
                tls_key=options.tls_key,
                stats_csv_writer=self.csv,
                delayed_start=True,
                userclass_picker_is_active=options.class_picker,
                build_path=options.build_path,
                display_name=options.web_host_display_name,
            )
        except MissingPackage as e:
            refuse(str(e))

    def _serve_page(self):
        """Serve the page, now that the locustfile has extended it."""
        if self.page is None:
            return
        try:
            self.page.start()
        except CannotServe as e:
            refuse(str(e))
        logger.info(
            f"Starting web interface at {self.page.url}, press enter to open your default browser."
        )
        if is_loopback(self.page.host):
            logger.info(_HOW_TO_OPEN)
        if self.control is not None:
            logger.info(_WHAT_THE_PAGES_DO)

    def _init_listeners(self):
        events = self.environment.events
        if self.options.equal_weights:
            self.environment.assign_equal_weights()
        self._begin_telemetry()
        events.init.fire(environment=self.environment, runner=self.runner, web_ui=self.page)
        if log.unhandled_greenlet_exception:
            sys.exit(1)

    def _begin_telemetry(self):
        if self.telemetry is None:
            return
        try:
            self.telemetry.begin(self.options)
        except (OSError, ValueError) as e:
            logger.error(f"--otel cannot send: {e}")
            sys.exit(1)

    def _begin_outputs(self):
        options = self.options
        self.outputs.record(self.environment)
        if not options.only_summary and (options.headless or options.print_stats):
            self.printer = gevent.spawn(stats.stats_printer(self.runner.stats))
            self.printer.link_exception(log_death)
        gevent.spawn(stats.stats_history, self.runner).link_exception(log_death)
        listen_to_keys(self.runner, self.page and self.page.url)
        if self.control is not None:
            Steering(self.control, self.environment, self.outputs, options)

    def _start(self):
        options = self.options
        if self.csv:
            gevent.spawn(self._write_csv).link_exception(log_death)
        if self.page is not None and not options.autostart:
            return
        if options.autostart and options.headless:
            logger.info("The --autostart argument is implied by --headless, no need to set both.")
        options.num_users = 1 if options.num_users is None else options.num_users
        options.spawn_rate = options.spawn_rate or 1
        if self.environment.shape_class:
            self._follow_shape()
            return
        if options.run_time:
            logger.info(f"Run time limit set to {options.run_time} seconds")
            gevent.spawn(self._end_after, options.run_time).link_exception(log_death)
        else:
            logger.info("No run time limit set, use CTRL+C to interrupt")
        gevent.spawn(self.runner.start, options.num_users, options.spawn_rate).link_exception(
            log_death
        )

    def _follow_shape(self):
        """Have the load that the shape says, until it ends; a run time is the shape's to heed."""
        self.runner.start_shape()
        shape = self.runner.shape_greenlet
        try:
            shape.join()
        except _Interrupted:
            logging.info("Exiting due to CTRL+C interruption")
            if self.page is None:
                self._end("Shape test completed")
            raise
        if self.page or not shape.successful() or self.runner.state != "stopped":
            self._end("Shape test completed")

    def _end_after(self, seconds):
        """End the test that many seconds from now, however busy the loop is."""
        due = time.perf_counter() + seconds
        while time.perf_counter() < due:
            gevent.sleep(due - time.perf_counter())
        self._end("--run-time limit reached")

    def _end(self, reason):
        if self.page is None:
            logger.info(f"{reason}, shutting down")
            self.runner.quit()
            return
        logger.info(f"{reason}, stopping test")
        self.runner.stop()
        if self.options.autoquit == -1:
            logger.info("--autoquit not specified, leaving web ui running indefinitely")
            return
        logger.debug(f"Autoquit time limit set to {self.options.autoquit} seconds")
        gevent.sleep(self.options.autoquit)
        logger.info("--autoquit time reached, shutting down")
        self.runner.quit()
        self.page.stop()

    def _wait(self):
        """Wait until the test is over, or the page: a test of the page may be followed by another.

        A page whose processes have ended can't start any.
        """
        if self.page is None:
            self.runner.greenlet.join()
        elif self.outputs.of_parts and not self.runner.is_open:
            self.runner.join_processes()
        else:
            self.page.greenlet.join()

    def _shut_down(self):
        environment, options = self.environment, self.options
        logger.debug("Running teardowns...")
        environment.events.quitting.fire(environment=environment, reverse=True)
        self.runner.quit()
        self.runner.join_processes()
        if self.printer is not None:
            self.printer.kill()
        if self.telemetry is not None:
            self.telemetry.end()
        if self.page is not None:
            self.page.stop()
        own = self._exit_code()
        judged = self._finish_outputs(own)
        self._write_files()
        code = own or judged or int(bool(self.unwritten))
        logger.info(f"Shutting down (exit code {code})")
        if options.json:
            stats.print_stats_json(self.runner.stats)
        stats.print_stats(self.runner.stats, current=False)
        stats.print_percentile_stats(self.runner.stats)
        stats.print_error_report(self.runner.stats)
        for sentence in getattr(self.runner, "lost", []):
            logger.error(sentence)
        environment.events.quit.fire(exit_code=code)
        if self.agents is not None:
            self.agents.end()
        sys.exit(code)

    def _write_files(self):
        options, runner = self.options, self.runner
        if runner.refused:
            return
        if self.csv:
            with self._writing(options.csv_prefix):
                self.csv.close_files()
        if options.json_file:
            with self._writing(options.json_file):
                stats.save_stats_json(runner.stats, options.json_file)

    def _write_csv(self):
        with self._writing(self.options.csv_prefix):
            self.csv.stats_writer()

    @contextlib.contextmanager
    def _writing(self, path):
        """Say in a sentence, once, that what the block writes can't be written."""
        try:
            yield
        except OSError as e:
            if path not in self.unwritten:
                log_unwritable(path, e)
            self.unwritten.add(path)

    def _finish_outputs(self, code):
        """Write what is made of the record of the test; returns the exit code of its checks.

        The record has the exit code of Locust's own rules.
        """
        if self.runner.refused:
            return 0
        stats.update_stats_history(self.runner)
        if self.options.html_file:
            process_html_filename(self.options)
        with self._writing(self.options.html_file):
            if self.options.html_file:
                os.makedirs(os.path.dirname(self.options.html_file) or ".", exist_ok=True)
            return self.outputs.finish(self.environment, code)
        return 1

    def _exit_code(self):
        own = self.environment.process_exit_code
        if getattr(self.runner, "lost", None):
            # Figures without what a process did are no success, whatever a locustfile says.
            return own or _LOST
        if own is not None:
            return own
        if self.runner.errors or self.runner.exceptions:
            return self.options.exit_code_on_error
        return 2 if log.unhandled_greenlet_exception else getattr(self.runner, "exit_code", 0)


def check_page_options(options):
    """End the process where options of the page have no meaning."""
    base = options.web_base_path
    if base and not base.startswith("/"):
        refuse(
            f"Invalid format for --web-base-path argument ({base}): the url path must start with a "
            "slash."
        )
    if bool(options.tls_cert) != bool(options.tls_key):
        refuse("TLS needs both a certificate and its key: give --tls-cert and --tls-key.")


def refuse(sentence):
    """End the process because of what a sentence says."""
    logger.error(sentence)
    sys.exit(1)


def on_signal(number, handler):
    """Call `handler` at the first such signal; the second one ends the process at once.

    The interpreter's own handler, not the loop's: a task that never lets the loop run does not keep
    the second signal from working.
    """

    def first(_number, _frame):
        signal.signal(number, signal.SIG_DFL)
        handler()

    signal.signal(number, first)


def raise_open_files():
    """Allow this process as many connections as the system lets it have."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft >= _ENOUGH_OPEN_FILES:
        return
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(_ENOUGH_OPEN_FILES, hard), hard))
    except (OSError, ValueError):
        logger.warning(
            f"System open file limit '{soft}' is below minimum setting '{_ENOUGH_OPEN_FILES}'. "
            "Raise it with 'ulimit -n' to have as many users."
        )


