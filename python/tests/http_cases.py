"""One script for both: what the two clients do in each case, as JSON.

`python http_cases.py http|fast PORT` runs the cases with whatever `locust` is first on the path,
ours or the real one, against the service of http_service.py on that port, and prints a dict
{case: what was seen}. The tests compare.
"""

import io
import json
import socket
import sys
from contextlib import contextmanager

import gevent
import locust
from locust import FastHttpUser, HttpUser
from locust.contrib.fasthttp import ErrorResponse, FastHttpSession, FastResponse
from locust.env import Environment
from locust.exception import ResponseError

CASES = {"http": {}, "fast": {}}


def case(*kinds):
    """Add a function to the cases of these clients, under its own name."""

    def add(function):
        for kind in kinds:
            CASES[kind][function.__name__] = function
        return function

    return add


class World:
    """A user of one kind, its client, and where the service is."""

    def __init__(self, kind, port):
        self.base = f"http://127.0.0.1:{port}"
        self.port = port
        self.environment = Environment()
        self.kind = kind
        self.events = []
        self.environment.events.request.add_listener(self.heard)
        self.user = self.new_user()
        self.client = self.user.client

    def new_user(self, **attributes):
        parent = HttpUser if self.kind == "http" else FastHttpUser
        attributes.setdefault("host", self.base)
        return type("Someone", (parent,), attributes)(self.environment)

    def heard(self, request_type, name, response_length, exception, context, url, **_):
        shown = None if exception is None else repr(exception)
        if "0x" in (shown or ""):
            shown = shown.partition(" at 0x")[0]
        context = dict(context)
        self.events.append([request_type, name, response_length, shown, context, url])

    def run(self, function):
        self.events.clear()
        try:
            seen = function(self)
        except Exception as error:
            seen = f"raised {type(error).__name__}: {error}"
        text = json.dumps({"seen": seen, "events": self.events}, default=repr)
        text = text.replace(str(self.port), "PORT").replace(
            sys.modules["requests"].__version__, "VERSION"
        )
        return json.loads(text)


def looked_at(response):
    """What both clients' responses tell."""
    body = response.content
    return {
        "status": response.status_code,
        "content": None if body is None else body.decode("latin-1"),
        "error": kind_of(getattr(response, "error", None)),
        "history": [r.status_code for r in getattr(response, "history", ())],
        "url": response.url,
    }


def kind_of(error):
    """The name of an exception's class."""
    return None if error is None else type(error).__name__


def echoed(response):
    """What the service saw of a request."""
    facts = json.loads(response.text)
    facts["headers"] = sorted(map(tuple, facts["headers"]))
    for name, value in list(facts["headers"]):
        if name == "content-type" and "boundary=" in value:
            boundary = value.partition("boundary=")[2]
            facts = json.loads(json.dumps(facts).replace(boundary, "BOUNDARY"))
    return facts


BOTH = ("http", "fast")


# ---- names, statuses and failures


def _asked(title, path, method="GET", kinds=BOTH, **options):
    def ask(w):
        return looked_at(w.client.request(method, path, **options))

    ask.__name__ = title
    case(*kinds)(ask)


_asked("plain", "/echo?b=1&c=2")
_asked("space_in_query", "/echo?c=d e", kinds=("http",))
_asked("named", "/echo", name="N")
for _status in (201, 204, 208, 226, 304, 400, 404, 418, 500, 503):
    _asked("status_%d" % _status, "/status/%d" % _status)
for _status in (209, 299):
    _asked("status_%d" % _status, "/status/%d" % _status)
_asked("status_404_named", "/status/404", name="a name")
_asked("method_as_given", "/echo", method="get")
_asked("own_method", "/echo", method="PURGE")
_asked("redirects", "/redirect/3")
_asked("redirects_not_followed", "/redirect/3", allow_redirects=False)
_asked("redirects_without_end", "/loop")
_asked("refused", "http://127.0.0.1:1/x")
_asked("unknown_host", "http://nowhere.invalid/x")
_asked("closed", "/close")
_asked("reset", "/reset")
_asked("no_http", "/garbage")
_asked("short_body", "/short")
_asked("bad_gzip", "/bad-gzip", kinds=("http",))
_asked("gzip", "/gzip")
_asked("deflate", "/deflate/zlib", kinds=("http",))
_asked("raw_deflate", "/deflate/raw", kinds=("http",))
_asked("until_close", "/until-close")
_asked("chunked", "/lines/3")
_asked("head", "/gzip", method="HEAD")
_asked("timeout", "/delay/2", timeout=0.2, kinds=("http",))
_asked("timeout_pair", "/delay/2", timeout=(1, 0.2), kinds=("http",))
_asked("unknown_keyword", "/echo", kinds=("http",), foo=1)
_asked("bad_port", "http://127.0.0.1:99999/x", kinds=("http",))
_asked("no_host", "http:///x", kinds=("http",))
_asked("bad_header", "/echo", kinds=("http",), headers={"X": 5})
_asked("context", "/echo", context={"a": 1})


@case(*BOTH)
def absolute_url(w):
    return looked_at(w.client.get(w.base + "/status/500"))


@case("http")
def no_slash(w):
    return looked_at(w.client.get("echo"))


@case("http")
def empty_path(w):
    return looked_at(w.client.get(""))


@case("http")
def query_only(w):
    return looked_at(w.client.get("?a=1"))


@case("http")
def fragment(w):
    return looked_at(w.client.get("/echo#part"))


@case("http")
def unicode_url(w):
    return looked_at(w.client.get("/ü ä?x=ü&y=%zz"))


@case(*BOTH)
def head_and_redirects(w):
    return looked_at(w.client.head("/redirect/1"))


@case("fast")
def timeout_of_user(w):
    return looked_at(w.new_user(network_timeout=0.2).client.get("/delay/2"))


@case(*BOTH)
def connect_timeout(w):
    with full_socket() as port:
        url = "http://127.0.0.1:%d/" % port
        if w.kind == "fast":
            client = w.new_user(network_timeout=0.2, connection_timeout=0.2).client
            seen = looked_at(client.get(url, name="full"))
        else:
            seen = looked_at(w.client.get(url, name="full", timeout=0.2))
        w.port = port  # what is taken out of the texts
        return seen


@contextmanager
def full_socket():
    """A port whose queue is full: nobody gets a connection, nobody is refused."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        port = listener.getsockname()[1]
        waiting = [socket.socket() for _ in range(3)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", port))
        yield port
        for one in waiting:
            one.close()


@case(*BOTH)
def rename(w):
    w.client.request_name = "first"
    w.client.get("/echo")
    with w.client.rename_request("second"):
        w.client.get("/echo")
        w.client.get("/echo", name="third")
    w.client.get("/echo")
    return w.client.request_name


@case(*BOTH)
def user_context(w):
    user = w.new_user(context=lambda self: {"a": 1, "b": 1})
    user.client.get("/echo", context={"b": 2})


# ---- what is sent


@case(*BOTH)
def default_headers(w):
    return echoed(w.client.get("/echo"))


@case(*BOTH)
def own_headers(w):
    return echoed(w.client.get("/echo", headers={"user-agent": "me", "X-A": "1"}))


@case("http")
def header_left_out(w):
    return echoed(w.client.get("/echo", headers={"Accept": None}))


def _posted(name, *, kinds=BOTH, **options):
    def post(w):
        made = {k: v() if callable(v) else v for k, v in options.items()}
        return echoed(w.client.post("/echo", **made))

    post.__name__ = "post_" + name
    case(*kinds)(post)


_posted("nothing")
_posted("text", data="text ü")
_posted("bytes", data=b"bytes")
_posted("empty", data="")
_posted("form", data={"a": 1, "c d": "ü"})
_posted("form_of_lists", data={"b": [1, 2]})
_posted("pairs", data=[("a", 1), ("a", 2)], kinds=("http",))
_posted("json", json={"a": 1, "ü": [1, None, True]})
_posted("json_list", json=[])
_posted("json_and_data", json={"a": 1}, data={"b": 1})
_posted("json_with_types", json={"a": 1}, headers={"Content-Type": "x/y", "accept": "q"})
_posted("file", data=lambda: io.BytesIO(b"file"), kinds=("http",))
_posted("pieces", data=lambda: iter([b"a", b"b"]))
_posted("files", files={"f": ("n.txt", b"xx")})
_posted("files_and_fields", files=lambda: {"f": io.BytesIO(b"xx")}, data={"a": 1})
_posted("auth", auth=("u", "p"))
_posted("auth_over_header", auth=("u", "p"), headers={"Authorization": "x"}, kinds=("http",))


@case(*BOTH)
def params(w):
    given = {"a": [1, 2], "b": None, "c": "d e"}
    return echoed(w.client.get("/echo?x=1", params=given, name="N"))["path"]


@case("http")
def params_name(w):
    return echoed(w.client.get("/echo?x=1", params={"q": "ü"}))["path"]


@case(*BOTH)
def params_as_text(w):
    return echoed(w.client.get("/echo?x=1", params="q=1", name="N"))["path"]


@case(*BOTH)
def other_verbs(w):
    c = w.client
    answers = [
        c.put("/echo", "x"),
        c.patch("/echo", {"a": 1}),
        c.delete("/echo"),
        c.options("/echo"),
    ]
    return [echoed(a) for a in answers]


@case(*BOTH)
def redirected_post(w):
    kept = echoed(w.client.post("/redirect/1?code=307", data=b"abc"))
    return kept, echoed(w.client.post("/redirect/1?code=302", data=b"abc"))


@case(*BOTH)
def methods_after_redirects(w):
    def follow(method, code):
        answer = w.client.request(method, f"/redirect/1?code={code}", data="abc", name="r")
        return method if method == "HEAD" else echoed(answer)["method"]

    methods = ("POST", "PUT", "DELETE", "PATCH", "HEAD", "GET")
    return {f"{m} {c}": follow(m, c) for m in methods for c in (301, 302, 303, 307, 308)}


@case(*BOTH)
def cookies_of_a_redirect(w):
    return echoed(w.new_user().client.get("/redirect/2"))["headers"]


@case(*BOTH)
def authorization_stays_at_home(w):
    url = f"/elsewhere/{w.port}"
    return echoed(w.client.get(url, headers={"Authorization": "x"}))


@case(*BOTH)
def credentials_in_host(w):
    user = w.new_user(host=f"http://u%20x:p@127.0.0.1:{w.port}")
    return echoed(user.client.get("/echo")), user.client.base_url


@case(*BOTH)
def cookies_are_kept(w):
    user = w.new_user()
    user.client.get("/set-cookie/a/b")
    first = echoed(user.client.get("/echo"))
    return first, echoed(w.new_user().client.get("/echo"))


@case("http")
def cookies_of_one_call(w):
    user = w.new_user()
    user.client.get("/set-cookie/a/b")
    first = echoed(user.client.get("/echo", cookies={"one": "call"}))
    return first, echoed(user.client.get("/echo"))


@case("http")
def cookie_jar(w):
    client = w.new_user().client
    response = client.get("/set-cookie/a/b")
    client.cookies.set("own", "1")
    seen = [dict(response.cookies), dict(client.cookies), client.cookies.get("a")]
    seen.append(echoed(client.get("/echo"))["headers"])
    client.cookies.clear()
    seen.append(echoed(client.get("/echo"))["headers"])
    client.cookies.update({"x": "y"})
    seen.append(echoed(client.get("/echo"))["headers"])
    return seen


@case("fast")
def cookie_jar_of_fast(w):
    client = w.new_user().client
    client.get("/set-cookie/a/b")
    seen = [sorted((c.name, c.value, c.domain, c.path) for c in client.cookiejar)]
    client.cookiejar.clear()
    return seen, echoed(client.get("/echo"))["headers"]


@case(*BOTH)
def cookie_as_a_header(w):
    client = w.new_user().client
    client.get("/set-cookie/a/b")
    return echoed(client.get("/echo", headers={"Cookie": "own=1"}))


@case("http")
def cookie_as_a_header_of_the_session(w):
    client = w.new_user().client
    client.headers["Cookie"] = "own=1"
    client.get("/set-cookie/a/b")
    return echoed(client.get("/echo"))


@case(*BOTH)
def host_as_a_header(w):
    given = w.client.get("/host", headers={"Host": "example.test"}).text
    return given, w.client.get("/host").text


@case(*BOTH)
def connection_is_closed(w):
    client = w.new_user().client
    first = echoed(client.get("/echo", headers={"Connection": "close"}))
    # The server doesn't announce that it closes: either client must have seen it close.
    gevent.sleep(0.3)
    return first, client.get("/echo").status_code


@case(*BOTH)
def headers_as_they_are_written(w):
    raw = w.client.get("/echo", headers={"x-lower": "a", "X-UPPER": "b", "X-Empty": ""})
    return echoed(raw)


@case("http")
def header_of_bytes(w):
    return echoed(w.client.get("/echo", headers={b"X-Bytes": b"1"}))


@case("http")
def header_that_is_none(w):
    looked_at(w.client.get("/echo", headers={"X-Bad": "a\nb"}))


@case("http")
def odd_headers_of_the_session(w):
    client = w.new_user().client
    seen = []
    for odd in (5, "a\nb", None, "fine"):
        client.headers["X-Odd"] = odd
        seen.append(client.get("/echo", name="odd").status_code)
    return seen


@case(*BOTH)
def form_and_its_type(w):
    options = {"data": {"a": "1"}, "headers": {"content-type": "application/x-own"}}
    return echoed(w.client.post("/echo", **options))


# ---- what comes back


@case(*BOTH)
def texts(w):
    return [w.client.get("/text/" + k).text for k in ("latin1", "utf8", "no-charset", "unknown")]


@case("http")
def encodings(w):
    return [
        w.client.get("/text/" + k).encoding for k in ("latin1", "utf8", "no-charset", "unknown")
    ]


@case(*BOTH)
def body_as_json(w):
    return w.client.get("/json").json()


@case(*BOTH)
def no_json(w):
    return w.client.get("/status/200").json()


@case("http")
def no_json_without_response(w):
    return w.client.get("http://127.0.0.1:1/").json()


@case(*BOTH)
def header_lookup(w):
    found = w.client.get("/set-cookie/a/b").headers
    return found["content-length"], found.get("CONTENT-LENGTH"), "Content-length" in found


@case("http")
def repeated_header(w):
    return w.client.get("/set-cookie/a/b").headers["Set-Cookie"]


@case("fast")
def repeated_header_of_fast(w):
    return w.client.get("/set-cookie/a/b").headers["Set-Cookie"]


@case("http")
def links_and_the_like(w):
    r = w.client.get("/link")
    lines = list(w.client.get("/lines/3").iter_lines())
    parts = [len(c) for c in w.client.get("/text/utf8").iter_content(100)]
    return r.links, r.reason, r.ok, r.is_redirect, repr(r), bool(r), [repr(x) for x in lines], parts


@case("http")
def raw(w):
    r = w.client.get("/text/utf8")
    return r.raw.status, r.raw.headers["content-length"], r.elapsed.total_seconds() > 0


@case("http")
def next_request(w):
    r = w.client.get("/redirect/2", allow_redirects=False)
    return r.is_redirect, r.next.url, r.next.method


@case("http")
def request_of_response(w):
    sent = w.client.post("/echo?x=1", json={"a": 1}).request
    return sent.method, sent.url, sent.path_url, sent.headers["content-type"], repr(sent.body)


@case("fast")
def request_of_fast_response(w):
    sent = w.client.post("/echo?x=1", json={"a": 1}).request
    return sent.method, sent.url, sent.headers["content-type"], sent.body


@case("fast")
def kinds_of_fast_responses(w):
    good, bad = w.client.get("/echo"), w.client.get("http://127.0.0.1:1/")
    return [isinstance(r, k) for r in (good, bad) for k in (FastResponse, ErrorResponse)]


@case("fast")
def nothing_on_error(w):
    bad = w.client.get("http://127.0.0.1:1/")
    return bad.status_code, bad.content, bad.text, bad.headers, bad.ok


@case("fast")
def reading_by_pieces(w):
    r = w.client.get("/text/utf8", stream=True)
    return r.read(4).decode("latin-1"), r.headers["content-length"]


@case("fast")
def iterating_content(w):
    return list(w.client.get("/lines/3", stream=True).iter_content(chunk_size=10))


@case("fast")
def iterating_lines(w):
    return list(w.client.iter_lines("/lines/3", name="lines"))


@case("http")
def streaming(w):
    r = w.client.get("/lines/3", stream=True)
    return [line.decode() for line in r.iter_lines()]


@case("http")
def streaming_with_length(w):
    return w.client.get("/text/utf8", stream=True).raw.read(4).decode("latin-1")


@case("http")
def raising_for_status(w):
    try:
        w.client.get("/status/404").raise_for_status()
    except Exception as error:
        return type(error).__module__, repr(error), error.response.status_code


@case("fast")
def raising_for_status_of_fast(w):
    w.client.get("/status/404").raise_for_status()


@case("http")
def ok_of_error(w):
    return w.client.get("http://127.0.0.1:1/").ok


# ---- with-blocks


def _block(title, path, body, kinds=BOTH, **options):
    def run(w):
        options.setdefault("catch_response", True)
        with w.client.get(path, **options) as response:
            body(response)
        return "after the block"

    run.__name__ = "block_" + title
    case(*kinds)(run)


def _raise(error):
    raise error


def _edit(response, **values):
    response.request_meta.update(values)


_block("untouched", "/echo", lambda r: None)
_block("untouched_404", "/status/404", lambda r: None)
_block("success", "/status/404", lambda r: r.success())
_block("failure_text", "/echo", lambda r: r.failure("x"))
_block("failure_exception", "/echo", lambda r: r.failure(ValueError("v")))
_block("failure_then_success", "/echo", lambda r: (r.failure("a"), r.success()))
_block("success_then_failure", "/echo", lambda r: (r.success(), r.failure("b")))
_block("success_then_raise", "/echo", lambda r: (r.success(), _raise(RuntimeError("q"))))
_block("failure_then_raise", "/echo", lambda r: (r.failure("a"), _raise(RuntimeError("q"))))
_block("response_error", "/echo", lambda r: _raise(ResponseError("re")))
_block("other_error", "/echo", lambda r: _raise(RuntimeError("re")))
_block("raise_for_status", "/status/404", lambda r: r.raise_for_status())
_block("raise_after_failure", "/echo", lambda r: (r.failure("m"), r.raise_for_status()))
_block("raise_after_success", "/status/404", lambda r: (r.success(), r.raise_for_status()))
_block("refused", "http://127.0.0.1:1/x", lambda r: None)
_block("refused_is_fine", "http://127.0.0.1:1/x", lambda r: r.success())
_block("edited", "/echo", lambda r: _edit(r, name="NN", response_length=3))
_block("edited_404", "/status/404", lambda r: _edit(r, name="NN"))
_block("edited_failure", "/echo", lambda r: (_edit(r, name="NN"), r.failure("f")))
_block("edited_exception", "/echo", lambda r: _edit(r, exception=ValueError("edited")))
_block("edited_context", "/echo", lambda r: r.request_meta["context"].update(z=1))
_block("read_only", "/echo", lambda r: r.request_meta["name"])
_block("not_caught", "/echo", lambda r: r.success(), catch_response=False)
_block("of_stream", "/lines/2", lambda r: r.failure("s"), stream=True)
_block("with_params", "/echo", lambda r: r.failure("s"), params={"a": 1}, name="N")


@case(*BOTH)
def success_without_block(w):
    w.client.get("/echo").success()


@case(*BOTH)
def failure_without_block(w):
    w.client.get("/echo", catch_response=True).failure("x")


@case(*BOTH)
def never_entered(w):
    return w.client.get("/echo", catch_response=True).status_code


@case("http")
def block_not_caught_is_refused(w):
    with w.client.get("/echo"):
        return "entered"


@case("fast")
def block_not_caught_is_silent(w):
    with w.client.get("/echo") as r:
        return r.status_code


# ---- rest()


def _rest(title, path, body=lambda r: None, method="GET", **options):
    def run(w):
        with w.user.rest(method, path, **options) as response:
            body(response)
        for event in w.events:
            if event[3] and " at " in event[3]:
                event[3] = event[3].partition(" at ")[0]  # the place of an error in this file
        if path == "/echo":
            return echoed(response), response.js is not None
        return response.js, response.status_code

    run.__name__ = f"rest_{title}"
    case(*BOTH)(run)


def _assert(message):
    def check(_):
        assert 1 == 2, message

    return check


def _assert_nothing(_):
    assert False


_rest("json", "/json")
_rest("headers", "/echo", lambda r: None, headers={"X-A": "1"}, method="POST", json={"a": 1})
_rest("own_content_type", "/echo", headers={"content-type": "x/y"})
_rest("no_json", "/status/200")
_rest("no_json_404", "/status/404")
_rest("empty", "/status/204")
_rest("refused", "http://127.0.0.1:1/x")
_rest("assertion", "/json", _assert("it is not so"))
_rest("assertion_with_comma", "/json", _assert("it is not so,"))
_rest("assertion_of_nothing", "/json", _assert_nothing)
_rest("other_error", "/json", lambda r: r.js["nothing"])
_rest("failure", "/json", lambda r: r.failure("no"))
_rest("named", "/json", name="N")


def _fail():
    raise ValueError("first")


def _fail_again():
    try:
        _fail()
    except ValueError as e:
        raise KeyError("second") from e


@case(*BOTH)
def rest_names_the_places_of_an_error(w):
    with w.user.rest("GET", "/json"):
        _fail_again()
    text = w.events[0][3]
    before, _, rest = text.partition(" at ")
    places, _, behind = rest.partition(". Response was ")
    # Locust's own frames stand before those of the locustfile.
    own = [place for place in places.split(", ") if not place.endswith((" in rest", " in rest_"))]
    w.events[0][3] = f"{before} {behind}"
    return [place.rpartition("/")[2].partition(":")[2].partition(" ")[2] for place in own]


@case(*BOTH)
def rest_with_a_time(w):
    with w.user.rest_("GET", "/json") as response:
        js = response.js
    w.events[0][5] = w.events[0][5].partition("_=")[0]
    return js


# ---- sessions


@case("fast")
def second_session(w):
    session = FastHttpSession(w.base, w.environment.events.request, w.user)
    return looked_at(session.get("/status/404"))


def main(kind, port):
    """Run all cases of a kind."""
    print(json.dumps({name: World(kind, port).run(f) for name, f in CASES[kind].items()}))


if __name__ == "__main__":
    assert locust.__version__
    main(sys.argv[1], int(sys.argv[2]))
