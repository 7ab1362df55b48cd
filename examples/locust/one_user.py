"""One user for a minute: the time of a prediction when nobody else asks."""

from prediction import Held, PredictionUser, setting  # noqa: F401


class OneUser(Held):
    """One user."""

    users, seconds = 1, setting("SECONDS", 60.0)
