"""Losses of single rows, and the names of all losses.

Scores of whole test sets are defined in other files, which are imported when one of their names is
used.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from truerisk.core.arguments import as_array, check_clip, mention
from truerisk.core.errors import BadArgument, Refusal
from truerisk.core.overrides import override
from truerisk.core.registry import Registry, parse_registry_table
from truerisk.data.data import Data
from truerisk.losses.loss import Loss, RowLoss
from truerisk.plan.answers import Answers
from truerisk.results.finding import Finding

# Upper bound of the relative rounding error of a prediction that is a mean of a few values of y.
MAX_RELATIVE_ROUNDING = 8 * float(np.finfo(np.float64).eps)

registry = Registry(
    "loss",
    parse_registry_table(
        "truerisk.losses",
        """
    zero-one  row_losses:ZeroOne  1 for a wrong label, else 0 (classifiers' default)
    cost  row_losses:Cost  a cost matrix: tr.losses.Cost([[0, 1], [5, 0]])
    log  row_losses:Log  minus the log of the true class's probability
    brier  row_losses:Brier  squared distance of the probabilities to the truth
    squared  row_losses:Squared  (y - f)^2 (regressors' default)
    absolute  row_losses:Absolute  |y - f|
    auc  rank_scores:AUC  1 - AUC; of several classes the mean
    average-precision  rank_scores:AveragePrecision  1 - AP
    balanced-accuracy  confusion_scores:BalancedAccuracy  1 - mean recall of the classes
    f1  confusion_scores:FBeta  1 - F1; F2 is tr.losses.FBeta(2)
    precision  confusion_scores:Precision  1 - precision
    recall  confusion_scores:Recall  1 - recall
    sensitivity  confusion_scores:Sensitivity  the same as recall
    specificity  confusion_scores:Specificity  1 - specificity
    mcc  confusion_scores:MCC  1 - Matthews' correlation
    kappa  confusion_scores:Kappa  1 - Cohen's kappa
    g-mean  confusion_scores:GMean  1 - geometric mean of the classes' recalls
    r2  set_losses:R2  1 - R^2
    ece  set_losses:ECE  expected calibration error
    concordance  survival_losses:Concordance  1 - Harrell's C, of outcomes in time (their default)
    uno  survival_losses:Uno  1 - Uno's C
    integrated-brier  survival_losses:IntegratedBrier  mean Brier score over time
    brier-at  survival_losses:BrierAt  Brier score at a time: brier-at-5
    auc-at  survival_losses:AUCAt  1 - AUC at a time: auc-at-5
    """,
    ),
)


def names() -> list[str]:
    """Return the names that `scoring=` takes, in addition to those of scikit-learn.

    Returns
    -------
    list of str
        The names.

    See Also
    --------
    estimate_risk : Estimate the risk in a loss.
    truerisk.losses.Loss : The class from which losses derive.

    Examples
    --------
    >>> import truerisk as tr
    >>> tr.losses.names()[:3]
    ['zero-one', 'cost', 'log']
    """
    return registry.names()


class ZeroOne(RowLoss):
    """Zero-one loss: 1 for a wrong label, 0 for a right one.

    See Also
    --------
    truerisk.losses.Cost : Cost of each kind of mistake.
    truerisk.losses.BalancedAccuracy : Mean of the recalls of all classes.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> round(tr.estimate_risk(GaussianNB(), X, y, scoring=tr.losses.ZeroOne()).value, 4)
    0.1
    """

    name, response, binary, upper, perfect = "zero-one", "label", True, 1.0, 1.0

    @override
    def of_rows(self, data: Data, rows: np.ndarray, answers: np.ndarray) -> np.ndarray:
        # Arrays of equal types are compared fastest.
        truth = data.codes_of(rows).astype(answers.dtype, copy=False)
        is_wrong: np.ndarray = answers != truth
        return is_wrong.astype(np.float64)


class Cost(RowLoss):
    """Cost of a prediction: `matrix[t, p]` for true class t and predicted class p.

    Parameters
    ----------
    matrix : array, shape (n_classes, n_classes)
        The costs, with classes in sorted order. The diagonal is 0, because a right answer costs
        nothing.

    See Also
    --------
    truerisk.losses.ZeroOne : Share of wrong labels.
    truerisk.models.ThresholdClassifier : Classifier with a threshold of least cost.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> cost = tr.losses.Cost([[0, 1], [5, 0]])
    >>> round(tr.estimate_risk(GaussianNB(), X, y, scoring=cost).value, 4)
    0.2333
    """

    name, response = "cost", "label"

    def __init__(self, matrix: Any) -> None:
        try:
            self.matrix = as_array(matrix, np.float64)
        except ValueError:
            raise BadArgument(
                f"{mention('matrix', matrix)} holds no costs: give a square matrix of numbers, "
                "true classes in rows, such as [[0, 1], [5, 0]]."
            ) from None
        if self.matrix.ndim != 2 or self.matrix.shape[0] != self.matrix.shape[1]:
            raise Refusal(f"a cost matrix is square; this one has shape {self.matrix.shape}.")
        if not np.isfinite(self.matrix).all() or (self.matrix < 0).any():
            raise Refusal("costs are finite and not negative.")
        if self.matrix.diagonal().any():
            raise Refusal("the diagonal of a cost matrix is 0: a right answer costs nothing.")
        if not self.matrix.any():
            raise Refusal("every cost is 0: no answer is wrong. Give what mistakes cost.")
        self.upper = float(self.matrix.max())

    @override
    def check(self, data: Data) -> None:
        super().check(data)
        if len(self.matrix) != data.n_classes:
            raise Refusal(
                f"the cost matrix is for {len(self.matrix)} classes and y has {data.n_classes}."
            )

    @override
    def of_rows(self, data: Data, rows: np.ndarray, answers: np.ndarray) -> np.ndarray:
        if (answers < 0).any():
            raise Refusal("a model predicted a label that y does not hold: it has no cost.")
        return self.matrix[data.codes_of(rows)[None, :], answers]


class Log(RowLoss):
    """Logarithmic loss, −log of the probability that is given to the true class.

    Without `clip` a probability counts as at least machine epsilon, so that a certain and wrong
    prediction costs 36.04. With `clip` no prediction costs more than −log(clip), and the loss is
    bounded.

    Parameters
    ----------
    clip : float, optional
        Smaller probabilities count as this one.

    See Also
    --------
    truerisk.losses.Brier : Squared distance of probabilities.
    truerisk.losses.ECE : Expected calibration error.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> round(tr.estimate_risk(GaussianNB(), X, y, scoring=tr.losses.Log()).value, 4)
    0.3128
    """

    name, response = "log", "probability"

    def __init__(self, clip: float | None = None) -> None:
        if clip is not None:
            check_clip(clip)
            self.name, self.upper = f"log clipped at {clip:.15g}", -math.log(clip)
        self.clip = clip

    @override
    def of_rows(self, data: Data, rows: np.ndarray, answers: np.ndarray) -> np.ndarray:
        truth = data.codes_of(rows)
        p: np.ndarray = answers[:, np.arange(len(rows)), truth]
        # An infinite "probability" becomes NaN, since clipping would turn it into 1.
        p = np.where(np.isfinite(p), p, np.nan)
        return -np.log(np.clip(p, self.clip or np.finfo(np.float64).eps, 1.0))


class Brier(RowLoss):
    """Brier loss: squared distance between the probabilities and the true class.

    For two classes it is halved, so that it equals (p − y)².

    See Also
    --------
    truerisk.losses.Log : Logarithmic loss of probabilities.
    truerisk.losses.ECE : Expected calibration error.

    References
    ----------
    Brier GW (1950). Verification of forecasts expressed in terms of probability. Monthly Weather
    Review 78:1–3.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> round(tr.estimate_risk(GaussianNB(), X, y, scoring=tr.losses.Brier()).value, 4)
    0.0907
    """

    name, response = "brier", "probability"

    @override
    def of_rows(self, data: Data, rows: np.ndarray, answers: np.ndarray) -> np.ndarray:
        truth = np.eye(data.n_classes)[data.codes_of(rows)]
        distance: np.ndarray = ((answers - truth) ** 2).sum(axis=2)
        return distance / 2 if data.n_classes == 2 else distance

    @override
    def check(self, data: Data) -> None:
        super().check(data)
        self.upper = 1.0 if data.n_classes == 2 else 2.0


def error_sizes(size_function: np.ufunc, predictions: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the sizes of the prediction errors: their squares or absolute values.

    `size_function` is np.square or np.abs. An error that may be rounding alone counts as 0.
    Settings that fit y exactly are therefore tied, whichever engine computed their predictions.
    """
    magnitudes: np.ndarray = predictions - y
    size_function(magnitudes, out=magnitudes)
    is_exact = magnitudes <= size_function(MAX_RELATIVE_ROUNDING * y)
    if is_exact.any():
        magnitudes[is_exact] = 0.0
    return magnitudes


class Squared(RowLoss):
    """Squared loss (y − f)², or its mean over the targets if there are several.

    See Also
    --------
    truerisk.losses.Absolute : Absolute error.
    truerisk.losses.R2 : Share of explained variance.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.linear_model import Ridge
    >>> X, y = tr.datasets.make_daily_load(60, random_state=0)
    >>> risk = tr.estimate_risk(Ridge(), X, y, scoring=tr.losses.Squared(), checks=False)
    >>> round(risk.value, 4)
    1.0147
    """

    name, response = "squared", "value"
    tasks = ("regression",)

    @override
    def of_rows(self, data: Data, rows: np.ndarray, answers: np.ndarray) -> np.ndarray:
        losses = error_sizes(np.square, answers, data.y[rows])
        return losses.mean(axis=2) if losses.ndim == 3 else losses


class Absolute(RowLoss):
    """Absolute loss `|y − f|`, or its mean over the targets if there are several.

    See Also
    --------
    truerisk.losses.Squared : Squared error.
    truerisk.losses.R2 : Share of explained variance.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.linear_model import Ridge
    >>> X, y = tr.datasets.make_daily_load(60, random_state=0)
    >>> risk = tr.estimate_risk(Ridge(), X, y, scoring=tr.losses.Absolute(), checks=False)
    >>> round(risk.value, 4)
    0.8073
    """

    name, response = "absolute", "value"
    tasks = ("regression",)

    @override
    def of_rows(self, data: Data, rows: np.ndarray, answers: np.ndarray) -> np.ndarray:
        losses = error_sizes(np.abs, answers, data.y[rows])
        return losses.mean(axis=2) if losses.ndim == 3 else losses


def find_infinite_losses(predictions: Answers, data: Data, loss: Loss) -> list[tuple[Finding, ...]]:
    """Find, for each candidate, held-out rows whose true class was predicted with probability 0.

    Their log loss is infinite, and so is the mean: a value exists only because of the clip, and no
    interval is justified. Predictions for the training rows of a fit are skipped, as is a loss with
    a `clip`.
    """
    plan = predictions.plan
    if type(loss) is not Log or loss.clip is not None or predictions.response != "probability":
        return [()] * predictions.n_candidates
    rows, is_tested = plan.positions[0], ~np.repeat(plan.own_rows, plan.test_sizes)
    if data.sample_weight is not None:
        is_tested &= data.sample_weight[rows] > 0
    prediction_indices, truth = np.arange(len(rows)), data.codes_of(rows)
    rows_by_candidate = [
        rows[is_tested & (values[prediction_indices, truth] == 0)] for values in predictions.values
    ]
    return [
        _infinite_loss_finding(np.unique(infinite_loss_rows), rows[is_tested])
        for infinite_loss_rows in rows_by_candidate
    ]


def _infinite_loss_finding(
    infinite_loss_rows: np.ndarray, tested_rows: np.ndarray
) -> tuple[Finding, ...]:
    """Return a tuple with a finding on the rows of infinite log loss, or () without such rows."""
    if not len(infinite_loss_rows):
        return ()
    n_rows = len(np.unique(tested_rows))
    finding = Finding(
        "infinite-loss",
        f"{len(infinite_loss_rows)} of {n_rows} held-out rows (first: row {infinite_loss_rows[0]}) "
        "had "
        "probability 0 for their own class, so the log loss is infinite. The value given counts "
        "that probability as 2.2e-16, as scikit-learn does: it depends on this clip, and there is "
        "no interval.",
        "scoring=tr.losses.Log(clip=0.001), or the word log-clip-0.001, bounds what a row costs "
        "and has an interval.",
    )
    return (finding,)
