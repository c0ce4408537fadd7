"""What a search was not asked for, and what it cannot do, it says with the remedy."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.neighbors import KNeighborsClassifier
from tests.search.test_search import K_GRID

import truerisk as tr
from truerisk import HonestSearchCV
from truerisk.core.errors import BadArgument, BadData, FitFailedWarning, MissingResult, Refusal


def test_without_refit_there_is_no_model_and_predict_says_so():
    """refit=False keeps the numbers and refuses to predict, with the remedy."""
    X, y = load_wine(return_X_y=True)
    search = HonestSearchCV(KNeighborsClassifier(), K_GRID, refit=False, outer="2-fold").fit(X, y)
    assert search.risk_.value > 0
    with pytest.raises(AttributeError) as caught:
        search.predict(X)
    assert "use refit=True" in str(caught.value.__cause__)


def test_without_outer_there_is_no_risk():
    """outer=None is a plain search: no risk_, no optimism_."""
    X, y = load_wine(return_X_y=True)
    search = HonestSearchCV(KNeighborsClassifier(), K_GRID, outer=None).fit(X, y)
    assert not hasattr(search, "risk_")
    assert not hasattr(search, "optimism_")


@pytest.mark.parametrize("outer", ["3-fold", None])
def test_a_nested_method_rates_no_settings(outer):
    """It has no score of a setting for every split: refused, with the words to use."""
    X, y = load_wine(return_X_y=True)
    search = HonestSearchCV(KNeighborsClassifier(), K_GRID, cv="nested", outer=outer)
    with pytest.raises(Refusal, match="use cv='5-fold' with outer='5-fold'"):
        search.fit(X, y)


@pytest.mark.parametrize("name", ["risk_", "optimism_", "outer_", "stability_", "best_estimator_"])
def test_what_was_not_asked_for_says_how_to_get_it(name):
    """A result that outer=None or refit=False leaves out, or that no fit has made yet."""
    search = HonestSearchCV(KNeighborsClassifier(), K_GRID, cv="2-fold", outer=None, refit=False)
    with pytest.raises(MissingResult, match=f"no {name} before it is fitted"):
        getattr(search, name)
    X, y = load_wine(return_X_y=True)
    option = "refit=True" if name == "best_estimator_" else "outer='10-fold'"
    with pytest.raises(AttributeError, match=f"no {name}: make it with {option}, and fit again"):
        getattr(search.fit(X, y), name)


def test_a_refitted_search_forgets_the_old_risk():
    """Fitting anew with outer=None leaves no risk_ of the first fit behind."""
    X, y = load_wine(return_X_y=True)
    search = HonestSearchCV(KNeighborsClassifier(), K_GRID, cv="2-fold", outer="2-fold").fit(X, y)
    search.set_params(outer=None, refit=False).fit(X, y)
    assert not hasattr(search, "risk_")
    assert not hasattr(search, "best_estimator_")


def test_refit_is_true_false_or_a_function():
    """The name of a metric, which GridSearchCV takes for several of them, is no truth value."""
    X, y = load_wine(return_X_y=True)
    with pytest.raises(BadArgument, match="refit='accuracy': use True, False, or"):
        HonestSearchCV(KNeighborsClassifier(), K_GRID, refit="accuracy").fit(X, y)


def test_y_is_needed():
    """Without y there is no risk, and the message says so."""
    with pytest.raises(BadData, match="y is None"):
        HonestSearchCV(KNeighborsClassifier(), K_GRID).fit(np.zeros((4, 2)))


def test_a_single_setting_that_fails_is_refused():
    """There is nothing to fit; the reason is the first failure."""
    X, y = tr.datasets.make_simple(20, random_state=0)
    engine = tr.engines.Generic(error="warn")
    search = tr.HonestSearchCV(KNeighborsClassifier(), {"n_neighbors": [50]}, engine=engine)
    with (
        pytest.warns(FitFailedWarning),
        pytest.raises(Refusal, match="only candidate has a failed fit.*n_neighbors=50"),
    ):
        search.fit(X, y)


def test_a_setting_that_fails_outside_is_refused():
    """Thirty neighbours are there in nine tenths of forty rows, and not in half of them."""
    X, y = tr.datasets.make_simple(40, random_state=0)
    engine = tr.engines.Generic(error="warn")
    search = tr.HonestSearchCV(
        KNeighborsClassifier(), {"n_neighbors": [30]}, engine=engine, outer="2-fold"
    )
    with (
        pytest.warns(FitFailedWarning),
        pytest.raises(Refusal, match="chosen candidate has a failed fit in an outer split"),
    ):
        search.fit(X, y)


def test_set_callbacks_says_that_callbacks_are_not_supported_yet():
    """A sentence with what to do; to have none is what a search has."""
    search = HonestSearchCV(KNeighborsClassifier())
    with pytest.raises(Refusal, match="takes no callbacks of scikit-learn yet: set them on the"):
        search.set_callbacks(print)
    assert search.set_callbacks() is search
