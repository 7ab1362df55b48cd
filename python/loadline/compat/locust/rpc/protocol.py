"""One message between the processes of a run."""

import json


class Message:
    """A type, its data, and which process it comes from or goes to."""

    def __init__(self, message_type, data, node_id):
        self.type = message_type
        self.data = data
        self.node_id = node_id

    def __repr__(self):
        return f"<Message {self.type}:{self.node_id}>"

    def serialize(self):
        """As bytes."""
        return json.dumps((self.type, self.data, self.node_id)).encode()

    @classmethod
    def unserialize(cls, data):
        """What `serialize` was called on."""
        return cls(*json.loads(data))
