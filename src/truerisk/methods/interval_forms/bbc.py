"""Percentiles of bootstrapped losses, with the choice among the candidates made anew each time."""

from __future__ import annotations

from typing import ClassVar

from truerisk.core.interval import Basis
from truerisk.methods.bootstrapped_choice import corrected_in_any_order
from truerisk.methods.interval_forms.evidence import RowEvidence
from truerisk.methods.interval_forms.form import (
    NO_SPREAD,
    OF_ROWS,
    IntervalForm,
    Needs,
    Sureness,
    is_none,
)

__all__ = ["Percentiles"]


class Percentiles(IntervalForm[RowEvidence]):
    """Percentiles of the losses of bootstrapped rows, each sample tested on the rows it missed.

    For the candidate that the rule chose, every sample chooses anew among all candidates
    (bootstrap-bias-corrected cross-validation, Tsamardinos et al., 2018), so the interval is that
    of the choice, and may lie above the chosen value. For the others it is that of one setting.
    With groups whole groups are drawn. 1000 samples of a fixed seed.
    """

    word: ClassVar[str] = "bbc"
    counts_choice: ClassVar[bool] = True
    needs: ClassVar[Needs] = {**OF_ROWS, Basis.LOSSES: "use a K-fold word such as '10-fold'"}
    reference: ClassVar[str] = (
        "Tsamardinos I, Greasidou E, Borboudakis G (2018). Bootstrapping the out-of-sample "
        "predictions for efficient and accurate cross-validation. Machine Learning 107:1895–1922."
    )

    def of(self, evidence: RowEvidence, c: int) -> Sureness:
        losses = evidence.losses if c == evidence.best else evidence.losses[c : c + 1]
        rule = evidence.terms.rule if len(losses) > 1 else None
        corrected = corrected_in_any_order(
            losses, evidence.weights, evidence.groups, rule, evidence.marks
        )
        error = float(corrected.replicates.std(ddof=1))
        if is_none(error, float(evidence.values[c])):
            return None, None, (NO_SPREAD,)
        if len(losses) == 1:
            return error, corrected.interval(evidence.terms.confidence_level), ()
        note = (
            f"the interval counts the choice among {len(losses)} settings; the risk of the choice "
            f"is about {corrected.value:.4g} (bootstrap-bias-corrected)."
        )
        return error, corrected.interval(evidence.terms.confidence_level), (note,)
