"""Likelihood criteria: AIC, AICc (corrected for small samples), BIC and the extended BIC."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

import numpy as np

from truerisk.contracts import Streams, Terms
from truerisk.core.arguments import check_flag, check_number
from truerisk.core.errors import BadData, Refusal
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.losses.loss import Loss
from truerisk.losses.row_losses import Log
from truerisk.methods.criteria import (
    Criterion,
    CriterionInput,
    MinusTwoLogLikelihood,
    set_saturated_to_nan,
)
from truerisk.plan.answers import Answers
from truerisk.plan.extras.linear_rules import LinearRules
from truerisk.plan.extras.model_facts import ModelFacts, get_linear_rules
from truerisk.plan.plan import Plan
from truerisk.results.evaluation import Tested


@frozen
class LikelihoodCriterion(Criterion):
    """Base class of criteria: minus twice the log-likelihood plus a penalty, as in R.

    The penalty depends on the number k of parameters.

    With `per_row`, for classes only, the criterion is divided by 2n. It is then an estimate in log
    loss, comparable with cross-validation with ``scoring="log"``.
    """

    per_row: bool = False

    def __post_init__(self) -> None:
        check_flag("per_row", self.per_row)

    criterion: ClassVar[str]

    @property
    @override
    def name(self) -> str:
        return f"{self.criterion} (per row)" if self.per_row else self.criterion

    def _criterion_loss(self, data: Data) -> Loss:
        if not self.per_row:
            return MinusTwoLogLikelihood(data.task)
        if data.task != "classification":
            raise Refusal(
                f"method '{self.name}' is in log loss, which numbers do not have: use 'cp' or "
                "'gcv' for a criterion in squared loss."
            )
        return Log()

    @abstractmethod
    def _penalty(self, k: np.ndarray, n: int) -> np.ndarray:
        """Return the penalty for models with k parameters and n training rows.

        The penalty is NaN where its formula has no value.
        """

    def _criterion_values(self, fitted_rows: CriterionInput) -> tuple[np.ndarray, list[str]]:
        k = fitted_rows.degrees_of_freedom + (
            fitted_rows.data.task == "regression"
        )  # The residual variance is a parameter, too.
        minus_2_log_l = fitted_rows.minus_2_log_likelihood()
        penalty = self._penalty(k, fitted_rows.n)
        divisor = 2 * fitted_rows.n if self.per_row else 1
        values = np.where(np.isfinite(minus_2_log_l), (minus_2_log_l + penalty) / divisor, np.nan)
        divisor_text = f", divided by 2n = {divisor}" if self.per_row else ""
        notes = [
            f"-2 log L {candidate_minus_2_log_l:.6g} + {candidate_penalty:.6g} for "
            f"{n_parameters:.6g} parameters{divisor_text}"
            for candidate_minus_2_log_l, candidate_penalty, n_parameters in zip(
                minus_2_log_l, penalty, k, strict=True
            )
        ]
        for candidate in np.flatnonzero(np.isnan(penalty)):
            notes[candidate] = (
                f"no value: n - k - 1 = {fitted_rows.n - k[candidate] - 1:.6g} for n = "
                f"{fitted_rows.n} rows and k = {k[candidate]:.6g} parameters, and the correction "
                "divides by it"
            )
        for candidate in np.flatnonzero(~np.isfinite(minus_2_log_l)):
            notes[candidate] = _no_likelihood_note(fitted_rows)
        return set_saturated_to_nan(fitted_rows, values, notes)


@frozen
class AIC(LikelihoodCriterion):
    r"""Akaike's criterion, :math:`-2\log L + 2k`.

    k counts the degrees of freedom and, in regression, the variance. In regression :math:`-2 \log L
    = n\log(2\pi\,\mathrm{RSS}/n) + n`; in classification :math:`-2\sum_i \log \hat p_{y_i}(x_i)`.
    Both equal the values of R's ``AIC`` for ``lm`` and ``glm``.

    Parameters
    ----------
    per_row : bool, default=False
        If True, for classes only, the criterion is divided by 2n, so that it is an estimate in log
        loss.

    See Also
    --------
    truerisk.methods.AICc : Akaike's criterion for small samples.
    truerisk.methods.BIC : Schwarz' criterion.

    References
    ----------
    Akaike (1974), A new look at the statistical model identification.

    Examples
    --------
    >>> import truerisk as tr
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> model = tr.models.LogisticPath(n_lambdas=5)
    >>> estimate = tr.estimate_risk(model, X, y, cv=tr.methods.AIC())
    >>> estimate.method, round(estimate.value, 3)
    ('aic', 36.662)
    """

    criterion: ClassVar[str] = "aic"
    bias = (
        "optimistic where k is not small against n; stated for fits that maximise the likelihood, "
        "below the risk at new x's"
    )

    def _penalty(self, k: np.ndarray, n: int) -> np.ndarray:
        return 2 * k


@frozen
class AICc(LikelihoodCriterion):
    r"""Akaike's criterion with a correction for small samples (AICc).

    The criterion is :math:`-2\log L + 2k + 2k(k+1)/(n-k-1)` for k parameters and n rows. For a
    Gaussian linear model, where k = p + 1, it equals :math:`n\log\hat\sigma^2 + n(n+p)/(n-p-2)` up
    to constants, and is unbiased. The document prints :math:`(n+p)/(n-p-2)`, where the factor n is
    missing.

    Parameters
    ----------
    per_row : bool, default=False
        If True, for classes only, the criterion is divided by 2n, so that it is an estimate in log
        loss.

    See Also
    --------
    truerisk.methods.AIC : Akaike's criterion.
    truerisk.methods.BIC : Schwarz' criterion.

    References
    ----------
    Sugiura (1978). Hurvich and Tsai (1989), Regression and time series model selection in small
    samples.

    Examples
    --------
    >>> import truerisk as tr
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> model = tr.models.LogisticPath(n_lambdas=5)
    >>> estimate = tr.estimate_risk(model, X, y, cv=tr.methods.AICc())
    >>> estimate.method, round(estimate.value, 3)
    ('aicc', 37.091)
    """

    criterion: ClassVar[str] = "aicc"
    bias = (
        "unbiased for a Gaussian linear model that holds the truth, approximate for others; below "
        "the risk at new x's"
    )

    def _penalty(self, k: np.ndarray, n: int) -> np.ndarray:
        denominator = np.where(n - k - 1 > 0, n - k - 1, np.nan)
        return 2 * k + 2 * k * (k + 1) / denominator


@frozen
class BIC(LikelihoodCriterion):
    r"""Schwarz' criterion, :math:`-2\log L + k \log n`.

    It approximates minus twice the log of the probability of the data under the model, up to a
    constant. Hence it seeks the true model, not the smallest risk.

    Parameters
    ----------
    per_row : bool, default=False
        If True, for classes only, the criterion is divided by 2n, so that it is an estimate in log
        loss.

    See Also
    --------
    truerisk.methods.AIC : Akaike's criterion.
    truerisk.methods.EBIC : Extended BIC.

    References
    ----------
    Schwarz (1978), Estimating the dimension of a model.

    Examples
    --------
    >>> import truerisk as tr
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> model = tr.models.LogisticPath(n_lambdas=5)
    >>> estimate = tr.estimate_risk(model, X, y, cv=tr.methods.BIC())
    >>> estimate.method, round(estimate.value, 3)
    ('bic', 42.945)
    """

    criterion: ClassVar[str] = "bic"
    bias = "pessimistic as a risk for n > 7: a parameter costs log n, not 2; it ranks models"

    def _penalty(self, k: np.ndarray, n: int) -> np.ndarray:
        return k * np.log(n)


def _no_likelihood_note(criterion_input: CriterionInput) -> str:
    """Return a note that a criterion has no value because the likelihood is infinite or zero."""
    if criterion_input.data.task == "classification":
        return "no value: the model gives some label probability 0, so the likelihood is 0"
    return "no value: the fit is exact, so the likelihood has no bound"


@frozen
class EBIC(BIC):
    r"""The extended BIC of Chen and Chen, :math:`-2\log L + k\log n + 2\gamma_e \log\binom{P}{D}`.

    k are the degrees of freedom as for `bic`. D of P coefficients are not 0 (a feature counts as
    selected if the coefficient of any class is not 0). With `gamma` = 0 it is BIC. It requires a
    linear model, and is meant for models with few coefficients, such as those along an L1 path.

    Parameters
    ----------
    per_row : bool, default=False
        If True, for classes only, the criterion is divided by 2n, so that it is an estimate in log
        loss.
    gamma : float, default=0.5
        The weight γ_e, from 0 to 1, of the penalty for the choice of features.

    See Also
    --------
    truerisk.methods.BIC : Schwarz' criterion.

    References
    ----------
    Chen and Chen (2008), Extended Bayesian information criteria for model selection with large
    model spaces. Huttunen and Tohka (2015).

    Examples
    --------
    >>> import truerisk as tr
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> model = tr.models.LogisticPath(n_lambdas=5)
    >>> estimate = tr.estimate_risk(model, X, y, cv=tr.methods.EBIC())
    >>> estimate.method, round(estimate.value, 3)
    ('ebic', 42.945)
    """

    gamma: float = 0.5

    criterion: ClassVar[str] = "ebic"
    perfect_is_0: ClassVar[bool] = False
    bias = "pessimistic as a risk: it charges for every parameter and for the choice of features"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("gamma", self.gamma, 0, 1, "the price of the choice lies between 0 and 1")

    @property
    @override
    def name(self) -> str:
        return super().name if self.gamma == 0.5 else f"{super().name} (gamma={self.gamma:.15g})"

    @override
    def plan(self, data: Data, streams: Streams) -> Plan:
        only_fit = np.zeros(1, np.int32)
        return replace(
            super().plan(data, streams), extra=ModelFacts(freedom=only_fit, rules=only_fit)
        )

    @override
    def reduce(self, answers: Answers, data: Data, loss: Loss, terms: Terms) -> list[Tested]:
        rule_blocks = get_linear_rules(answers)
        if rule_blocks is None:
            raise BadData(f"this is no plan of '{self.name}': it asks for no linear rules.")
        estimates = super().reduce(answers, data, loss, terms)
        divisor = 2 * len(answers.plan.positions[0]) if self.per_row else 1
        for rules in rule_blocks:
            for candidate, n_selected, n_features in _selected_features(rules):
                feature_penalty = 2 * self.gamma * _log_binomial(n_features, n_selected)
                bic_estimate = estimates[candidate]
                value = bic_estimate.value + feature_penalty / divisor
                choice_note = (
                    f"+ {feature_penalty:.6g} for {n_selected} of {n_features} features with "
                    f"gamma = {self.gamma:.15g}"
                )
                estimates[candidate] = replace(
                    bic_estimate,
                    value=value,
                    split_risks=np.array([value]),
                    notes=(choice_note, *bic_estimate.notes),
                )
        return estimates


def _selected_features(rules: LinearRules) -> Iterator[tuple[int, int, int]]:
    """Yield each candidate, its number of nonzero coefficients, and the number of features."""
    is_used = (rules.coefficients != 0).any(axis=1)
    for candidate, is_selected in zip(rules.candidates, is_used, strict=True):
        yield int(candidate), int(is_selected.sum()), is_used.shape[1]


def _log_binomial(n: int, k: int) -> float:
    """Return the logarithm of the binomial coefficient "n choose k"."""
    from scipy.special import gammaln

    return float(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))
