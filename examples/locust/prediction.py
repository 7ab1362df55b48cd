"""The user of all four experiments, and the shapes that they drive it by."""

import os

from locust import FastHttpUser, LoadTestShape, constant, task

FEATURES = {"features": [0.1, 0.2, 0.3, 0.4]}


def setting(name, usual):
    """A size that the environment may change."""
    return type(usual)(os.environ.get(name, usual))


class PredictionUser(FastHttpUser):
    """Asks for one prediction after the other, half a second apart."""

    wait_time = constant(0.5)

    @task
    def predict(self):
        """The answer must be a prediction, not just a status."""
        with self.client.post("/predict", json=FEATURES, catch_response=True) as response:
            if response.status_code == 200 and "prediction" not in response.json():
                response.failure("no prediction in the answer")


class Held(LoadTestShape):
    """A number of users for a while, started at a rate."""

    abstract = True
    users, seconds, rate = 1, 60.0, 100.0

    def tick(self):
        """The same load until the time is over."""
        return (self.users, self.rate) if self.get_run_time() < self.seconds else None
