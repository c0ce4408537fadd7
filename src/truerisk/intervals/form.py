"""Base classes of confidence intervals, and of the evidence from which they are computed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cached_property
from math import inf
from numbers import Real
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

import numpy as np

from truerisk.contracts import Terms
from truerisk.core.arguments import Extensible, RenamedAttribute, mention, repr_on_one_line
from truerisk.core.errors import BadArgument, Refusal
from truerisk.core.frozen import frozen
from truerisk.core.registry import check_present
from truerisk.data.data import Data
from truerisk.intervals.instability import leave_two_out_instability, repeated_cv_instability
from truerisk.losses.loss import Loss
from truerisk.plan.plan import Plan
from truerisk.results.evaluation import Influences, LeftTwoOut
from truerisk.results.interval import Basis, Interval, normal_quantile, t_quantile

if TYPE_CHECKING:
    from truerisk.intervals.components import SpatialComponents

Needs = Mapping[Basis, str]
"""The kinds of evidence that an interval may need, each with the remedy if it is lacking."""

Sureness = tuple[float | None, Interval | None, tuple[str, ...]]
"""Standard error, interval, and notes, which say why if there is no interval."""

NO_INTERVAL: Sureness = (None, None, ())
NO_SPREAD = (
    "every row has the same loss: their spread is 0 and says nothing about the error of the mean."
)
NO_UPPER_LIMIT_NOTE = (
    "the losses hold too little independent information for an upper limit of their mean."
)
ONE_ROW_NOTE = "one tested row has no spread: there is no standard error."
ROW_NEEDS = {
    Basis.ROW_LOSSES: "use a K-fold word with interval='conservative-z', or a loss such as "
    "'zero-one', 'brier' or 'log'"
}
OF_A_MEAN = {**ROW_NEEDS, Basis.MEAN: "use a K-fold word such as '10-fold'"}

BASES_OF_LOSS = {
    Basis.ROW_LOSSES,
    Basis.INFLUENCES,
    Basis.UPPER_BOUND,
    Basis.NEVER_NEGATIVE,
    Basis.ERROR_COUNT,
}
BASES_OF_DATA = {
    Basis.EQUAL_ROWS: "data with sample_weight",
    Basis.PLACES: f"data without {mention('block')}",
}

MUELLER_WATSON_REFERENCE = (
    "Müller UK, Watson MW (2022). Spatial correlation robust inference. Econometrica 90:2901–2935."
)

CELLS_IN_CACHE = 1 << 15  # Number of array entries that fit into the processor's cache.


@frozen(eq=False, kw_only=True)
class Evidence:
    """Numbers from which the intervals of all candidates are computed.

    Parameters
    ----------
    values : array, shape (n_candidates,)
        The values of the candidates.
    loss : Loss
        The loss of the values.
    terms : Terms
        Confidence level, rule and number of candidates.
    groups : array, optional
        The groups of the tested rows.

    See Also
    --------
    truerisk.intervals.RowEvidence : Evidence with losses of single rows.
    truerisk.intervals.IntervalForm : The class that uses the evidence.

    Examples
    --------
    >>> import numpy as np
    >>> from truerisk.contracts import Terms
    >>> from truerisk.intervals import Evidence
    >>> from truerisk.losses import ZeroOne
    >>> from truerisk.selection import Minimum
    >>> evidence = Evidence(values=np.array([0.125]), loss=ZeroOne(), terms=Terms(0.95, Minimum()))
    >>> print(evidence.around(0.125, 0.25, "wald"))
    [0.0000, 0.3750]
    """

    values: np.ndarray
    loss: Loss
    terms: Terms
    groups: np.ndarray | None = None

    @cached_property
    def z(self) -> float:
        """Two-sided quantile of the normal distribution at the confidence level."""
        return normal_quantile(self.terms.confidence_level)

    def reach(self, degrees: float) -> float:
        """Return the two-sided quantile of Student's t at the confidence level.

        It is the normal quantile for infinitely many degrees of freedom.

        Parameters
        ----------
        degrees : float
            The degrees of freedom.

        Returns
        -------
        float
            The two-sided quantile at the confidence level.
        """
        return t_quantile(self.terms.confidence_level, degrees)

    @property
    def bounds(self) -> tuple[float, float]:
        """Smallest possible loss, and the difference between the largest and the smallest loss.

        They are known only for losses that fulfil `Basis.UPPER_BOUND`.
        """
        smallest_loss, largest_loss = self.loss.lower, self.loss.upper
        assert smallest_loss is not None and largest_loss is not None
        return smallest_loss, largest_loss - smallest_loss

    def named(self, name: str) -> str:
        """Return the name of an interval, with the ending "-grouped" if there are groups.

        Losses are then summed over each group first.

        Parameters
        ----------
        name : str
            Name of the interval.

        Returns
        -------
        str
            The name, with "-grouped" if there are groups.
        """
        return name if self.groups is None else f"{name}-grouped"

    def around(self, value: float, half: float, name: str) -> Interval:
        """Return the interval `value ± half`, cut to the values that the loss can take.

        Parameters
        ----------
        value : float
            The centre of the interval.
        half : float
            Half of its width.
        name : str
            Name of the interval.

        Returns
        -------
        Interval
            The interval.
        """
        lower_bound, upper_bound = self.loss.lower, self.loss.upper
        lower_limit = value - half if lower_bound is None else max(value - half, lower_bound)
        upper_limit = value + half if upper_bound is None else min(value + half, upper_bound)
        return Interval(float(lower_limit), float(upper_limit), name, self.terms.confidence_level)

    def skewed(self, value: float, half: float, name: str) -> Interval | None:
        """Return `value ± half` on a scale on which the distribution of a risk is nearly symmetric.

        The transformation is to first order. For losses with bounds this scale is the logit. For
        other losses that are never negative it is 1/√value: if a few large losses are missing, both
        the mean and its error are too small. That scale ends at infinity, so that there is no
        interval if `half` is at least twice the value.

        Parameters
        ----------
        value : float
            The value.
        half : float
            Half of the width of a symmetric interval.
        name : str
            Name of the interval.

        Returns
        -------
        Interval or None
            The interval, or None if there is none on that scale.
        """
        loss = self.loss
        if loss.lower is not None and loss.upper is not None:
            smallest_loss, loss_range = self.bounds
            value_share = (value - smallest_loss) / loss_range
            logit_half_width, logit = (
                half / (loss_range * value_share * (1 - value_share)),
                np.log(value_share / (1 - value_share)),
            )
            limits = smallest_loss + loss_range / 2 * (
                1 + np.tanh(np.array([logit - logit_half_width, logit + logit_half_width]) / 2)
            )
        elif loss.lower == 0:
            if half >= 2 * value:
                return None
            limits = value / (1 + np.array([0.5, -0.5]) * half / value) ** 2
        else:
            return self.around(value, half, name)
        return Interval(float(limits[0]), float(limits[1]), name, self.terms.confidence_level)

    def beta(self, value: float, size: float, name: str) -> Interval:
        """Return the interval between quantiles of Beta(size m + ½, size (1 − m) + ½).

        m is the value as a share of the range of the loss.

        Parameters
        ----------
        value : float
            The value.
        size : float
            The number of independent rows that the value is worth.
        name : str
            Name of the interval.

        Returns
        -------
        Interval
            The interval between the quantiles.
        """
        from scipy.special import betaincinv, gammaincinv

        (smallest_loss, loss_range), level = self.bounds, self.terms.confidence_level
        value_share = float(np.clip((value - smallest_loss) / loss_range, 0, 1))
        quantile_levels = np.array([1 - level, 1 + level]) / 2
        a, b = size * value_share + 0.5, size * (1 - value_share) + 0.5
        # For a value of 1e-21, `betaincinv` returns NaN in the oldest supported SciPy version.
        # The gamma quantile replaces it, because Beta(a, b) is practically Gamma(a) / b for such
        # large b.
        quantiles = (
            betaincinv(a, b, quantile_levels)
            if b < MIN_B_FOR_GAMMA_LIMIT
            else gammaincinv(a, quantile_levels) / b
        )
        limits = smallest_loss + loss_range * quantiles
        return Interval(float(limits[0]), float(limits[1]), name, level)


# From this b on, the distribution Gamma(a) / b replaces Beta(a, b). Its relative error is about
# a / b.
MIN_B_FOR_GAMMA_LIMIT = 1e12


@frozen(eq=False, kw_only=True)
class RowEvidence(Evidence):
    """Numbers from which intervals are computed if values are mean losses of test rows.

    Parameters
    ----------
    values : array, shape (n_candidates,)
        The values of the candidates.
    loss : Loss
        The loss of the values.
    terms : Terms
        Confidence level, rule and number of candidates.
    groups : array, optional
        The groups of the tested rows.
    data : Data
        The rows of the call.
    plan : Plan
        The plan that was answered.
    rows : array of int
        The tested rows.
    losses : array, shape (n_candidates, n_rows)
        The loss of each tested row, its mean over tests if rows were tested `repeatedly`.
    weights : array, shape (n_rows,)
        The share of each tested row in the value; the shares sum to 1.
    repeatedly : bool
        True if rows were tested several times.
    by_position : array
        The losses of single tests.
    split_risks : array
        The risks of whole test sets.
    best : int, optional
        The candidate that the rule chose; None if it was not determined.
    left_two_out : LeftTwoOut, optional
        Losses of the same rows by models that lack a further fold.
    one_row : array, optional
        The effect of a different answer to one row on the value of each candidate, for scores that
        rate whole test sets.
    pooled : array, optional
        The values of all answers of a repetition as one test set, if `values` are means over folds
        of a score that is biased on small test sets.
    times : array, optional
        The times of the rows, if they were tested in the order of time.

    See Also
    --------
    truerisk.intervals.Evidence : Evidence without losses of single rows.
    truerisk.intervals.IntervalForm : The class that uses the evidence; its example shows how.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from truerisk.extend import OF_A_MEAN
    >>> class Look(tr.intervals.IntervalForm):
    ...     name, needs, reference = "look", OF_A_MEAN, ""
    ...
    ...     def compute(self, evidence, c):
    ...         print(evidence.losses.shape, evidence.rows[:3], round(evidence.weights.sum(), 9))
    ...         return None, None, ("this interval only looks at the evidence.",)
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> estimate = tr.estimate_risk(GaussianNB(), X, y, interval=Look())
    (1, 60) [0 1 2] 1.0
    """

    data: Data
    plan: Plan
    rows: np.ndarray
    losses: np.ndarray
    weights: np.ndarray
    repeatedly: bool
    by_position: np.ndarray
    split_risks: np.ndarray
    best: int | None = None
    left_two_out: LeftTwoOut | None = None
    one_row: np.ndarray | None = None
    pooled: np.ndarray | None = None
    times: np.ndarray | None = None

    @cached_property
    def marks(self) -> np.ndarray:
        """Number that identifies each test row, whatever the order of the rows."""
        return self.data.row_marks[self.rows]

    @cached_property
    def components(self) -> SpatialComponents | None:
        """Spatial components of the places of the test rows, or None for too few places."""
        assert self.data.places is not None
        check_present("truerisk.intervals.components")
        from truerisk.intervals.components import spatial_components

        return spatial_components(self.data.places[self.rows], self.terms.confidence_level)

    @cached_property
    def instability(self) -> np.ndarray | None:
        """Instability of every candidate, or None if it was not measured.

        It is measured by repeated drawings of the folds, or by models whose training sets lack a
        second fold as well.
        """
        if self.repeatedly:
            return repeated_cv_instability(self.by_position, self.losses, self.weights, self.plan)
        if self.left_two_out is None:
            return None
        residuals = self.losses - self.values[:, None]
        return leave_two_out_instability(
            self.left_two_out, residuals, self.weights, self.rows, self.groups
        )

    @cached_property
    def variances(self) -> tuple[list[float], int]:
        """Variance of each candidate's mean loss, and the number of independent rows or groups."""
        variances, n_units = variances_of_means(self.losses, self.weights, self.values, self.groups)
        return variances.tolist(), n_units

    def influences(self, c: int, losses: np.ndarray | None) -> Influences | None:
        """Return each row's influence on the value of candidate c, or None.

        None means that rows were tested repeatedly or that the candidate failed. `losses` are its
        losses if they are stored elsewhere, so that they are in memory only once.

        Parameters
        ----------
        c : int
            The number of the candidate.
        losses : array or None
            Its losses, or None if `losses` of the evidence holds them.

        Returns
        -------
        Influences or None
            The influence of each row.
        """
        if self.repeatedly or not np.isfinite(self.values[c]):
            return None
        left_two_out = self.left_two_out
        if left_two_out is not None:
            left_two_out = replace(left_two_out, losses=left_two_out.losses[c : c + 1])
        # `one_row` stays 0 for numeric predictions, because a changed number may have an
        # arbitrarily small effect on the loss.
        one_row = 0.0
        if self.loss.response == "label" and self.one_row is not None:
            one_row = float(self.one_row[c])
        elif self.loss.response == "label" and self.loss.binary:
            one_row = float(np.sqrt((self.weights**2).mean()))
        return Influences(
            losses=self.losses[c] if losses is None else losses,
            rows=self.rows,
            weights=self.weights,
            groups=self.groups,
            k=float(self.plan.n_rows / self.plan.test_sizes.mean()),
            one_row=one_row,
            left_two_out=left_two_out,
        )

    def variance(self, c: int, groups: np.ndarray | None) -> tuple[float, int]:
        """Return the variance of one candidate's mean loss, for independent rows or for groups.

        Parameters
        ----------
        c : int
            The number of the candidate.
        groups : array or None
            The groups of the tested rows; None for independent rows.

        Returns
        -------
        tuple of (float, int)
            The variance of the mean, and the number of independent rows or groups.
        """
        candidate_slice = slice(c, c + 1)
        variances, n_units = variances_of_means(
            self.losses[candidate_slice], self.weights, self.values[candidate_slice], groups
        )
        return float(variances[0]), n_units


def variances_of_means(
    losses: np.ndarray, weights: np.ndarray, values: np.ndarray, groups: np.ndarray | None
) -> tuple[np.ndarray, int]:
    """Return the variances of weighted mean losses, and the number m of independent units.

    The units are groups or rows. A variance is m/(m−1) Σ_g (Σ_{i∈g} w_i (ℓ_i − value))² over the m
    groups or rows with a weight; there is one for each value and its row of losses.
    """
    group_numbers = None if groups is None else np.unique(groups, return_inverse=True)[1].ravel()
    unit_weights = weights if group_numbers is None else np.bincount(group_numbers, weights)
    n_units = int(np.count_nonzero(unit_weights))
    variances = np.zeros(len(losses))
    batch_size = max(1, CELLS_IN_CACHE // max(1, len(weights)))
    for first_candidate in range(0, len(losses) if n_units > 1 else 0, batch_size):
        batch = slice(first_candidate, first_candidate + batch_size)
        residuals = losses[batch] - values[batch, None]
        residuals *= weights
        if group_numbers is not None:
            residuals = np.array(
                [
                    np.bincount(group_numbers, candidate_residuals)
                    for candidate_residuals in residuals
                ]
            )
        variances[batch] = n_units / (n_units - 1) * np.square(residuals, out=residuals).sum(axis=1)
    return variances, n_units


E = TypeVar("E", bound=Evidence)


def dependence_reason(data: Data) -> str | None:
    """Return why rows cannot be treated as independent, or None if they can.

    If the rows have times or places, an interval for independent rows or groups is not justified.
    Labels of blocks are groups, which methods keep together and sum first.
    """
    if data.time is None and data.places is None:
        return None
    argument, direction = ("time=", "before") if data.time is not None else ("block=", "beside")
    name = "forward-5" if data.time is not None else "blocks-5"
    return (
        f"{argument} is given, and rows may depend on those {direction} them: an interval of "
        f"independent rows is not justified. A method such as '{name}' has one that accounts for "
        "it."
    )


def dependence_interval_name(loss: Loss, data: Data, is_in_time_order: bool) -> str | None:
    """Return the name of the interval for losses that are dependent in time or space.

    It is None if there is no such interval.
    """
    if is_in_time_order:
        return "hac" if loss.per_row else None
    is_calibrated = loss.per_row or loss.holds_in_space
    return "spatial" if data.block is not None and loss.tells_influences and is_calibrated else None


def compute_if_independent(
    interval_form: IntervalForm[E], evidence: E, data: Data
) -> list[Sureness]:
    """Compute the intervals of all candidates by a formula for independent rows.

    If rows are not independent, each candidate has no interval but the reason.
    """
    reason = dependence_reason(data)
    if reason is None:
        return interval_form.of_each(evidence)
    if evidence.terms.interval is not None:
        raise Refusal(f"interval '{interval_form.name}' is not available here: {reason}")
    return [(None, None, (reason,))] * len(evidence.values)


class IntervalForm(Extensible, ABC, Generic[E]):
    """Base class of intervals: a formula for a standard error and an interval.

    An interval is applied only if everything that it `needs` is given. `name` is its name and
    `reference` its publication. `caution`, the end of a sentence "Intervals ...", describes what no
    publication covers.

    See Also
    --------
    truerisk.intervals.RowEvidence : What an interval of a mean of losses gets.
    truerisk.extend.Basis : The kinds of evidence that an interval may need.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from truerisk.extend import OF_A_MEAN
    >>> class Naive(tr.intervals.IntervalForm):
    ...     name, needs, reference = "naive", OF_A_MEAN, ""
    ...
    ...     def compute(self, evidence, c):
    ...         error = evidence.variance(c, evidence.groups)[0] ** 0.5
    ...         value = float(evidence.values[c])
    ...         return error, evidence.around(value, evidence.z * error, self.name), ()
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> print(tr.estimate_risk(GaussianNB(), X, y, interval=Naive()).interval)
    [0.0235, 0.1765]
    """

    name: ClassVar[str]
    word = RenamedAttribute("name")
    of = RenamedAttribute("compute")
    needs: ClassVar[Needs]
    reference: ClassVar[str]
    caution: ClassVar[str] = ""
    # True if the formula must know which candidate was chosen.
    counts_choice: ClassVar[bool] = False

    @abstractmethod
    def compute(self, evidence: E, c: int) -> Sureness:
        """Return the standard error and the interval of candidate c, or None and a note.

        There is no interval if the evidence justifies none.

        Parameters
        ----------
        evidence : Evidence
            The evidence for all candidates.
        c : int
            The number of the candidate.

        Returns
        -------
        tuple of (float or None, Interval or None, tuple of str)
            Standard error, interval and notes.
        """

    def of_each(self, evidence: E) -> list[Sureness]:
        """Return the standard errors and intervals of all candidates that have a value.

        BadArgument is raised if a user-defined form returns invalid results.

        Parameters
        ----------
        evidence : Evidence
            The evidence for all candidates.

        Returns
        -------
        list of tuples
            Standard error, interval and notes of each candidate.
        """
        results = [NO_INTERVAL] * len(evidence.values)
        for c in np.flatnonzero(np.isfinite(evidence.values)).tolist():
            match result := self.compute(evidence, c):
                case (None | Real(), None | Interval(Real(), Real()), tuple()):
                    interval = result[1]
                    if interval is None or -inf < interval.low <= interval.high < inf:
                        results[c] = result
                        continue
            raise BadArgument(
                f"interval '{self.name}' gave {repr_on_one_line(result)}: give a standard error or "
                "None, an Interval from low to high or None, and a tuple of notes."
            )
        return results

    def check(self, data: Data, loss: Loss) -> None:
        """Raise Refusal if the form does not support the loss or the data, before a plan is drawn.

        Parameters
        ----------
        data : Data
            The checked rows of the call.
        loss : Loss
            The loss to estimate.
        """
        if data.time is not None and Basis.TIMES not in self.needs:
            raise Refusal(
                f"interval '{self.name}' is not available here: {dependence_reason(data)}"
            )
        is_fulfilled = {
            Basis.ROW_LOSSES: loss.per_row,
            Basis.INFLUENCES: loss.tells_influences,
            Basis.UPPER_BOUND: loss.lower is not None and loss.upper is not None,
            Basis.NEVER_NEGATIVE: loss.lower == 0,
            Basis.ERROR_COUNT: loss.binary,
            Basis.EQUAL_ROWS: data.sample_weight is None,
            Basis.PLACES: data.block is not None,
        }
        for need in self.needs:
            if not is_fulfilled.get(need, True):
                provider = BASES_OF_DATA.get(need, f"loss '{loss.name}'")
                raise self._refusal(need, provider)

    def require(self, given: Collection[Basis], who: str) -> None:
        """Raise Refusal if a method, or its predictions, lack evidence that the form needs.

        Parameters
        ----------
        given : collection of Basis
            The evidence that the method or its answers provide.
        who : str
            What lacks the evidence, for the message.
        """
        need = self.lacking(given)
        if need is not None:
            raise self._refusal(need, who)

    def lacking(self, given: Collection[Basis]) -> Basis | None:
        """Return the first kind of evidence that the form needs and a method does not provide.

        It is None if nothing is lacking.

        Parameters
        ----------
        given : collection of Basis
            The evidence that the method or its answers provide.

        Returns
        -------
        Basis or None
            The first lacking need, or None if nothing is lacking.
        """
        for need in self.needs:
            if need not in BASES_OF_LOSS and need not in BASES_OF_DATA and need not in given:
                return need
        return None

    def _refusal(self, need: Basis, provider: str) -> Refusal:
        """Return the error that says which evidence is missing, and the remedy."""
        needed_evidence, remedy = need.value, self.needs[need]
        return Refusal(
            f"interval '{self.name}' needs {needed_evidence}, which {provider} cannot give: "
            f"{remedy}."
        )


def is_zero_error(error: float, value: float) -> bool:
    """Return True if a standard error is 0 up to rounding, relative to the value."""
    return error <= 1e-12 * abs(value)
