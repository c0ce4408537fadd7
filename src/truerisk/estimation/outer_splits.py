"""The splits that test: which they are where little is said of them, and what happened in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from truerisk.core.formats import params_text
from truerisk.methods.words import as_method, usual_word
from truerisk.results.records import Count, Share

if TYPE_CHECKING:
    from truerisk.core.family import Family
    from truerisk.estimation.problem import Problem
    from truerisk.results.evaluation import Evaluation


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


def outer_folds(problem: Problem, tested: Evaluation) -> tuple[OuterFold, ...]:
    """Return what happened in each outer split, on the scale that was asked for."""
    inner = getattr(problem.testing, "inner_method", None)
    scale = inside = problem.loss.scale
    if inner is not None:  # a criterion chooses in a loss of its own
        inside = inner.loss_of(problem.data, problem.loss, asked=problem.loss_asked).scale
    folds = []
    for unit in tested.units:
        fold = OuterFold(
            params=dict(problem.family.candidates[unit.candidate]),
            risk=scale.value(unit.risk),
            inner_risk=inside.value(unit.inner_risk),
            best_index=unit.candidate,
            repeat=unit.repeat,
            fold=unit.fold,
            n_train=unit.n_train,
            n_test=unit.n_test,
        )
        folds.append(fold)
    return tuple(folds)


def stability_of(folds: Sequence[OuterFold], best: int, family: Family) -> Stability:
    """Return how the outer splits agree with the setting that was chosen on all rows."""
    counts = Counter(map(attrgetter("best_index"), folds))
    return Stability(
        agreement=counts[best] / len(folds),
        frequencies=dict(counts.most_common()),
        n_splits=len(folds),
        candidates=family.candidates,
    )
