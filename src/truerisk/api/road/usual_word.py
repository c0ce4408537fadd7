"""The method where a user names none: folds, or splits that keep rows apart in time or space."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["USUAL_FOLDS", "parts_of", "usual_word"]

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


def parts_of(rows: Any, methods: Iterable[Any]) -> int:
    """Into how many parts a method cuts the rows of which its least training set has only one.

    That is K + 1 for K forecasts, and 2 for all others; None among the methods is the usual one.

    >>> from types import SimpleNamespace
    >>> parts_of(SimpleNamespace(time=None, block=None), [None, "forward-9"])
    10
    """
    from truerisk.methods.forward import Forward
    from truerisk.methods.words import as_method

    found = [as_method(usual_word(rows) if one is None else one) for one in methods]
    return max((one.k + 1 for one in found if isinstance(one, Forward)), default=2)
