"""Messages over a pair of sockets between a process and its child: length, then pickled data.

Both ends are the same program, so what is read can be trusted.
"""

import pickle
import struct

from gevent.lock import Semaphore

from ..exception import RPCReceiveError, RPCSendError
from .protocol import Message

_LENGTH = struct.Struct("!I")


class Pipe:
    """One end. Sending and receiving let other greenlets run."""

    def __init__(self, socket):
        self._socket = socket
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
        """The next message; RPCReceiveError once the other end is gone."""
        length = _LENGTH.unpack(self._exactly(_LENGTH.size))[0]
        return Message(*pickle.loads(self._exactly(length)))

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
