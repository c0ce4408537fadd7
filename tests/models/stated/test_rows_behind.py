"""How many training rows a probability rests on, for every kind of classifier."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier, RadiusNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from truerisk.models import IntervalClassifier
from truerisk.models.stated.question import count_supporting_rows

X = np.array([0.0, 1, 1, 3, 4, 8])[:, None]
Y = np.array([0, 0, 0, 0, 1, 1])


class Own(LogisticRegression):
    """Model whose own `rows_behind` is asked before any formula."""

    def rows_behind(self, X):
        return [2] * len(X)


@pytest.mark.parametrize(
    ("model", "rows"),
    [
        (KNeighborsClassifier(3), [3, 3, 3, 3, 3, 3]),
        (KNeighborsClassifier(3, weights="distance"), [1, 2, 2, 1, 1, 1]),
        (KNeighborsClassifier(3, weights=lambda d: (d < 1.5) * 1.0), [3, 3, 3, 2, 2, 1]),
        (RadiusNeighborsClassifier(1.0), [3, 3, 3, 2, 2, 1]),
        (RadiusNeighborsClassifier(1.0, weights="distance"), [1, 2, 2, 1, 1, 1]),
        (DecisionTreeClassifier(max_depth=1), [4, 4, 4, 4, 2, 2]),
        (IntervalClassifier(2), [4, 4, 4, 4, 2, 2]),
        (LogisticRegression(), [6, 6, 6, 6, 6, 6]),
        (Own(), [2, 2, 2, 2, 2, 2]),
        (make_pipeline(StandardScaler(), KNeighborsClassifier(2)), [2, 2, 2, 2, 2, 2]),
        (make_pipeline(KNeighborsClassifier(5)), [5, 5, 5, 5, 5, 5]),
        (GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1]}, cv=2), [1, 1, 1, 1, 1, 1]),
    ],
)
def test_rows_behind_a_probability(model, rows) -> None:
    """Neighbours with a weight, rows of the leaf or the interval, else all rows of the fit."""
    assert count_supporting_rows(model.fit(X, Y), X, len(Y)).tolist() == rows
    if rows in ([3] * 6, [4, 4, 4, 4, 2, 2]):  # the probabilities are shares of these rows
        counts = rows * model.predict_proba(X)[:, 1]
        assert counts == pytest.approx(counts.round(), abs=1e-12)
