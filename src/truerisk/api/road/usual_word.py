"""The method where a user names none: folds, or splits that keep rows apart in time or space."""

from __future__ import annotations

from typing import Any

__all__ = ["USUAL_FOLDS", "usual_word"]

USUAL_FOLDS = "10-fold"


def usual_word(rows: Any, otherwise: str = USUAL_FOLDS) -> str:
    """The word of the usual method for `rows`, anything with a `time` and a `block`.

    Where both are given, time decides: a model is used after the rows it learned from.

    >>> from types import SimpleNamespace
    >>> usual_word(SimpleNamespace(time=[1, 2, 3], block=None))
    'forward-5'
    """
    if rows.time is not None:
        return "forward-5"
    return otherwise if rows.block is None else "blocks-5"
