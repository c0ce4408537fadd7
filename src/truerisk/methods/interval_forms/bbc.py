"""Percentiles of bootstrapped losses, with the choice among the candidates made anew each time."""

from __future__ import annotations

from typing import ClassVar

from truerisk.methods.bootstrapped_choice import corrected_in_any_order
from truerisk.methods.interval_forms.form import (
    NO_SPREAD,
    Evidence,
    IntervalForm,
    Sureness,
    is_none,
)

__all__ = ["Percentiles"]


class Percentiles(IntervalForm):
    """Percentiles of the losses of bootstrapped rows, each sample tested on the rows it missed.

    For the candidate that the rule chose, every sample chooses anew among all candidates
    (bootstrap-bias-corrected cross-validation, Tsamardinos et al., 2018), so the interval is that
    of the choice, and may lie above the chosen value. For the others it is that of one setting.
    With groups whole groups are drawn. 1000 samples of a fixed seed.
    """

    word: ClassVar[str] = "bbc"
    counts_choice: ClassVar[bool] = True
    draws_rows: ClassVar[bool] = True

    def of(self, evidence: Evidence) -> Sureness:
        marks = evidence.marks
        if evidence.all_losses is None or evidence.weights is None or marks is None:
            raise self.lacks("losses of single rows", "use a K-fold method")
        mine = slice(evidence.candidate, evidence.candidate + 1)
        losses = evidence.all_losses if evidence.best else evidence.all_losses[mine]
        rule = evidence.terms.rule if len(losses) > 1 else None
        corrected = corrected_in_any_order(losses, evidence.weights, evidence.groups, rule, marks)
        error = float(corrected.replicates.std(ddof=1))
        if is_none(error, evidence.value):
            return None, None, (NO_SPREAD,)
        if len(losses) == 1:
            return error, corrected.interval(evidence.terms.confidence_level), ()
        note = (
            f"the interval counts the choice among {len(losses)} settings; the risk of the choice "
            f"is about {corrected.value:.4g} (bootstrap-bias-corrected)."
        )
        return error, corrected.interval(evidence.terms.confidence_level), (note,)
