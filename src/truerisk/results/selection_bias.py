"""Selection bias: why the smallest of several estimated risks is too small."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from functools import cached_property
from typing import Any

import numpy as np

from truerisk.core.arguments import (
    as_array,
    check_count,
    mention,
    repr_on_one_line,
    to_random_generator,
)
from truerisk.core.errors import BadArgument, BadData, Refusal
from truerisk.core.formats import format_number
from truerisk.core.frozen import frozen
from truerisk.results.interval import are_tied
from truerisk.results.records import DisplayedResult
from truerisk.results.results import RiskCurve


@frozen(eq=False)
class RiskMixture:
    """A distribution of risks: `values` with `weights` that sum to 1.

    `std_error` is the standard error of the mean over independent data sets, or None if rows were
    resampled.
    """

    values: np.ndarray = field(repr=False)
    weights: np.ndarray = field(repr=False)
    std_error: float | None

    @property
    def mean(self) -> float:
        """The weighted mean of the risks."""
        return float(self.weights @ self.values)

    def __str__(self) -> str:
        error = "" if self.std_error is None else f" ± {format_number(self.std_error)}"
        return f"{format_number(self.mean)}{error}"


@frozen(eq=False)
class SelectionBias(DisplayedResult):
    r"""Bias of repeatedly choosing the candidate with the smallest estimated risk.

    The result shows how often each candidate is chosen, and with which risks.

    A procedure P estimates the risks of several candidates and takes the smallest. Let α_n be the
    share of repetitions in which it takes candidate n. Then

    .. math:: p_a = \sum_n \alpha_n\, \tilde p_n(\hat e \mid n \text{ taken}), \qquad
              p_b = \sum_n \alpha_n\, \hat p_n(\hat e), \qquad
              p = \sum_n \alpha_n\, p_n(e)

    are what P reports, the estimates of the same candidates whether they were taken or not, and
    their true risks: equations 6, 7 and 5 of the document. Each candidate's estimates are about
    right on average, but those by which it was taken are the lucky ones. `bias`, the mean of p_b −
    p_a, is the effect of the choice.

    All numbers are losses; for a curve of scores they are the losses behind the scores, such as 1 −
    AUC. `estimates[r, n]` is the estimated risk of candidate n in repetition r, `chosen[r]` the
    candidate taken there, and `true_risks[r, n]` its error on fresh rows, if that is known.

    Parameters
    ----------
    estimates : array, shape (n_repetitions, n_candidates)
        The estimated risk of each candidate in each repetition.
    chosen : array of int, shape (n_repetitions,)
        The candidate that was taken in each repetition.
    true_risks : array, shape (n_repetitions, n_candidates), optional
        The risk of each candidate on fresh rows.
    resampled : bool, default=False
        True if the repetitions are bootstrap samples of one data set.

    See Also
    --------
    risk_curve : Compute the risks among which a setting is chosen.
    HonestSearchCV : Estimate the risk of the choice itself.

    References
    ----------
    Wallman (2005), Performance estimation in small sample parameter and classifier selection, §5.3.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = tr.datasets.make_simple(50, random_state=0)
    >>> grid = {"n_neighbors": range(1, 40, 2)}
    >>> curve = tr.risk_curve(KNeighborsClassifier(), grid, X, y, cv="loo")
    >>> why = tr.SelectionBias.of_curve(curve)
    >>> round(why.reported.mean, 3) < round(why.unselected.mean, 3)
    True
    """

    estimates: Any = field(repr=False)
    chosen: Any = field(repr=False)
    true_risks: Any = field(default=None, repr=False)
    resampled: bool = False

    def __post_init__(self) -> None:
        estimates = _to_risk_matrix("estimates", self.estimates)
        object.__setattr__(self, "estimates", estimates)
        try:
            chosen_candidates = as_array(self.chosen)
        except ValueError:
            chosen_candidates = np.empty(0)
        if chosen_candidates.shape != estimates.shape[:1] or not np.issubdtype(
            chosen_candidates.dtype, np.integer
        ):
            raise BadArgument(
                f"{mention('chosen', self.chosen)}: give the number of the candidate taken in each "
                f"of the {len(estimates)} repetitions."
            )
        if not ((chosen_candidates >= 0) & (chosen_candidates < estimates.shape[1])).all():
            raise BadArgument(f"chosen has numbers outside 0 to {estimates.shape[1] - 1}.")
        object.__setattr__(self, "chosen", chosen_candidates)
        if self.true_risks is None:
            return
        true_risks = _to_risk_matrix("true_risks", self.true_risks)
        if true_risks.shape != estimates.shape:
            raise BadArgument(
                f"true_risks has the shape {true_risks.shape} and estimates {estimates.shape}: "
                "give one true risk for each estimate."
            )
        object.__setattr__(self, "true_risks", true_risks)

    @classmethod
    def of_curves(cls, curves: Iterable[RiskCurve], true_risks: Any = None) -> SelectionBias:
        """Compute the bias from risk curves of the same settings on many data sets.

        `true_risks[r][n]` are the risks of the fitted candidates on fresh rows, if known.

        Parameters
        ----------
        curves : iterable of RiskCurve
            One curve per data set.
        true_risks : array, shape (n_curves, n_candidates), optional
            The risks of the fitted candidates on fresh rows.

        Returns
        -------
        SelectionBias
            The repeated choices.
        """
        try:
            curve_list = list(curves)
        except TypeError:
            curve_list = []
        if not curve_list or not all(isinstance(curve, RiskCurve) for curve in curve_list):
            raise BadArgument("of_curves takes the risk curves of several data sets: give a list.")
        if any(curve.candidates != curve_list[0].candidates for curve in curve_list):
            raise BadArgument("the curves have different settings: the same ones must compete.")
        if any(curve.common.scoring != curve_list[0].common.scoring for curve in curve_list):
            raise BadArgument("the curves are of different losses, which do not compare.")
        estimates = np.array([curve.common.scale.values(curve.values) for curve in curve_list])
        return cls(estimates, np.array([curve.best for curve in curve_list]), true_risks)

    @classmethod
    def of_curve(
        cls, curve: RiskCurve, n_samples: int = 1000, random_state: Any = 0
    ) -> SelectionBias:
        """Compute the bias from one curve, such as `search.curve_`, by resampling its rows.

        If rows have groups, groups are resampled. Each bootstrap sample chooses the setting with
        the smallest mean loss, and the rows that it missed serve as fresh rows. No model is fitted,
        so that the effect of other training sets is not included. The computation is that of the
        method `bbc`.

        Parameters
        ----------
        curve : RiskCurve
            A curve with losses of single rows.
        n_samples : int, default=1000
            The number of bootstrap samples.
        random_state : int, Generator or None, default=0
            The seed of the samples.

        Returns
        -------
        SelectionBias
            The repeated choices.
        """
        check_count("n_samples", n_samples, 2)
        contributions, shares = _row_contributions(curve)
        rng, n_units = to_random_generator(random_state), len(shares)
        draw_counts = np.array(
            [
                np.bincount(rng.integers(n_units, size=n_units), minlength=n_units)
                for _ in range(n_samples)
            ]
        )
        is_out_of_bag = draw_counts == 0
        has_out_of_bag = is_out_of_bag.any(axis=1)
        draw_counts, is_out_of_bag = draw_counts[has_out_of_bag], is_out_of_bag[has_out_of_bag]
        estimates = draw_counts @ contributions.T / (draw_counts @ shares)[:, None]
        out_of_bag_risks = is_out_of_bag @ contributions.T / (is_out_of_bag @ shares)[:, None]
        least_risks = estimates.min(axis=1, keepdims=True)
        return cls(
            estimates,
            are_tied(estimates, least_risks).argmax(axis=1),
            out_of_bag_risks,
            resampled=True,
        )

    @property
    def n_repetitions(self) -> int:
        """Number of repetitions of the choice."""
        return len(self.estimates)

    @cached_property
    def shares(self) -> np.ndarray:
        """Share α of each candidate: the share of the repetitions that chose it."""
        n_candidates = self.estimates.shape[1]
        return np.bincount(self.chosen, minlength=n_candidates) / self.n_repetitions

    @property
    def reported(self) -> RiskMixture:
        """Distribution of the estimated risks of the chosen candidates: p_a, equation 6."""
        return self._chosen_risk_mixture(self.estimates)

    @property
    def unselected(self) -> RiskMixture:
        """Distribution of all estimated risks, weighted by how often each candidate was chosen.

        It is p_b in equation 7.
        """
        return self._weighted_risk_mixture(self.estimates)

    @property
    def true(self) -> RiskMixture | None:
        """Distribution of all true risks, weighted by how often each candidate was chosen.

        It is p in equation 5.
        """
        return None if self.true_risks is None else self._weighted_risk_mixture(self.true_risks)

    @property
    def true_of_chosen(self) -> RiskMixture | None:
        """Distribution of the true risks of the chosen candidates, one for each repetition."""
        return None if self.true_risks is None else self._chosen_risk_mixture(self.true_risks)

    @property
    def parts(self) -> dict[str, RiskMixture]:
        """The known ones of the distributions of reported, unselected and true risks, by name."""
        mixtures = {
            "reported (p_a)": self.reported,
            "unselected (p_b)": self.unselected,
            "true (p)": self.true,
            "true of chosen": self.true_of_chosen,
        }
        return {name: mixture for name, mixture in mixtures.items() if mixture is not None}

    @property
    def bias(self) -> float:
        """Effect of choosing the smallest risk: mean unselected minus mean reported risk."""
        return self.unselected.mean - self.reported.mean

    def _chosen_risk_mixture(self, risks: np.ndarray) -> RiskMixture:
        values = risks[np.arange(self.n_repetitions), self.chosen]
        weights = np.full(self.n_repetitions, 1 / self.n_repetitions)
        return RiskMixture(values, weights, self._std_error(values))

    def _weighted_risk_mixture(self, risks: np.ndarray) -> RiskMixture:
        """Return the distribution of all candidates' risks.

        Each candidate is weighted by the share of the repetitions that chose it.
        """
        chosen_candidates = np.flatnonzero(self.shares)
        means, shares = risks.mean(axis=0), self.shares[chosen_candidates]
        influences = means[self.chosen] + risks[:, chosen_candidates] @ shares
        weights = np.repeat(shares / self.n_repetitions, self.n_repetitions)
        return RiskMixture(
            risks[:, chosen_candidates].T.ravel(), weights, self._std_error(influences)
        )

    def _std_error(self, values: np.ndarray) -> float | None:
        if self.resampled or len(values) < 2:
            return None
        return float(values.std(ddof=1) / np.sqrt(len(values)))

    def __str__(self) -> str:
        repetition_noun = "samples of the rows" if self.resampled else "data sets"
        n_chosen = np.count_nonzero(self.shares)
        text_lines = [
            (
                f"{len(self.shares)} candidates, {n_chosen} taken; "
                f"{self.n_repetitions} {repetition_noun}"
            ),
            *(f"{name:16}  {mixture}" for name, mixture in self.parts.items()),
        ]
        return "\n".join([*text_lines, f"bias of choosing  {format_number(self.bias)}"])


def _to_risk_matrix(name: str, raw_risks: Any) -> np.ndarray:
    try:
        risks = as_array(raw_risks, np.float64)
    except ValueError:
        risks = np.empty(0)
    if risks.ndim != 2 or not risks.size:
        raise BadArgument(
            f"{mention(name, raw_risks)}: give a table, a line per repetition of the choice."
        )
    if not np.isfinite(risks).all():
        repetition, candidate = np.argwhere(~np.isfinite(risks))[0]
        raise BadData(
            f"{name}: candidate {candidate} has no risk in repetition {repetition}; leave it out "
            "of all repetitions."
        )
    return risks


def _row_contributions(curve: RiskCurve) -> tuple[np.ndarray, np.ndarray]:
    """Return how much each held-out row (or group) contributes to the risk of each setting.

    The shares of the rows or groups in a risk are returned too.
    """
    if not isinstance(curve, RiskCurve):
        raise BadArgument(
            f"{repr_on_one_line(curve)} is no risk curve: give that of `tr.risk_curve` or "
            "`search.curve_`."
        )
    if curve.rule != "min":
        raise Refusal(
            f"this curve chose by the rule '{curve.rule}', and samples of its rows take the "
            f"smallest risk: make the curve with {mention('rule', 'min')}."
        )
    if curve.comparable is None:
        raise Refusal(
            f"'{curve.common.method}' does not keep the losses of every setting on the same rows: "
            "take the curve of a method that splits once, such as '10-fold'."
        )
    candidate_losses = curve.comparable.losses()
    if not np.isfinite(candidate_losses.losses).all():
        raise Refusal("a setting of this curve has a failed fit: leave it out of the grid.")
    return candidate_losses.contributions_by_unit()
