"""The web page of a test, with the endpoints of Locust's web interface.

It is served by the loop that runs the users, as the test is steered there, and by gevent's own
server. So that viewers don't hold up users, figures are made once for all of them, a slice at a
time, and what a client can hold is bounded.

- who may send requests: `access`; connections, bodies and times: `server`
- an endpoint: `routes`; what `/swarm` does: `swarm`; the figures: `figures`
- notes on tests: `notes`
- what prevents a page: `errors`; who reaches an address: `loopback`
- what the page knows when it is opened: `template`; the page itself: the folder `page`
- Flask, where a locustfile asks for it: `flask_app`
"""
