"""Arguments as someone would type them again: short values, else the names of variables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

__all__ = ["as_typed"]

LONGEST = 120


def as_typed(**arguments: Any) -> dict[str, str]:
    """Of every argument that was given the text after its "=".

    Rows are not written out: an array is the variable that is called like the argument.

    >>> as_typed(time=np.arange(3), block=None, scores=["auc"], validate={"subgroups": "sex"})
    {'time': 'time', 'scores': "['auc']", 'validate': "{'subgroups': 'sex'}"}
    """
    return {name: _typed(name, value) for name, value in arguments.items() if value is not None}


def _typed(name: str, value: Any) -> str:
    text = _text(name, value)
    return text if len(text) <= LONGEST and "\n" not in text else name


def _text(name: str, value: Any) -> str:
    """Its own text where it is plain, or a mapping of what is; else the variable of that name."""
    if isinstance(value, np.generic):
        value = value.item()
    if _plain(value):
        return repr(value)
    if isinstance(value, list | tuple) and all(map(_plain, value)):
        return repr(list(value))
    if isinstance(value, Mapping):
        parts = (f"{str(key)!r}: {_text(_name(key, name), one)}" for key, one in value.items())
        return f"{{{', '.join(parts)}}}"
    return name


def _plain(value: Any) -> bool:
    return value is None or type(value) in (bool, int, float, str)


def _name(key: Any, otherwise: str) -> str:
    return key if isinstance(key, str) and key.isidentifier() else otherwise
