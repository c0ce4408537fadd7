"""From what a user writes as `outer=` to the method that tests a tuned learner."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from truerisk.core.contracts import Method
from truerisk.core.errors import Refusal
from truerisk.methods.interval_wanted import of_procedure
from truerisk.methods.nested import Nested, Pairs
from truerisk.methods.parts.averages import Averaged
from truerisk.methods.parts.procedure import Procedure
from truerisk.methods.racing import RacedPairs, Racing
from truerisk.methods.splitter import Splitter
from truerisk.methods.words import as_method

__all__ = ["testing_method"]


def testing_method(
    outer: Any,
    select_by: Method,
    otherwise: Any,
    interval: str | None = None,
    *,
    compare: bool = False,
) -> Procedure:
    """Nested validation of tuning by `select_by`: in the pairs of its folds, or by outer splits.

    "pairs" is meant where nothing is named. Where `select_by` has no folds (a criterion, random
    splits), `otherwise` takes their place; where it keeps to the order of time, whose rows cannot
    be left out in pairs, it is repeated around itself. `compare` as in `Nested`. Where an
    `interval` is asked for, it is the method that draws what that needs.

    >>> testing_method("pairs", as_method("5-fold"), "10-fold").word
    'pairs (5-fold)'
    >>> testing_method("pairs", as_method("aic"), "10-fold").word
    'nested (10-fold, inner aic)'
    >>> testing_method("pairs", as_method("forward-3"), "10-fold").word
    'nested (forward-3, inner forward-3)'
    """
    method = _procedure(outer, select_by, otherwise, compare)
    return method if interval is None else of_procedure(method, interval)


def _procedure(outer: Any, select_by: Method, otherwise: Any, compare: bool) -> Procedure:
    method = Pairs() if outer is None else as_method(outer)
    if isinstance(select_by, Racing):
        return _raced(method, select_by, compare)
    if not isinstance(method, Pairs):
        return Nested(method, select_by, compare)
    if method.folds is not None:
        return replace(method, compare=compare)
    if select_by.respects_time or (isinstance(select_by, Splitter) and select_by.goes_forward):
        return Nested(select_by, select_by, compare)
    if isinstance(select_by, Averaged) and select_by.has_folds:
        return replace(method, folds=select_by, compare=compare)
    return Nested(otherwise, select_by, compare)


def _raced(method: Method, race: Racing, compare: bool) -> Procedure:
    if not isinstance(method, Pairs) or method.folds is not None:
        raise Refusal(
            f"'{race.word}' is tested in the pairs of its own folds, and '{method.word}' was asked "
            "for: use outer='pairs', or compare by folds, such as '10-fold'."
        )
    return RacedPairs(race, compare, method.average)
