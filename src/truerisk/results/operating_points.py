"""Operating points of a scoring rule: the rates at a threshold, and the choice of a threshold.

The area under its ROC curve is a U-statistic, with DeLong's variance; ties count half.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from truerisk.core import formats
from truerisk.core.arguments import is_number, mention, shown
from truerisk.core.errors import BadData, Refusal, UnknownName
from truerisk.core.frozen import frozen
from truerisk.results.interval import tied
from truerisk.results.records import Record, Size

RATES = ("sensitivity", "specificity", "precision")


@frozen
class OperatingPoint(Record):
    """Results of "positive if score ≥ threshold" on scored rows, and why the threshold was chosen.

    Its rates are those of the rows on which it was chosen, and flatter. The honest risk of a tuned
    threshold is that of a `tr.models.ThresholdClassifier`, which chooses within every fold.
    `precision` is None if nothing is called positive. `cost` is the mean cost per row.
    """

    derived: ClassVar[tuple[str, ...]] = ("sensitivity", "specificity", "precision", "error")

    threshold: float
    true_positives: Size
    false_positives: Size
    n_positive: Size
    n_negative: Size
    chosen_by: str
    cost: float | None = None

    @property
    def flaw(self) -> tuple[str, str] | None:
        """Place and requirement of a count from which no share can be computed, or None."""
        counts = {"n_positive": self.n_positive, "n_negative": self.n_negative}
        return next(((name, "above 0") for name, n in counts.items() if not n > 0), None)

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
        """Share of true positives among the rows called positive."""
        called = self.true_positives + self.false_positives
        return self.true_positives / called if called else None

    @property
    def error(self) -> float:
        """Share of wrong calls."""
        missed = self.n_positive - self.true_positives
        return (missed + self.false_positives) / (self.n_positive + self.n_negative)

    def __str__(self) -> str:
        cost = "" if self.cost is None else f", cost {formats.number(self.cost)}"
        return (
            f"threshold {self.threshold:.6g} ({self.chosen_by}): "
            f"sensitivity {formats.number(self.sensitivity)}, "
            f"specificity {formats.number(self.specificity)}, "
            f"precision {formats.number(self.precision)}{cost}"
        )


@frozen(eq=False)
class Sweep:
    """Every threshold that separates rows, in falling order, and the counts at each.

    A row is called positive if its score is at least the threshold. The first threshold is
    infinite: nothing is called positive. Counts are sums of weights if rows have weights.
    """

    thresholds: np.ndarray
    true_positives: np.ndarray
    false_positives: np.ndarray

    @classmethod
    def from_scores(
        cls, scores: np.ndarray, positive: np.ndarray, weights: np.ndarray | None = None
    ) -> Sweep:
        """Compute the sweep over given finite scores; equal scores are called together."""
        levels, level = np.unique(scores, return_inverse=True)
        kind = np.int64 if weights is None else np.float64
        w = np.ones(len(scores), dtype=kind) if weights is None else weights
        calls = [
            np.concatenate([[0], np.cumsum(np.bincount(level, w * mine)[::-1])]).astype(kind)
            for mine in (positive, ~positive)
        ]
        return cls(np.concatenate([[np.inf], levels[::-1]]), *calls)

    @property
    def n_positive(self) -> float:
        """Number (or weight) of the positive rows."""
        return float(self.true_positives[-1])

    @property
    def n_negative(self) -> float:
        """Number (or weight) of the negative rows."""
        return float(self.false_positives[-1])

    def point(self, at: int, chosen_by: str, cost: float | None = None) -> OperatingPoint:
        """Return the operating point at one of the thresholds."""
        return OperatingPoint(
            threshold=float(self.thresholds[at]),
            true_positives=float(self.true_positives[at]),
            false_positives=float(self.false_positives[at]),
            n_positive=self.n_positive,
            n_negative=self.n_negative,
            chosen_by=chosen_by,
            cost=cost,
        )

    def point_at(self, threshold: float) -> OperatingPoint:
        """Return the operating point of the rule "positive if score ≥ threshold"."""
        if np.isnan(threshold):
            raise BadData("the threshold is NaN: no score is above or below it.")
        place = int(np.searchsorted(-self.thresholds, -threshold, side="right")) - 1
        point = self.point(max(place, 0), "given")
        return OperatingPoint(**{**vars(point), "threshold": float(threshold)})

    def at_cost(
        self, false_positive: float, false_negative: float, prevalence: float | None = None
    ) -> OperatingPoint:
        """Return the point of least mean cost per row; among equal ones, the highest threshold.

        The cost is π·c_fn·(1 − sensitivity) + (1 − π)·c_fp·(1 − specificity), where π is the share
        of positives in these rows, or the `prevalence` where the rule will be used.
        """
        check_cost(false_positive, false_negative, prevalence)
        n1, n0 = self.n_positive, self.n_negative
        missed, alarms = false_negative * (n1 - self.true_positives), self.false_positives
        if prevalence is None:
            costs = (missed + false_positive * alarms) / (n1 + n0)
        else:
            costs = prevalence * missed / n1 + (1 - prevalence) * false_positive * alarms / n0
        best = int(tied(costs, costs.min()).argmax())
        share = "" if prevalence is None else f", prevalence {prevalence:.15g}"
        why = f"cost {false_positive:.15g} of a false positive, "
        why += f"{false_negative:.15g} of a false negative"
        return self.point(best, why + share, float(costs[best]))

    def at_rate(self, demanded: Mapping[str, float]) -> OperatingPoint:
        """Return the point that meets one required rate and is best in the other.

        A required sensitivity is met with the fewest false positives, a specificity or a precision
        with the most true positives.
        """
        name, rate = check_rate(demanded)
        tp, fp = self.true_positives, self.false_positives
        # Without positive calls the precision is NaN and meets no requirement.
        with np.errstate(invalid="ignore"):
            rates = {
                "sensitivity": tp / self.n_positive,
                "specificity": (self.n_negative - fp) / self.n_negative,
                "precision": tp / (tp + fp),
            }
        met = np.flatnonzero(tied(rate, rates[name]))
        if not len(met):
            best = float(np.nanmax(rates[name]))
            raise Refusal(
                f"no threshold reaches a {name} of {rate:.15g}: the best is {best:.4g}. Demand "
                "less, or a sensitivity or specificity, which some threshold always reaches."
            )
        return self.point(
            int(met[0] if name == "sensitivity" else met[-1]), f"{name} ≥ {rate:.15g}"
        )


def check_cost(
    false_positive: float, false_negative: float, prevalence: float | None = None
) -> None:
    """Refuse invalid costs, and a prevalence that is not a share."""
    for name, cost in (("false positive", false_positive), ("false negative", false_negative)):
        if not (is_number(cost) and np.isfinite(cost) and cost >= 0):
            raise BadData(f"a {name} costs {shown(cost)}: costs are finite and not negative.")
    if false_positive == false_negative == 0:
        raise BadData("neither error costs anything: every threshold is as good.")
    if prevalence is not None and not (is_number(prevalence) and 0 < prevalence < 1):
        raise BadData(f"prevalence {shown(prevalence)} is no share of positives between 0 and 1.")


def check_rate(demanded: Mapping[str, float]) -> tuple[str, float]:
    """Return the name and the value of the one required rate."""
    if len(demanded) != 1 or not set(demanded) <= set(RATES):
        raise UnknownName(
            f"demand one rate of {', '.join(RATES)}; given: {', '.join(demanded) or 'none'}."
        )
    ((name, rate),) = demanded.items()
    if not is_number(rate) or not 0 <= rate <= 1:
        raise BadData(f"{mention(name, rate)} is no rate between 0 and 1.")
    return name, float(rate)


def area(scores: np.ndarray, positive: np.ndarray, weights: np.ndarray | None = None) -> float:
    r"""Return the share of (positive, negative) pairs that the scores put in the right order.

    The area is Σ_i Σ_j w_i w_j ([s_i > s_j] + ½ [s_i = s_j]) / Σ_i w_i Σ_j w_j over positives i and
    negatives j. Without weights the sum consists of whole numbers and is exact.
    """
    _, level = np.unique(scores, return_inverse=True)
    if weights is None:
        up, down = np.bincount(level, positive), np.bincount(level, ~positive)
    else:
        up, down = np.bincount(level, weights * positive), np.bincount(level, weights * ~positive)
    below = np.cumsum(down) - down
    return float((up * (2 * below + down)).sum() / (2 * up.sum() * down.sum()))


def placements(scores: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """Return the share of negatives below each positive, and of positives above each negative.

    These are the structural components V10 and V01 of DeLong, DeLong and Clarke-Pearson (1988); the
    mean of each over its class is the area.
    """
    _, level = np.unique(scores, return_inverse=True)
    up, down = np.bincount(level, positive), np.bincount(level, ~positive)
    below = np.cumsum(down) - down / 2
    above = up.sum() - np.cumsum(up) + up / 2
    return np.where(positive, below[level] / down.sum(), above[level] / up.sum())


def covariance(
    parts: np.ndarray, positive: np.ndarray, groups: np.ndarray | None = None
) -> np.ndarray | None:
    r"""Return the covariance of the areas of several scores, one per row of `parts`.

    It is S10/m + S01/n with the sample covariances of the components of m positives and n negatives
    (DeLong et al., 1988). Rows of one group may depend on each other: their residuals are summed
    first, and the two classes covary through the groups they share (Obuchowski, 1997). The result
    is None if a class has fewer than two rows, or occurs in fewer than two groups.
    """
    m, n = int(positive.sum()), int((~positive).sum())
    ids = np.arange(len(positive)) if groups is None else np.unique(groups, return_inverse=True)[1]
    i10, i01 = len(np.unique(ids[positive])), len(np.unique(ids[~positive]))
    if min(i10, i01) < 2:
        return None
    ups = _residual_sums(parts, positive, ids)
    downs = _residual_sums(parts, ~positive, ids)
    cov = i10 / (i10 - 1) * (ups @ ups.T) / m**2 + i01 / (i01 - 1) * (downs @ downs.T) / n**2
    if groups is not None:
        i = int(ids.max()) + 1
        cross = i / (i - 1) * (ups @ downs.T) / (m * n)
        cov = cov + cross + cross.T
    return np.asarray(cov)


def _residual_sums(parts: np.ndarray, mine: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Return per group the summed deviations of this class's components from their mean."""
    residuals = parts[:, mine] - parts[:, mine].mean(axis=1, keepdims=True)
    size = int(ids.max()) + 1
    return np.array([np.bincount(ids[mine], row, minlength=size) for row in residuals])
