"""The splits that test: which they are where little is said of them, and what happened in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from truerisk.contracts import Method
from truerisk.core.errors import Refusal
from truerisk.core.present import params_text
from truerisk.methods.interval_wanted import of_procedure
from truerisk.methods.nested import Nested, Pairs
from truerisk.methods.parts.averages import Averaged
from truerisk.methods.parts.procedure import Procedure
from truerisk.methods.racing import RacedPairs, Racing
from truerisk.methods.splitter import Splitter
from truerisk.methods.temporal import Forward
from truerisk.methods.words import USUAL_FOLDS, as_method
from truerisk.results.records import Count, Share


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


def n_parts(rows: Any, methods: Iterable[Any]) -> int:
    """Into how many parts a method cuts the rows of which its least training set has only one.

    That is K + 1 for K forecasts; 2 is taken for others, as folds have it. None among the methods
    is the usual one.

    >>> from types import SimpleNamespace
    >>> n_parts(SimpleNamespace(time=None, block=None), [None, "forward-9"])
    10
    """
    return max(_n_parts(as_method(usual_word(rows) if word is None else word)) for word in methods)


def _n_parts(method: Any) -> int:
    if isinstance(method, Forward):
        return method.k + 1
    if isinstance(method, Splitter) and method.goes_forward:
        return int(method.splitter.n_splits) + 1
    if isinstance(method, Nested):
        return max(_n_parts(method.outer_method), _n_parts(method.inner_method))
    return 2


def goes_forward(method: Any) -> bool:
    """Return True if the method tests rows by models that saw rows before them alone."""
    outer = getattr(method, "outer_method", method)
    return outer.respects_time or (isinstance(outer, Splitter) and outer.goes_forward)


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
        if not isinstance(method, Pairs) or method.folds is not None:
            raise Refusal(
                f"'{select_by.word}' is tested in the pairs of its own folds, and '{method.word}' "
                "was asked for: use outer='pairs', or compare by folds, such as '10-fold'."
            )
        return RacedPairs(select_by, compare, method.average)
    if not isinstance(method, Pairs):
        return Nested(method, select_by, compare)
    if method.folds is not None:
        return replace(method, compare=compare)
    if goes_forward(select_by):
        return Nested(select_by, select_by, compare)
    if isinstance(select_by, Averaged) and select_by.has_folds:
        return replace(method, folds=select_by, compare=compare)
    return Nested(otherwise, select_by, compare)


@dataclass(frozen=True)
class OuterFold:
    """One outer split: what was chosen inside it, and the risk outside. Also a mapping.

    `risk` and `inner_risk` are on the scale that was asked for.
    """

    params: Mapping[str, Any]
    risk: float
    inner_risk: float
    best_index: Count
    repeat: Count
    fold: Count
    n_train: Count
    n_test: Count

    def __getitem__(self, name: str) -> Any:
        return asdict(self)[name]

    def keys(self) -> Iterator[str]:
        return iter(asdict(self))


@dataclass(frozen=True)
class Stability:
    """`agreement` is the share of outer splits that chose what was chosen on all rows.

    `frequencies` counts the choices by candidate number, the most frequent first.
    """

    agreement: Share
    frequencies: Mapping[int, Count]
    n_splits: Count
    candidates: tuple[Mapping[str, Any], ...]

    @property
    def flaw(self) -> tuple[str, str] | None:
        """What makes it none, where it was read from a file."""
        has_candidates = all(c < len(self.candidates) for c in self.frequencies)
        return None if has_candidates else ("frequencies", "the counts of settings")

    @property
    def n_distinct(self) -> int:
        """How many different settings were chosen."""
        return len(self.frequencies)

    def __float__(self) -> float:
        return self.agreement

    def __str__(self) -> str:
        counts = "; ".join(
            f"{params_text(self.candidates[c])} {n} of {self.n_splits}"
            for c, n in self.frequencies.items()
        )
        return f"{self.agreement:.0%} of the outer splits chose the same setting ({counts})"
