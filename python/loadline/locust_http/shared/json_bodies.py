"""JSON bodies: read without the detours of `json.loads`, which looks for an encoding first."""

import json

_scan = json.JSONDecoder().scan_once
_WHITE = " \t\n\r"


def read(content):
    """The value of a body; what is not plain UTF-8 goes through `json.loads`, and its errors."""
    try:
        text = content.decode()
        value, end = _scan(text, 0)
    except (ValueError, StopIteration):
        return json.loads(content)
    if end < len(text) and text[end:].strip(_WHITE):
        return json.loads(content)
    return value
