"""Users and their tasks."""

from .task import TaskSet, tag, task
from .users import HttpUser, User

__all__ = ["HttpUser", "TaskSet", "User", "tag", "task"]
