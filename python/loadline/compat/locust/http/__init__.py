"""The parts of the two HTTP clients: private, imported by `locust.clients` and
`locust.contrib.fasthttp` only."""
