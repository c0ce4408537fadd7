"""Operating points of a classifier's scores: rates at a threshold, and the choice of a threshold.

The area under the ROC curve is a U-statistic, with DeLong's variance; ties count half.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from truerisk.core import formats
from truerisk.core.arguments import is_number, mention, repr_on_one_line
from truerisk.core.errors import BadData, Refusal, UnknownName
from truerisk.core.frozen import frozen
from truerisk.results.interval import are_tied
from truerisk.results.records import NonNegative, Record

RATE_NAMES = ("sensitivity", "specificity", "precision")


@frozen
class OperatingPoint(Record):
    """Counts of the rule "positive if score ≥ threshold", and the reason for its threshold.

    Its rates are those of the rows on which the threshold was chosen, and therefore too good. The
    honest risk of a tuned threshold is the risk of a `tr.models.ThresholdClassifier`, which chooses
    the threshold within every fold.
    `precision` is None if nothing is called positive. `cost` is the mean cost per row.
    """

    derived: ClassVar[tuple[str, ...]] = ("sensitivity", "specificity", "precision", "error")

    threshold: float
    true_positives: NonNegative
    false_positives: NonNegative
    n_positive: NonNegative
    n_negative: NonNegative
    chosen_by: str
    cost: float | None = None

    @property
    def flaw(self) -> tuple[str, str] | None:
        """Name of a class count that is not positive, and its requirement "above 0".

        The value is None if both counts are valid.
        """
        class_counts = {"n_positive": self.n_positive, "n_negative": self.n_negative}
        return next(((name, "above 0") for name, n in class_counts.items() if not n > 0), None)

    @property
    def sensitivity(self) -> float:
        """Share of the positives that are called positive (recall, true positive rate)."""
        return self.true_positives / self.n_positive

    @property
    def specificity(self) -> float:
        """Share of the negatives that are called negative (true negative rate)."""
        return (self.n_negative - self.false_positives) / self.n_negative

    @property
    def precision(self) -> float | None:
        """Share of true positives among the rows called positive, or None if no row is."""
        n_called_positive = self.true_positives + self.false_positives
        return self.true_positives / n_called_positive if n_called_positive else None

    @property
    def error(self) -> float:
        """Share of rows that are classified wrongly."""
        n_missed = self.n_positive - self.true_positives
        return (n_missed + self.false_positives) / (self.n_positive + self.n_negative)

    def __str__(self) -> str:
        cost = "" if self.cost is None else f", cost {formats.format_number(self.cost)}"
        return (
            f"threshold {self.threshold:.6g} ({self.chosen_by}): "
            f"sensitivity {formats.format_number(self.sensitivity)}, "
            f"specificity {formats.format_number(self.specificity)}, "
            f"precision {formats.format_number(self.precision)}{cost}"
        )


@frozen(eq=False)
class ThresholdCounts:
    """All thresholds in falling order, with the counts of true and false positives at each.

    A row is called positive if its score is at least the threshold. The first threshold is
    infinite: nothing is called positive. Counts are sums of weights if rows have weights.
    """

    thresholds: np.ndarray
    true_positives: np.ndarray
    false_positives: np.ndarray

    @classmethod
    def from_scores(
        cls, scores: np.ndarray, is_positive: np.ndarray, weights: np.ndarray | None = None
    ) -> ThresholdCounts:
        """Count true and false positives at every threshold; equal scores share a threshold."""
        distinct_scores, score_index = np.unique(scores, return_inverse=True)
        dtype = np.int64 if weights is None else np.float64
        row_weights = np.ones(len(scores), dtype=dtype) if weights is None else weights
        cumulative_counts = [
            np.concatenate(
                [[0], np.cumsum(np.bincount(score_index, row_weights * is_in_class)[::-1])]
            ).astype(dtype)
            for is_in_class in (is_positive, ~is_positive)
        ]
        return cls(np.concatenate([[np.inf], distinct_scores[::-1]]), *cumulative_counts)

    @property
    def n_positive(self) -> float:
        """Number (or weight) of the positive rows."""
        return float(self.true_positives[-1])

    @property
    def n_negative(self) -> float:
        """Number (or weight) of the negative rows."""
        return float(self.false_positives[-1])

    def operating_point(
        self, index: int, chosen_by: str, cost: float | None = None
    ) -> OperatingPoint:
        """Return the operating point at the threshold with index `index`."""
        return OperatingPoint(
            threshold=float(self.thresholds[index]),
            true_positives=float(self.true_positives[index]),
            false_positives=float(self.false_positives[index]),
            n_positive=self.n_positive,
            n_negative=self.n_negative,
            chosen_by=chosen_by,
            cost=cost,
        )

    def operating_point_at(self, threshold: float) -> OperatingPoint:
        """Return the operating point of the rule "positive if score ≥ threshold"."""
        if np.isnan(threshold):
            raise BadData("the threshold is NaN: no score is above or below it.")
        index = int(np.searchsorted(-self.thresholds, -threshold, side="right")) - 1
        point = self.operating_point(max(index, 0), "given")
        return OperatingPoint(**{**vars(point), "threshold": float(threshold)})

    def at_cost(
        self, false_positive: float, false_negative: float, prevalence: float | None = None
    ) -> OperatingPoint:
        """Return the operating point with the least mean cost per row.

        If several thresholds have the same cost, the highest of them is taken.

        The cost is π·c_fn·(1 − sensitivity) + (1 − π)·c_fp·(1 − specificity), where π is the share
        of positives in these rows, or the `prevalence` where the rule will be used.
        """
        check_cost(false_positive, false_negative, prevalence)
        n_positive, n_negative = self.n_positive, self.n_negative
        miss_costs, n_false_positives = (
            false_negative * (n_positive - self.true_positives),
            self.false_positives,
        )
        if prevalence is None:
            costs = (miss_costs + false_positive * n_false_positives) / (n_positive + n_negative)
        else:
            costs = (
                prevalence * miss_costs / n_positive
                + (1 - prevalence) * false_positive * n_false_positives / n_negative
            )
        best_index = int(are_tied(costs, costs.min()).argmax())
        prevalence_text = "" if prevalence is None else f", prevalence {prevalence:.15g}"
        cost_text = f"cost {false_positive:.15g} of a false positive, "
        cost_text += f"{false_negative:.15g} of a false negative"
        return self.operating_point(
            best_index, cost_text + prevalence_text, float(costs[best_index])
        )

    def at_rate(self, demanded: Mapping[str, float]) -> OperatingPoint:
        """Return the operating point that meets a required rate and is otherwise best.

        A required sensitivity is met with the fewest false positives, a specificity or a precision
        with the most true positives.
        """
        name, rate = check_rate(demanded)
        true_positives, false_positives = self.true_positives, self.false_positives
        # If no row is called positive, the precision is NaN and meets no requirement.
        with np.errstate(invalid="ignore"):
            rates = {
                "sensitivity": true_positives / self.n_positive,
                "specificity": (self.n_negative - false_positives) / self.n_negative,
                "precision": true_positives / (true_positives + false_positives),
            }
        eligible_indices = np.flatnonzero(are_tied(rate, rates[name]))
        if not len(eligible_indices):
            best_rate = float(np.nanmax(rates[name]))
            raise Refusal(
                f"no threshold reaches a {name} of {rate:.15g}: the best is {best_rate:.4g}. "
                "Demand less, or a sensitivity or specificity, which some threshold always reaches."
            )
        return self.operating_point(
            int(eligible_indices[0] if name == "sensitivity" else eligible_indices[-1]),
            f"{name} ≥ {rate:.15g}",
        )


def check_cost(
    false_positive: float, false_negative: float, prevalence: float | None = None
) -> None:
    """Raise BadData if a cost or the prevalence is invalid.

    Costs must be finite and not negative, and the prevalence must be between 0 and 1.
    """
    for name, cost in (("false positive", false_positive), ("false negative", false_negative)):
        if not (is_number(cost) and np.isfinite(cost) and cost >= 0):
            raise BadData(
                f"a {name} costs {repr_on_one_line(cost)}: costs are finite and not negative."
            )
    if false_positive == false_negative == 0:
        raise BadData("neither error costs anything: every threshold is as good.")
    if prevalence is not None and not (is_number(prevalence) and 0 < prevalence < 1):
        raise BadData(
            f"prevalence {repr_on_one_line(prevalence)} is no share of positives between 0 and 1."
        )


def check_rate(demanded_rates: Mapping[str, float]) -> tuple[str, float]:
    """Return the name and the value of the required rate; raise an error if there is not one."""
    if len(demanded_rates) != 1 or not set(demanded_rates) <= set(RATE_NAMES):
        raise UnknownName(
            f"demand one rate of {', '.join(RATE_NAMES)}; given: "
            f"{', '.join(demanded_rates) or 'none'}."
        )
    ((name, rate),) = demanded_rates.items()
    if not is_number(rate) or not 0 <= rate <= 1:
        raise BadData(f"{mention(name, rate)} is no rate between 0 and 1.")
    return name, float(rate)


def area_under_roc_curve(
    scores: np.ndarray, is_positive: np.ndarray, weights: np.ndarray | None = None
) -> float:
    r"""Return the area under the ROC curve: the share of correctly ordered pairs of rows.

    A pair is a positive and a negative row. The area is
    Σ_i Σ_j w_i w_j ([s_i > s_j] + ½ [s_i = s_j]) / Σ_i w_i Σ_j w_j
    over positives i and negatives j. Without weights the sum consists of whole numbers and is
    exact.
    """
    _, score_index = np.unique(scores, return_inverse=True)
    if weights is None:
        positives_by_score, negatives_by_score = (
            np.bincount(score_index, is_positive),
            np.bincount(score_index, ~is_positive),
        )
    else:
        positives_by_score, negatives_by_score = (
            np.bincount(score_index, weights * is_positive),
            np.bincount(score_index, weights * ~is_positive),
        )
    negatives_below = np.cumsum(negatives_by_score) - negatives_by_score
    area = (positives_by_score * (2 * negatives_below + negatives_by_score)).sum() / (
        2 * positives_by_score.sum() * negatives_by_score.sum()
    )
    return min(float(area), 1.0)  # Sums of weights are rounded.


def placements(scores: np.ndarray, is_positive: np.ndarray) -> np.ndarray:
    """Return, for each row, the share of the other class's rows that its score ranks correctly.

    For a positive row this is the share of negatives below it, for a negative row the share of
    positives above it.

    These are the structural components V10 and V01 of DeLong, DeLong and Clarke-Pearson (1988); the
    mean of each over its class is the area.
    """
    _, score_index = np.unique(scores, return_inverse=True)
    positives_by_score, negatives_by_score = (
        np.bincount(score_index, is_positive),
        np.bincount(score_index, ~is_positive),
    )
    negatives_below = np.cumsum(negatives_by_score) - negatives_by_score / 2
    positives_above = (
        positives_by_score.sum() - np.cumsum(positives_by_score) + positives_by_score / 2
    )
    return np.where(
        is_positive,
        negatives_below[score_index] / negatives_by_score.sum(),
        positives_above[score_index] / positives_by_score.sum(),
    )


def covariance_of_areas(
    components: np.ndarray, is_positive: np.ndarray, groups: np.ndarray | None = None
) -> np.ndarray | None:
    r"""Return the covariance matrix of the areas under ROC curves, one per row of `components`.

    It is S10/m + S01/n with the sample covariances of the components of m positives and n negatives
    (DeLong et al., 1988). Rows of one group may depend on each other: their residuals are summed
    first, and the two classes covary through the groups they share (Obuchowski, 1997). The result
    is None if a class has fewer than two rows, or occurs in fewer than two groups.
    """
    m, n = int(is_positive.sum()), int((~is_positive).sum())
    group_numbers = (
        np.arange(len(is_positive)) if groups is None else np.unique(groups, return_inverse=True)[1]
    )
    n_positive_groups, n_negative_groups = (
        len(np.unique(group_numbers[is_positive])),
        len(np.unique(group_numbers[~is_positive])),
    )
    if min(n_positive_groups, n_negative_groups) < 2:
        return None
    positive_sums = _residual_sums(components, is_positive, group_numbers)
    negative_sums = _residual_sums(components, ~is_positive, group_numbers)
    area_covariance = (
        n_positive_groups / (n_positive_groups - 1) * (positive_sums @ positive_sums.T) / m**2
        + n_negative_groups / (n_negative_groups - 1) * (negative_sums @ negative_sums.T) / n**2
    )
    if groups is not None:
        n_groups = int(group_numbers.max()) + 1
        cross_covariance = n_groups / (n_groups - 1) * (positive_sums @ negative_sums.T) / (m * n)
        area_covariance = area_covariance + cross_covariance + cross_covariance.T
    return np.asarray(area_covariance)


def _residual_sums(
    components: np.ndarray, is_in_class: np.ndarray, group_numbers: np.ndarray
) -> np.ndarray:
    """Return the sum, in each group, of the residuals of one class's structural components.

    A residual is the deviation of a component from the mean of the class.
    """
    residuals = components[:, is_in_class] - components[:, is_in_class].mean(axis=1, keepdims=True)
    n_groups = int(group_numbers.max()) + 1
    return np.array(
        [
            np.bincount(group_numbers[is_in_class], row_residuals, minlength=n_groups)
            for row_residuals in residuals
        ]
    )
