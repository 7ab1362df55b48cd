"""What third parties do with the clients: sessions in SDKs, hooks, adapters, threads, timeouts."""

import copy
import json
import pickle
import threading

import http_support

http_support.use_ours()

import gevent  # noqa: E402
import pytest  # noqa: E402
import requests  # noqa: E402
import urllib3  # noqa: E402
from requests.adapters import HTTPAdapter  # noqa: E402
from requests.auth import AuthBase, HTTPDigestAuth  # noqa: E402

from locust import HttpUser  # noqa: E402
from locust.clients import HttpSession, LocustHttpAdapter, ResponseContextManager  # noqa: E402
from locust.contrib.fasthttp import ErrorResponse, FastHttpSession, FastHttpUser  # noqa: E402
from locust.env import Environment  # noqa: E402
from locust.event import EventHook  # noqa: E402
from locust.exception import StopTest  # noqa: E402
from loadline.locust_http.shared import json_bodies  # noqa: E402


@pytest.fixture(scope="module")
def base():
    with http_support.service() as port:
        yield "http://127.0.0.1:%d" % port


@pytest.fixture
def world(base):
    return World(base)


class World:
    """An environment with a user of each kind, and what its events said."""

    def __init__(self, base):
        self.base = base
        self.environment = Environment()
        self.environment.create_local_runner()
        self.http = type("Http", (HttpUser,), {"host": base})(self.environment)
        self.fast = type("Fast", (FastHttpUser,), {"host": base})(self.environment)
        self.heard = []
        self.environment.events.request.add_listener(self.hear)

    def hear(self, **sample):
        self.heard.append(sample)

    def counts(self):
        """Requests and failures of the statistics."""
        total = self.environment.stats.total
        return total.num_requests, total.num_failures

    def clients(self):
        return self.http.client, self.fast.client


def header(response, name):
    return dict(response.json()["headers"]).get(name)


# ---- each request is counted once


def test_events_and_statistics_agree(world):
    http, fast = world.clients()
    calls = [
        lambda c: c.get("/echo"),
        lambda c: c.get("/status/404"),
        lambda c: c.get("/echo", params={"a": 1}),
        lambda c: c.get("/status/500", params={"a": 1}),
        lambda c: c.post("/echo", data={"a": 1}),
        lambda c: c.get("/lines/2", stream=True),
        lambda c: c.get("/status/404", stream=True),
        lambda c: c.get("http://127.0.0.1:1/"),
        lambda c: c.get("http://127.0.0.1:1/", stream=True),
        lambda c: c.get("/redirect/3"),
        lambda c: c.get("/echo", hooks={"response": lambda r, **_: None}),
        lambda c: c.post("/echo", data=iter([b"a"])),
    ]
    for count, call in enumerate(calls, 1):
        for client in (http, fast):
            call(client)
        failures = sum(1 for s in world.heard if s["exception"] is not None)
        assert len(world.heard) == 2 * count
        assert world.counts() == (2 * count, failures)
    assert failures == 10


@pytest.mark.parametrize("options", [{}, {"params": {"a": 1}}, {"stream": True}])
def test_caught_requests_are_counted_once(world, options):
    for client in world.clients():
        before = world.counts()
        with client.get("/status/404", catch_response=True, **options) as response:
            assert world.counts() == before
            response.success()
        after = world.counts()
        assert after == (before[0] + 1, before[1])
        with client.get("/echo", catch_response=True, **options) as response:
            response.failure("no")
        assert world.counts() == (after[0] + 1, after[1] + 1)


def test_without_listeners_all_is_counted(base):
    environment = Environment()
    environment.create_local_runner()
    user = type("Http", (HttpUser,), {"host": base})(environment)
    user.client.get("/status/404")
    user.client.get("/echo", stream=True)
    entries = environment.stats.entries
    assert entries[("/status/404", "GET")].num_failures == 1
    assert entries[("/echo", "GET")].num_requests == 1


def test_listeners_get_the_documented_keywords(world):
    names = {
        *("request_type", "name", "response_time", "response_length", "response", "context"),
        *("exception", "start_time", "url"),
    }
    for client in world.clients():
        for options in ({}, {"stream": True}):
            response = client.get("/echo", **options)
            sample = world.heard[-1]
            assert set(sample) == names
            assert sample["response"] is response
            assert 0 < sample["response_time"] < 5000
            assert sample["start_time"] > 1.7e9


def test_a_session_with_an_event_of_its_own(world):
    heard = []
    event = EventHook()
    event.add_listener(lambda **sample: heard.append(sample))
    sessions = [HttpSession(world.base, event, world.http)]
    sessions += [
        FastHttpSession(world.base, event, world.fast),
        HttpSession(world.base, event, None),
    ]
    for session in sessions:
        heard.clear()
        session.get("/echo")
        session.get("/status/404")
        with session.get("/echo", catch_response=True) as response:
            response.failure("x")
        with session.get("/echo", catch_response=True) as response:
            pass
        kinds = [s["exception"] and type(s["exception"]).__name__ for s in heard]
        assert kinds[0] is None and kinds[1] in ("HTTPError", "LocustBadStatusCode")
        assert kinds[2:] == ["CatchResponseError", None]
    assert world.heard == [] and world.counts() == (0, 0)


def test_a_second_session_counts_in_the_same_statistics(world):
    session = HttpSession(world.base, world.environment.events.request, world.http)
    session.get("/echo")
    assert world.counts() == (1, 0) and len(world.heard) == 1


# ---- a real requests.Session


def test_it_is_one(world):
    client = world.http.client
    response = client.get("/echo")
    assert isinstance(client, requests.Session)
    assert isinstance(response, requests.Response)
    assert isinstance(response, ResponseContextManager)
    assert isinstance(client.get("/lines/1", stream=True), ResponseContextManager)


class Sdk:
    """A library that is given a session."""

    def __init__(self, session):
        self.session = session
        session.headers.update({"X-Sdk": "1"})
        session.auth = ("u", "p")
        session.params = {"version": "2"}

    def create(self, base):
        response = self.session.post(base + "/echo", json={"a": 1}, timeout=(1, 5))
        response.raise_for_status()
        return response.json()

    def prepared(self, base):
        request = requests.Request("PUT", base + "/echo", data=b"x")
        sent = self.session.send(self.session.prepare_request(request), timeout=5)
        return sent.json()


def test_an_sdk_uses_it(world):
    sdk = Sdk(world.http.client)
    seen = sdk.create(world.base)
    headers = dict(seen["headers"])
    assert seen["path"] == "/echo?version=2" and seen["body"] == '{"a": 1}'
    assert headers["x-sdk"] == "1" and headers["authorization"] == "Basic dTpw"
    assert world.counts() == (1, 0)
    assert dict(sdk.prepared(world.base)["headers"])["x-sdk"] == "1"
    assert world.counts() == (1, 0)  # a prepared request that is sent by hand is not counted


def test_attributes_of_a_session(world):
    client = HttpSession(world.base, world.environment.events.request, world.http)
    plain = requests.Session()
    for name in requests.Session.__attrs__:
        assert hasattr(client, name), name
    assert set(client.headers) == set(plain.headers)
    assert (client.verify, client.cert, client.stream) == (True, None, False)
    assert (client.max_redirects, client.trust_env, client.auth) == (30, True, None)
    assert client.proxies == {} and client.params == {} and client.hooks == {"response": []}
    assert list(client.adapters) == ["https://", "http://"]
    assert isinstance(client.get_adapter("http://x/"), LocustHttpAdapter)
    assert world.http.client.trust_env is False


def test_changes_of_headers_count(world):
    client = world.http.client
    client.headers["X-One"] = "1"
    assert header(client.get("/echo"), "x-one") == "1"
    client.headers.update({"X-One": "2", "user-agent": "me"})
    seen = client.get("/echo")
    assert (header(seen, "x-one"), header(seen, "user-agent")) == ("2", "me")
    del client.headers["x-one"]
    assert header(client.get("/echo"), "x-one") is None
    client.headers = {"X-Two": "2"}
    assert header(client.get("/echo", params={"a": 1}), "x-two") == "2"
    assert header(client.get("/echo"), "user-agent") is None
    assert copy.deepcopy(client.headers) == client.headers.copy() == {"x-two": "2"}


def test_basic_auth_stays_plain(world):
    client = world.http.client
    client.auth = ("u", "p")
    assert client._is_plain
    assert client.get("/basic/u/p").status_code == 200
    client.auth = None
    assert client.get("/basic/u/p").status_code == 401
    assert client.get("/basic/u/p", auth=("u", "p")).status_code == 200


class Token(AuthBase):
    """Puts a token into each request."""

    def __call__(self, request):
        request.headers["X-Token"] = "t:" + request.path_url
        return request


def test_custom_auth(world):
    client = world.http.client
    assert header(client.get("/echo?a=1", auth=Token()), "x-token") == "t:/echo?a=1"
    client.auth = Token()
    assert header(client.get("/echo"), "x-token") == "t:/echo"
    client.auth = lambda request: (request.headers.update({"X-Token": "f"}), request)[1]
    assert header(client.get("/echo"), "x-token") == "f"
    assert world.counts() == (3, 0)


def test_digest_auth(world):
    response = world.http.client.get("/digest/u/p", auth=HTTPDigestAuth("u", "p"), name="digest")
    assert response.status_code == 200 and world.counts() == (1, 0)


def test_hooks(world):
    client = world.http.client
    seen = []
    client.hooks["response"].append(lambda r, **_: seen.append(r.status_code))
    client.get("/status/404")
    client.hooks["response"].clear()
    client.get("/echo", hooks={"response": lambda r, **_: seen.append("own")})
    assert seen == [404, "own"] and world.counts() == (2, 1)


class Counting(HTTPAdapter):
    """An adapter that counts what passes."""

    sent = 0

    def send(self, request, **options):
        self.sent += 1
        return super().send(request, **options)


def test_mounted_adapters(world):
    client = world.http.client
    adapter = Counting()
    client.mount(world.base + "/echo", adapter)
    assert client.get("/echo").status_code == 200
    assert client.get("/status/200").status_code == 200
    assert adapter.sent == 1 and world.counts() == (2, 0)


def test_a_mocked_adapter_is_respected(world, monkeypatch):
    def answer(self, request, **options):
        response = requests.Response()
        response.status_code, response._content, response.url = 200, b"mocked", request.url
        response.request = request
        return response

    monkeypatch.setattr(HTTPAdapter, "send", answer)
    session = HttpSession("http://nowhere.invalid", world.environment.events.request, world.http)
    session.trust_env = False
    assert session.get("/x").text == "mocked"
    assert world.counts() == (1, 0)


def test_a_pool_that_users_share(world):
    from urllib3 import PoolManager

    pool = PoolManager(maxsize=1, block=True)
    kind = type("Pooled", (HttpUser,), {"host": world.base, "pool_manager": pool})
    users = [kind(world.environment) for _ in range(2)]
    assert [u.client.get("/echo").status_code for u in users] == [200, 200]
    assert [pool.pools[key].num_connections for key in pool.pools.keys()] == [1]
    assert world.counts() == (2, 0)


def test_kinds_of_failed_streams(world):
    response = world.fast.client.get("http://127.0.0.1:1/", stream=True)
    assert isinstance(response, ErrorResponse) and response.status_code == 0
    assert isinstance(response.error, ConnectionRefusedError)
    assert not isinstance(world.fast.client.get("/lines/1", stream=True), ErrorResponse)


def test_proxies(world):
    for client in world.clients():
        response = client.get("http://nowhere.invalid/echo", proxies={"http": world.base}, name="p")
        assert response.json()["path"] == "http://nowhere.invalid/echo"
    user = type("P", (FastHttpUser,), {"host": "http://nowhere.invalid"})
    user.proxy_host, user.proxy_port = "127.0.0.1", int(world.base.rpartition(":")[2])
    assert user(world.environment).client.get("/echo").json()["path"].startswith("http://nowhere")
    assert world.counts() == (3, 0)


def test_keywords_of_requests_on_the_fast_client(world):
    client = world.fast.client
    late = client.get("/delay/2", timeout=0.1)
    assert late.status_code == 0 and "timed out" in repr(late.error)
    seen = client.get("/echo", verify=False, timeout=5, cookies={"a": "b"}).json()
    assert seen["path"] == "/echo" and ["cookie", "a=b"] in seen["headers"]
    hooked = []
    client.get("/echo", hooks={"response": lambda r, **_: hooked.append(r.status_code)})
    assert hooked == [200]
    with pytest.raises(TypeError, match="unexpected keyword argument 'foo'"):
        client.get("/echo", foo=1)


def test_one_of_the_cookie_policies(world):
    from http.cookiejar import DefaultCookiePolicy

    client = world.http.client
    client.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
    client.get("/set-cookie/a/b")
    assert header(client.get("/echo"), "cookie") is None
    assert world.counts() == (2, 0)


def test_cookies_are_shared_with_the_fallback(world):
    for client in world.clients():
        client.get("/set-cookie/a/b", stream=True).content
        assert "a=b" in header(client.get("/echo"), "cookie")
        client.get("/set-cookie/c/d")
        streamed = client.get("/echo", stream=True)
        assert "c=d" in header(streamed, "cookie")


def test_copies_of_a_jar_are_jars_of_their_own(world):
    client = world.http.client
    client.get("/set-cookie/a/b")
    jar = client.cookies.copy()
    client.cookies.clear()
    assert jar.get_dict() == {"a": "b", "other": "1"} and len(client.cookies) == 0
    client.cookies = jar
    assert client.cookies.get("a") == "b"
    other = requests.Session()
    other.cookies.update(client.cookies)
    assert other.cookies.get("other") == "1"


def test_a_session_in_a_with_block(world):
    with world.http.client as client:
        assert client.get("/echo").status_code == 200
    assert client.get("/echo").status_code == 200  # a closed session opens connections anew


def test_overridden_request(world):
    class Tagging(HttpSession):
        def request(self, method, url, **options):
            options.setdefault("headers", {})["X-Tag"] = "yes"
            return super().request(method, url, **options)

    class FastTagging(FastHttpSession):
        def request(self, method, url, **options):
            options.setdefault("headers", {})["X-Tag"] = "yes"
            return super().request(method, url, **options)

    event = world.environment.events.request
    for session in (Tagging(world.base, event, None), FastTagging(world.base, event, None)):
        assert header(session.get("/echo"), "x-tag") == "yes"
        assert session.post("/echo", "x").json()["body"] == "x"
        assert header(session.put("/echo", data="x"), "x-tag") == "yes"
    assert Tagging(world.base, event, None).head("/redirect/1").status_code == 302


def test_request_replaced_on_one_session(world):
    client = world.http.client
    original = client.request
    client.request = lambda method, url, **o: original(method, url, name="renamed", **o)
    client.get("/echo")
    client.post("/echo", json={})
    assert [s["name"] for s in world.heard] == ["renamed", "renamed"]


def test_an_overridden_send_is_used(world):
    class Signing(HttpSession):
        def send(self, request, **options):
            request.headers["X-Signed"] = request.method
            return super().send(request, **options)

    session = Signing(world.base, world.environment.events.request, world.http)
    assert header(session.get("/echo"), "x-signed") == "GET"
    assert world.counts() == (1, 0)


def test_certificates_of_a_file_that_is_not_there(world):
    response = world.http.client.get("/echo", verify="/nowhere.pem")  # no TLS: not looked at
    assert response.status_code == 200
    with pytest.raises(OSError, match="nowhere.pem"):
        world.http.client.get("https://127.0.0.1:1/", verify="/nowhere.pem")


def test_no_state_is_made_before_it_is_touched(world):
    client = world.http.client
    client.get("/echo")
    client.post("/echo", data={"a": 1}, params={"b": 2}, auth=("u", "p"))
    made = {"_headers", "_cookies", "_hooks", "_params", "_adapters", "_proxies"} & set(
        vars(client)
    )
    assert made == set()


def test_a_user_needs_a_host(world):
    for kind in (HttpUser, FastHttpUser):
        with pytest.raises(StopTest, match="You must specify the base host"):
            type("NoHost", (kind,), {})(world.environment)


# ---- beside other code of a task


def test_requests_in_a_task(world):
    assert requests.get(world.base + "/echo", timeout=5).status_code == 200
    assert world.counts() == (0, 0)


def test_several_greenlets_on_one_client(world):
    for client in world.clients():
        jobs = [gevent.spawn(client.get, "/delay/0.05", name="d") for _ in range(8)]
        gevent.joinall(jobs, timeout=10)
        assert [j.value.status_code for j in jobs] == [200] * 8
    assert world.counts() == (16, 0)


@pytest.mark.parametrize("options", [{}, {"stream": True}])
def test_a_gevent_timeout_around_a_request(world, options):
    client = world.http.client
    with pytest.raises(gevent.Timeout):
        with gevent.Timeout(0.1):
            client.get("/delay/2", **options)
    assert client.get("/echo", **options).json()["path"] == "/echo"
    assert world.counts() == (1, 0)


@pytest.mark.parametrize("options", [{}, {"stream": True}])
def test_a_gevent_timeout_is_a_failure_of_the_fast_client(world, options):
    client = world.fast.client
    with gevent.Timeout(0.1):
        response = client.get("/delay/2", **options)
    assert response.status_code == 0
    assert repr(response.error).endswith("/delay/2', 0, original=0.1 seconds)")
    assert world.counts() == (1, 1)
    with pytest.raises(ValueError, match="mine"):
        with gevent.Timeout(0.1, ValueError("mine")):
            client.get("/delay/2", **options)
    assert client.get("/echo", **options).json()["path"] == "/echo"
    assert world.counts() == (2, 1)


def test_a_greenlet_killed_in_a_request(world):
    for client in world.clients():
        job = gevent.spawn(client.get, "/delay/2")
        gevent.sleep(0.05)
        job.kill()
        assert isinstance(job.value, gevent.GreenletExit)
        assert client.get("/echo").json()["path"] == "/echo"
    assert world.counts() == (2, 0)


def test_requests_in_threads(world):
    seen = []
    session = requests.Session()

    def work():
        seen.append(session.get(world.base + "/echo", timeout=5).status_code)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert seen == [200] * 4


def test_body_parsed_once_more(world):
    response = world.http.client.get("/json")
    assert json.loads(response.text) == response.json() == {"a": [1, 2, "ü"]}
    response.encoding = "latin-1"
    assert "Ã¼" in response.text


@pytest.mark.parametrize(
    "content",
    [
        *(b'{"a": 1}', b'{"a": 1}\n', b" [1, 2] ", b'"\xc3\xbc"', b"12", b"1 2", b"{", b"", b"nul"),
        *(b'\xef\xbb\xbf{"a": 1}', '{"a": "ü"}'.encode("utf-16"), b'"\xfc"', b"[1] x", b"NaN"),
    ],
)
def test_json_bodies_are_read_as_json_does(content):
    def outcome(read):
        try:
            return repr(read(content))
        except ValueError as error:
            return f"{type(error)} {error}"

    assert outcome(json_bodies.read) == outcome(json.loads)


def test_cookies_of_a_host_without_a_dot(world):
    host = world.base.replace("127.0.0.1", "localhost")
    client = HttpSession(host, world.environment.events.request, world.http)
    client.get("/set-cookie/a/b")
    assert client.cookies.get_dict(domain="localhost.local") == {"a": "b", "other": "1"}
    streamed = client.get("/echo", stream=True)
    assert sorted(header(streamed, "cookie").split("; ")) == ["a=b", "other=1"]
    client.get("/set-cookie/c/d", stream=True).content
    client.cookies.set("own", "x", domain="localhost.local", path="/")
    assert sorted(header(client.get("/echo"), "cookie").split("; ")) == [
        *("a=b", "c=d", "other=1", "own=x"),
    ]
    client.cookies.clear("localhost.local", "/", "own")
    assert client.cookies.get("own") is None and len(client.cookies) == 3


def test_the_jar_answers_as_a_dict(world):
    client = world.http.client
    client.get("/set-cookie/a/b")
    jar = client.cookies
    assert jar["a"] == "b" and "a" in jar and sorted(jar.keys()) == ["a", "other"]
    del jar["a"]
    assert "a" not in jar and requests.utils.dict_from_cookiejar(jar) == {"other": "1"}
    requests.utils.add_dict_to_cookiejar(jar, {"z": "1"})
    assert "z=1" in header(client.get("/echo"), "cookie")
    assert pickle.loads(pickle.dumps(jar)).get_dict() == {"other": "1", "z": "1"}
    with pytest.raises(KeyError):
        jar.clear("nowhere.invalid")


@pytest.mark.parametrize("options", [{}, {"stream": True}])
def test_a_response_is_counted_once_however_often_its_block_ends(world, options):
    for count, client in enumerate(world.clients(), 1):
        response = client.get("/echo", catch_response=True, **options)
        for _ in range(2):
            with response:
                response.failure("x")
        assert world.counts() == (count, count) and len(world.heard) == count


def test_what_says_nothing_is_no_reason_to_compose(world, monkeypatch):
    from loadline.locust_http.requests_client import compose

    monkeypatch.setattr(compose, "_thorough", lambda *_: pytest.fail("was composed"))
    client = world.http.client
    nothing = {"verify": False, "cookies": {}, "files": None, "stream": False, "proxies": {}}
    assert client.get("/echo", **nothing).json()["path"] == "/echo"
    assert client.get("/ec ho", params={"a": "ü"}).json()["path"] == "/ec%20ho?a=%C3%BC"
    seen = client.post("/echo", {"a": 1}, auth=("u", "p"), headers={"X-A": "1"}).json()
    assert seen["body"] == "a=1" and ["x-a", "1"] in seen["headers"]
    assert world.counts() == (3, 0)


def test_another_thread_is_refused_in_a_sentence(world):
    pool = gevent.get_hub().threadpool
    for client in world.clients():
        with pytest.raises(RuntimeError, match="came from another one: start the work with gevent"):
            pool.apply(client.get, ("/echo",))
        assert client.get("/echo").status_code == 200
    assert world.counts() == (2, 0)


def test_a_cookie_of_a_call_goes_out_though_the_session_has_one_of_its_name(world):
    client = world.http.client
    client.get("/set-cookie/session/old")
    sent = dict(client.get("/echo", cookies={"session": "own"}).json()["headers"])["cookie"]
    assert "session=own" in sent.split("; ")
    sent = dict(client.get("/echo").json()["headers"])["cookie"]
    assert "session=own" not in sent.split("; ")


def pickled(response):
    return pickle.loads(pickle.dumps(response))


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, pickled])
def test_a_response_can_be_copied_and_pickled(world, again):
    response = again(world.http.client.get("/redirect/1"))
    assert (response.status_code, response.json()["path"]) == (200, "/echo")
    assert [one.status_code for one in response.history] == [302]
    assert response.headers["content-type"] == "application/json"
    assert world.counts() == (1, 0)


@pytest.mark.parametrize("limit", [0, -1, "1", (1, 2, 3), (0, 1), [1, 2]])
def test_a_timeout_that_is_none_is_refused_as_requests_does(world, limit):
    with pytest.raises(ValueError, match="(?i)timeout"):
        world.http.client.get("/echo", timeout=limit)
    with pytest.raises(ValueError, match="(?i)timeout"):
        requests.get(world.base, timeout=limit)
    assert world.counts() == (0, 0)


def test_a_timeout_of_urllib3_is_kept_to(world):
    client = world.http.client
    assert client.get("/echo", timeout=urllib3.Timeout(connect=5, read=5)).status_code == 200
    late = client.get("/delay/0.5", timeout=urllib3.Timeout(read=0.1))
    assert isinstance(late.error, requests.ReadTimeout)


@pytest.mark.parametrize("kind", ["ftp", "no-url"])
def test_a_redirect_to_what_cannot_be_asked_says_so(world, kind):
    response = world.http.client.get("/nowhere/" + kind)
    assert isinstance(response.error, requests.exceptions.InvalidURL)
    assert "redirect" in str(response.error) and "Exceeded" not in str(response.error)
    fast = world.fast.client.get("/nowhere/" + kind)
    assert "redirect" in repr(fast.error) and "limit" not in repr(fast.error)


def test_only_the_method_head_stays_at_a_redirect(world):
    client = world.http.client
    assert client.head("/redirect/1").status_code == 302
    assert client.request("HEAD", "/redirect/1").status_code == 200
    assert client.request("head", "/redirect/1", params={"a": 1}).status_code == 200
    assert client.request("HEAD", "/redirect/1", allow_redirects=False).status_code == 302


def test_a_redirect_without_a_target_is_the_response(world):
    for client in world.clients():
        response = client.get("/nowhere/empty")
        assert (response.status_code, response.text) == (302, "moved")
    assert world.counts() == (2, 0)
