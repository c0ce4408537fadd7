"""A method that refuses the usual data is given its own case."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from truerisk.core.errors import Refusal
from truerisk.core.family import Family
from truerisk.data.data import Data
from truerisk.losses.row_losses import Squared
from truerisk.methods import KFold
from truerisk.testing import Case, NotConforming, check_method, method_checks


class NumbersOnly(KFold):
    """A method for regression."""

    def check(self, data, loss):
        if data.task == "classification":
            raise Refusal("this method knows numbers only.")


def numbers() -> Case:
    """Forty rows of three features, ridge regression."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    data = Data.check(X, X.sum(axis=1) + rng.standard_normal(40), task="regression")
    return Case(Family.of(Ridge(), {"alpha": [0.1, 1.0]}), data, Squared())


def test_a_method_for_numbers_conforms_on_numbers():
    """With its own case the checks pass; those of classes have nothing to say."""
    for check in method_checks(NumbersOnly(4), numbers()):
        if not check.name.startswith("same_result"):  # which begin workers
            check()


def test_a_refusal_of_the_usual_case_is_no_success():
    """What the kit could not run it does not call conforming."""
    with pytest.raises(NotConforming, match="this method knows numbers only"):
        check_method(NumbersOnly(4))
