"""Problems whose rows depend on each other: a daily load in time, and random fields in space."""

from __future__ import annotations

from math import atan, pi, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from truerisk.core.arguments import check_count, check_number, to_random_generator
from truerisk.core.errors import BadArgument, BadData
from truerisk.core.frozen import frozen
from truerisk.datasets.bundle import Bundle
from truerisk.datasets.gaussian import Seed

if TYPE_CHECKING:
    from truerisk.readers.roles import TaskName


WEEKDAY_EFFECTS = np.array([0.8, 1.0, 1.0, 0.9, 0.6, -1.8, -2.5])
FEATURE_NAMES = ("day", "weekday", "temperature")


@frozen
class DailyLoadProblem:
    r"""Regression problem with one row a day: y = weekday effect + temperature effect + level.

    .. math:: y_t = w_{t \bmod 7} - 0.8\, x_t + u_t, \qquad
       u_t = ρ u_{t-1} + \sqrt{1 - ρ^2}\, e_t

    with w the effect of the weekday, e standard normal and x the standardised temperature, a yearly
    wave with noise of its own. The columns of X are the number of the day, its weekday and the
    temperature. The level u is not observed: far from the training days it is unknown, and the
    smallest possible squared risk is its variance, 1. Between two training days u can be predicted
    well.

    Parameters
    ----------
    memory : float, default=0.9
        The autocorrelation ρ of the level from one day to the next.

    See Also
    --------
    truerisk.datasets.FieldProblem : Rows that depend on each other in space.
    truerisk.methods.Forward : Method for rows that depend on each other in time.

    Examples
    --------
    >>> problem = DailyLoadProblem(memory=0.5)
    >>> X, y = problem(14, random_state=0)
    >>> X.shape, problem.bayes_risk, str(problem.dates(14)[-1])
    ((14, 3), 1.0, '2024-01-14')
    """

    memory: float = 0.9

    def __post_init__(self) -> None:
        check_number("memory", self.memory, 0, 0.999, "a level remembers a share of 0 to .999")

    def __call__(
        self, n_samples: int = 730, *, random_state: Seed = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Draw consecutive days and return X and y in the order of time.

        Parameters
        ----------
        n_samples : int, default=730
            The number of days.
        random_state : int, Generator or None, optional
            The seed, or the source of random numbers.

        Returns
        -------
        X : array, shape (n_samples, 3)
            The number of the day, its weekday and the temperature.
        y : array, shape (n_samples,)
            The load.
        """
        check_count("n_samples", n_samples)
        rng = to_random_generator(random_state)
        days = np.arange(n_samples)
        yearly_wave = np.sqrt(2) * np.sin(2 * np.pi * (days - 110) / 365.25)
        temperature = 0.9 * yearly_wave + np.sqrt(1 - 0.9**2) * rng.standard_normal(n_samples)
        latent_level = rng.standard_normal(n_samples)
        latent_level[1:] *= np.sqrt(1 - self.memory**2)
        for t in range(1, n_samples):
            latent_level[t] += self.memory * latent_level[t - 1]
        X = np.column_stack([days, days % 7, temperature]).astype(np.float64)
        return X, WEEKDAY_EFFECTS[days % 7] - 0.8 * temperature + latent_level

    def dates(self, n_samples: int = 730) -> NDArray[np.datetime64]:
        """Return the dates of the first `n_samples` days, starting on Monday, 1 January 2024.

        Parameters
        ----------
        n_samples : int, default=730
            The number of days.

        Returns
        -------
        array of datetime64
            One date per day.
        """
        return np.datetime64("2024-01-01", "D") + np.arange(n_samples)

    def bundle(self, n_samples: int = 730, *, random_state: Seed = 0) -> Bundle:
        """Draw rows and return them as a data set; with the default seed they are always the same.

        Parameters
        ----------
        n_samples : int, default=730
            The number of days.
        random_state : int, Generator or None, default=0
            The seed, or the source of random numbers.

        Returns
        -------
        Bundle
            The rows with names, task, description and source.
        """
        X, y = self(n_samples, random_state=random_state)
        return Bundle(
            name="daily-load",
            X=X,
            y=y,
            feature_names=FEATURE_NAMES,
            task="regression",
            description=f"{n_samples} days drawn: a load by weekday and temperature, about a level "
            f"with a memory of {self.memory:.15g}",
            source="truerisk",
            class_names=(),
        )

    @property
    def bayes_risk(self) -> float:
        """Smallest possible squared risk on days far after the training days: the variance of u."""
        return 1.0


make_daily_load = DailyLoadProblem()
"""Daily load of two years; the Bayes risk of days far after the training days is 1."""


# Shares of the signal's variance that are due to a and b, the two observed features.
FEATURE_VARIANCE_SHARES = (0.4, 0.2)
# Largest number of rows for which the covariance matrix is factored.
MAX_ROWS = 5000
MAX_RANGE_OR_NOISE = 1e6


@frozen
class FieldProblem:
    r"""Problem in space with the signal :math:`s = \sqrt{.4}\, a + \sqrt{.2}\, b + \sqrt{.4}\, u`.

    a, b and u are independent Gaussian fields with correlation :math:`e^{-d / range}` over the unit
    square, at random places: uniform, or near `n_clusters` random centres. X holds the place (its
    two coordinates), then a and b; u is not observed. The target is :math:`s + \sqrt{noise}\, ε`,
    or whether it is positive. a and b inform about s everywhere, the place only near rows that were
    seen: a model of all four columns is the worse, the further away it is used.

    Parameters
    ----------
    range : float, default=0.1
        The distance at which the correlation has fallen to 1/e.
    noise : float, default=0.25
        The variance of the noise.
    task : {"classification", "regression"}, default="classification"
        Predict whether the noisy signal is positive, or the noisy signal itself.
    n_clusters : int, optional
        The number of random centres. By default places are uniform.

    See Also
    --------
    truerisk.datasets.DailyLoadProblem : Rows that depend on each other in time.
    truerisk.methods.Blocks : Method for rows that depend on each other in space.

    Examples
    --------
    >>> X, y = FieldProblem(range=0.2)(100, random_state=0)
    >>> X.shape, np.unique(y).tolist()
    ((100, 4), [0, 1])
    """

    range: float = 0.1
    noise: float = 0.25
    task: TaskName = "classification"
    n_clusters: int | None = None

    def __post_init__(self) -> None:
        advice = "a length or a variance above 0 is wanted"
        check_number("range", self.range, 1e-9, MAX_RANGE_OR_NOISE, advice)
        check_number("noise", self.noise, 1e-9, MAX_RANGE_OR_NOISE, advice)
        if self.task not in ("classification", "regression"):
            raise BadArgument(f"task={self.task!r}: use 'classification' or 'regression'.")
        if self.n_clusters is not None:
            check_count("n_clusters", self.n_clusters)

    def __call__(
        self, n_samples: int = 200, *, random_state: Seed = None
    ) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Draw places, and the values of one realisation of the random fields at these places.

        Test rows of a model must therefore be drawn in the same call as its training rows.

        Parameters
        ----------
        n_samples : int, default=200
            The number of rows.
        random_state : int, Generator or None, optional
            The seed, or the source of random numbers.

        Returns
        -------
        X : array, shape (n_samples, 4)
            The two coordinates of a row, which are its `block`, and two features.
        y : array, shape (n_samples,)
            The labels 0 and 1, or the values.
        """
        check_count("n_samples", n_samples)
        if n_samples > MAX_ROWS:
            raise BadData(f"n_samples={n_samples}: a field is drawn at {MAX_ROWS} places at most.")
        rng = to_random_generator(random_state)
        coordinates = self._draw_places(n_samples, rng)
        gaussian_fields = self._draw_fields(coordinates, rng)
        *feature_variance_shares, unobserved_variance_share = (
            *FEATURE_VARIANCE_SHARES,
            1 - sum(FEATURE_VARIANCE_SHARES),
        )
        noisy_signal = gaussian_fields @ np.sqrt(
            [*feature_variance_shares, unobserved_variance_share]
        ) + sqrt(self.noise) * rng.normal(size=n_samples)
        X = np.column_stack([coordinates, gaussian_fields[:, : len(FEATURE_VARIANCE_SHARES)]])
        return X, noisy_signal if self.task == "regression" else (noisy_signal > 0).astype(np.int64)

    def bundle(self, n_samples: int = 200, *, random_state: Seed = 0) -> Bundle:
        """Draw rows and return them as a data set; with the default seed they are always the same.

        Parameters
        ----------
        n_samples : int, default=200
            The number of rows.
        random_state : int, Generator or None, default=0
            The seed, or the source of random numbers.

        Returns
        -------
        Bundle
            The rows with names, task, description and source.
        """
        X, y = self(n_samples, random_state=random_state)
        return Bundle(
            name="field",
            X=X,
            y=y,
            feature_names=("east", "north", "a", "b"),
            task=self.task,
            description=f"{n_samples} places of a square; rows nearer than about "
            f"{self.range:.15g} are alike",
            source="truerisk",
            class_names=("class 0", "class 1") if self.task == "classification" else (),
        )

    @property
    def bayes_risk(self) -> float:
        r"""Bayes risk: the risk of the rule that knows the signal s at every place.

        It is the variance of the noise for a regression, and :math:`P(s (s + \sqrt{noise}\, ε) < 0)
        = \arctan(\sqrt{noise}) / π` for a classification, because the signal has variance 1.
        """
        return self.noise if self.task == "regression" else atan(sqrt(self.noise)) / pi

    def _draw_places(self, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Draw places: uniform in the unit square, or normal about random centres.

        The normal distribution has a standard deviation of .08. Places outside the square are
        dropped.
        """
        if self.n_clusters is None:
            return rng.random((n, 2))
        centres, coordinates = rng.random((self.n_clusters, 2)), np.empty((0, 2))
        while len(coordinates) < n:
            candidate_coordinates = centres[rng.integers(len(centres), size=n)] + 0.08 * rng.normal(
                size=(n, 2)
            )
            coordinates = np.vstack(
                [
                    coordinates,
                    candidate_coordinates[
                        ((candidate_coordinates >= 0) & (candidate_coordinates <= 1)).all(axis=1)
                    ],
                ]
            )
        return coordinates[:n]

    def _draw_fields(
        self, coordinates: NDArray[np.float64], rng: np.random.Generator
    ) -> NDArray[np.float64]:
        """Draw three independent Gaussian fields at these places."""
        from scipy.spatial.distance import cdist

        covariance = np.exp(-cdist(coordinates, coordinates) / self.range)
        # Without this small number the matrix is singular if two places are the same.
        covariance[np.diag_indices(len(coordinates))] += 1e-9
        standard_normal_draws = rng.normal(
            size=(len(coordinates), len(FEATURE_VARIANCE_SHARES) + 1)
        )
        gaussian_fields: NDArray[np.float64] = (
            np.linalg.cholesky(covariance) @ standard_normal_draws
        )
        return gaussian_fields


make_field = FieldProblem()
"""Two classes in a unit square, correlated over about 0.1; the Bayes risk is .1476."""
