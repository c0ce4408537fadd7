"""Compiled functions release the GIL, and share nothing between threads."""

import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor

from sklearn.linear_model import ElasticNet, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr

SEARCHES = (
    (KNeighborsClassifier(), {"n_neighbors": range(1, 20)}),
    (DecisionTreeClassifier(random_state=0), {"min_samples_leaf": [1, 5, 10]}),
    (SVC(), {"C": [0.1, 1, 10]}),
    (
        make_pipeline(StandardScaler(), LogisticRegression()),
        {"logisticregression__C": [0.01, 0.1, 1, 10]},
    ),
    (Ridge(), {"alpha": [0.1, 1, 10]}),
    (ElasticNet(), {"alpha": [0.01, 0.1, 1]}),
)


def test_searches_in_threads_give_the_risks_of_searches_in_turn():
    X, y = tr.datasets.make_simple(120, random_state=1)

    def risk(number):
        model, grid = SEARCHES[number % len(SEARCHES)]
        search = tr.HonestSearchCV(model, grid, cv="5-fold").fit(X, y.astype(int))
        return number % len(SEARCHES), search.risk_.value, search.risk_.interval.low

    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(risk, range(8 * len(SEARCHES))))
    assert found == [risk(number) for number in range(len(SEARCHES))] * 8


def test_native_module_leaves_the_gil_disabled():
    """A free-threaded Python enables the GIL if it imports a module that needs it."""
    has_gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    assert has_gil == (not sysconfig.get_config_var("Py_GIL_DISABLED"))
