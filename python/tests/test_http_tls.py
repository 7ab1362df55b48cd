"""Both clients over TLS: what is trusted, and certificates of clients."""

import shutil
import ssl
import subprocess

import http_support

http_support.use_ours()

import pytest  # noqa: E402
from locust import HttpUser  # noqa: E402
from locust.contrib.fasthttp import FastHttpUser, insecure_ssl_context_factory  # noqa: E402
from locust.env import Environment  # noqa: E402

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A file with a certificate that signs itself, for 127.0.0.1, and its key."""
    place = tmp_path_factory.mktemp("tls")
    key, cert = place / "key.pem", place / "cert.pem"
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=somebody"
    names = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", cert]
    subprocess.run([*command.split(), *names], check=True, capture_output=True)
    both = place / "both.pem"
    both.write_text(cert.read_text() + key.read_text())
    return both


@pytest.fixture(scope="module")
def base(certificate):
    with http_support.service(certificate) as port:
        yield f"https://127.0.0.1:{port}"


@pytest.fixture
def environment():
    made = Environment()
    made.create_local_runner()
    return made


def user_of(kind, environment, base, **attributes):
    return type("Someone", (kind,), {"host": base, **attributes})(environment)


def counts(environment):
    return environment.stats.total.num_requests, environment.stats.total.num_failures


def test_an_unknown_authority_is_refused(base, environment):
    client = user_of(HttpUser, environment, base).client
    response = client.get("/echo")
    assert response.status_code == 0
    assert type(response.error).__name__ == "SSLError"
    assert counts(environment) == (1, 1)


def test_verify_off_for_a_session(base, environment):
    client = user_of(HttpUser, environment, base).client
    client.verify = False
    assert client._is_plain
    assert client.get("/echo").status_code == 200
    assert client.get("/echo", params={"a": 1}).status_code == 200
    assert counts(environment) == (2, 0)


def test_verify_off_for_one_call(base, environment):
    client = user_of(HttpUser, environment, base).client
    assert client.get("/echo", verify=False).status_code == 200
    assert client.get("/echo").status_code == 0
    assert client.get("/echo", verify=False, params={"a": 1}).status_code == 200
    assert counts(environment) == (3, 1)


def test_an_authority_of_ones_own(base, environment, certificate):
    client = user_of(HttpUser, environment, base).client
    assert client.get("/echo", verify=str(certificate)).status_code == 200
    client.verify = str(certificate)
    assert client.get("/echo").status_code == 200
    assert counts(environment) == (2, 0)


def test_a_certificate_of_the_client(base, environment, certificate):
    client = user_of(HttpUser, environment, base).client
    client.verify = False
    client.cert = str(certificate)
    assert client.get("/peer").text == "somebody"
    client.cert = None
    assert client.get("/peer").text == ""
    assert counts(environment) == (2, 0)


def test_the_fast_client_trusts_everybody_unless_told(base, environment):
    assert user_of(FastHttpUser, environment, base).client.get("/echo").status_code == 200
    strict = user_of(FastHttpUser, environment, base, insecure=False).client
    response = strict.get("/echo")
    assert response.status_code == 0 and isinstance(response.error, ssl.SSLError)
    assert strict.get("/echo", verify=False).status_code == 200
    assert counts(environment) == (3, 1)


def test_a_context_of_the_fast_user(base, environment, certificate):
    def context(*_):
        made = insecure_ssl_context_factory()
        made.load_cert_chain(certificate)
        return made

    client = user_of(FastHttpUser, environment, base, ssl_context_factory=staticmethod(context))
    assert client.client.get("/peer").text == "somebody"
    assert counts(environment) == (1, 0)
