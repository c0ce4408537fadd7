"""What happened in the outer splits of a nested estimate: the choices, and how stable they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from truerisk.api.road.compute import Computed
from truerisk.core.present import params_text

__all__ = ["OuterFold", "Stability", "outer_folds", "stability"]


@dataclass(frozen=True)
class OuterFold:
    """One outer split: what was chosen inside it, and the risk outside. Also a mapping."""

    params: Mapping[str, Any]
    risk: float
    inner_risk: float
    best_index: int
    repeat: int
    fold: int
    n_train: int
    n_test: int

    def __getitem__(self, name: str) -> Any:
        return asdict(self)[name]

    def keys(self) -> Iterator[str]:
        return iter(asdict(self))


@dataclass(frozen=True)
class Stability:
    """`agreement` is the share of outer splits that chose what was chosen on all rows.

    `frequencies` counts the choices by candidate number, the most frequent first.
    """

    agreement: float
    frequencies: Mapping[int, int]
    n_splits: int
    candidates: tuple[Mapping[str, Any], ...]

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


def outer_folds(honest: Computed) -> tuple[OuterFold, ...]:
    """One record per outer split."""
    candidates = honest.problem.family.candidates
    return tuple(
        OuterFold(
            params=dict(candidates[unit.candidate]),
            risk=unit.risk,
            inner_risk=unit.inner_risk,
            best_index=unit.candidate,
            repeat=unit.repeat,
            fold=unit.fold,
            n_train=unit.n_train,
            n_test=unit.n_test,
        )
        for unit in honest.evaluation.units
    )


def stability(honest: Computed, best_index: int) -> Stability:
    """Agreement of the outer choices with the choice on all rows."""
    counts = Counter(unit.candidate for unit in honest.evaluation.units)
    n = len(honest.evaluation.units)
    return Stability(
        agreement=counts[best_index] / n,
        frequencies=dict(counts.most_common()),
        n_splits=n,
        candidates=honest.problem.family.candidates,
    )
