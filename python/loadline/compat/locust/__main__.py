"""`python -m locust`."""

from .main import main

main()
