"""What prevents a page, apart from what serves it: most tests have no page, nor load it."""


class CannotServe(Exception):
    """The page can't be served; the text says what to do."""


class MissingPackage(ImportError):
    """What a locustfile asks for needs a package that is not installed."""
