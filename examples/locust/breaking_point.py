"""From one user to 300, one more each second: where times or failures explode."""

from locust import LoadTestShape
from prediction import PredictionUser, setting  # noqa: F401


class OneMoreEachSecond(LoadTestShape):
    """As many users as seconds have passed."""

    users, step = setting("USERS", 300), setting("STEP_SECONDS", 1.0)

    def tick(self):
        """One user more with each step; the end after the last one."""
        users = int(self.get_run_time() / self.step) + 1
        return (users, max(1.0, 1 / self.step)) if users <= self.users else None
