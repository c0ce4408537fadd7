"""scikit-learn's estimator checks of HonestSearchCV, over models, pipelines and ways to choose."""

from __future__ import annotations

import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

from truerisk import HonestSearchCV

PIPED = make_pipeline(StandardScaler(), LogisticRegression()), {"logisticregression__C": [0.1, 1.0]}
RIDGE = Ridge(), {"alpha": [0.1, 1.0]}

CHECKED = {
    "one": HonestSearchCV(KNeighborsClassifier(1), {"weights": ["uniform"]}, select_by=2, outer=2),
    "ridge": HonestSearchCV(*RIDGE, select_by=2, outer=2),
    "pipe": HonestSearchCV(*PIPED, select_by=2, outer=2),
}


def its_checks():
    """What parametrize_with_checks draws, less array API input, which we do not claim."""
    for word, search in CHECKED.items():
        for number, (estimator, check) in enumerate(estimator_checks_generator(search)):
            name = check.func.__name__
            if name != "check_array_api_input":
                yield pytest.param(estimator, check, id=f"{word}-{name}-{number}")


@pytest.mark.parametrize(("estimator", "check"), list(its_checks()))
@pytest.mark.filterwarnings("ignore::truerisk.core.errors.TrueRiskWarning")
@pytest.mark.filterwarnings("ignore:A column-vector y:sklearn.exceptions.DataConversionWarning")
@pytest.mark.filterwarnings("ignore:The number of unique classes:UserWarning")
@pytest.mark.filterwarnings("ignore:The least populated class:UserWarning")
def test_it_keeps_the_contract_of_scikit_learn(estimator, check):
    """All of scikit-learn's estimator checks pass."""
    check(estimator)
