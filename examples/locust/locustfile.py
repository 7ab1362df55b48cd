"""Visitors of a shop: some buy, others only look around.

    loadline serve &
    loadline locust -f examples/locust/locustfile.py --headless -u 50 -r 10 -t 30s \
        -H http://127.0.0.1:8080

The test server answers what its query asks for, so that the file needs no shop.
"""

import json
from urllib.parse import quote

from locust import FastHttpUser, HttpUser, between, task


def page(path, answer):
    """A URL of the test server that answers with this JSON."""
    return f"{path}?json={quote(json.dumps(answer))}"


class Buyer(HttpUser):
    """Logs in once, then fills baskets and orders them."""

    weight = 1
    wait_time = between(0.2, 0.5)

    def on_start(self):
        self.client.post(page("/login", {"user": "ada"}), {"user": "ada"}, name="/login")

    @task
    def order(self):
        basket = page("/basket", {"items": 2, "total": {"value": 42, "currency": "EUR"}})
        with self.client.get(basket, name="/basket", catch_response=True) as response:
            if response.json()["total"]["value"] != 42:
                response.failure("the total is wrong")
        self.client.post(page("/order", {"id": 7}), json={"items": 2}, name="/order")


class Visitor(FastHttpUser):
    """Looks at one product after the other."""

    weight = 3
    wait_time = between(0.05, 0.1)

    @task
    def look(self):
        self.client.get("/products?size=2000", name="/products")
