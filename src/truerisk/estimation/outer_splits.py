"""The splits that test: which they are where little is said of them, and what happened in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from truerisk.core.present import params_text
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
    usual = usual_word(rows)
    return max(as_method(usual if word is None else word).n_parts for word in methods)


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
