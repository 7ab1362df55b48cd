"""Sessions whose `request` was replaced by a locustfile: `get`, `post`, … call the replacement.

The engine's `get` does not pass through `request`. Where a subclass, or one session, has a
`request` of its own (to add a header, to log, …), the verbs are led through it.
"""

from itertools import takewhile

VERBS = ("get", "options", "head", "delete", "post", "put", "patch")
_WITH_BODY = ("post", "put", "patch")
# How the names of our modules begin.
_OURS = ("locust.", "loadline.")


def follow_overridden_request(kind):
    """Give a subclass that defines `request` verbs that call it, but those it defines itself."""
    if "request" not in kind.__dict__:
        return
    for verb in VERBS:
        if not any(verb in c.__dict__ for c in _below_the_engine(kind)):
            setattr(kind, verb, _through_request(verb))


def _below_the_engine(kind):
    """The locustfile's own classes: all before the first of ours."""
    return list(takewhile(lambda c: not c.__module__.startswith(_OURS), kind.__mro__))


def _through_request(verb):
    if verb in _WITH_BODY:

        def call(self, url, data=None, json=None, **options):
            return self.request(verb.upper(), url, data=data, json=json, **options)

    else:

        def call(self, url, **options):
            if verb == "head" and self.head_stays:
                options.setdefault("allow_redirects", False)
            return self.request(verb.upper(), url, **options)

    call.__name__ = verb
    call.__doc__ = f"Ask by {verb.upper()}, through the session's own `request`."
    return call


def replace_on(session, request):
    """Put a `request` into one session; its verbs call it from now on."""
    own = session.__dict__
    own["request"] = request
    for verb in VERBS:
        own.setdefault(verb, _through_request(verb).__get__(session))
