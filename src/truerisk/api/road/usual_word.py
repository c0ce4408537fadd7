"""The method where a user names none: folds, or splits that keep rows apart in time or space."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from truerisk.methods.words import USUAL_FOLDS, as_method

__all__ = ["parts_of", "usual_word"]


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

    That is K + 1 for K forecasts; 2 is taken for others, as folds have it. None among the methods
    is the usual one.

    >>> from types import SimpleNamespace
    >>> parts_of(SimpleNamespace(time=None, block=None), [None, "forward-9"])
    10
    """
    return max(_parts(as_method(usual_word(rows) if one is None else one)) for one in methods)


def _parts(method: Any) -> int:
    from truerisk.methods.nested import Nested
    from truerisk.methods.splitter import Splitter
    from truerisk.methods.temporal import Forward

    if isinstance(method, Forward):
        return method.k + 1
    if isinstance(method, Splitter) and method.goes_forward:
        return int(method.splitter.n_splits) + 1
    if isinstance(method, Nested):
        return max(_parts(method.outer_method), _parts(method.inner_method))
    return 2
