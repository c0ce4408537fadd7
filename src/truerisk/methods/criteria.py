"""Criteria such as Cp, from one fit on all rows: training risk plus a penalty per parameter."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from truerisk.contracts import Method, Streams, Terms
from truerisk.core.arguments import is_number, mention
from truerisk.core.errors import BadArgument, BadData, Refusal
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.data.data import Data, TaskName
from truerisk.losses.loss import Loss
from truerisk.losses.row_losses import Log, Squared
from truerisk.methods.parts.averages import failure_notes
from truerisk.plan.answers import Answers, Response
from truerisk.plan.blocks import ALL
from truerisk.plan.builder import PlanBuilder
from truerisk.plan.extras.model_facts import ModelFacts, get_degrees_of_freedom
from truerisk.plan.plan import Plan
from truerisk.results.evaluation import Target, Tested


class MinusTwoLogLikelihood(Loss):
    r"""Minus twice the log-likelihood of a set of rows, as R computes it.

    Numbers are Gaussian around the predictions, with the variance at its maximum-likelihood value
    RSS/n: :math:`n \log(2\pi\,\mathrm{RSS}/n) + n`, minus :math:`\sum \log w_i` if rows have
    weights (precisions). For classes it is :math:`-2 \sum_i \log \hat p_{y_i}(x_i)`.
    """

    name = "-2 log L"
    tasks: tuple[TaskName, ...] = ("classification", "regression")
    per_row = False
    lower = None

    def __init__(self, task: TaskName) -> None:
        self.response: Response = "probability" if task == "classification" else "value"

    def of_set(
        self, data: Data, rows: np.ndarray, answers: np.ndarray, weights: np.ndarray | None
    ) -> np.ndarray:
        """Return −2 log L per candidate: −∞ for exact fits, +∞ if a label has probability 0."""
        if data.task == "classification":
            label_probabilities = answers[:, np.arange(len(rows)), data.codes_of(rows)]
            with np.errstate(divide="ignore"):
                class_minus_2_log_l: np.ndarray = -2 * np.log(label_probabilities).sum(axis=1)
            return class_minus_2_log_l
        n = len(rows)
        rss = residual_sums_of_squares(data, rows, answers, weights)
        log_weight_sum = 0.0 if weights is None else float(np.log(weights).sum())
        with np.errstate(divide="ignore"):
            gaussian_minus_2_log_l: np.ndarray = (
                n * np.log(2 * np.pi * rss / n) + n - log_weight_sum
            )
        return np.where(has_exact_fit(data, rows, rss, weights), -np.inf, gaussian_minus_2_log_l)


def residual_sums_of_squares(
    data: Data, rows: np.ndarray, predictions: np.ndarray, weights: np.ndarray | None
) -> np.ndarray:
    """Return the (weighted) residual sum of squares of every candidate."""
    squared_residuals = (predictions - data.y[rows]) ** 2
    return squared_residuals.sum(axis=1) if weights is None else squared_residuals @ weights


def has_exact_fit(
    data: Data, rows: np.ndarray, rss: np.ndarray, weights: np.ndarray | None
) -> np.ndarray:
    """Return a mask of candidates that fit y exactly, up to rounding errors of 2^-46 times y."""
    y = data.y[rows].astype(np.float64)
    sum_of_squares = (y**2).sum() if weights is None else (y**2 * weights).sum()
    return rss <= sum_of_squares * 2.0**-92


NO_STD_ERROR_REASON = "no formula is known for the standard error of a criterion."
REMEDY = "use a method that holds rows out, such as '10-fold'"


@frozen
class Criterion(Method):
    """Model selection criterion, computed from one fit on all rows and its degrees of freedom."""

    target: ClassVar[Target] = "CER"
    splits: ClassVar[bool] = False

    @override
    def plan(self, data: Data, streams: Streams) -> Plan:
        builder = PlanBuilder(data.n_rows)
        builder.ask(train=(ALL, ()), test=(ALL, ()), part="apparent")
        return builder.build(ModelFacts(freedom=np.zeros(1, np.int32)))

    @override
    def check(self, data: Data, loss: Loss) -> None:
        if data.y.ndim > 1:
            raise Refusal(
                f"method '{self.name}' is stated for one target and y has {data.y.shape[1]}: "
                f"take them one by one, or {REMEDY}."
            )
        if data.groups is not None:
            raise Refusal(
                f"method '{self.name}' would ignore the groups: it takes rows as independent. "
                "Use 'K-fold' words, which keep groups together."
            )
        if data.sample_weight is not None:
            self._check_weights(data.task, data.sample_weight)

    def _check_weights(self, task: TaskName, weights: np.ndarray) -> None:
        """Raise Refusal for weights of 0, and for any weights in classification.

        In classification a weight may be a count or an importance; their likelihoods differ.
        """
        if task == "classification":
            raise Refusal(
                f"method '{self.name}' takes no sample_weight in classification, where a weight "
                f"may be a count or an importance and the likelihood differs: {REMEDY}."
            )
        if (weights <= 0).any():
            raise Refusal(
                f"method '{self.name}' takes weights as precisions, and a row of weight 0 has no "
                "likelihood: leave such rows out."
            )

    @override
    def loss_of(self, data: Data, loss: Loss, *, requested: bool) -> Loss:
        criterion_loss = self._criterion_loss(data)
        accepted_loss_types = (
            type(criterion_loss),
            Log if data.task == "classification" else Squared,
        )
        if requested and (
            type(loss) not in accepted_loss_types or getattr(loss, "clip", None) is not None
        ):
            raise Refusal(
                f"method '{self.name}' reports in loss '{criterion_loss.name}' and not in "
                f"'{loss.name}': "
                f"leave scoring out, or {REMEDY}."
            )
        return loss if requested and type(loss) is type(criterion_loss) else criterion_loss

    @abstractmethod
    def _criterion_loss(self, data: Data) -> Loss:
        """Return the loss that gives the criterion its unit."""

    @abstractmethod
    def _criterion_values(self, fitted_rows: CriterionInput) -> tuple[np.ndarray, list[str]]:
        """Return the criterion of every candidate, and a note on each; NaN if there is no value."""

    @override
    def reduce(self, answers: Answers, data: Data, loss: Loss, terms: Terms) -> list[Tested]:
        criterion_input = CriterionInput.from_answers(answers, data, self.name)
        values, notes = self._criterion_values(criterion_input)
        has_prediction = answers.answered[:, 0]
        if has_prediction.any() and np.isnan(values[has_prediction]).all():
            raise Refusal(f"method '{self.name}' has a value for no candidate: {notes[0]}.")
        return [
            Tested(
                float(value) if has_prediction[candidate] else np.nan,
                split_risks=np.array([value]),
                notes=(
                    *((notes[candidate],) if has_prediction[candidate] else ()),
                    *failure_notes(answers, candidate),
                    NO_STD_ERROR_REASON,
                ),
            )
            for candidate, value in enumerate(values)
        ]


@frozen(eq=False)
class CriterionInput:
    """Every candidate's predictions for its training rows, with its degrees of freedom."""

    data: Data
    rows: np.ndarray
    answers: np.ndarray
    degrees_of_freedom: np.ndarray
    weights: np.ndarray | None

    @classmethod
    def from_answers(cls, predictions: Answers, data: Data, method_name: str) -> CriterionInput:
        """Collect the predictions and degrees of freedom from a plan with one fit.

        Raise Refusal if the predictions are not finite or not of the kind that the criterion needs.
        """
        plan = predictions.plan
        freedom = get_degrees_of_freedom(predictions)
        if freedom is None or plan.n_questions != 1:
            raise BadData(f"this is no plan of '{method_name}': it asks for no degrees of freedom.")
        needed_response = MinusTwoLogLikelihood(data.task).response
        if predictions.response != needed_response:
            remedy = (
                mention("scoring", "log")
                if data.task == "classification"
                else mention("scoring", "squared")
            )
            raise Refusal(
                f"'{method_name}' is computed from each {needed_response} that a model answers "
                f"with, and this loss asks for a {predictions.response}: use {remedy}."
            )
        if not np.isfinite(predictions.values[predictions.answered[:, 0]]).all():
            raise Refusal(
                f"'{method_name}': some candidate answers with numbers that are not finite."
            )
        rows, row_counts = plan.positions
        if row_counts is not None:
            raise Refusal(f"'{method_name}' takes rows as independent, and these are copies.")
        return cls(data, rows, predictions.values, freedom[:, plan.fit[0]], data.weights(rows))

    @property
    def n(self) -> int:
        """Number of training rows."""
        return len(self.rows)

    @property
    def weight_sum(self) -> float:
        """Sum of the sample weights, or the number of rows if there are no weights."""
        return float(self.n) if self.weights is None else float(self.weights.sum())

    def residual_sums_of_squares(self) -> np.ndarray:
        """Return each candidate's (weighted) sum of squared residuals on the training rows."""
        return residual_sums_of_squares(self.data, self.rows, self.answers, self.weights)

    def minus_2_log_likelihood(self) -> np.ndarray:
        """Return minus twice the log-likelihood of each candidate on the training rows."""
        return MinusTwoLogLikelihood(self.data.task).of_set(
            self.data, self.rows, self.answers, self.weights
        )

    def is_saturated(self) -> np.ndarray:
        """Return a mask of candidates with at least as many degrees of freedom as rows."""
        return np.asarray(self.degrees_of_freedom >= self.n)


class SquaredCriterion(Criterion):
    """Criterion in units of the squared loss, and hence comparable with cross-validation."""

    def _criterion_loss(self, data: Data) -> Loss:
        if data.task != "regression":
            raise Refusal(
                f"method '{self.name}' estimates a squared risk, so it is stated for regression: "
                "use 'aic' or 'bic' for classes."
            )
        return Squared()


@frozen
class Cp(SquaredCriterion):
    r"""Mallows' Cp per row: an estimate of the squared risk at the same x's with fresh labels.

    .. math:: \frac{1}{n}\left(\mathrm{RSS} + 2 p \hat\sigma^2\right)

    Here p are the degrees of freedom. The variance :math:`\hat\sigma^2 = \mathrm{RSS}/(n - p)` is
    computed from the candidate with the most degrees of freedom, unless `sigma2` is given. The
    document's Cp is the sum, which is n times as large; R's ``leaps`` and older books write
    :math:`\mathrm{RSS}/\hat\sigma^2 - n + 2p`. All versions choose the same candidate. With weights
    (precisions) RSS is weighted, and n is the sum of the weights.

    Parameters
    ----------
    sigma2 : float, optional
        The variance of the noise. By default it is estimated from the candidate with the most
        degrees of freedom.

    See Also
    --------
    truerisk.methods.GCV : Generalised cross-validation.
    truerisk.methods.AIC : Akaike's criterion.

    References
    ----------
    Mallows (1973), Some comments on Cp. Efron (2004), The estimation of prediction error.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> X, y = load_diabetes(return_X_y=True)
    >>> estimate = tr.estimate_risk(Ridge(), X, y, cv=tr.methods.Cp())
    >>> estimate.method, round(estimate.value)
    ('cp', 3328)
    """

    sigma2: float | None = None

    bias = (
        "as good as its variance: unbiased for fits linear in y if that is right; below the risk "
        "at new x's"
    )

    def __post_init__(self) -> None:
        if self.sigma2 is None:
            return
        if not is_number(self.sigma2) or not 0 < self.sigma2 < np.inf:
            raise BadArgument(
                f"{mention('sigma2', self.sigma2)} is no variance: it is a positive number."
            )

    @property
    @override
    def name(self) -> str:
        return "cp" if self.sigma2 is None else f"cp (sigma2={self.sigma2:.15g})"

    def _criterion_values(self, fitted_rows: CriterionInput) -> tuple[np.ndarray, list[str]]:
        rss = fitted_rows.residual_sums_of_squares()
        variance, variance_source = self._variance(fitted_rows, rss)
        values = (rss + 2 * fitted_rows.degrees_of_freedom * variance) / fitted_rows.weight_sum
        notes = [
            f"RSS {candidate_rss:.6g} + 2 x {p:.6g} degrees of freedom x variance {variance:.6g} "
            f"({variance_source}), per row"
            for candidate_rss, p in zip(rss, fitted_rows.degrees_of_freedom, strict=True)
        ]
        return set_saturated_to_nan(fitted_rows, values, notes)

    def _variance(self, criterion_input: CriterionInput, rss: np.ndarray) -> tuple[float, str]:
        if self.sigma2 is not None:
            return self.sigma2, "given"
        residual_dof = np.where(
            criterion_input.is_saturated(),
            np.nan,
            criterion_input.n - criterion_input.degrees_of_freedom,
        )
        if np.isnan(residual_dof).all():
            return np.nan, "none"
        largest_candidate = int(np.nanargmin(residual_dof))
        variance_source = (
            f"of the largest candidate, "
            f"{criterion_input.degrees_of_freedom[largest_candidate]:.6g} of n = "
            f"{criterion_input.n}"
        )
        return float(rss[largest_candidate] / residual_dof[largest_candidate]), variance_source


@frozen
class GCV(SquaredCriterion):
    r"""Generalised cross-validation: the squared training risk, divided by (1 − p/n)².

    1 − p/n is the share of the degrees of freedom that p coefficients leave.

    .. math:: \frac{\mathrm{RSS}/n}{(1 - p/n)^2}

    It equals leave-one-out if every leverage is replaced by the mean leverage p/n. It does not need
    the variance.

    See Also
    --------
    truerisk.methods.Cp : Mallows' Cp.
    truerisk.methods.LeaveOneOut : Cross-validation with one fold per row.

    References
    ----------
    Craven and Wahba (1979), Smoothing noisy data with spline functions. Golub, Heath and Wahba
    (1979).

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> X, y = load_diabetes(return_X_y=True)
    >>> estimate = tr.estimate_risk(Ridge(), X, y, cv=tr.methods.GCV())
    >>> estimate.method, round(estimate.value)
    ('gcv', 3328)
    """

    name = "gcv"
    bias = "nearly right for fits linear in y where p is small against n; pessimistic near p = n"

    def _criterion_values(self, fitted_rows: CriterionInput) -> tuple[np.ndarray, list[str]]:
        rss, dof_share = (
            fitted_rows.residual_sums_of_squares(),
            fitted_rows.degrees_of_freedom / fitted_rows.n,
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            values = rss / fitted_rows.weight_sum / (1 - dof_share) ** 2
        notes = [
            f"RSS {candidate_rss:.6g} with {p:.6g} degrees of freedom of n = {fitted_rows.n}"
            for candidate_rss, p in zip(rss, fitted_rows.degrees_of_freedom, strict=True)
        ]
        return set_saturated_to_nan(fitted_rows, values, notes)


def set_saturated_to_nan(
    fitted_rows: CriterionInput, values: np.ndarray, notes: list[str]
) -> tuple[np.ndarray, list[str]]:
    """Set the criterion of saturated candidates to NaN, and add a note to each of them.

    They have at least as many parameters as rows.
    """
    for candidate in np.flatnonzero(fitted_rows.is_saturated()):
        notes[candidate] = (
            f"no value: {fitted_rows.degrees_of_freedom[candidate]:.6g} degrees of freedom of n = "
            f"{fitted_rows.n} rows leave none for the residuals"
        )
    return np.where(fitted_rows.is_saturated(), np.nan, values), notes
