"""A learner of outcomes in time with the interface of scikit-survival, and rows for it."""

import numpy as np
from sklearn.base import BaseEstimator

PAIRS = [("event", bool), ("time", float)]


def drawn_times(n=120, seed=0, lost=6.0):
    """X and y; events come sooner where the first column is large, and rows are lost at random."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    came, seen = rng.exponential(4 * np.exp(-X[:, 0])), rng.exponential(lost, n)
    y = np.empty(n, dtype=PAIRS)
    y["event"], y["time"] = came <= seen, np.minimum(came, seen)
    return X, y


class Exponential(BaseEstimator):
    """Least squares of the logarithms of times, and one rate for all."""

    def __init__(self, alpha=1.0):
        self.alpha = alpha

    def fit(self, X, y):
        assert y.dtype.names == ("event", "time")
        centred = X - X.mean(axis=0)
        target = np.log(y["time"] + 0.1)
        squares = centred.T @ centred + self.alpha * np.eye(X.shape[1])
        self.coef_ = -np.linalg.solve(squares, centred.T @ (target - target.mean()))
        self.mean_, self.n_features_in_ = X.mean(axis=0), X.shape[1]
        self.rate_ = y["event"].sum() / (y["time"] * np.exp(self.predict(X))).sum()
        return self

    def predict(self, X):
        """Larger where the event comes sooner."""
        return (X - self.mean_) @ self.coef_

    def predict_survival_function(self, X):
        """A function of time for every row."""
        rates = self.rate_ * np.exp(self.predict(X))
        return [lambda t, rate=rate: np.exp(-rate * np.asarray(t)) for rate in rates]


class Ranking(Exponential):
    """The same, as it has no curves."""

    predict_survival_function = property()
