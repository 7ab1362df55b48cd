"""The client of `FastHttpUser`: requests, responses, and those that the engine does not send."""
