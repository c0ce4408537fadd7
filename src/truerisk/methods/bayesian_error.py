"""The Bayesian error estimator of linear classifiers: one fit, a posterior of its error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from truerisk.core.answers import Answers
from truerisk.core.arguments import check_flag, shown
from truerisk.core.contracts import Method, Streams, Target, Terms
from truerisk.core.errors import BadArgument, BadData, Refusal
from truerisk.core.evaluation import Tested
from truerisk.core.linear_rules import LinearRules
from truerisk.core.losses import Loss, ZeroOne
from truerisk.core.plan.builder import one_fit
from truerisk.core.plan.plan import Plan
from truerisk.core.table.data import Data
from truerisk.methods.bayesian.rule_errors import Prior, check_prior, pairwise
from truerisk.methods.bayesian.rule_risks import RuleRisks, risks_of
from truerisk.methods.bayesian.scaled_rows import ScaledRows, scaled_rows

__all__ = ["BayesianError", "ImproperBayesianError", "check_gamma", "check_rows", "ruled_plan"]

_PAIRWISE = (
    "pairwise error: the errors between two classes, added over all pairs; it is not below the "
    "error and may exceed 1. For choosing only: no standard error or interval is stated."
)


@dataclass(frozen=True)
class BayesianError(Method):
    r"""The posterior mean of a linear rule's error, classes being normal (BEE).

    .. math:: \mathrm{BEE} = \gamma\, E[\varepsilon_- \mid X, y]
        + (1 - \gamma)\, E[\varepsilon_+ \mid X, y]

    in closed form from one fit on all rows. `prior="proper"` is the general covariance with an
    inverse Wishart prior (κ = p + 2, S = I, mean 0 with weight ½), "improper" the scaled identity
    covariance with the flat prior as the document prints it, whose estimate is grossly optimistic
    for many more features than rows. γ is the share of the first class among the rows, or `gamma`:
    the share of the first of two classes, or those of all classes in sorted order. The estimate
    depends on the units of the features; with `standardize` each has mean 0 and variance 1.

    The standard error is the posterior standard deviation and the interval the exact credible
    interval. Candidates are ranked by the log of the mean. With several classes it is the pairwise
    error, for choosing only.

    References
    ----------
    Dalton and Dougherty (2011), Bayesian minimum mean-square error estimation for classification
    error. Huttunen and Tohka (2015), Model selection for linear classifiers using Bayesian error
    estimation.
    """

    prior: Prior = "proper"
    gamma: float | Sequence[float] | None = None
    standardize: bool = True

    target: ClassVar[Target] = "Err_XY"
    splits: ClassVar[bool] = False
    perfect_is_0: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_prior(self.prior)
        check_gamma(self.gamma)
        check_flag("standardize", self.standardize)

    @property
    def word(self) -> str:
        told = [] if self.gamma is None else [f"gamma={self.gamma}"]
        told += [] if self.standardize else ["not standardised"]
        name = "bee" if self.prior == "proper" else "bee-improper"
        return f"{name} ({', '.join(told)})" if told else name

    @property
    def bias(self) -> str:
        if self.prior == "proper":
            return "either way: as right as its normal classes and its prior are"
        return "optimistic for many features: the prior, as printed, counts their square as rows"

    def check(self, data: Data, loss: Loss) -> None:
        check_rows(self.word, data, loss)
        if self.gamma is None:
            return
        n_given = len(np.atleast_1d(self.gamma))
        if n_given != (1 if data.n_classes == 2 else data.n_classes) and n_given != data.n_classes:
            raise BadData(
                f"gamma has {n_given} shares and y {data.n_classes} classes: give one share for "
                "each class in sorted order, or of two classes that of the first."
            )

    def plan(self, data: Data, streams: Streams) -> Plan:
        return ruled_plan(data.n_rows)

    def reduce(self, answers: Answers, data: Data, loss: Loss, terms: Terms) -> Sequence[Tested]:
        if answers.rules is None or answers.plan.n_questions != 1:
            raise BadData(f"this is no plan of '{self.word}': it asks for no linear rules.")
        blocks = [self._risks(answers, rules, data, terms) for rules in answers.rules]
        return risks_of(blocks, answers)

    def _seen(
        self, answers: Answers, rules: LinearRules, data: Data
    ) -> tuple[LinearRules, ScaledRows]:
        """The rules and the rows, cut to the columns that some rule uses: no other matters."""
        few = 2 * len(rules.used) < rules.coefficients.shape[2]
        columns = rules.used if few else None
        rows = scaled_rows(
            answers, rules, data, self.word, standardize=self.standardize, columns=columns
        )
        return rules if columns is None else rules.cut(columns), rows

    def shares(self, rows: ScaledRows, rules: LinearRules) -> dict[int, float]:
        """γ by class code."""
        if self.gamma is None:
            return {code: rows.size(code) / len(rows.codes) for code in rules.codes}
        given = np.atleast_1d(np.asarray(self.gamma, dtype=np.float64))
        if len(given) == 1:
            given = np.append(given, 1 - given)
        return {code: float(given[code]) for code in rules.codes}

    def _risks(self, answers: Answers, rules: LinearRules, data: Data, terms: Terms) -> RuleRisks:
        """Those of one block of rules."""
        rules, rows = self._seen(answers, rules, data)
        pairs = pairwise(rows, rules, self.shares(rows, rules), self.prior)
        logs = np.logaddexp.reduce([pair.log_means() for pair in pairs], axis=0)
        stated = pairs[0] if terms.with_errors and len(pairs) == 1 else None
        notes = self._notes(rows, rules, logs)
        return RuleRisks(rules.candidates, logs, notes, stated, terms.confidence_level)

    def _notes(
        self, rows: ScaledRows, rules: LinearRules, logs: np.ndarray
    ) -> list[tuple[str, ...]]:
        common = (_PAIRWISE,) if len(rules.codes) > 2 else ()
        notes: list[tuple[str, ...]] = [common] * len(logs)
        for i in np.flatnonzero(logs < np.log(1e-15)):
            notes[i] += (f"the estimate is 10^{logs[i] / np.log(10):.1f}",)
        if self.prior == "proper":
            return notes
        least = min(rows.size(code) for code in rules.codes)
        n_selected = ((rules.coefficients != 0).any(axis=1) & (rows.scale > 0)).sum(axis=1)
        for i in np.flatnonzero(n_selected > least):
            told = (
                f"{n_selected[i]} features and {least} rows in the smallest class: this prior "
                "counts the square of the features, so the estimate is far too small"
            )
            notes[i] += (told,)
        return notes


@dataclass(frozen=True)
class ImproperBayesianError(BayesianError):
    """`BayesianError(prior="improper")`, under a word of its own."""

    prior: Prior = "improper"


def ruled_plan(n_rows: int) -> Plan:
    """One fit on all rows, asked for its rule; a plan asks about some row, here the first."""
    return replace(one_fit(n_rows, np.zeros(1, np.int32)), rules=np.zeros(1, np.int32))


def check_rows(word: str, data: Data, loss: Loss) -> None:
    """Refuse what a model of independent rows, and a count of errors, do not cover."""
    instead = "use a method that holds rows out, such as '10-fold'."
    if data.task != "classification":
        raise Refusal(f"method '{word}' estimates the error of a classifier: {instead}")
    if type(loss) is not ZeroOne:
        raise Refusal(
            f"method '{word}' estimates an error rate and not loss '{loss.word}': leave loss out, "
            f"or {instead}"
        )
    if data.groups is not None:
        raise Refusal(
            f"method '{word}' would ignore the groups: it takes rows as independent. "
            "Use 'K-fold' words, which keep groups together."
        )
    if data.sample_weight is not None:
        raise Refusal(f"method '{word}' is not stated for rows with sample_weight: {instead}")


def check_gamma(gamma: float | Sequence[float] | None) -> None:
    """Refuse what are no shares of classes."""
    if gamma is None:
        return
    if not _are_shares(gamma):
        raise BadArgument(
            f"gamma={shown(gamma)} are no shares of classes: give that of the first of two "
            "classes, between 0 and 1, or one for each class, which add up to 1."
        )


def _are_shares(gamma: Any) -> bool:
    try:
        given = np.atleast_1d(np.asarray(gamma, dtype=np.float64))
    except (TypeError, ValueError):
        return False
    if given.ndim != 1 or isinstance(gamma, bool | str) or not (given >= 0).all():
        return False
    return bool(given[0] <= 1 if len(given) == 1 else abs(given.sum() - 1) <= 1e-9)
