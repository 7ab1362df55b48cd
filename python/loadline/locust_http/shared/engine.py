"""The classes of the engine's extension that the clients are made of."""

from loadline import native

_extension = native.load()

Client = _extension.Client
Response = _extension.Response
