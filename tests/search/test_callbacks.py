"""Callbacks of scikit-learn follow the search, the honest risk and the refit.

The tests of callbacks in scikit-learn's test_search.py pass on HonestSearchCV as they are
(`python -m benchmarks.drop_in callbacks`). The tests here are about what GridSearchCV lacks.
"""

import pickle
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.fixes import parse_version

import truerisk as tr
from truerisk.exceptions import FitFailed

if parse_version(sklearn.__version__) < parse_version("1.9.dev0"):

    def test_search_has_no_set_callbacks_before_scikit_learn_1_9():
        assert not hasattr(tr.HonestSearchCV, "set_callbacks")

    pytest.skip("scikit-learn before 1.9 has no callbacks", allow_module_level=True)

from sklearn.callback import ProgressBar
from sklearn.callback.tests._utils import (
    FailingCallback,
    MaxIterEstimator,
    RecordingAutoPropagatedCallback,
    RecordingCallback,
)

X, Y = tr.datasets.make_simple(40, random_state=0)
NEAREST = KNeighborsClassifier(), {"n_neighbors": [1, 3, 5]}
FIT, PASS = "candidate-split-evaluation", "evaluations-by-engine"
FOLDS = {"cv": "4-fold"}  # 12 fits of three settings, and 18 without pairs of folds


def followed(*arguments, callback=None, **options):
    """Return a fitted search, and how often each of its tasks began."""
    callback = callback or RecordingCallback()
    search = tr.HonestSearchCV(*arguments, **options).set_callbacks(callback).fit(X, Y)
    hooks = [
        Counter(entry["context"].task_name for entry in callback.record if entry["name"] == name)
        for name in ("on_fit_task_begin", "on_fit_task_end")
    ]
    assert hooks[0] == hooks[1]
    assert callback.count_hooks("setup") == callback.count_hooks("teardown") == 1
    return search, dict(hooks[0])


CASES = {
    "generic": ({"engine": "generic"}, {FIT: 12 + 18}),
    "processes": ({"engine": "generic", "n_jobs": 2}, {FIT: 12 + 18}),
    "threads": ({"engine": "generic", "n_jobs": ThreadPoolExecutor(2)}, {FIT: 12 + 18}),
    "nested": ({"engine": "generic", "outer": "3-fold"}, {FIT: 12 + 36 + 3}),
    "alone": ({"engine": "generic", "outer": None, "refit": False}, {FIT: 12}),
    "trained": ({"engine": "generic", "return_train_score": True}, {FIT: 12 + 18}),
    "scores": ({"engine": "generic", "scoring": ["accuracy", "f1"]}, {FIT: 12 + 18}),
    "limit": ({"engine": "generic", "time_limit": 600}, {FIT: 12 + 18}),
    "racing": ({"engine": "generic", "cv": "racing"}, None),
    "knn": ({"engine": "knn"}, {PASS: 12 + 18}),
    "knn, nested": ({"engine": "knn", "outer": "3-fold"}, {PASS: 12 + 36 + 3}),
    "knn, loo": ({"engine": "knn", "cv": "loo", "outer": "3-fold"}, {PASS: 200}),
    "knn, scores": ({"engine": "knn", "scoring": ["accuracy", "f1"]}, {PASS: 12 + 18}),
    "knn, limit": ({"engine": "knn", "time_limit": 600}, None),
}


@pytest.mark.parametrize(("options", "fits"), CASES.values(), ids=CASES)
def test_callbacks_follow_all_tasks_and_change_no_number(options, fits):
    options = FOLDS | options
    search, tasks = followed(*NEAREST, **options)
    names = ["search"] + ["honest-risk", "refit-with-best-params"] * bool(search.refit)
    n_fits = {name: tasks.pop(name) for name in (FIT, PASS) if name in tasks}
    assert tasks == dict.fromkeys(["fit", *names], 1)
    assert fits in (None, n_fits)
    plain = tr.HonestSearchCV(*NEAREST, **options).fit(X, Y)
    assert repr(plain) == repr(search)
    assert plain.best_params_ == search.best_params_
    assert plain.selected_risk_.value == search.selected_risk_.value
    if search.outer is not None:
        assert str(plain.risk_) == str(search.risk_)


def test_callbacks_follow_only_fits_that_a_store_lacks(tmp_path):
    given = FOLDS | {"engine": "generic", "store": tmp_path / "search.db"}
    assert followed(*NEAREST, **given)[1][FIT] == 30
    assert FIT not in followed(*NEAREST, **given)[1]


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_auto_propagated_callbacks_reach_the_fits_of_models_and_steps(n_jobs):
    """An iterative model in a pipeline has a task for each of its iterations."""
    given = {"scoring": "r2", "n_jobs": n_jobs, **FOLDS}
    grid = {"maxiterestimator__max_iter": [1, 2, 3]}
    callback = RecordingAutoPropagatedCallback()
    model = make_pipeline(StandardScaler(), MaxIterEstimator())
    search, tasks = followed(model, grid, callback=callback, **given)
    iterations = sum(n for name, n in tasks.items() if name.startswith("iteration"))
    assert iterations == 10 * (1 + 2 + 3) + search.best_params_["maxiterestimator__max_iter"]
    assert FIT not in tasks  # The root task of a pipeline takes the place of each.
    sources = {entry["context"].source_task_name for entry in callback.record}
    assert {FIT, "refit-with-best-params"} <= sources


def test_callbacks_follow_a_given_search_and_its_repetitions():
    theirs = GridSearchCV(*NEAREST, cv=2)
    callback = RecordingAutoPropagatedCallback()
    with pytest.warns(UserWarning, match="KNeighborsClassifier does not support callbacks"):
        _, tasks = followed(theirs, outer="3-fold", callback=callback)
    assert tasks["search"] == tasks["refit-with-best-params"] == 1 + 3
    assert (tasks[FIT], tasks["honest-risk"]) == (4 * 6, 1)


def test_search_within_a_pipeline_joins_its_tasks():
    callback = RecordingAutoPropagatedCallback()
    search = tr.HonestSearchCV(MaxIterEstimator(), {"max_iter": [1, 2]}, scoring="r2", **FOLDS)
    make_pipeline(StandardScaler(), search).set_callbacks(callback).fit(X, Y)
    contexts = [entry["context"] for entry in callback.record]
    (honest,) = {id(one): one for one in contexts if one.task_name == "honest-risk"}.values()
    assert honest.parent.source_task_name == "fit-final-estimator"
    assert honest.parent.parent.estimator_name == "Pipeline"


@pytest.mark.parametrize("place", ["setup", "on_fit_task_begin", "on_fit_task_end", "teardown"])
def test_failing_callback_ends_the_fit_and_is_torn_down(place):
    callback = FailingCallback(place)
    search = tr.HonestSearchCV(*NEAREST, **FOLDS).set_callbacks(callback)
    with pytest.raises(ValueError, match=f"failed at {place}"):
        search.fit(X, Y)
    assert callback.count_hooks("teardown") == 1
    assert not [name for name in vars(search) if name.endswith("_")]


def test_model_that_holds_a_propagated_callback_itself_is_refused():
    model = MaxIterEstimator().set_callbacks(RecordingAutoPropagatedCallback())
    with pytest.raises(FitFailed, match=r"can't have .*Register them directly on the meta-estim"):
        followed(model, {"max_iter": [1, 2]}, scoring="r2")


def test_callbacks_receive_rows_and_weights_of_each_fit():
    callback, weights = RecordingCallback(), np.linspace(1, 2, len(Y))
    search = tr.HonestSearchCV(MaxIterEstimator(), {"max_iter": [1, 2]}, scoring="r2", **FOLDS)
    search.set_callbacks(callback).fit(X, Y, sample_weight=weights)
    told = [entry for entry in callback.record if entry["name"] == "on_fit_task_begin"]
    assert all(entry["estimator"] is search for entry in told)
    rows = [len(one["kwargs"]["X"]) for one in told if one["context"].task_name == FIT]
    assert Counter(rows) == {30: 8, 20: 12}
    refit = told[-1]["kwargs"]
    np.testing.assert_array_equal(refit["metadata"]["sample_weight"], weights)
    np.testing.assert_array_equal(refit["X"], X)


@pytest.mark.parametrize("engine", ["generic", "auto"])
def test_progress_bar_takes_the_place_of_the_progress_line(engine, capsys, monkeypatch):
    monkeypatch.setenv("TRUERISK_PROGRESS", "1")
    bar = ProgressBar(max_propagation_depth=0)
    search = tr.HonestSearchCV(*NEAREST, engine=engine, **FOLDS).set_callbacks(bar)
    for one in (clone(search), pickle.loads(pickle.dumps(search))):
        one.fit(X, Y)
        shown, line = capsys.readouterr()
        for task in ("fit", "search", "honest-risk"):
            assert f"HonestSearchCV - {task}" in shown
        assert shown.count("100%") >= 3
        assert "fits" not in line
