"""`self.rest(…)`: a request whose response must be JSON; assertions about it are failures."""

import contextlib
import json
import re
import time
import traceback

_SHOWN = 200
_UNPARSED = 250
_FRAME = re.compile(r'  File "(/.[^"]*)", line (\d*),(.*)')
_HOME = re.compile(r"/((home|Users)/\w*)/")


class RestMixin:
    """Gives a user with a `client` the methods `rest` and `rest_`."""

    @contextlib.contextmanager
    def rest(self, method, url, headers=None, **kwargs):
        """Send a request; the block gets the response, with the parsed JSON as `.js`."""
        headers = dict(headers) if headers else {}
        for name in ("Content-Type", "Accept"):
            if name not in headers and name.lower() not in headers:
                headers[name] = "application/json"
        kwargs.pop("catch_response", None)
        with self.client.request(
            method, url, catch_response=True, headers=headers, **kwargs
        ) as response:
            response.js = None
            _parse(response)
            try:
                yield response
            except AssertionError as e:
                response.failure(_of_assertion(e, response))
            except Exception as e:
                response.failure(_of_exception(e, response))

    @contextlib.contextmanager
    def rest_(self, method, url, name=None, **kwargs):
        """As `rest`, with a parameter that no cache has seen; named without its value."""
        separator = "&" if "?" in url else "?"
        fresh = f"{url}{separator}_={int(time.time() * 1000)}"
        name = name or f"{url}{separator}_=..."
        with self.rest(method, fresh, name=name, **kwargs) as response:
            yield response


def _parse(response):
    if response.content is None:
        response.failure(str(response.error))
    elif response.text:
        try:
            response.js = json.loads(response.text)
        except ValueError as e:
            response.failure(
                f"Could not parse response as JSON. {response.text[:_UNPARSED]}, "
                f"response code {response.status_code}, error {e}"
            )


def _of_assertion(error, response):
    if not error.args:
        return "Assertion failed"
    message = str(error.args[0])
    if message.endswith(","):
        return f"{message[:-1]}, response was {_shown(response)}"
    return message


def _of_exception(error, response):
    """Where the block failed and what led to that, and at which response."""
    frames = map(_FRAME.match, traceback.format_exc().split("\n"))
    frames = [frame.groups() for frame in frames if frame]
    places = ", ".join(
        f"{_HOME.sub('~/', file)}:{line}{place}"
        for file, line, place in frames
        if file not in (__file__, contextlib.__file__)
    )
    return f"{type(error).__name__}: {error} at {places}. Response was {_shown(response)}"


def _shown(response):
    return str(response.text)[:_SHOWN]
