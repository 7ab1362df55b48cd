"""Messages over a pair of sockets between a process and its child: length, then pickled data.

Both ends are the same program, so what a child of this machine sends can be trusted. What comes
from an agent is read as plain data.
"""

import io
import pickle
import struct

from gevent.lock import Semaphore

from ..exception import RPCReceiveError, RPCSendError
from .protocol import Message

_LENGTH = struct.Struct("!I")


class _PlainUnpickler(pickle.Unpickler):
    """Reads numbers, texts, bytes, dates and collections of them, and no other object."""

    _KNOWN = ("datetime", "date", "time", "timedelta", "timezone")

    def find_class(self, module, name):
        if module == "datetime" and name in self._KNOWN:
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"it has an object of {module}.{name}")


def plain(body):
    """What was pickled, if it is plain data; UnpicklingError if not."""
    return _PlainUnpickler(io.BytesIO(body)).load()


class Pipe:
    """One end. Sending and receiving let other greenlets run; `read` makes data of bytes."""

    def __init__(self, socket, read=pickle.loads):
        self._socket = socket
        self._read_body = read
        self._sending = Semaphore()

    def send(self, message_type, data=None, node_id=""):
        """Send one message; RPCSendError if the other end is gone or the data cannot be sent."""
        try:
            body = pickle.dumps((message_type, data, node_id))
            with self._sending:
                self._socket.sendall(_LENGTH.pack(len(body)) + body)
        except (OSError, TypeError, AttributeError, pickle.PicklingError) as e:
            raise RPCSendError(f"Could not send the message '{message_type}': {e}") from e

    def receive(self):
        """The next message; RPCReceiveError once the other end is gone or sends another thing."""
        length = _LENGTH.unpack(self._exactly(_LENGTH.size))[0]
        body = self._exactly(length)
        try:
            return Message(*self._read_body(body))
        except (pickle.UnpicklingError, TypeError, EOFError) as e:
            raise RPCReceiveError(f"a message of the other process can't be read: {e}") from e

    def _exactly(self, length):
        parts = bytearray()
        while len(parts) < length:
            part = self._read(length - len(parts))
            if not part:
                raise RPCReceiveError("the other process has ended")
            parts += part
        return bytes(parts)

    def _read(self, length):
        try:
            return self._socket.recv(min(length, 1 << 20))
        except OSError as e:
            raise RPCReceiveError(f"the other process has ended: {e}") from e

    def close(self):
        """No more messages."""
        self._socket.close()
