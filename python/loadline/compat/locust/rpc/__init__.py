"""Messages between the processes of a run."""

from .protocol import Message

__all__ = ["Message"]
