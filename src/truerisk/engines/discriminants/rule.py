"""Settings of a linear discriminant: priors, divisor and scatter, and which settings are served."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from truerisk.contracts import Request
from truerisk.core.arguments import as_array
from truerisk.core.frozen import frozen
from truerisk.core.registry import check_present
from truerisk.engines.discriminants.scatter import (
    FLAT,
    Classes,
    Root,
    ScatterSpectrum,
    root_of,
)
from truerisk.kernels.spectral import EPS
from truerisk.plan.answers import code_type

WORST = 1e8  # largest accepted condition number of a shrunk scatter
NOISE = 1e-12  # Share of the scatter between classes that is rounding error only.
CLEARLY = 1.001
DOUBT = 1e-8  # Share of a score. The bound is reached for few data sets, and seldom nearly.
CUT_OFF = 1e-13  # Below this share of the largest eigenvalue lstsq may drop a direction.


@frozen(eq=False)
class DiscriminantRule:
    """Settings of a group that turn class means and a scatter into scores."""

    solver: str
    tol: float
    priors: np.ndarray | None
    divisor: str
    n_components: int | None

    @classmethod
    def from_settings(cls, settings: Sequence[Mapping[str, Any]]) -> DiscriminantRule:
        """Combine settings that differ in shrinkage and `tol`.

        The largest `tol` is used, since all others keep the directions that it keeps.
        """
        check_present("truerisk.models.discriminant_analysis")
        from truerisk.models.discriminant_analysis import pools_by_n

        setting = settings[0]
        priors = setting["priors"]
        # The solver of settings with shrinkage.
        solver = "lsqr" if setting["solver"] == "auto" else setting["solver"]
        return cls(
            solver,
            max(float(setting["tol"]) for setting in settings),
            None if priors is None else np.asarray(priors, dtype=np.float64),
            setting.get("divisor", "n" if pools_by_n(solver) else "n-K"),
            setting.get("n_components"),
        )

    @property
    def weighs_classes(self) -> bool:
        """True if given priors weight the covariances of the classes."""
        return self.priors is not None and self.solver != "svd"

    def can_fit(self, sizes: np.ndarray, n_features: int) -> bool:
        """Return True if scikit-learn would fit classes of these sizes."""
        k, n = len(sizes), sizes.sum()
        if k < 2 or n <= k or (self.priors is not None and len(self.priors) != k):
            return False
        return self.n_components is None or self.n_components <= min(k - 1, n_features)

    def has_covariances(self, sizes: np.ndarray) -> np.ndarray:
        """Return True if each class has two rows or more, as scikit-learn's covariances need."""
        return np.asarray((sizes > 1).all(axis=-1) | (self.solver == "svd"))

    def tells_means(self, means: np.ndarray) -> np.ndarray:
        """Return True if the class means differ.

        If they are equal, scikit-learn divides 0 by 0 and warns.
        """
        spread, size = np.ptp(means, axis=-2).max(axis=-1), np.abs(means).max(axis=(-1, -2))
        return np.asarray((spread > NOISE * size) | (self.solver == "lsqr"))

    def log_priors(self, sizes: np.ndarray) -> np.ndarray:
        """Return the logarithms of the given priors, or of the class frequencies."""
        if self.priors is not None:
            return np.broadcast_to(np.log(self.priors), sizes.shape)
        return np.log(sizes / sizes.sum(axis=-1, keepdims=True))

    def factor(self, sizes: np.ndarray) -> Any:
        """Return the factor of squared distances if the divisor is not n."""
        n = sizes.sum(axis=-1)
        return (n - sizes.shape[-1]) / n if self.divisor == "n-K" else np.ones_like(n)

    def of_classes(self, sizes: np.ndarray) -> np.ndarray:
        """Return the factor of the scatter of each class."""
        if self.priors is not None and self.weighs_classes:
            return self.priors / sizes
        return np.broadcast_to(1 / sizes.sum(axis=-1, keepdims=True), sizes.shape)

    def has_full_rank(self, least: np.ndarray) -> np.ndarray:
        """Return True if scikit-learn finds full rank.

        `least` is a lower bound on the eigenvalues of the scaled columns.
        """
        if self.solver != "svd":
            return np.ones(np.shape(least), dtype=bool)
        return np.asarray(least > self.tol**2 * CLEARLY)

    def keeps_all(self, least: Any, total: Any) -> np.ndarray:
        """Return True if the least-squares solver drops no direction of a scatter of this trace.

        It cuts off at EPS of the largest eigenvalue of the unscaled columns.
        """
        if self.solver != "lsqr":
            return np.ones(np.shape(least), dtype=bool)
        return np.asarray(least > CUT_OFF * total)

    def rounds_little(self, condition: Any, farthest: float, coefficients: np.ndarray) -> Any:
        """Return True if the learner's own rounding changes no score noticeably.

        Unless the solver is "svd", it solves for uncentred class means with a scatter of this
        condition, and multiplies uncentred rows. If these are far from 0 relative to the scatter,
        scores are small differences of large numbers.
        """
        if self.solver == "svd":
            return np.ones(np.shape(condition), dtype=bool)
        longest = np.sqrt((coefficients**2).sum(axis=-1)).max(axis=-1)
        with np.errstate(over="ignore", invalid="ignore"):
            return EPS * condition * farthest * longest <= DOUBT

    def plain_slopes(self, classes: Classes) -> np.ndarray | None:
        """Return the inverse scatter times each centred class mean, without shrinkage.

        The result is None if scikit-learn would have to decide a rank, or if too few digits are
        known.
        """
        if classes.has_flat_columns:
            return None
        root = root_of(*classes.rows(self.of_classes(classes.sizes)))
        offsets = classes.means - classes.means.mean(axis=0)
        return self._slopes_of(root, classes, offsets)

    def _slopes_of(
        self, root: Root | None, classes: Classes, offsets: np.ndarray
    ) -> np.ndarray | None:
        if root is None or not self._accepts(root):
            return None
        condition = root.total / root.least_unscaled
        if not self.rounds_little(condition, classes.farthest, root.solve(classes.means)):
            return None
        if self.solver == "svd" and len(offsets) > 2:
            white = root.whiten(offsets)
            shares = np.exp(self.log_priors(classes.sizes))
            if not spreads((white @ white.T)[None], shares[None], self.tol)[0]:
                return None
        return root.solve(offsets)

    def _accepts(self, root: Root) -> bool:
        return bool(self.keeps_all(root.least_unscaled, root.total)) and bool(
            self.has_full_rank(np.asarray(root.least_eigenvalue_bound))
            or self.has_full_rank(np.asarray(root.least_exactly()))
        )

    def scores(self, classes: Classes, slopes: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return log densities of rows in each class with its prior, up to a common constant."""
        centre = classes.means.mean(axis=0)
        offsets = classes.means - centre
        distances = (rows - centre) @ slopes.T - np.einsum("kj,kj->k", offsets, slopes) / 2
        return self.log_priors(classes.sizes) + self.factor(classes.sizes) * distances


def shrunk_solution(
    spectrum: ScatterSpectrum, rows: np.ndarray, s: float, farthest: float
) -> tuple[np.ndarray, float] | None:
    """Return ((1 − s) A + s tr(A)/p I)⁻¹ times each row, and the condition of this matrix.

    The result is None if too few digits are known.
    """
    added = s * spectrum.trace / spectrum.n_features
    shrunk = (1 - s) * spectrum.values + added
    lowest = added if spectrum.has_rest else shrunk.min()
    if not (shrunk.max() < WORST * lowest and (FLAT * farthest) ** 2 <= added):
        return None
    turned = rows @ spectrum.vectors
    solution: np.ndarray = (turned / shrunk) @ spectrum.vectors.T
    if spectrum.has_rest:
        solution += (rows - turned @ spectrum.vectors.T) / added
    return solution, float(shrunk.max() / lowest)


def spreads(products: np.ndarray, shares: np.ndarray, tol: float) -> np.ndarray:
    """Return a mask of fits whose class means all differ enough for the SVD solver.

    That solver drops short directions of the class means. `products[i]` holds the products of the
    means (from any origin) in the metric of the scatter.
    """
    centred = products - np.einsum("ij,ijk->ik", shares, products)[:, None, :]
    centred = centred - np.einsum("ij,ikj->ik", shares, centred)[:, :, None]
    usable = np.isfinite(centred).all(axis=(1, 2))
    root = np.sqrt(shares)
    weighed = root[:, :, None] * np.where(usable[:, None, None], centred, 0) * root[:, None, :]
    values = np.linalg.eigvalsh(weighed)
    largest = values[:, -1:]
    dropped = (values > NOISE * largest) & (values <= tol**2 * CLEARLY * largest)
    return usable & ~dropped.any(axis=1)


def shrinkage_of(setting: Mapping[str, Any]) -> float:
    """Return the shrinkage of a setting, which is 0 if nothing is shrunk."""
    return float(setting["shrinkage"] or 0)


def setting_refusal(setting: Mapping[str, Any]) -> str | None:
    """Return why one setting is not served, or None."""
    solver, shrinkage = setting["solver"], setting["shrinkage"]
    if solver == "auto" and not shrinkage:
        return "solver='auto' stands for 'svd' if nothing is shrunk, and 'lsqr' else."
    if solver not in ("svd", "lsqr", "eigen", "auto"):
        return f"solver={solver!r} is no solver that it knows."
    if setting.get("covariance_estimator") is not None:
        return "a covariance_estimator is given."
    if isinstance(shrinkage, str):
        return f"shrinkage={shrinkage!r} is estimated anew on every train set."
    if shrinkage is not None and (solver == "svd" or not is_number_in(shrinkage, 0, 1)):
        return f"shrinkage={shrinkage!r} is none that solver '{solver}' takes."
    if not is_number_in(setting["tol"], 0, np.inf):
        return f"tol={setting['tol']!r} is no tolerance."
    if setting.get("divisor", "n") not in ("n", "n-K"):
        return f"divisor={setting['divisor']!r} is unknown."
    components = setting.get("n_components")
    if components is not None and not isinstance(components, int | np.integer):
        return f"n_components={components!r} is no number of components."
    if components is not None and components < 1:
        return f"n_components={components!r} is no number of components."
    return priors_refusal(setting["priors"])


def is_number_in(value: Any, low: float, high: float) -> bool:
    """Return True if a value is a number (not a bool) in this range."""
    number = isinstance(value, int | float | np.integer | np.floating)
    return number and not isinstance(value, bool) and bool(low <= value <= high)


def priors_refusal(priors: Any) -> str | None:
    """Return why given priors are not served, or None."""
    if priors is None:
        return None
    try:
        shares = as_array(priors, np.float64)
    except ValueError:
        return f"priors={priors!r} are no numbers."
    if shares.ndim != 1 or not (shares > 0).all() or not abs(shares.sum() - 1) <= 1e-5:
        return "the priors are not positive shares that sum to 1."
    return None


CLOSE = 1e-9


def respond(
    scores: np.ndarray, present: np.ndarray, request: Request, n_classes: int
) -> np.ndarray:
    """Return predictions from scores whose last axis holds the classes `present` (ascending codes).

    Scores are logarithms of joint densities, up to a constant that all classes share. A class that
    is not present has probability 0.
    """
    if request.response == "label":
        if len(present) == 2:  # A comparison is faster than argmax for two classes.
            best = (scores[..., 1] > scores[..., 0]).astype(np.intp)
        else:
            best = scores.argmax(axis=-1)
        return present.astype(code_type(n_classes))[best]
    if request.response == "score":
        return scores[..., 1] - scores[..., 0]
    joint = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares = np.zeros((*scores.shape[:-1], n_classes))
    shares[..., present] = joint / joint.sum(axis=-1, keepdims=True)
    return shares


def undecided(scores: np.ndarray, request: Request) -> np.ndarray:
    """Return a mask of rows whose two best classes are equal up to rounding, for labels.

    If probabilities are requested, no row is undecided.
    """
    if request.response != "label":
        return np.zeros(scores.shape[:-1], dtype=bool)
    best = scores if scores.shape[-1] == 2 else np.partition(scores, -2, axis=-1)[..., -2:]
    gap, largest = np.abs(best[..., 1] - best[..., 0]), np.abs(scores[..., 0])
    for k in range(1, scores.shape[-1]):
        largest = np.maximum(largest, np.abs(scores[..., k]))
    return gap <= CLOSE * (1 + largest)
