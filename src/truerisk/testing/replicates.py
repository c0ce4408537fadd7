"""Simulated problems with a known true risk, and checks of a method's mean and bias on them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Literal

import numpy as np

from truerisk.contracts import Method
from truerisk.core.family import Family
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.data.data import Data, TaskName
from truerisk.datasets.gaussian import GaussianProblem, TrueRisk
from truerisk.datasets.problems import make_simple
from truerisk.losses.row_losses import Squared, ZeroOne
from truerisk.testing.cases import Case, evaluate
from truerisk.testing.comparing import require

N_FRESH_ROWS = 100_000


class SimulatedProblem(ABC):
    """Distribution of (X, y) for which the true risk of a model is known."""

    name: str
    task: TaskName

    @property
    @abstractmethod
    def bayes_risk(self) -> float:
        """Risk of the best possible rule (Bayes risk), by zero-one or squared loss."""

    @abstractmethod
    def draw(self, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Draw `n` independent rows (X, y)."""

    @abstractmethod
    def true_risk(self, model: Any) -> TrueRisk:
        """Return the true risk of a fitted model; its `std_error` is 0 if the risk is exact."""


@frozen
class TwoGaussians(SimulatedProblem):
    """Two Gaussian classes with probability ½ each; zero-one loss.

    The risk of a linear classifier is exact; that of any other model is estimated on fresh rows.
    """

    gaussians: GaussianProblem = make_simple

    name = "two Gaussians"
    task = "classification"

    @property
    @override
    def bayes_risk(self) -> float:
        return self.gaussians.bayes_risk

    @override
    def draw(self, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(seed)
        y = rng.integers(2, size=n)
        X, _ = self.gaussians((n, n), shuffle=False, random_state=rng)
        return np.where(y[:, None] == 0, X[:n], X[n:]), y

    @override
    def true_risk(self, model: Any) -> TrueRisk:
        classes = np.asarray(getattr(model, "classes_", ()))
        is_linear = np.size(getattr(model, "coef_", ())) == self.gaussians.n_features
        if is_linear and np.array_equal(classes, [0, 1]):
            return _exact_true_risk(self.gaussians.true_risk_linear(model.coef_, model.intercept_))
        return self.gaussians.true_risk(model, n_test=N_FRESH_ROWS)


@frozen
class PureNoise(SimulatedProblem):
    r"""Classification by zero-one loss without signal: P(class 1) is the same for every X.

    Let p be this probability, `class_1_probability`. A rule that predicts class 1 with probability
    q has risk p + (1 − 2 p) q. If p is ½, every rule has risk ½.
    """

    class_1_probability: float = 0.5
    n_features: int = 5

    name = "pure noise"
    task = "classification"

    @property
    @override
    def bayes_risk(self) -> float:
        return min(self.class_1_probability, 1 - self.class_1_probability)

    @override
    def draw(self, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, self.n_features))
        return X, (rng.random(n) < self.class_1_probability).astype(np.int64)

    @override
    def true_risk(self, model: Any) -> TrueRisk:
        if self.class_1_probability == 0.5:
            return _exact_true_risk(0.5)
        X, _ = self.draw(N_FRESH_ROWS, 0)
        is_class_1 = np.asarray(model.predict(X)) == 1
        risk_slope = 1 - 2 * self.class_1_probability
        std_error = abs(risk_slope) * float(is_class_1.std()) / np.sqrt(len(X))
        return TrueRisk(
            self.class_1_probability + risk_slope * float(is_class_1.mean()), std_error, len(X)
        )


@frozen
class NoisyLine(SimulatedProblem):
    r"""Linear regression y = Xβ + ε with X ~ N(0, I) and ε ~ N(0, σ²); squared loss.

    A linear model with coefficients b and intercept b₀ has risk σ² + ‖b − β‖² + b₀², exactly. Least
    squares without intercept on n rows with p features has mean risk σ² (1 + p/(n − p − 1)) and
    mean apparent risk σ² (1 − p/n).
    """

    coef: tuple[float, ...] = (1.0, -1.0, 0.5)
    noise_variance: float = 2.0

    name = "noisy line"
    task = "regression"

    @property
    @override
    def bayes_risk(self) -> float:
        return self.noise_variance

    def least_squares_risk(self, n: int) -> float:
        """Return the mean risk of least squares without intercept, fitted on n rows."""
        p = len(self.coef)
        return self.noise_variance * (1 + p / (n - p - 1))

    def least_squares_apparent_risk(self, n: int) -> float:
        """Return the mean apparent risk of least squares without intercept, fitted on n rows."""
        return self.noise_variance * (1 - len(self.coef) / n)

    @override
    def draw(self, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, len(self.coef)))
        noise = rng.standard_normal(n) * np.sqrt(self.noise_variance)
        return X, X @ np.array(self.coef) + noise

    @override
    def true_risk(self, model: Any) -> TrueRisk:
        if np.size(getattr(model, "coef_", ())) == len(self.coef):
            coef_error = np.asarray(model.coef_).ravel() - self.coef
            intercept = float(np.ravel(model.intercept_)[0])
            return _exact_true_risk(
                self.noise_variance + float(coef_error @ coef_error) + intercept**2
            )
        X, _ = self.draw(N_FRESH_ROWS, 0)
        squared_errors = (np.asarray(model.predict(X)) - X @ np.array(self.coef)) ** 2
        std_error = float(squared_errors.std() / np.sqrt(len(X)))
        return TrueRisk(self.noise_variance + float(squared_errors.mean()), std_error, len(X))


def _exact_true_risk(risk: float) -> TrueRisk:
    return TrueRisk(float(risk), 0.0, 0)


two_gaussians = TwoGaussians()
pure_noise = PureNoise()
noisy_line = NoisyLine()
SIMULATED_PROBLEMS: tuple[SimulatedProblem, ...] = (two_gaussians, pure_noise, noisy_line)


BiasDirection = Literal["optimistic", "pessimistic", "none"]


@frozen(eq=False)
class Replicates:
    """Estimates on simulated data sets, and true risks of the models fitted on all their rows."""

    estimates: np.ndarray
    true_risks: np.ndarray

    @property
    def mean(self) -> float:
        """Mean of the estimates."""
        return float(self.estimates.mean())

    @property
    def std_error(self) -> float:
        """Standard error of the mean of the estimates."""
        return _std_error(self.estimates)

    @property
    def bias(self) -> float:
        """Mean of estimate − true risk: negative if the method is optimistic."""
        return float((self.estimates - self.true_risks).mean())

    @property
    def bias_std_error(self) -> float:
        """Standard error of the bias."""
        return _std_error(self.estimates - self.true_risks)


def replicate(
    method: Method, problem: SimulatedProblem, model: Any, *, n: int, replicates: int, seed: int = 0
) -> Replicates:
    """Draw many data sets; on each, estimate the risk of the model and compute its true risk.

    Parameters
    ----------
    method : Method
        The method.
    problem : SimulatedProblem
        A problem that draws rows and knows true risks.
    model : estimator
        The learner.
    n : int
        The number of rows of each data set.
    replicates : int
        The number of data sets.
    seed : int, default=0
        The seed.

    Returns
    -------
    Replicates
        The estimates and the true risks.

    See Also
    --------
    truerisk.testing.check_bias : Check the direction of the bias.
    truerisk.testing.check_mean : Check the mean estimate.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from truerisk.testing.replicates import PureNoise
    >>> method = tr.methods.KFold(4)
    >>> found = tr.testing.replicate(method, PureNoise(), GaussianNB(), n=40, replicates=20)
    >>> tr.testing.check_mean(found, 0.5)
    """
    from sklearn.base import clone

    loss = ZeroOne() if problem.task == "classification" else Squared()
    estimates, true_risks = [], []
    for replicate_number in range(replicates):
        X, y = problem.draw(n, seed * replicates + replicate_number)
        case = Case(Family.from_grid(model), Data.check(X, y, task=problem.task), loss)
        evaluation = evaluate(method, case, seed=seed * replicates + replicate_number)
        estimates.append((evaluation.procedure or evaluation.tested[0]).value)
        true_risks.append(problem.true_risk(clone(model).fit(X, y)).value)
    return Replicates(np.array(estimates), np.array(true_risks))


def check_mean(found: Replicates, target: float, *, within: float = 3.5) -> None:
    """Raise an error unless the mean estimate is within `within` standard errors of the target.

    Parameters
    ----------
    found : Replicates
        The estimates and true risks of `replicate`.
    target : float
        The expected mean.
    within : float, default=3.5
        The number of standard errors.

    See Also
    --------
    truerisk.testing.replicate : Compute the replicates.
    truerisk.testing.check_bias : Check the direction of the bias.

    Examples
    --------
    >>> import numpy as np
    >>> import truerisk as tr
    >>> from truerisk.testing.replicates import Replicates
    >>> found = Replicates(np.array([0.1, 0.12, 0.11, 0.09]), np.array([0.2, 0.21, 0.19, 0.2]))
    >>> tr.testing.check_mean(found, 0.105)
    """
    deviation = abs(found.mean - target)
    require(
        deviation <= within * found.std_error + 1e-12,
        f"the mean estimate, {found.mean:.4f} ± {found.std_error:.4f}, should be {target:.4f}.",
    )


def check_bias(found: Replicates, direction: BiasDirection, *, beyond: float = 3.5) -> None:
    """Raise an error unless the bias of the estimates has the given direction.

    Parameters
    ----------
    found : Replicates
        The estimates and true risks of `replicate`.
    direction : {"optimistic", "pessimistic", "none"}
        The expected direction: the bias differs from 0 in this direction by more than `beyond`
        standard errors. "none" means that the bias differs from 0 by at most that many.
    beyond : float, default=3.5
        The number of standard errors.

    See Also
    --------
    truerisk.testing.replicate : Compute the replicates.
    truerisk.testing.check_mean : Check the mean estimate.

    Examples
    --------
    >>> import numpy as np
    >>> import truerisk as tr
    >>> from truerisk.testing.replicates import Replicates
    >>> found = Replicates(np.array([0.1, 0.12, 0.11, 0.09]), np.array([0.2, 0.21, 0.19, 0.2]))
    >>> tr.testing.check_bias(found, "optimistic")
    """
    z_score = found.bias / max(found.bias_std_error, 1e-300)
    is_direction_met = {
        "optimistic": z_score < -beyond,
        "pessimistic": z_score > beyond,
        "none": abs(z_score) <= beyond,
    }
    require(
        is_direction_met[direction],
        f"the bias is {found.bias:.4f} ± {found.bias_std_error:.4f}, which is not {direction}.",
    )


def _std_error(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values)))
