"""The line of a TOML text on which a key or an element of a list stands, for messages."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from typing import Any

__all__ = ["line_of"]

Place = Sequence[str | int]


def line_of(text: str, place: Place) -> int | None:
    r"""The first line (from 1) that holds the value at `place`, such as ("learners", 1, "word").

    The value is there from the first line on after which the text up to there parses and has it;
    inside a statement of several lines, from the line on that names the last word of the place.

    >>> line_of('seed = 1\nmethods = [\n  "loo",\n  "holdout",\n]', ("methods", 1))
    4
    """
    lines = text.splitlines()
    whole = 0  # lines that parse by themselves, before the statement that holds the place
    for end in range(1, len(lines) + 1):
        content = _parsed("\n".join(lines[:end]))
        if content is None:
            continue
        if _has(content, place):
            return _inside(lines, whole, end, _value(content, place), place)
        whole = end
    return None


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


def _has(content: Any, place: Place) -> bool:
    try:
        _value(content, place)
    except (KeyError, IndexError, TypeError):
        return False
    return True


def _value(content: Any, place: Place) -> Any:
    for step in place:
        content = content[step]
    return content


def _inside(lines: list[str], start: int, end: int, value: Any, place: Place) -> int:
    """The line of a statement that shows the value, or else the name, or else the first."""
    shown = [str(value).lower() if isinstance(value, bool) else str(value)]
    if isinstance(value, dict):
        shown = [str(v) for v in value.values()] + list(value)
    for word in [*shown, *(step for step in reversed(place) if isinstance(step, str))]:
        for number in range(start, end):
            code = lines[number].partition("#")[0]
            if word and word in code:
                return number + 1
    return start + 1
