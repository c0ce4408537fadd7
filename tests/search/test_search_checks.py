"""scikit-learn's estimator checks of HonestSearchCV, over models, pipelines and ways to choose."""

from __future__ import annotations

import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.support.estimator_checks import estimator_checks

from truerisk import HonestSearchCV

PIPED = make_pipeline(StandardScaler(), LogisticRegression()), {"logisticregression__C": [0.1, 1.0]}
RIDGE = Ridge(), {"alpha": [0.1, 1.0]}
CHECKED = [HonestSearchCV(*searched, cv="2-fold", outer="2-fold") for searched in (RIDGE, PIPED)]


@pytest.mark.parametrize(("estimator", "check"), list(estimator_checks(*CHECKED)))
@pytest.mark.filterwarnings("ignore::truerisk.core.errors.TrueRiskWarning")
@pytest.mark.filterwarnings("ignore:A column-vector y:sklearn.exceptions.DataConversionWarning")
@pytest.mark.filterwarnings("ignore:The number of unique classes:UserWarning")
@pytest.mark.filterwarnings("ignore:The least populated class:UserWarning")
def test_it_keeps_the_contract_of_scikit_learn(estimator, check):
    """All of scikit-learn's estimator checks pass."""
    check(estimator)
