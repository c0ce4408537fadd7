"""What a model and its table are made of."""

import sys
from types import SimpleNamespace

import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from truerisk.models.stated.model_parts import extract_coefficients, package_versions


def given(line, X):
    """As they stand, of the second class."""
    return extract_coefficients(line, X, of_first_class=False)


def test_coefficients_of_one_line():
    """With its one intercept, and features that have names; of anything else none.

    Of the first class they have the other sign, and nothing becomes minus zero.
    """
    X = np.zeros((4, 2))
    line = SimpleNamespace(coef_=np.array([[1.0, 0.0]]), intercept_=np.array([3.0]))
    assert given(line, X) == {"intercept": 3.0, "column 0": 1.0, "column 1": 0.0}
    assert given(SimpleNamespace(coef_=line.coef_), X) == {}
    assert given(line, np.zeros((4, 3))) == {}
    assert given(SimpleNamespace(), X) == {}
    turned = extract_coefficients(line, X, of_first_class=True)
    assert str(turned) == "{'intercept': -3.0, 'column 0': -1.0, 'column 1': 0.0}"


def test_releases_of_a_model_name_its_packages(monkeypatch):
    """Of the learner and of its steps, beside scikit-learn."""
    kind = type("Cox", (LinearRegression,), {"__module__": "sksurv"})
    package = SimpleNamespace(__version__="0.28", Cox=kind)
    monkeypatch.setitem(sys.modules, "sksurv", package)
    own = type("Own", (StandardScaler,), {"__module__": "own"})
    told = package_versions(make_pipeline(StandardScaler(), own(), kind()))
    assert told == {"sksurv": "0.28"}
