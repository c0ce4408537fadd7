"""Discrimination: whether rows in which the event came are given more than others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from truerisk.core.records import Record
from truerisk.core.registry import of_word
from truerisk.core.statistics.roc import RocCurve
from truerisk.core.validation.measured import Measured, table_of

__all__ = ["Discrimination"]


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

    def __getitem__(self, word: str) -> Measured:
        return of_word(word, self.measures)

    def __iter__(self) -> Iterator[str]:
        return iter(self.measures)

    def __str__(self) -> str:
        return table_of(self.measures)
