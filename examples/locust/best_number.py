"""The best number of users, held: is the service stable? USERS is what the breaking point said."""

from prediction import Held, PredictionUser, setting  # noqa: F401


class BestNumber(Held):
    """Users just below the breaking point, started one each second unless RATE says otherwise."""

    users, seconds, rate = setting("USERS", 45), setting("SECONDS", 300.0), setting("RATE", 1.0)
