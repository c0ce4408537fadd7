"""Outer splits: the number of parts that a method needs, and the setting that each split chose."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from truerisk.core.formats import format_number, format_params
from truerisk.core.frozen import frozen
from truerisk.core.tables import Block
from truerisk.methods.words import as_method, name_default_method
from truerisk.results.records import Count, Share

if TYPE_CHECKING:
    from truerisk.core.family import Family
    from truerisk.estimation.problem import EstimationProblem
    from truerisk.results.evaluation import Evaluation


def max_n_parts(rows: Any, methods: Iterable[Any]) -> int:
    """Return the largest number of parts into which any of these methods divides the rows.

    The smallest training set of a method is one of its parts. A method with K forecasts has K + 1
    parts. Any other method counts as 2 parts. None among the methods stands for the default method.

    >>> from types import SimpleNamespace
    >>> max_n_parts(SimpleNamespace(time=None, block=None), [None, "forward-9"])
    10
    """
    default_method = name_default_method(rows)
    return max(as_method(default_method if name is None else name).n_parts for name in methods)


@frozen
class OuterFold:
    """One outer split: the setting chosen on its training set and the risk on its test set.

    `risk` and `inner_risk` are on the scale of the requested score. The object can also be used as
    a mapping.
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
        """Iterate over the names of the fields, as a mapping does."""
        return iter(asdict(self))


@frozen
class Stability:
    """Stability of the choice of a setting: how often outer splits choose as all rows do.

    `agreement` is the proportion of outer splits that chose the same setting as all rows.
    `frequencies` counts the choices by candidate number, the most frequent first.
    """

    agreement: Share
    frequencies: Mapping[int, Count]
    n_splits: Count
    candidates: tuple[Mapping[str, Any], ...]

    @property
    def flaw(self) -> tuple[str, str] | None:
        """Name of an invalid field and the reason, or None if the record is valid."""
        has_candidates = all(candidate < len(self.candidates) for candidate in self.frequencies)
        return None if has_candidates else ("frequencies", "the counts of settings")

    @property
    def n_distinct(self) -> int:
        """Number of different settings that the outer splits chose."""
        return len(self.frequencies)

    def __float__(self) -> float:
        return self.agreement

    def _repr_html_(self) -> str:
        caption = f"{self.agreement:.0%} of the outer splits chose the same setting."
        rows = [
            [format_params(self.candidates[candidate]), f"{n} of {self.n_splits}"]
            for candidate, n in self.frequencies.items()
        ]
        return Block(caption, ["setting", "chosen by"], rows).html

    def __str__(self) -> str:
        choice_text = "; ".join(
            f"{format_params(self.candidates[candidate])} {n} of {self.n_splits}"
            for candidate, n in self.frequencies.items()
        )
        return f"{self.agreement:.0%} of the outer splits chose the same setting ({choice_text})"


class OuterFolds(tuple[OuterFold, ...]):
    """Outer splits, which a notebook shows as a table."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        rows = [
            [
                *(str(number) for number in (fold.repeat, fold.fold, fold.n_train, fold.n_test)),
                format_params(fold.params),
                format_number(fold.inner_risk),
                format_number(fold.risk),
            ]
            for fold in self
        ]
        header = ["repeat", "fold", "rows trained", "rows tested", "setting", "selected", "honest"]
        return Block("Outer splits", header, rows).html


def outer_folds(problem: EstimationProblem, evaluation: Evaluation) -> OuterFolds:
    """Return an `OuterFold` for each outer split, with risks on the scale of the score."""
    inner_method = getattr(problem.testing_method, "inner_method", None)
    outer_scale = inner_scale = problem.loss.scale
    # If settings are chosen by a criterion such as AIC, the inner risk is on its scale.
    if inner_method is not None:
        inner_scale = inner_method.loss_of(
            problem.data, problem.loss, requested=problem.is_loss_requested
        ).scale
    folds = []
    for outer_split in evaluation.units:
        fold = OuterFold(
            params=dict(problem.family.candidates[outer_split.candidate]),
            risk=outer_scale.value(outer_split.risk),
            inner_risk=inner_scale.value(outer_split.inner_risk),
            best_index=outer_split.candidate,
            repeat=outer_split.repeat,
            fold=outer_split.fold,
            n_train=outer_split.n_train,
            n_test=outer_split.n_test,
        )
        folds.append(fold)
    return OuterFolds(folds)


def choice_stability(folds: Sequence[OuterFold], best_candidate: int, family: Family) -> Stability:
    """Return how often the outer splits chose the setting that was chosen on all rows."""
    choice_counts = Counter(map(attrgetter("best_index"), folds))
    return Stability(
        agreement=choice_counts[best_candidate] / len(folds),
        frequencies=dict(choice_counts.most_common()),
        n_splits=len(folds),
        candidates=family.candidates,
    )
