"""A model of fixed cost: what both services call for a prediction."""

import time

COST_SECONDS = 0.010


def predict(features):
    """Spend the cost as CPU time, as a model would, and answer with the sum of the features."""
    until = time.thread_time() + COST_SECONDS
    while time.thread_time() < until:
        pass
    return {"prediction": sum(features)}
