"""What is a search is said by its class, never by what it holds."""

from __future__ import annotations

import inspect

import pytest
from sklearn.ensemble import BaggingClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import GridSearchCV
from sklearn.model_selection._search import BaseSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils import all_estimators
from tests.support.searches import Climbing, Private, Silent

import truerisk as tr
from truerisk.models.stated.question import has_best_params

KINDS = [kind for _, kind in all_estimators() if not inspect.isabstract(kind)]


def test_of_all_estimators_of_scikit_learn_only_the_searches_are_some():
    """Those that hold others, and tune thresholds or penalties inside, are models."""
    told = {kind.__name__ for kind in KINDS if has_best_params(object.__new__(kind))}
    assert told == {kind.__name__ for kind in KINDS if issubclass(kind, BaseSearchCV)}


@pytest.mark.parametrize("search", [Climbing, Private, Silent, tr.HonestSearchCV])
def test_own_searches_are_told_by_what_their_methods_set(search):
    """Whatever their parameters are called, without a fit."""
    assert has_best_params(search(KNeighborsClassifier()))


def test_a_property_is_enough():
    """As OptunaSearchCV has it."""

    class Delegating:
        @property
        def best_params_(self):
            return {}

    assert has_best_params(Delegating())
    assert not has_best_params(BaggingClassifier(GridSearchCV(KNeighborsClassifier(), {})))
