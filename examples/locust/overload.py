"""500 users: what is left of the service when many more come than it can serve."""

from prediction import Held, PredictionUser, setting  # noqa: F401


class Overload(Held):
    """All users within five seconds."""

    users, seconds, rate = setting("USERS", 500), setting("SECONDS", 120.0), 100.0
