"""Gaussian fields over a square: places near each other are alike, whatever a model knows."""

from __future__ import annotations

from dataclasses import dataclass
from math import atan, pi, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.core.arguments import check_count, check_number, generator_of
from truerisk.core.errors import BadArgument, BadData
from truerisk.datasets.bundle import Bundle
from truerisk.datasets.gaussian import Seed
from truerisk.datasets.target import Task

__all__ = ["FieldProblem", "make_field"]

FEATURES = (0.4, 0.2)  # the share of the signal's variance that each of the two features tells
MOST_ROWS = 5000  # whose covariance is factored
FAR = 1e6


@dataclass(frozen=True)
class FieldProblem:
    r"""Signal :math:`s = \sqrt{.4}\, a + \sqrt{.2}\, b + \sqrt{.4}\, u`, of fields over a square.

    a, b and u are independent Gaussian fields of correlation :math:`e^{-d / range}` over the unit
    square, at random places: uniform, or near `n_clusters` random centres. X holds the place (its
    two coordinates), then a and b; nobody tells u. The target is :math:`s + \sqrt{noise}\, ε`, or
    whether it is positive. a and b tell of s everywhere, and the place only near rows that were
    seen: a model of all four columns is worse the further away it is used.

    >>> X, y = FieldProblem(range=0.2)(100, random_state=0)
    >>> X.shape, np.unique(y).tolist()
    ((100, 4), [0, 1])
    """

    range: float = 0.1
    noise: float = 0.25
    task: Task = "classification"
    n_clusters: int | None = None

    def __post_init__(self) -> None:
        positive = "a length or a variance above 0 is wanted"
        check_number("range", self.range, 1e-9, FAR, positive)
        check_number("noise", self.noise, 1e-9, FAR, positive)
        if self.task not in ("classification", "regression"):
            raise BadArgument(f"task={self.task!r}: use 'classification' or 'regression'.")
        if self.n_clusters is not None:
            check_count("n_clusters", self.n_clusters)

    def __call__(
        self, n_samples: int = 200, *, random_state: Seed = None
    ) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Draw places, and the fields there. All rows of a draw are of one field.

        Rows that a model is to be tested on are drawn together with those that it learns from.

        Parameters
        ----------
        n_samples : int
        random_state : int, Generator or None

        Returns
        -------
        X : array (n_samples, 4)
            The two coordinates of a row, which are its `block`, and two features.
        y : array (n_samples,) of 0 and 1, or of numbers
        """
        check_count("n_samples", n_samples)
        if n_samples > MOST_ROWS:
            raise BadData(f"n_samples={n_samples}: a field is drawn at {MOST_ROWS} places at most.")
        rng = generator_of(random_state)
        places = self._places(n_samples, rng)
        fields = self._fields(places, rng)
        *told, untold = *FEATURES, 1 - sum(FEATURES)
        value = fields @ np.sqrt([*told, untold]) + sqrt(self.noise) * rng.normal(size=n_samples)
        X = np.column_stack([places, fields[:, : len(FEATURES)]])
        return X, value if self.task == "regression" else (value > 0).astype(np.int64)

    def bundle(self, n_samples: int = 200, *, random_state: Seed = 0) -> Bundle:
        """One draw, always the same by default, in the form of a data set."""
        X, y = self(n_samples, random_state=random_state)
        return Bundle(
            name="field",
            X=X,
            y=y,
            feature_names=("east", "north", "a", "b"),
            task=self.task,
            description=f"{n_samples} places of a square; rows nearer than about "
            f"{self.range:g} are alike",
            source="truerisk",
            class_names=("class 0", "class 1") if self.task == "classification" else (),
        )

    @property
    def bayes_risk(self) -> float:
        r"""The risk of the rule that knows the signal everywhere.

        The variance of the noise, or :math:`P(s (s + \sqrt{noise}\, ε) < 0) = \arctan(\sqrt{noise})
        / π`, the signal having variance 1.
        """
        return self.noise if self.task == "regression" else atan(sqrt(self.noise)) / pi

    def _places(self, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Uniform, or normal about random centres with a spread of .08, within the square."""
        if self.n_clusters is None:
            return rng.random((n, 2))
        centres, found = rng.random((self.n_clusters, 2)), np.empty((0, 2))
        while len(found) < n:
            drawn = centres[rng.integers(len(centres), size=n)] + 0.08 * rng.normal(size=(n, 2))
            found = np.vstack([found, drawn[((drawn >= 0) & (drawn <= 1)).all(axis=1)]])
        return found[:n]

    def _fields(self, places: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
        """Three independent fields at these places."""
        from scipy.spatial.distance import cdist

        covariance = np.exp(-cdist(places, places) / self.range)
        covariance[np.diag_indices(len(places))] += 1e-9  # two places may be one
        drawn = rng.normal(size=(len(places), len(FEATURES) + 1))
        fields: NDArray[np.float64] = np.linalg.cholesky(covariance) @ drawn
        return fields


make_field = FieldProblem()
"""A class over a square, alike within about a tenth of its side; the Bayes risk is .1476."""
