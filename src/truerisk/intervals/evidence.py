"""What the values of a method rest on, and the shapes that several intervals have around them.

The error of a mean over places whose values hang together is made of components of their spread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from truerisk.contracts import Terms
from truerisk.data.data import Data
from truerisk.data.places import grid_cells, usual_side
from truerisk.intervals.instability import instabilities, instability_of_pairs
from truerisk.losses.loss import Loss
from truerisk.plan.plan import Plan
from truerisk.results.evaluation import Influences, Shaken
from truerisk.results.interval import Interval, normal_quantile, quantile_of_t
from truerisk.statistics.long_run import exceeds, least_factor, mean_of_chi

AT_ONCE = 1 << 15  # cells: they stay in a cache


@dataclass(frozen=True, eq=False, kw_only=True)
class Evidence:
    """The values of all candidates; `groups` are those of the tested rows, where there are some."""

    values: np.ndarray
    loss: Loss
    terms: Terms
    groups: np.ndarray | None = None

    @cached_property
    def z(self) -> float:
        """The quantile of the normal distribution that the level asks for."""
        return normal_quantile(self.terms.confidence_level)

    def reach(self, degrees: float) -> float:
        """That of Student's t, which is the normal one of infinitely many degrees."""
        return quantile_of_t(self.terms.confidence_level, degrees)

    @property
    def bounds(self) -> tuple[float, float]:
        """The smallest loss, and how far the largest lies above it: for `Basis.UPPER_BOUND`."""
        low, high = self.loss.lower, self.loss.upper
        assert low is not None and high is not None
        return low, high - low

    def named(self, word: str) -> str:
        """The name of an interval that adds up groups first, where there are groups."""
        return word if self.groups is None else f"{word}-grouped"

    def around(self, value: float, half: float, name: str) -> Interval:
        """`value ± half`, cut to the values the loss can take."""
        least, most = self.loss.lower, self.loss.upper
        low = value - half if least is None else max(value - half, least)
        high = value + half if most is None else min(value + half, most)
        return Interval(float(low), float(high), name, self.terms.confidence_level)

    def skewed(self, value: float, half: float, name: str) -> Interval | None:
        """`value ± half` on the scale on which a risk is nearly symmetric, to first order.

        That is the logit of losses with bounds. Of others that are never negative it is
        1/√value: where a few large losses are missing, both the mean and its error are too small.
        That scale ends at infinity, which leaves no interval if `half` is twice the value or more.
        """
        loss = self.loss
        if loss.lower is not None and loss.upper is not None:
            low, span = self.bounds
            share = (value - low) / span
            spread, logit = half / (span * share * (1 - share)), np.log(share / (1 - share))
            ends = low + span / 2 * (1 + np.tanh(np.array([logit - spread, logit + spread]) / 2))
        elif loss.lower == 0:
            if half >= 2 * value:
                return None
            ends = value / (1 + np.array([0.5, -0.5]) * half / value) ** 2
        else:
            return self.around(value, half, name)
        return Interval(float(ends[0]), float(ends[1]), name, self.terms.confidence_level)

    def beta(self, value: float, size: float, name: str) -> Interval:
        """Quantiles of Beta(size m + ½, size (1 − m) + ½), m the value as a share of the bound."""
        from scipy.special import betaincinv, gammaincinv

        (low, span), level = self.bounds, self.terms.confidence_level
        share = float(np.clip((value - low) / span, 0, 1))
        tails = np.array([1 - level, 1 + level]) / 2
        a, b = size * share + 0.5, size * (1 - share) + 0.5
        # The oldest SciPy has NaN for a value of 1e-21, where Beta(a, b) is Gamma(a) / b.
        quantiles = betaincinv(a, b, tails) if b < HUGE else gammaincinv(a, tails) / b
        ends = low + span * quantiles
        return Interval(float(ends[0]), float(ends[1]), name, level)


HUGE = 1e12  # the two differ by a share of about a / b


@dataclass(frozen=True, eq=False, kw_only=True)
class RowEvidence(Evidence):
    """Values that are means of losses of rows which were held out.

    `losses[c, j]` is candidate c's loss of row `rows[j]`, the mean of its tests where a row was
    tested `repeatedly`; `weights` are the shares of these rows in the value and add to 1.
    `by_position` holds the losses of single tests, `split_risks` those of whole test sets. `best`
    is the candidate that the rule chose, None where nobody asked. `shaken` are losses of the same
    rows by models that lack a further fold. `one_row` is what another answer to one row does to the
    value of each candidate, of scores that rate whole test sets. `pooled` are the values of all
    answers of a repetition as one test set, where `values` are means over folds of a score that is
    biased on small test sets. `times` are those of the rows, where they were tested in the order of
    time.
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
    shaken: Shaken | None = None
    one_row: np.ndarray | None = None
    pooled: np.ndarray | None = None
    times: np.ndarray | None = None

    @cached_property
    def marks(self) -> np.ndarray:
        """A number for each tested row that does not depend on where the row stands."""
        return self.data.row_marks[self.rows]

    @cached_property
    def components(self) -> SpatialComponents | None:
        """Those of the places of the tested rows; None where they are too few."""
        assert self.data.places is not None
        return spatial_components(self.data.places[self.rows], self.terms.confidence_level)

    @cached_property
    def instability(self) -> np.ndarray | None:
        """That of every candidate, by repeated drawings or by models without a further fold."""
        if self.repeatedly:
            return instabilities(self.by_position, self.losses, self.weights, self.plan)
        if self.shaken is None:
            return None
        residuals = self.losses - self.values[:, None]
        return instability_of_pairs(self.shaken, residuals, self.weights, self.rows, self.groups)

    @cached_property
    def variances(self) -> tuple[list[float], int]:
        """Of the mean of independent rows, or groups, for every candidate; how many there are."""
        variances, m = variances_of_means(self.losses, self.weights, self.values, self.groups)
        return variances.tolist(), m

    def influences(self, c: int, losses: np.ndarray | None) -> Influences | None:
        """What each row does to the value of candidate c; None of repeated and of failed tests.

        `losses` are its losses where they are kept elsewhere, so that they are held once.
        """
        if self.repeatedly or not np.isfinite(self.values[c]):
            return None
        return Influences(
            losses=self.losses[c] if losses is None else losses,
            rows=self.rows,
            weights=self.weights,
            groups=self.groups,
            k=float(self.plan.n_rows / self.plan.test_sizes.mean()),
            one_row=self._one_row(c),
            shaken=None if self.shaken is None else self.shaken.line(c),
        )

    def _one_row(self, c: int) -> float:
        """What another label of a row does to the value; numbers change by as little as they do."""
        if self.loss.response != "label":
            return 0.0
        if self.one_row is not None:
            return float(self.one_row[c])
        return float(np.sqrt((self.weights**2).mean())) if self.loss.binary else 0.0

    def variance(self, c: int, groups: np.ndarray | None) -> tuple[float, int]:
        """That of one candidate, of independent rows or of the groups that are named."""
        mine = slice(c, c + 1)
        variances, m = variances_of_means(
            self.losses[mine], self.weights, self.values[mine], groups
        )
        return float(variances[0]), m


@dataclass(frozen=True)
class NestedErrors:
    """What nested cross-validation says of the error of its mean.

    `std_error` is its own, between the `floor` of independent rows and √K times that; `mean` is the
    mean of the losses outside each two folds, `n` counts the tested rows, or groups.
    """

    std_error: float
    floor: float
    mean: float
    n: int


@dataclass(frozen=True, eq=False, kw_only=True)
class PairEvidence(Evidence):
    """What fits without each two folds say, for every candidate."""

    pairs: Sequence[NestedErrors]


@dataclass(frozen=True, eq=False, kw_only=True)
class HalfEvidence(Evidence):
    """Mean risks `halves[c, pair, side]` in disjoint halves of the rows."""

    halves: np.ndarray


@dataclass(frozen=True, eq=False, kw_only=True)
class SampleEvidence(Evidence):
    """Err₁, the `risks` of rows that bootstrap samples missed, with its standard error or None."""

    std_errors: Sequence[float | None]
    risks: Sequence[float]


def variances_of_means(
    losses: np.ndarray, weights: np.ndarray, values: np.ndarray, groups: np.ndarray | None
) -> tuple[np.ndarray, int]:
    """m/(m−1) Σ_g (Σ_{i∈g} w_i (ℓ_i − value))² over the m groups or rows with a weight, and m.

    One for each value and its line of losses.
    """
    member = None if groups is None else np.unique(groups, return_inverse=True)[1].ravel()
    sizes = weights if member is None else np.bincount(member, weights)
    m = int(np.count_nonzero(sizes))
    variances = np.zeros(len(losses))
    step = max(1, AT_ONCE // max(1, len(weights)))
    for start in range(0, len(losses) if m > 1 else 0, step):
        part = slice(start, start + step)
        residuals = losses[part] - values[part, None]
        residuals *= weights
        if member is not None:
            residuals = np.array([np.bincount(member, line) for line in residuals])
        variances[part] = m / (m - 1) * np.square(residuals, out=residuals).sum(axis=1)
    return variances, m


MOST_ALIKE = 0.15  # the mean correlation of two places that an interval is to stand
MOST_COMPONENTS = 12
MOST_PLACES = 500  # more are gathered into cells
STEPS = np.array([1, 1.5, 2.3, 3.5, 6, 12, 30, 1000])  # from the strongest correlation to none


@dataclass(frozen=True, eq=False)
class SpatialComponents:
    r"""Weights of places whose sums estimate the variance of a mean, and how far the mean may err.

    Müller and Watson (2022): the values are taken as a Gaussian process of correlation
    :math:`e^{-c d}`, d the distance of two places. With :math:`c_0` the mean correlation of two of
    the n places is `MOST_ALIKE`. The `vectors` :math:`v_1 … v_q` are the eigenvectors of the
    largest eigenvalues of the centred matrix :math:`M Σ(c_0) M`: the ways in which such values vary
    most.
    With shares :math:`φ_i = w_i (ℓ_i - value)`,

    .. math:: se^2 = \frac{n}{q} \sum_{j=1}^q \Bigl(\sum_i v_{ji} φ_i\Bigr)^2,

    and value ± `critical` · se holds the mean at the level asked for whatever :math:`c ≥ c_0`. Of
    all q the one whose interval is shortest for independent places is taken. `member[i]` is the
    place of row i.
    """

    vectors: np.ndarray
    critical: float
    member: np.ndarray

    def std_error(self, shares: np.ndarray) -> float:
        """The standard error of the sum of one share for each row."""
        sums = np.bincount(self.member, shares, minlength=len(self.vectors))
        return float(np.sqrt(len(sums) * np.square(sums @ self.vectors).mean()))


def spatial_components(places: np.ndarray, confidence_level: float) -> SpatialComponents | None:
    """Those of the rows at these places; None where fewer than three lie apart.

    >>> line = np.arange(20.0)[:, None]
    >>> found = spatial_components(line, 0.95)
    >>> found.vectors.shape, bool(found.critical > 1.96)
    ((20, 5), True)
    """
    held = np.ascontiguousarray(places, dtype=np.float64)
    return _of_places(held.tobytes(), held.shape[1], float(confidence_level))


@lru_cache(maxsize=8)
def _of_places(content: bytes, n_axes: int, level: float) -> SpatialComponents | None:
    """The same of hashable places: a search asks it again for each score."""
    centres, member = _gathered(np.frombuffer(content).reshape(-1, n_axes))
    if len(centres) < 3:
        return None
    distances = distances_among(centres)
    decay = _decay(distances)
    n, most = len(centres), min(MOST_COMPONENTS, len(centres) - 2)
    strongest = np.exp(-decay * distances)
    centred = strongest - strongest.mean(axis=0)
    vectors = _leading(centred - centred.mean(axis=1, keepdims=True), most)
    basis = np.column_stack([np.full(n, n**-0.5), vectors])
    spreads = np.array([basis.T @ np.exp(-decay * step * distances) @ basis for step in STEPS])
    q, critical = _shortest(spreads, 1 - level)
    return SpatialComponents(vectors[:, :q], critical, member)


def _leading(matrix: np.ndarray, most: int) -> np.ndarray:
    """The eigenvectors of the largest eigenvalues, the largest first."""
    from scipy.linalg import eigh

    n = len(matrix)
    vectors: np.ndarray = eigh(matrix, subset_by_index=[n - most, n - 1])[1][:, ::-1]
    return vectors


def _shortest(spreads: np.ndarray, alpha: float) -> tuple[int, float]:
    """How many components have the shortest interval for independent places, and its factor.

    The length falls with the first ones, which tell more of the variance, and then rises.
    """
    q = min(2, spreads.shape[-1] - 1)
    critical = _critical(spreads[:, : q + 1, : q + 1], alpha)
    while q + 2 <= spreads.shape[-1]:
        following = _critical(spreads[:, : q + 2, : q + 2], alpha)
        if following * mean_of_chi(q + 1) >= critical * mean_of_chi(q):
            break
        q, critical = q + 1, following
    return q, critical


def distances_among(places: np.ndarray) -> np.ndarray:
    """Euclidean, in the unit of the coordinates."""
    moved = places - places.mean(axis=0)  # so that large coordinates cancel no digits
    squares = (moved**2).sum(axis=1)
    squared = squares[:, None] + squares - 2 * moved @ moved.T
    np.fill_diagonal(squared, 0)
    distances: np.ndarray = np.sqrt(np.maximum(squared, 0))
    return distances


def _gathered(places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct places and which of them each row has; many are gathered to centres of cells."""
    centres, member = np.unique(places, axis=0, return_inverse=True)
    member = member.ravel()
    n_cells = MOST_PLACES
    while len(centres) > MOST_PLACES:
        member = grid_cells(places, usual_side(places, n_cells))
        sums = [np.bincount(member, column) for column in places.T]
        centres = np.column_stack(sums) / np.bincount(member)[:, None]
        n_cells = int(0.8 * n_cells)
    return centres, member


def _decay(distances: np.ndarray) -> float:
    """The c at which the mean of exp(−c d) over all pairs of places is `MOST_ALIKE`."""
    n = len(distances)
    low, high = 1e-3 / distances.mean(), 1e4 / distances.mean()
    for _ in range(40):
        middle = np.sqrt(low * high)
        mean = (np.exp(-middle * distances).sum() - n) / (n * (n - 1))
        low, high = (middle, high) if mean > MOST_ALIKE else (low, middle)
    return float(high)


def _critical(spreads: np.ndarray, alpha: float) -> float:
    """The least factor by which no spread of the components errs more often than `alpha`."""
    return least_factor(lambda factor: _errs(spreads, factor), alpha)


def _errs(spreads: np.ndarray, factor: float) -> np.ndarray:
    """P(z₀² > f²/q Σ z_j²) for each covariance of the normal z₀ … z_q.

    The form has one positive eigenvalue, so that it is that of Z₀² > Σ λ_j Z_j² with independent Z.
    """
    q = spreads.shape[-1] - 1
    form = np.append(1.0, np.full(q, -(factor**2) / q))
    values = np.sort(np.linalg.eigvals(spreads * form).real, axis=-1)
    return exceeds(np.maximum(-values[:, :-1] / values[:, -1:], 0))
