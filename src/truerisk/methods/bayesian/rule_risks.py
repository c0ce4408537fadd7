"""Risks of linear rules by their posteriors: values at once, one estimate when it is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from truerisk.core.answers import Answers
from truerisk.core.evaluation import RisksByColumn, Tested
from truerisk.methods.bayesian.rule_errors import Credible, RuleErrors
from truerisk.methods.parts.averages import failure_notes

__all__ = ["RuleRisks", "risks_of"]

_LEAST_RANK = -1e300  # below every log of an error: rules whose error is 0 for sure
_SURE = "the rule is constant, or a class has no spread: its error is sure, so there is no interval"


@dataclass(frozen=True, eq=False)
class RuleRisks:
    """The risks of the rules of one block; `logs` are those of their posterior means.

    `errors` are the posteriors that state a standard error and an interval, None where none is.
    """

    candidates: np.ndarray
    logs: np.ndarray
    notes: Sequence[tuple[str, ...]]
    errors: RuleErrors | None
    confidence_level: float

    @cached_property
    def values(self) -> np.ndarray:
        return np.asarray(np.exp(self.logs))

    @cached_property
    def ranks(self) -> np.ndarray:
        """By the log, which tells rules apart whose errors are 1e-400."""
        return np.asarray(np.maximum(self.logs, _LEAST_RANK))

    def one(self, rule: int) -> Tested:
        """The estimate of one rule."""
        sure = self._sure is not None and bool(self._sure[rule])
        later = None
        if self.errors is not None and not sure and self.errors.too_wide(rule) is None:
            later = Credible(self.errors, rule, self.confidence_level)
        return Tested(
            float(self.values[rule]),
            split_risks=self.values[rule : rule + 1],
            notes=(*self.notes[rule], _SURE) if sure else self.notes[rule],
            later=later,
            rank=float(self.ranks[rule]),
        )

    @cached_property
    def _sure(self) -> np.ndarray | None:
        return None if self.errors is None else self.errors.are_sure()


def risks_of(blocks: Sequence[RuleRisks], answers: Answers) -> RisksByColumn:
    """Of all candidates; one whose fit failed has none."""
    values = np.full(answers.n_candidates, np.nan)
    ranks = values.copy()
    for block in blocks:
        values[block.candidates], ranks[block.candidates] = block.values, block.ranks
    return RisksByColumn(values, ranks, _Placed(blocks, answers).one)


@dataclass(frozen=True, eq=False)
class _Placed:
    """Which rule is a candidate's."""

    blocks: Sequence[RuleRisks]
    answers: Answers

    def one(self, candidate: int) -> Tested:
        """The estimate of one candidate."""
        found = Tested(np.nan, rank=np.nan)
        for block in self.blocks:
            for rule in np.flatnonzero(block.candidates == candidate):
                found = block.one(int(rule))
        if not self.answers.failures:
            return found
        return replace(found, notes=found.notes + failure_notes(self.answers, candidate))
