"""The Bayesian error estimator of linear classifiers: the posterior of the error from one fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from truerisk.contracts import Method, Streams, Terms
from truerisk.core.arguments import as_array, check_flag, mention
from truerisk.core.errors import BadArgument, BadData, Refusal
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.losses.loss import Loss
from truerisk.losses.row_losses import ZeroOne
from truerisk.methods.bayesian.priors import (
    ClassPrior,
    PriorName,
    as_tuples,
    check_parameters,
    check_prior,
    class_priors,
    refuse_singular_covariance,
)
from truerisk.methods.bayesian.rule_errors import CredibleInterval, RuleErrors, errors_by_class_pair
from truerisk.methods.bayesian.scaled_rows import ScaledRows, scaled_rows
from truerisk.methods.parts.averages import failure_notes
from truerisk.plan.answers import Answers
from truerisk.plan.builder import plan_one_fit
from truerisk.plan.extras.linear_rules import LinearRules
from truerisk.plan.extras.model_facts import ModelFacts, get_linear_rules
from truerisk.plan.plan import Plan
from truerisk.results.evaluation import RiskArrays, Target, Tested

_MIN_RANK = -1e300  # Rules whose error is certainly 0 get this rank instead of log 0.
_CERTAIN_NOTE = (
    "the rule is constant, or a class has no spread: the error is exact and has no interval"
)


@frozen(eq=False)
class RuleRisks:
    """Estimated errors of the rules of several candidates.

    `log_errors` are the logarithms of the posterior means of the errors. `errors` holds the
    posteriors from which standard errors and intervals are computed, or None if there are to be no
    standard errors and intervals.
    """

    candidates: np.ndarray
    log_errors: np.ndarray
    notes: Sequence[tuple[str, ...]]
    errors: RuleErrors | None
    confidence_level: float

    @cached_property
    def values(self) -> np.ndarray:
        """Posterior mean of the error of each rule."""
        return np.asarray(np.exp(self.log_errors))

    @cached_property
    def ranks(self) -> np.ndarray:
        """Logarithms of the errors, by which rules are ranked, since 1e-400 underflows to 0."""
        return np.asarray(np.maximum(self.log_errors, _MIN_RANK))

    def estimate_at(self, rule: int) -> Tested:
        """Return the error estimate of one rule, with notes and a standard error if it has one."""
        is_certain = self._is_certain is not None and bool(self._is_certain[rule])
        credible_interval = None
        if (
            self.errors is not None
            and not is_certain
            and self.errors.no_interval_reason(rule) is None
        ):
            credible_interval = CredibleInterval(self.errors, rule, self.confidence_level)
        return Tested(
            float(self.values[rule]),
            split_risks=self.values[rule : rule + 1],
            notes=(*self.notes[rule], _CERTAIN_NOTE) if is_certain else self.notes[rule],
            later=credible_interval,
            rank=float(self.ranks[rule]),
        )

    @cached_property
    def _is_certain(self) -> np.ndarray | None:
        return None if self.errors is None else self.errors.are_certain()


def combine_rule_risks(blocks: Sequence[RuleRisks], predictions: Answers) -> RiskArrays:
    """Return the risks of all candidates; the risk is NaN if a candidate's fit failed."""
    values = np.full(predictions.n_candidates, np.nan)
    ranks = values.copy()
    for block in blocks:
        values[block.candidates], ranks[block.candidates] = block.values, block.ranks
    return RiskArrays(values, ranks, _RuleLookup(blocks, predictions).estimate_at)


@frozen(eq=False)
class _RuleLookup:
    """Lookup of a candidate's estimate among the blocks of rules that were fitted together."""

    risk_blocks: Sequence[RuleRisks]
    answers: Answers

    def estimate_at(self, candidate: int) -> Tested:
        """Return the error estimate of one candidate; its value is NaN if the fit failed."""
        estimate = Tested(np.nan, rank=np.nan)
        for block in self.risk_blocks:
            for rule in np.flatnonzero(block.candidates == candidate):
                estimate = block.estimate_at(int(rule))
        if not self.answers.failures:
            return estimate
        return replace(estimate, notes=estimate.notes + failure_notes(self.answers, candidate))


_PAIRWISE_NOTE = (
    "pairwise error: the errors between two classes, added over all pairs; it is not below the "
    "error and may exceed 1. For choosing only: no standard error or interval is stated."
)
_MANY_FEATURES_NOTE = (
    "the rule has {} features and was fitted on these {} rows, whose classes look farther apart "
    "than those of fresh rows{}; `tr.bayesian_error` judges a rule by other rows"
)
_TOO_LOW_CLAUSE = ", so it is too low"
_EITHER_WAY_CLAUSE = ", but the prior pulls it up: it may err either way"

_PRIOR_SHARE_NOTE = (
    "{:.0f} % of the scatter along the direction of the rule comes from the prior: the data vary "
    "less in this direction than each feature does, so the estimate is pessimistic; use "
    "prior='empirical'"
)
# With n rows, a rule that uses more than MAX_FEATURES_PER_SQRT_N · √n features gets a note.
# Intervals of such rules covered their error too rarely (see the documentation).
MAX_FEATURES_PER_SQRT_N = 0.5
# A rule gets a note if more than this share of the posterior scatter of its scores comes from
# the prior.
MAX_PRIOR_SHARE = 0.25


@frozen
class BayesianError(Method):
    r"""The posterior mean of a linear rule's error if the classes are normal (BEE).

    .. math:: \mathrm{BEE} = \gamma\, E[\varepsilon_- \mid X, y]
        + (1 - \gamma)\, E[\varepsilon_+ \mid X, y]

    It is computed in closed form from one fit on all rows. Covariances have an inverse Wishart
    prior and means a normal prior, Σ ~ IW(κ, S) and μ ~ N(m, Σ/ν) in each class:

    ==============  =========  ===  =========================  ============================
    prior           κ          ν    S                          m
    ==============  =========  ===  =========================  ============================
    ``proper``      p + 2      ½    identity                   0
    ``empirical``   p + 2      ½    covariance within classes  mean of both classes
    ``flat``        −(p + 2)   0    0                          none
    ``jeffreys``    0          0    0                          none
    ==============  =========  ===  =========================  ============================

    `kappa`, `nu`, `scale` (S: a number times the identity, or a matrix) and `mean` (one number, or
    one number per feature) replace these values. Each is one value or a mapping from class labels,
    in the units after `standardize`. If S is not 0, κ must exceed p − 1. "improper" is the scaled
    identity covariance with the flat prior exactly as the document prints it. It is optimistic if
    there are many more features than rows, and pessimistic if the rule varies less than the
    features do on average. γ is the share of the first class among the rows, or `gamma`: the share
    of the first of two classes, or the shares of all classes in sorted order. The estimate depends
    on the units of the features; with `standardize` each feature has mean 0 and variance 1.

    The standard error is the posterior standard deviation, and the interval is the exact credible
    interval. Its coverage equals its level over classes drawn from the prior. For given classes the
    estimate is too low if a rule of many features was chosen on the same rows, and too high if the
    prior pulls in the other direction; notes tell where this happens. There is neither standard
    error nor interval if the prior makes the variance along the rule more than 1 + 1/√N times the
    variance of the N rows of a class ("flat" and "jeffreys" with many features). Candidates are
    ranked by the logarithm of the mean. For several classes the estimate is the pairwise error,
    which serves for choosing only.

    Parameters
    ----------
    prior : {"proper", "improper", "flat", "jeffreys", "empirical"}, default="proper"
        The prior; see the table.
    gamma : float or sequence of float, optional
        The probability of the first of two classes, or of every class. By default the share among
        the rows.
    standardize : bool, default=True
        If True, each feature is scaled to mean 0 and variance 1.
    kappa : float or mapping, optional
        The degrees of freedom of the inverse Wishart prior, for all classes or by class label.
    nu : float or mapping, optional
        The number of rows that the prior of a mean is worth.
    scale : float, array or mapping, optional
        The scale matrix S, or a multiple of the identity.
    mean : float, array or mapping, optional
        The mean of the prior of the class means.

    See Also
    --------
    bayesian_error : The same estimate for given coefficients.
    truerisk.methods.Bolstered : Smoothed resubstitution.

    References
    ----------
    Dalton and Dougherty (2011), Bayesian minimum mean-square error estimation for classification
    error. Huttunen and Tohka (2015), Model selection for linear classifiers using Bayesian error
    estimation.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> model = LinearDiscriminantAnalysis()
    >>> print(tr.estimate_risk(model, X, y, cv=tr.methods.BayesianError()))
    risk 0.1217 (zero-one, bee), 95 % interval [0.0659, 0.1941] (credible)
    """

    prior: PriorName = "proper"
    gamma: float | Sequence[float] | None = None
    standardize: bool = True
    kappa: Any = None
    nu: Any = None
    scale: Any = None
    mean: Any = None

    target: ClassVar[Target] = "Err_XY"
    splits: ClassVar[bool] = False
    perfect_is_0: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_prior(self.prior)
        check_gamma(self.gamma)
        check_flag("standardize", self.standardize)
        check_parameters(self.prior, **self._parameters)
        # Tuples are stored instead of arrays, because arrays can neither be compared nor hashed.
        for name, value in self._parameters.items():
            object.__setattr__(self, name, as_tuples(value))

    @property
    def _parameters(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("kappa", "nu", "scale", "mean")}

    @property
    @override
    def name(self) -> str:
        name_parts = [] if self.prior in ("proper", "improper") else [f"{self.prior} prior"]
        name_parts += [] if self.gamma is None else [f"gamma={self.gamma}"]
        name_parts += [] if self.standardize else ["not standardised"]
        name_parts += [
            f"{base_name}={value}"
            if np.ndim(value) == 0 and not isinstance(value, Mapping)
            else base_name
            for base_name, value in self._parameters.items()
            if value is not None
        ]
        base_name = "bee-improper" if self.prior == "improper" else "bee"
        return f"{base_name} ({', '.join(name_parts)})" if name_parts else base_name

    @property
    @override
    def bias(self) -> str:
        if self.prior != "improper":
            return (
                "either way: optimistic where the same rows chose a rule of many features, "
                "pessimistic where the prior's S is much of the scatter along the rule"
            )
        return (
            "either way: optimistic for many features, whose square the prior, as printed, counts "
            "as rows; pessimistic where the rule varies less than the features on average"
        )

    @override
    def check(self, data: Data, loss: Loss) -> None:
        check_loss_and_rows(self.name, data, loss)
        if self.gamma is None:
            return
        n_given_shares = len(np.atleast_1d(self.gamma))
        if (
            n_given_shares != (1 if data.n_classes == 2 else data.n_classes)
            and n_given_shares != data.n_classes
        ):
            raise BadData(
                f"gamma has {n_given_shares} shares and y {data.n_classes} classes: give one share "
                "for each class in sorted order, or of two classes that of the first."
            )

    @override
    def plan(self, data: Data, streams: Streams) -> Plan:
        return plan_with_linear_rule(data.n_rows)

    @override
    def reduce(self, answers: Answers, data: Data, loss: Loss, terms: Terms) -> Sequence[Tested]:
        rule_blocks = get_linear_rules(answers)
        if rule_blocks is None or answers.plan.n_questions != 1:
            raise BadData(f"this is no plan of '{self.name}': it asks for no linear rules.")
        risk_blocks = [self._risks(answers, rules, data, terms) for rules in rule_blocks]
        return combine_rule_risks(risk_blocks, answers)

    def _rules_and_rows(
        self, predictions: Answers, rules: LinearRules, data: Data
    ) -> tuple[LinearRules, ScaledRows]:
        """Return the candidates' linear rules and the standardised training rows.

        Columns that no rule uses are left out if they are many and the prior does not depend on
        them.
        """
        is_default = self.prior in ("proper", "improper") and not any(
            value is not None for value in self._parameters.values()
        )
        uses_few_columns = is_default and 2 * len(rules.used) < rules.coefficients.shape[2]
        columns = rules.used if uses_few_columns else None
        rows = scaled_rows(
            predictions, rules, data, self.name, standardize=self.standardize, columns=columns
        )
        return rules if columns is None else rules.cut(columns), rows

    def shares(self, rows: ScaledRows, rules: LinearRules) -> dict[int, float]:
        """Return the prior probability γ of each class by its code.

        Parameters
        ----------
        rows : ScaledRows
            The scaled rows.
        rules : LinearRules
            The linear rules of the candidates.

        Returns
        -------
        dict of int to float
            The probabilities.
        """
        if self.gamma is None:
            return {
                class_code: rows.class_size(class_code) / len(rows.class_codes)
                for class_code in rules.codes
            }
        given_shares = np.atleast_1d(np.asarray(self.gamma, dtype=np.float64))
        if len(given_shares) == 1:
            given_shares = np.append(given_shares, 1 - given_shares)
        return {class_code: float(given_shares[class_code]) for class_code in rules.codes}

    def _risks(
        self, predictions: Answers, rules: LinearRules, data: Data, terms: Terms
    ) -> RuleRisks:
        """Return the estimated errors of rules that were fitted together, one per candidate."""
        rules, rows = self._rules_and_rows(predictions, rules, data)
        errors_of_pairs = errors_by_class_pair(
            rows, rules, self.shares(rows, rules), self.priors(rows, rules, data)
        )
        log_means = np.logaddexp.reduce([pair.log_means() for pair in errors_of_pairs], axis=0)
        only_pair = errors_of_pairs[0] if terms.with_errors and len(errors_of_pairs) == 1 else None
        notes = self._notes(rows, rules, log_means, errors_of_pairs)
        return RuleRisks(rules.candidates, log_means, notes, only_pair, terms.confidence_level)

    def priors(
        self, rows: ScaledRows, rules: LinearRules, data: Data
    ) -> dict[int, ClassPrior] | None:
        """Return the priors by class code; None is the improper prior, without parameters.

        Parameters
        ----------
        rows : ScaledRows
            The scaled rows.
        rules : LinearRules
            The linear rules of the candidates.
        data : Data
            The checked rows of the call.

        Returns
        -------
        dict of int to ClassPrior, or None
            The prior of each class.
        """
        if self.prior == "improper":
            return None
        p, labels = int((rows.scale > 0).sum()), data.class_labels.tolist()
        priors = class_priors(self.prior, self._parameters, labels, len(rows.scale), p)
        priors = {class_code: priors[class_code] for class_code in rules.codes}
        for class_code, class_prior in priors.items():
            class_prior.refuse_improper(p)
            class_prior.refuse_too_few_rows(self.prior, rows.class_size(class_code), p)
        if any(class_prior.scale is None for class_prior in priors.values()):
            refuse_singular_covariance(len(rows.class_codes), len(rules.codes), p)
        return priors

    def _notes(
        self,
        rows: ScaledRows,
        rules: LinearRules,
        log_means: np.ndarray,
        errors_of_pairs: Sequence[RuleErrors],
    ) -> list[tuple[str, ...]]:
        shared_notes = (_PAIRWISE_NOTE,) if len(rules.codes) > 2 else ()
        notes: list[tuple[str, ...]] = [shared_notes] * len(log_means)
        for i in np.flatnonzero(log_means < np.log(1e-15)).tolist():
            notes[i] += (f"the estimate is 10^{log_means[i] / np.log(10):.1f}",)
        n_selected = ((rules.coefficients != 0).any(axis=1) & (rows.scale > 0)).sum(axis=1)
        if self.prior != "improper":
            prior_shares = np.max([pair.prior_share for pair in errors_of_pairs], axis=0)
            for i, n_features in enumerate(n_selected.tolist()):
                too_wide_note = max(
                    errors_of_pairs, key=lambda pair: float(pair.variance_factor[i])
                ).no_interval_reason(i)
                if n_features > MAX_FEATURES_PER_SQRT_N * np.sqrt(len(rows.class_codes)):
                    bias_clause = (
                        _TOO_LOW_CLAUSE
                        if too_wide_note is None and prior_shares[i] <= MAX_PRIOR_SHARE
                        else _EITHER_WAY_CLAUSE
                    )
                    notes[i] += (
                        _MANY_FEATURES_NOTE.format(n_features, len(rows.class_codes), bias_clause),
                    )
                if prior_shares[i] > MAX_PRIOR_SHARE:
                    notes[i] += (_PRIOR_SHARE_NOTE.format(100 * prior_shares[i]),)
                if too_wide_note is not None:
                    notes[i] += (too_wide_note,)
            return notes
        smallest_class_size = min(rows.class_size(class_code) for class_code in rules.codes)
        for i in np.flatnonzero(n_selected > smallest_class_size).tolist():
            class_size_note = (
                f"{n_selected[i]} features and {smallest_class_size} rows in the smallest class: "
                "this prior "
                "counts the square of the features, so the estimate is far too small"
            )
            notes[i] += (class_size_note,)
        return notes


@frozen
class ImproperBayesianError(BayesianError):
    """Method `BayesianError(prior="improper")` with a name of its own.

    Parameters
    ----------
    prior : {"proper", "improper", "flat", "jeffreys", "empirical"}, default="improper"
        The prior; see the table.
    gamma : float or sequence of float, optional
        The probability of the first of two classes, or of every class. By default the share among
        the rows.
    standardize : bool, default=True
        If True, each feature is scaled to mean 0 and variance 1.
    kappa : float or mapping, optional
        The degrees of freedom of the inverse Wishart prior, for all classes or by class label.
    nu : float or mapping, optional
        The number of rows that the prior of a mean is worth.
    scale : float, array or mapping, optional
        The scale matrix S, or a multiple of the identity.
    mean : float, array or mapping, optional
        The mean of the prior of the class means.

    See Also
    --------
    truerisk.methods.BayesianError : Posterior mean of a linear rule's error.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> model = LinearDiscriminantAnalysis()
    >>> print(tr.estimate_risk(model, X, y, cv=tr.methods.ImproperBayesianError()))
    risk 0.1728 (zero-one, bee-improper), 95 % interval [0.1092, 0.2494] (credible)
    """

    prior: PriorName = "improper"


def plan_with_linear_rule(n_rows: int) -> Plan:
    """Return a plan of one fit on all rows that requests the fitted rule.

    A plan has to test at least one row.
    """
    only_fit = np.zeros(1, np.int32)
    return replace(plan_one_fit(n_rows, only_fit), extra=ModelFacts(rules=only_fit))


def check_loss_and_rows(name: str, data: Data, loss: Loss) -> None:
    """Raise Refusal unless the loss is zero-one and the rows are independent and unweighted."""
    advice = "use a method that holds rows out, such as '10-fold'."
    if data.task != "classification":
        raise Refusal(f"method '{name}' estimates the error of a classifier: {advice}")
    if type(loss) is not ZeroOne:
        raise Refusal(
            f"method '{name}' estimates an error rate and not loss '{loss.name}': leave scoring "
            f"out, or {advice}"
        )
    if data.groups is not None:
        raise Refusal(
            f"method '{name}' would ignore the groups: it takes rows as independent. "
            "Use 'K-fold' words, which keep groups together."
        )
    if data.sample_weight is not None:
        raise Refusal(f"method '{name}' is not stated for rows with sample_weight: {advice}")


def check_gamma(gamma: float | Sequence[float] | None) -> None:
    """Raise BadArgument unless `gamma` is a valid prior probability, or one per class."""
    if gamma is None:
        return
    if not _is_valid_gamma(gamma):
        raise BadArgument(
            f"{mention('gamma', gamma)} are no shares of classes: give that of the first of two "
            "classes, between 0 and 1, or one for each class, which add up to 1."
        )


def _is_valid_gamma(gamma: Any) -> bool:
    try:
        shares = np.atleast_1d(as_array(gamma, np.float64))
    except ValueError:
        return False
    if shares.ndim != 1 or isinstance(gamma, bool | str) or not (shares >= 0).all():
        return False
    return bool(shares[0] <= 1 if len(shares) == 1 else abs(shares.sum() - 1) <= 1e-9)
