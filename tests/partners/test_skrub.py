"""DataOps of the real skrub take their environment in the place of X: `make test-partners`."""

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, KFold
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.exceptions import BadData, Refusal, UnknownName

skrub = pytest.importorskip(
    "skrub", reason="skrub is not installed; `make test-partners` installs it"
)
FOLDS = KFold(3)
ROWS = 60


def table() -> pd.DataFrame:
    """Return two features, two outcomes, and twenty groups of three rows."""
    X, y = tr.datasets.make_simple(ROWS, random_state=3)
    outcomes = {"label": np.where(y == 1, "yes", "no"), "number": X[:, 0] - X[:, 1] + y}
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "group": np.arange(ROWS) // 3, **outcomes})


def prediction(model: Any = None, y: str = "label", **mark: Any) -> Any:
    """Return a DataOp that joins its features with a second table after the mark."""
    more = pd.DataFrame({"group": range(ROWS // 3), "more": np.arange(ROWS // 3) % 7})
    data, second = skrub.var("data", table()), skrub.var("second", more)
    X = data[["a", "b", "group"]].skb.mark_as_X(**mark)
    joined = X.merge(second, on="group")[["a", "b", "more"]]
    model = model or KNeighborsClassifier(skrub.choose_from([1, 5, 15], name="k"))
    return joined.skb.apply(model, y=data[y].skb.mark_as_y())


@pytest.fixture(scope="module")
def fitted() -> tuple[Any, Any]:
    """Return a fitted grid search of a DataOp, and its environment."""
    data_op = prediction()
    environment = data_op.skb.get_data()
    return data_op.skb.make_grid_search(cv=3).fit(environment), environment


def test_honest_search_risk_is_that_of_skrub_cross_validate(fitted):
    """In every outer fold the same search runs, and the claims on all rows are the same."""
    search, environment = fitted
    scores = skrub.cross_validate(search, environment, cv=FOLDS).test_score
    honest = tr.HonestSearchCV(search, outer=FOLDS).fit(environment)
    by_fold = honest.risk_.losses.reshape(3, -1).mean(axis=1)
    np.testing.assert_allclose(1 - by_fold, scores, atol=1e-12)
    assert (honest.best_score_, honest.best_params_) == (search.best_score_, search.best_params_)
    assert honest.estimator is search
    rows = table()[["a", "b", "group"]]
    assert (honest.predict(rows) == search.predict(environment)).all()
    assert tr.estimate_risk(search, environment, cv=FOLDS).value == honest.risk_.value


def test_estimate_risk_of_a_learner_is_that_of_skrub_cross_validate():
    data_op = prediction(Ridge(), "number")
    environment, learner = data_op.skb.get_data(), data_op.skb.make_learner()
    found = tr.estimate_risk(learner, environment, cv=FOLDS, scoring="r2")
    scores = skrub.cross_validate(learner, environment, cv=FOLDS).test_score
    assert found.value == pytest.approx(scores.mean())


@pytest.mark.parametrize("level", ["pairs", "bbc", "nested"])
def test_audit_meets_the_scores_of_a_param_search(fitted, level):
    """The same splits give the stored scores, and the settings have the names of the choices."""
    found = tr.audit(*fitted, level=level)
    assert found.claimed.value == fitted[0].best_score_
    assert "replay-differs" not in found.codes
    assert f"chosen k={fitted[0].best_learner_.describe_params()['k']}" in str(found)
    assert [setting["k"] for setting in found.settings] == [1, 5, 15]
    assert found.honest.interval is not None


def test_audit_of_scores_needs_no_environment(fitted):
    assert tr.audit(fitted[0], level="scores").claimed.value == fitted[0].best_score_


def test_audit_of_a_random_search_of_numbers_meets_r2():
    """`scoring=None` is the score of the last estimator."""
    data_op = prediction(Ridge(skrub.choose_float(0.1, 100, log=True, name="alpha")), "number")
    search = data_op.skb.make_randomized_search(n_iter=3, cv=3, random_state=0, fitted=True)
    found = tr.audit(search, data_op.skb.get_data())
    assert found.claimed.scoring == "r2"
    assert "replay-differs" not in found.codes


def test_honest_search_of_a_data_op_keeps_groups(fitted):
    """Both GroupKFold, of the outer splits and of the search, would raise without groups."""
    search = prediction().skb.make_grid_search(cv=GroupKFold(3))
    groups = table()["group"]
    honest = tr.HonestSearchCV(search, outer=GroupKFold(3)).fit(fitted[1], groups=groups)
    assert honest.best_params_ in list(fitted[0].cv_results_["params"])
    assert tr.compare(honest, honest).difference == 0


def test_honest_search_tunes_the_grid_of_a_learner_in_pairs(fitted):
    learner = prediction().skb.make_learner()
    honest = tr.HonestSearchCV(learner, learner.get_param_grid(), cv=3).fit(fitted[1])
    assert honest.best_params_ == fitted[0].best_params_
    assert honest.risk_.method.startswith("pairs")


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda s, e: tr.assess({"s": s}, table(), table()["label"]), Refusal, "fit(environment)"),
        (lambda s, e: tr.permutation_test(s, table(), table()["label"]), Refusal, "tr.compare"),
        (lambda s, e: tr.HonestSearchCV(s).fit(table(), table()["label"]), BadData, "get_data()"),
        (lambda s, e: tr.audit(s, e, table()["label"]), BadData, "and no y"),
        (
            lambda s, e: tr.estimate_risk(prediction(cv=FOLDS).skb.make_learner(), e),
            Refusal,
            "marks X with a splitter",
        ),
        (
            lambda s, e: tr.audit(
                prediction().skb.with_scoring("roc_auc").skb.make_grid_search(fitted=True), e
            ),
            Refusal,
            ".skb.with_scoring()",
        ),
        (
            lambda s, e: tr.estimate_risk(skrub.var("data").skb.apply(Ridge()), {}),
            UnknownName,
            "make_learner()",
        ),
        (
            lambda s, e: tr.estimate_risk(
                skrub.var("data").skb.apply(Ridge(), y=skrub.var("t")).skb.make_learner(), {}
            ),
            BadData,
            ".skb.mark_as_X()",
        ),
        (
            lambda s, e: tr.HonestSearchCV(
                prediction().skb.make_randomized_search(backend="optuna")
            ).fit(e),
            Refusal,
            "backend='optuna'",
        ),
    ],
)
def test_data_op_that_cannot_be_right_is_refused_with_the_remedy(fitted, call, error, words):
    with pytest.raises(error, match=re.escape(words)):
        call(*fitted)
