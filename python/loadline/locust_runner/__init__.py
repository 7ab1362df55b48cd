"""Loadline's runner of locustfiles, apart from the names that Locust exports."""

# It makes Python's blocking modules cooperative before others are imported.
import locust  # noqa: F401
