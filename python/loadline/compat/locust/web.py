"""The web page. It is not there yet: making one says so."""

# Whether a run without a host is refused by the page.
HOST_IS_REQUIRED = False

NOT_YET = (
    "The web page is not there yet: start the test with --headless, or with "
    "environment.runner.start()."
)


class WebUI:
    """The page of an environment."""

    def __init__(self, environment, host, port, **_options):
        raise NotImplementedError(NOT_YET)
