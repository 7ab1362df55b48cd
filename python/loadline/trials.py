"""`python -m loadline.trials`: the users of a locustfile, for `loadline capacity --users -f`."""

from loadline.__main__ import run

if __name__ == "__main__":
    run("loadline.locust_runner.trials")
