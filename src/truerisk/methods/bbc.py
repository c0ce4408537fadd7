"""Bootstrap-bias-corrected cross-validation: the risk of choosing a setting by K-fold losses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from truerisk.contracts import Terms
from truerisk.core.arguments import mention
from truerisk.core.errors import Refusal
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.intervals import NO_SPREAD
from truerisk.intervals.bootstrapped_choice import order_free_corrected_risk
from truerisk.losses.loss import Loss
from truerisk.methods.kfold import KFold
from truerisk.plan.answers import Ask
from truerisk.plan.plan import Plan
from truerisk.results.evaluation import Evaluation, Target, Tested
from truerisk.results.interval import Basis

PROCEDURE_NOTE = (
    "risk of the procedure that chooses a setting by these folds, not of one setting "
    "(bootstrap bias corrected)"
)


@frozen
class BootstrapBiasCorrected(KFold):
    """K-fold cross-validation with a bias-corrected risk of the setting that it chooses.

    The corrected risk is the `procedure` of the result. The out-of-fold losses of all candidates
    are bootstrapped by rows. In each sample a candidate is chosen, and it is tested on the rows
    that the sample missed. The mean over 1000 samples is the risk of "choose, then fit", and their
    percentiles are its interval (`bbc`). This needs no fits beyond the K fits of each candidate,
    whereas nested cross-validation needs K times as many. The losses of each candidate are those of
    K-fold cross-validation, so that the value has its slight pessimism.

    The samples have a fixed seed and are drawn from the rows sorted by their contents. Hence the
    result depends neither on the order of rows, columns and classes, nor on the last bits of the
    losses. If there are groups, whole groups are drawn.

    Parameters
    ----------
    k : int, default=10
        The number of folds.
    repeats : int, default=1
        How often new folds are drawn.
    stratify : bool, default=True
        If True, each part has about the same shares of the classes.
    folds : array, shape (n_rows,) or (repeats, n_rows), optional
        The fold numbers of the rows, instead of drawn ones.
    average : {"pooled", "fold"}, optional
        How the tests are averaged: over all rows together ("pooled"), or first within each fold
        ("fold"). By default as the loss requires.

    See Also
    --------
    truerisk.methods.KFold : K-fold cross-validation.
    truerisk.methods.Nested : Risk of choosing and fitting, by nested folds.
    truerisk.methods.Pairs : Risk of choosing and fitting, from one set of folds.

    References
    ----------
    Tsamardinos, Greasidou and Borboudakis (2018), Bootstrapping the out-of-sample predictions for
    efficient and accurate cross-validation. Machine Learning 107.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> grid, method = {"n_neighbors": [1, 5, 25]}, tr.methods.BootstrapBiasCorrected(5)
    >>> print(tr.risk_curve(KNeighborsClassifier(), grid, X, y, cv=method).procedure)
    risk 0.1550 (zero-one, bbc (5-fold)), 95 % interval [0.0435, 0.3000] (bbc)
    """

    target: ClassVar[Target] = "Err"
    gives: ClassVar[frozenset[Basis]] = frozenset({Basis.LOSSES})

    @property
    @override
    def name(self) -> str:
        return "bbc" if self.k == 10 and self.repeats == 1 else f"bbc ({super().name})"

    @override
    def check(self, data: Data, loss: Loss) -> None:
        super().check(data, loss)
        if not loss.per_row:
            raise Refusal(
                f"method 'bbc' bootstraps losses of single rows, and loss '{loss.name}' has none: "
                f"use a loss such as 'zero-one' or 'brier', or {mention('cv', 'nested')}."
            )

    @override
    def evaluate(self, ask: Ask, data: Data, loss: Loss, plan: Plan, terms: Terms) -> Evaluation:
        evaluation = super().evaluate(ask, data, loss, plan, terms)
        if len(evaluation.tested) < 2:
            return evaluation
        return replace(evaluation, procedure=self._correct_bias(evaluation.tested, data, terms))

    def _correct_bias(self, estimates: Sequence[Tested], data: Data, terms: Terms) -> Tested:
        """Return the bias-corrected risk of choosing a candidate by these out-of-fold losses."""
        rows = estimates[0].loss_rows
        assert rows is not None
        losses = np.array([candidate_estimate.losses for candidate_estimate in estimates])
        weights = data.weights(rows)
        corrected_risk = order_free_corrected_risk(
            losses,
            np.ones(len(rows)) if weights is None else weights,
            None if data.clusters is None else data.clusters[rows],
            terms.rule,
            data.row_marks[rows],
        )
        chosen_estimates = [
            candidate_estimate
            for candidate_estimate, n_times_chosen in zip(
                estimates, corrected_risk.selection_counts, strict=True
            )
            if n_times_chosen
        ]
        findings = dict.fromkeys(
            finding
            for candidate_estimate in chosen_estimates
            for finding in candidate_estimate.findings
        )
        estimate = Tested(
            corrected_risk.value, notes=(PROCEDURE_NOTE,), findings=tuple(findings)[:1]
        )
        if not np.ptp(corrected_risk.bootstrap_risks) > 0:
            return replace(estimate, notes=(PROCEDURE_NOTE, NO_SPREAD))
        std_error = float(corrected_risk.bootstrap_risks.std(ddof=1))
        interval = corrected_risk.interval(terms.confidence_level)
        return replace(estimate, std_error=std_error, interval=interval)
