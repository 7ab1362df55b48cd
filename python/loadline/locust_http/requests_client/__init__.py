"""The client of `HttpUser`, in the manner of requests: requests, responses, and those that the
engine does not send."""
