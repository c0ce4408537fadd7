"""Compare two learners on the same rows and splits: `compare`, and `difference` for `a - b`.

`PairedCV` applies the formula of the calibrated intervals to a difference of two risks.
"""

from __future__ import annotations

from dataclasses import replace
from math import sqrt
from typing import Any, ClassVar

import numpy as np

from truerisk.comparison.paired_tests import PairedTest, PairedTestOptions, registry
from truerisk.comparison.pairing import PairedInput, PairedLosses, pair_losses, refuse_unpairable
from truerisk.core.arguments import mention
from truerisk.core.errors import BadArgument, Refusal, UnknownName
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.intervals.calibrated import SINGLE_DRAW_VARIANCE_FACTOR, InstabilityFactor
from truerisk.intervals.form import variances_of_means
from truerisk.intervals.instability import leave_two_out_instability
from truerisk.results.comparison import Comparison
from truerisk.results.evaluation import Influences
from truerisk.results.interval import DEFAULT_ROPE
from truerisk.results.results import RiskEstimate, select_score

TESTS_WITH_ROPE = ("paired-cv", "bayes")


def compare(
    a_losses: Any,
    b_losses: Any,
    *,
    test: str | None = None,
    score: str | None = None,
    rope: float = DEFAULT_ROPE,
    folds: Any = None,
    n_train: Any = None,
    n_test: Any = None,
    confidence_level: float = 0.95,
) -> Comparison:
    """Compare two learners, or two fitted models, on the same rows of the same splits.

    Parameters
    ----------
    a_losses : HonestSearchCV, RiskEstimate, or array of losses
        The first learner. Two searches that were fitted on the same rows, or two estimates from the
        same splits (the same method and seed, or two of the ``risks`` of an assessment), contain
        everything that is needed. Otherwise give losses: ``(n,)`` losses of rows, with `folds`; or
        a list of losses per split, or ``(J,)`` risks of J splits, with `n_train` and `n_test`; or
        ``(J, 2)`` risks in halves.
    b_losses : HonestSearchCV, RiskEstimate, or array of losses
        The second learner, in the same form.
    test : str, optional
        "paired-cv", "nadeau-bengio", "bayes", "sharp", "mcnemar" or "5x2". The default is
        "paired-cv" if both were tested by pairs of folds, and for scores that are no mean of losses
        of single rows (AUC, F1); otherwise "nadeau-bengio".
    score : str, optional
        One of the further ``scores`` of the searches or estimates, such as "auc", instead of the
        loss.
    rope : float, default=0.01
        For "paired-cv" and "bayes": risks that differ by at most this amount are practically equal.
    folds : array ``(n,)`` or ``(repeats, n)``, optional
        The fold that tested each row; all other rows were training rows.
    n_train : int or one per split, optional
        The number of training rows of each split.
    n_test : int or one per split, optional
        The number of test rows of each split. It is known if losses of rows are given.
    confidence_level : float, default=0.95
        The nominal coverage of the interval of the difference.

    Returns
    -------
    Comparison
        ``value`` (a − b on the requested scale: a negative difference of losses favours a, and so
        does a positive difference of scores), ``interval``, ``p_value``, the probabilities
        ``better``, ``equivalent`` and ``worse`` of a, and the assumptions ``assumed``.

    See Also
    --------
    compare_many : Compare methods over many data sets.
    assess : Tune and compare several learners on the same splits.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = tr.datasets.make_difficult(100, random_state=0)
    >>> a, b = (tr.estimate_risk(m, X, y) for m in (GaussianNB(), KNeighborsClassifier()))
    >>> c = tr.compare(a, b, test="bayes")
    >>> {word: round(p, 3) for word, p in c.probabilities.items()}
    {'better': 0.001, 'equivalent': 0.0, 'worse': 0.998}
    """
    a, b = (_honest_risk_or_losses(risk, score) for risk in (a_losses, b_losses))
    default_name = (
        "paired-cv" if _have_pair_losses(a, b) or _have_influences_only(a, b) else "nadeau-bengio"
    )
    name = default_name if test is None else test
    paired_test: PairedTest = registry.load(name)()
    test_options = PairedTestOptions(rope, confidence_level)
    if rope != DEFAULT_ROPE and name not in TESTS_WITH_ROPE:
        raise UnknownName(
            f"rope={rope} belongs to {mention('test', 'bayes')} or 'paired-cv'; '{name}' has no "
            "such region."
        )
    bare_difference = _difference_if_infinite(a, b)
    if bare_difference is not None:
        return bare_difference
    pairs = pair_losses(
        a, b, folds=folds, n_train=n_train, n_test=n_test, input_kind=paired_test.input_kind
    )
    result = paired_test.compare(pairs, test_options)
    return result.of_scores(isinstance(a, RiskEstimate) and a.greater_is_better)


def difference(
    a: RiskEstimate,
    b: RiskEstimate,
    *,
    rope: float = DEFAULT_ROPE,
    confidence_level: float | None = None,
) -> Comparison:
    """Return the difference a − b of two estimates, with the test that their splits justify.

    The expression `a - b` of two estimates has the same result.

    The test is "paired-cv" if both were tested by pairs of folds, or else "bayes" on the splits, or
    else "paired-cv" with the factor of one drawing of the folds. The latter is also used if the
    splits do not add up to the values (weights, folds of unequal size) or all have one difference.
    If no formula is known, the value has no interval, and a note says why. Estimates of different
    data, splits or losses are refused.
    """
    if confidence_level is None:
        confidence_level = 0.95 if a.interval is None else a.interval.confidence_level
    test_options = PairedTestOptions(rope, confidence_level)
    bare_difference = _difference_if_infinite(a, b)
    if bare_difference is not None:
        return bare_difference
    refuse_unpairable(a, b)
    assert a.value is not None
    assert b.value is not None
    value, reasons, other_results = a.value - b.value, [], []
    largest_value = max(abs(a.value), abs(b.value))
    for name in ("paired-cv",) if _have_pair_losses(a, b) else ("bayes", "paired-cv"):
        try:
            result = compare(a, b, test=name, rope=rope, confidence_level=confidence_level)
        except Refusal as refusal:
            reasons.append(str(refusal))
            continue
        matches_values = np.isclose(result.value, value, rtol=1e-9, atol=1e-12 * largest_value)
        if matches_values and result.interval is not None:
            return result
        other_results.append(
            result if matches_values else _center_at_value(result, value, test_options)
        )
    if other_results:
        return other_results[0]
    return _difference_without_test(a, b, *reasons[:1])


def _difference_without_test(a: RiskEstimate, b: RiskEstimate, *notes: str) -> Comparison:
    """Return the difference of two values without a test; the notes say why there is no test."""
    assert a.value is not None
    assert b.value is not None
    n_rows = a.n_rows if a.losses is None else len(a.losses)
    return Comparison(
        "none",
        a.value - b.value,
        n_rows,
        a.named_scoring,
        notes=notes,
        greater_is_better=a.greater_is_better,
    )


def _difference_if_infinite(a: Any, b: Any) -> Comparison | None:
    """Return a difference without a test if a log loss is infinite, otherwise None.

    The difference is that of the clipped values.
    """
    if not (isinstance(a, RiskEstimate) and isinstance(b, RiskEstimate)):
        return None
    infinite_findings = [
        finding for risk in (a, b) for finding in risk.findings if finding.code == "infinite-loss"
    ]
    if not infinite_findings or a.value is None or b.value is None:
        return None
    refuse_unpairable(a, b)
    return _difference_without_test(a, b, infinite_findings[0].note)


def _center_at_value(
    split_comparison: Comparison, value: float, test_options: PairedTestOptions
) -> Comparison:
    """Move the center of the posterior from splits to `value`.

    `value` is the difference of two values that weight all rows equally.
    """
    result = replace(split_comparison, difference=value).noting(
        "the value weighs all rows equally; its error is that of the splits, which count equally."
    )
    if split_comparison.std_error is None or split_comparison.df is None:
        return result
    result = result.by_t(split_comparison.std_error, split_comparison.df, test_options, "posterior")
    return replace(result, statistic=None, p_value=None)


def _honest_risk_or_losses(search_or_losses: Any, score: str | None) -> Any:
    """Return the honest risk of a search; return estimates and losses unchanged."""
    if hasattr(type(search_or_losses), "risk_"):
        search_or_losses = search_or_losses.risk_
    elif hasattr(search_or_losses, "fit"):
        raise BadArgument(
            f"{type(search_or_losses).__name__} keeps no losses of rows that were held out: "
            "compare two HonestSearchCV, two estimates, or losses."
        )
    if isinstance(search_or_losses, RiskEstimate):
        return select_score(search_or_losses, score)
    if score is not None:
        raise UnknownName("score= names a further score of searches or estimates, not of losses.")
    return search_or_losses


def _have_pair_losses(a: Any, b: Any) -> bool:
    """Return True if both estimates have losses of models fitted without a further fold."""
    return all(
        isinstance(risk, RiskEstimate)
        and risk.influences is not None
        and risk.influences.has_left_two_out
        for risk in (a, b)
    )


def _have_influences_only(a: Any, b: Any) -> bool:
    """Return True if both estimates have influences of rows, but no losses of rows.

    The influence of a row is its effect on the score.
    """
    return all(
        isinstance(risk, RiskEstimate) and risk.losses is None and risk.influences is not None
        for risk in (a, b)
    )


# Formula of the variance factor of a mean difference, from the instability u of its rows.
DIFFERENCE_FACTOR = InstabilityFactor(3.0 * sqrt(2), 2.0)
MIN_FACTOR = 1.6  # variance factor of differences that do not depend on the training rows
ZERO_TOLERANCE = 1e-12
NO_SPREAD_NOTE = (
    "no row tells the two apart: every row has the same loss under both, or the same effect on "
    "both scores. Without a spread there is no interval and no p-value."
)


@frozen
class DifferenceSpread:
    """Variance of the difference of two cross-validated values.

    The interval of the difference is based on this variance.

    `independent_variance` is the variance of a mean of `n_units` independent rows, or groups.
    `extra_row_variance` is added for one more row in each direction that distinguishes the two
    learners. `instability` is u of the differences, None if there are no fits without a further
    fold from which to estimate it.
    """

    independent_variance: float
    extra_row_variance: float
    n_units: int
    k: float
    instability: float | None

    @classmethod
    def from_influences(cls, a: Influences, b: Influences, mean: float) -> DifferenceSpread:
        """Compute the variance of the mean difference from both learners' influences."""
        differences, values = (a.losses - b.losses)[None], np.array([mean])
        plain_variance, n_units = variances_of_means(differences, a.weights, values, a.groups)
        instability = None
        if a.left_two_out is not None and b.left_two_out is not None:
            left_two_out = a.left_two_out.subtract(b.left_two_out)
            instability = leave_two_out_instability(
                left_two_out, differences - mean, a.weights, a.rows, a.groups
            )
        extra_row_variance = 2 * max(a.one_row, b.one_row) ** 2
        return cls(
            float(plain_variance[0]),
            extra_row_variance,
            n_units,
            a.k,
            None if instability is None else float(instability[0]),
        )

    @property
    def factor(self) -> float:
        """Variance of the cross-validated difference, divided by that of independent rows."""
        if self.instability is None:
            return SINGLE_DRAW_VARIANCE_FACTOR
        return DIFFERENCE_FACTOR.variance_factor(self.instability, self.k, MIN_FACTOR)

    @property
    def error(self) -> float:
        """Standard error of the difference."""
        return sqrt(self.factor * (self.independent_variance + self.extra_row_variance))

    @property
    def df(self) -> float:
        """Degrees of freedom: the number of rows or groups divided by the factor, minus 1."""
        return self.n_units / self.factor - 1


class PairedCV(PairedTest):
    """Paired test of two cross-validated values, based on each row's influence on both values.

    The interval is D ± t √(c (V + 2h²)), where D is the difference of the two values. The
    influences on both values are subtracted row by row.

    φᵢ = wᵢ (dᵢ − D), dᵢ the difference of the losses of row i (of a score that rates whole test
    sets: of the value plus the row's influence), V = m/(m − 1) Σ φ² over m rows, or groups, whose
    rows are added up first. Models that lack a further fold show how much the *differences* vary: u
    = W/(Σ φ² + W), as for risks (`intervals/calibrated.py`), and c = 1.6 + 3u √(K/5), at most 2; c
    = 1.8 if no such models were fitted. If predictions are labels, h is the effect of another
    prediction for one row on the value: one more row in each direction that distinguishes the two
    learners, as Bonett and Price (2012) add to paired proportions. t has m/c − 1 degrees of
    freedom. The posterior is this t about D.

    With c = 1 two learners are found to differ too often, even if both are stable (Bayle, Janson
    and Mackey, 2025, arXiv 2508.04409).
    """

    name = "paired-cv"
    input_kind: ClassVar[PairedInput] = "influences"

    @override
    def compare(self, pairs: PairedLosses, tolerance: PairedTestOptions) -> Comparison:
        assert pairs.influences is not None  # `pair_losses` raises if there are none.
        a, b = pairs.influences
        mean = pairs.values[0] - pairs.values[1]
        difference_spread = DifferenceSpread.from_influences(a, b, mean)
        details = (
            {}
            if difference_spread.instability is None
            else {"instability": difference_spread.instability}
        )
        result = Comparison(
            test=self.name,
            difference=mean,
            n_pairs=difference_spread.n_units,
            scoring=pairs.loss,
            details={
                **details,
                "factor": difference_spread.factor,
                "error of independent rows": sqrt(difference_spread.independent_variance),
            },
            assumed=(
                _assumption_text(difference_spread, "rows" if a.groups is None else "groups"),
            ),
        )
        if (
            difference_spread.error <= ZERO_TOLERANCE * pairs.loss_scale
            or difference_spread.df <= 0
        ):
            return result.noting(NO_SPREAD_NOTE)
        name = self.name if a.groups is None else f"{self.name}-grouped"
        return result.by_t(difference_spread.error, difference_spread.df, tolerance, name)


def _assumption_text(difference_spread: DifferenceSpread, unit_noun: str) -> str:
    assumption = (
        f"the difference varies {difference_spread.factor:.2g} times as much as one of independent "
        f"{unit_noun}"
    )
    if difference_spread.instability is None:
        return (
            f"{assumption}, the factor where no models without a further fold were fitted "
            "(calibrated)"
        )
    return (
        f"{assumption}, since differences have an instability of "
        f"{difference_spread.instability:.2g} (calibrated)"
    )
