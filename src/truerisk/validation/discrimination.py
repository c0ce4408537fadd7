"""Discrimination: whether rows in which the event came are given more than others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from truerisk.core.records import Record
from truerisk.core.registry import of_word
from truerisk.core.statistics.roc import RocCurve
from truerisk.validation.measures import Measured, table_of
from truerisk.validation.outcomes import HeldOut, Outcomes

__all__ = ["Discrimination", "without_interval"]

POOLED = "scores of different models are pooled: their scales may differ from fold to fold."
NO_INTERVAL = (
    "this area of pooled answers has no interval: one would take the rows as tests of one rule, "
    "and every fold had its own. scores=['auc'] tells the AUC with an interval that counts it."
)


@dataclass(frozen=True, eq=False)
class Discrimination(Record):
    """AUC, average precision, R² and D (`measures`), and the ROC curve of held-out answers.

    AUC and average precision are averaged as the scores of a search are, with their intervals; the
    curve pools the answers of all folds, so that its area may differ a little.
    """

    event: str
    measures: Mapping[str, Measured]
    roc: RocCurve | None = field(default=None, repr=False)
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, held: HeldOut, outcomes: Outcomes, event: str, measures: Mapping[str, Measured]
    ) -> Discrimination:
        """Of held-out answers about two outcomes; no curve where one of them never came."""
        if outcomes.of_one_class:
            return cls(event, measures)
        roc = RocCurve.of(
            held.truth == 1,
            held.answers if held.answers.ndim == 1 else held.answers[:, 1],
            weights=held.weights,
            groups=held.rows if held.groups is None else held.groups,
            rows=held.rows,
            method="held-out answers",
        )
        return cls(event, measures, without_interval(roc, pooled=held.response == "score"))

    def __getitem__(self, word: str) -> Measured:
        return of_word(word, self.measures)

    def __iter__(self) -> Iterator[str]:
        return iter(self.measures)

    def __str__(self) -> str:
        return table_of(self.measures)


def without_interval(curve: RocCurve, *, pooled: bool) -> RocCurve:
    """The curve without DeLong's interval, which knows no folds; the notes say why.

    `pooled` says that it is of scores of several models.
    """
    notes = (POOLED, NO_INTERVAL) if pooled else (NO_INTERVAL,)
    return replace(curve, std_error=None, interval=None, notes=notes)
