"""Small modules that locustfiles import by Locust's names."""
