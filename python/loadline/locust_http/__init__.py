"""The two HTTP clients of locustfiles, without the names under which Locust exports them: private,
imported by `locust.clients` and `locust.contrib.fasthttp` only."""
