"""Discrimination: whether rows in which the event came are given more than others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from truerisk.core import present
from truerisk.core.registry import of_word
from truerisk.core.statistics.roc import RocCurve
from truerisk.core.validation.measured import Measured, table_of

__all__ = ["Discrimination"]


@dataclass(frozen=True, eq=False)
class Discrimination(present.Brief):
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

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "event": self.event,
            "measures": {word: one.to_dict() for word, one in self.measures.items()},
            "roc": None if self.roc is None else self.roc.to_dict(),
            "notes": present.plain(self.notes),
        }

    def __str__(self) -> str:
        return table_of(self.measures)
