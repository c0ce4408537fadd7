"""XGBoost, LightGBM and CatBoost as they are: `make test-partners` installs them."""

import re
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import truerisk as tr
from truerisk.contracts import RunOptions
from truerisk.engines.generic import Generic
from truerisk.engines.trees.ensemble import Ensembles
from truerisk.exceptions import FitFailed
from truerisk.extend import BadArgument, Data, Family, Request, Streams
from truerisk.methods import as_method
from truerisk.models import learner
from truerisk.testing import engine_checks

WHY = "{} is not installed; `make test-partners` installs it"
xgboost = pytest.importorskip("xgboost", reason=WHY.format("xgboost"))
lightgbm = pytest.importorskip("lightgbm", reason=WHY.format("lightgbm"))
catboost = pytest.importorskip("catboost", reason=WHY.format("catboost"))

RNG = np.random.default_rng(0)
N = 90
X = np.round(RNG.normal(size=(N, 4)), 1)
X[RNG.random((N, 4)) < 0.05] = np.nan
SIGNAL = np.nan_to_num(X[:, 0] * X[:, 1]) + RNG.normal(size=N) / 2
TWO = (SIGNAL > 0).astype(int)
THREE = np.digitize(SIGNAL, [-0.4, 0.4])
WEIGHTS = RNG.random(N) + 0.1
SIZES = [7, 1, 15, 3, 7]

XGB = {"n_jobs": 1, "max_depth": 3}
LGB = {"n_jobs": 1, "verbose": -1, "min_child_samples": 4, "num_leaves": 5}
CAT = {
    "thread_count": 1,
    "verbose": 0,
    "allow_writing_files": False,
    "depth": 3,
    "learning_rate": 0.2,
    "leaf_estimation_iterations": 2,
}


def xgb(classes=True, **options):
    kind = xgboost.XGBClassifier if classes else xgboost.XGBRegressor
    return kind(**{**XGB, **options})


def lgb(classes=True, **options):
    kind = lightgbm.LGBMClassifier if classes else lightgbm.LGBMRegressor
    return kind(**{**LGB, **options})


def cat(classes=True, **options):
    kind = catboost.CatBoostClassifier if classes else catboost.CatBoostRegressor
    return kind(**{**CAT, **options})


READ = {
    "xgboost": xgb(),
    "xgboost numbers": xgb(False),
    "xgboost samples": xgb(subsample=0.6, colsample_bytree=0.7, colsample_bynode=0.8),
    "xgboost forests": xgb(num_parallel_tree=3, subsample=0.5, random_state=1),
    "xgboost exact": xgb(tree_method="exact", max_delta_step=1),
    "xgboost lossguide": xgb(False, grow_policy="lossguide", max_leaves=4, tree_method="approx"),
    "xgboost quantile": xgb(False, objective="reg:quantileerror", quantile_alpha=0.3),
    "lightgbm": lgb(),
    "lightgbm numbers": lgb(False),
    "lightgbm bags": lgb(subsample=0.6, subsample_freq=3, colsample_bytree=0.6),
    "lightgbm goss": lgb(data_sample_strategy="goss", learning_rate=0.3),
    "lightgbm forest": lgb(False, boosting_type="rf", subsample=0.6, subsample_freq=1),
    "lightgbm that ends": lgb(min_child_samples=40),
    "lightgbm lines": lgb(False, linear_tree=True, boost_from_average=False),
    "lightgbm balanced": lgb(class_weight="balanced", extra_trees=True, path_smooth=1.0),
    "lightgbm absolute": lgb(False, objective="l1"),
    "catboost": cat(),
    "catboost numbers": cat(False),
    "catboost Bernoulli": cat(bootstrap_type="Bernoulli", subsample=0.6, rsm=0.7),
    "catboost ordered": cat(boosting_type="Ordered", random_strength=3),
    "catboost Lossguide": cat(False, grow_policy="Lossguide", max_leaves=5, depth=4),
}


def path_of(model):
    return "iterations" if "CatBoost" in type(model).__name__ else "n_estimators"


def same(model, data, response, method="3-fold"):
    """The engine and the generic one answer a method's plan alike, bit by bit."""
    family = Family.from_grid(model, {path_of(model): SIZES})
    plan, request = as_method(method).plan(data, Streams(1)), Request(response)
    assert Ensembles().refuse(family, data, plan, request) is None
    run = RunOptions(seed=4)
    ours = Ensembles().run(family, data, plan, request, run)
    theirs = Generic().run(family, data, plan, request, run)
    assert ours.values.dtype == theirs.values.dtype
    assert np.array_equal(ours.values, theirs.values)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", READ)
def test_ensembles_of_every_size_equal_fits_bit_by_bit(name, weighted):
    """Labels, probabilities, scores and values of every size are those of a fit of that size."""
    model = READ[name]
    params = {"sample_weight": WEIGHTS} if weighted else {}
    if not is_classifier(model):
        data = Data.check(X, SIGNAL, task="regression", fit_params=params)
        same(model, data, "value")
        return
    for y in (TWO, THREE):
        data = Data.check(X, y, task="classification", fit_params=params)
        for response in ("label", "probability", "score")[: 4 - data.n_classes + 1]:
            same(model, data, response)


@pytest.mark.parametrize("method", ["bootstrap", "10-fold", "repeated-3-fold"])
def test_ensembles_answer_samples_with_copies(method):
    if method not in tr.methods.names():
        method = "3-fold"
    data = Data.check(np.nan_to_num(X), TWO, task="classification")
    for model in (xgb(subsample=0.7), lgb(subsample=0.7, subsample_freq=1), cat()):
        same(model, data, "probability", method)


KIT = {
    # its classifier gives two columns of probabilities for a sample of one class, and none fits
    "xgboost": (xgb(False, max_depth=2, subsample=0.8), {"n_estimators": [3, 1]}),
    "lightgbm": (lgb(False, min_child_samples=2), {"n_estimators": [3, 1]}),
    "catboost": (cat(False, depth=1), {"n_estimators": [3, 1]}),
}


@pytest.mark.parametrize(
    "check",
    [
        pytest.param(check, id=f"{word}-{check}")
        for word, (model, grid) in KIT.items()
        for check in engine_checks(Ensembles(), Family.from_grid(model, grid), examples=3)
    ],
)
def test_ensembles_conform(check):
    check()


@pytest.mark.filterwarnings("ignore::truerisk.exceptions.DuplicateRowsWarning")
def test_ensembles_read_sizes_behind_a_pipeline():
    """The words' pipelines on text and gaps: sizes are read off, and equal refits."""
    frame = pd.DataFrame({"c": np.where(SIGNAL > 0.2, "a", np.where(TWO, "b", None)), "x": X[:, 0]})
    frame.loc[::5, "c"] = "c"
    for word in ("xgboost", "lightgbm", "catboost"):
        for y in (np.array(["no", "yes"])[TWO], SIGNAL):
            task = "regression" if y is SIGNAL else "classification"
            columns = {"n_features": 2, "numeric": [1], "text": [0], "missing": True}
            n_classes = 2 if task == "classification" else 0
            pipe, _ = learner(word, task, n_rows=N, n_classes=n_classes, **columns)
            path = f"model__{path_of(pipe[-1])}"
            grid = {path: [2, 9], "model__learning_rate": [0.3]}
            both = [
                tr.risk_curve(pipe, grid, frame, y, cv="3-fold", engine=engine)
                for engine in ("auto", "generic")
            ]
            # CatBoost's codes of levels depend on how many trees are to come
            assert both[0][0].engine == ("generic" if word == "catboost" else "ensemble")
            assert both[0].values.tolist() == both[1].values.tolist()


@pytest.mark.parametrize("word", ["xgboost", "lightgbm", "catboost"])
def test_learner_tells_levels_apart_natively(word):
    """A column of levels in no order is split by level: one split of one tree tells b and d."""
    level = np.resize(list("abcd"), 400)
    y = np.isin(level, ["b", "d"])
    frame = pd.DataFrame({"level": level})
    pipe, _ = learner(
        word, "classification", n_rows=400, n_features=1, n_classes=2, numeric=[], text=[0]
    )
    one = {"xgboost": {"max_depth": 1}, "lightgbm": {"num_leaves": 2}, "catboost": {"depth": 1}}
    own = {path_of(pipe[-1]): 1, **one[word]}
    if word == "lightgbm":
        own |= {"min_data_per_group": 1, "cat_smooth": 1}
    if word == "xgboost":
        own |= {"max_cat_to_onehot": 1}
    if word == "catboost":
        own |= {"learning_rate": 0.5, "has_time": False}
    pipe[-1].set_params(**own)
    assert pipe.fit(frame, y).score(frame, y) == 1
    assert len(pipe[:-1].get_feature_names_out()) == 1


@pytest.mark.parametrize("word", ["xgboost", "lightgbm", "catboost"])
@pytest.mark.parametrize("labels", [["no", "yes"], [False, True], [3, 7]])
def test_learner_takes_any_labels(word, labels):
    """Text, truth values, numbers that are not 0 and 1; predictions are of the same kind."""
    y = np.array(labels)[TWO]
    pipe, _ = learner(word, "classification", n_rows=N, n_features=4, n_classes=2)
    pipe[-1].set_params(**{path_of(pipe[-1]): 5})
    said = pipe.fit(X, y).predict(X)
    assert (said.ravel() == y).mean() > 0.5
    assert pipe[-1].classes_.tolist() == labels


@pytest.mark.parametrize("loss", ["Logloss", "MultiClass", "RMSE", "Poisson"])
def test_catboost_chooses_nothing_else_by_the_number_of_trees(loss):
    """With the two that must be set, all that it works with is the same on either side of 200."""
    classes = loss in ("Logloss", "MultiClass")
    y = {"Logloss": TWO, "MultiClass": THREE}.get(loss, np.abs(SIGNAL))
    used = []
    for n_trees in (2, 199, 200, 1001):
        model = cat(classes, loss_function=loss, iterations=n_trees, depth=1).fit(X, y)
        used.append(model.get_all_params())
        assert used[-1].pop("iterations") == n_trees
    assert all(one == used[0] for one in used)


def test_xgboost_knows_a_single_class():
    """Of one class alone its probability is 1."""
    pipe, _ = learner("xgboost", "classification", n_rows=N, n_features=4, n_classes=2)
    pipe[-1].set_params(n_estimators=2)
    one = np.full(5, "only")
    assert pipe.fit(X[:5], one).predict_proba(X[:3]).tolist() == [[1.0]] * 3
    assert pipe.predict(X[:3]).tolist() == ["only"] * 3


def test_xgboost_lacks_a_class_of_a_fold():
    """A training set without one of three classes is no error, and it has probability 0."""
    y = THREE.copy()
    pipe, _ = learner("xgboost", "classification", n_rows=N, n_features=4, n_classes=3)
    pipe[-1].set_params(n_estimators=3)
    known = y != 1
    assert set(pipe.fit(X[known], y[known]).predict(X)) == {0, 2}


GROUPS = np.arange(N) // 3


@pytest.mark.parametrize("make", [xgb, lgb, cat], ids=["xgboost", "lightgbm", "catboost"])
@pytest.mark.parametrize("classes", [True, False])
def test_early_stopping_is_the_package_s_own(make, classes):
    """The fit is the package's, on the same two parts of the training rows, weights included."""
    booster = make(classes, **{path_of(make()): 300})
    y = np.array(["no", "yes"])[TWO] if classes and make is not xgb else SIGNAL
    y = TWO if classes and make is xgb else y
    model = tr.models.EarlyStopping(booster, fraction=0.3, rounds=4, random_state=0)
    model.fit(X, y, sample_weight=WEIGHTS, groups=GROUPS)
    aside = np.isin(np.arange(N), model.set_aside_)
    assert not set(GROUPS[aside]) & set(GROUPS[~aside])
    assert model.n_trees_ < 300
    plain = make(classes, **{path_of(make()): model.n_trees_})
    plain.fit(X[~aside], y[~aside], sample_weight=WEIGHTS[~aside])
    assert np.array_equal(model.predict(X).ravel(), plain.predict(X).ravel())


def test_early_stopping_on_rows_of_x_is_refused():
    """They are tested, too; rows of another table are let through."""
    X, y = tr.datasets.make_simple(60, random_state=0)
    search = tr.HonestSearchCV(xgb(early_stopping_rounds=3), {"max_depth": [1, 2]}, cv=3)
    with pytest.raises(tr.exceptions.Refusal, match="10 rows of eval_set are rows of X"):
        search.fit(X, y, eval_set=[(X[:10], y[:10])], verbose=False)
    search.fit(X, y, eval_set=[(X[:10] + 0.123, y[:10])], verbose=False)


def test_early_stopping_without_rows_says_what_to_do():
    """XGBoost and LightGBM want an eval_set, which no verb can give honestly."""
    for model in (xgb(early_stopping_rounds=3), lgb(early_stopping_rounds=3)):
        with pytest.raises(FitFailed, match=re.escape("tr.models.EarlyStopping(model) sets rows")):
            tr.estimate_risk(model, X, TWO, cv="3-fold")


LABELS = np.array(["bad", "good"])[TWO]
CREDIT = pd.DataFrame(
    {"age": np.random.default_rng(1).normal(size=N), "city": np.resize(["Rome", "Oslo", "Bern"], N)}
)


def test_xgboost_of_text_labels_says_which_class_takes_them():
    """And that class, in its place, does: in a search, an assessment and an audit."""
    table, model = np.nan_to_num(X), xgb(n_estimators=5)
    with pytest.raises(FitFailed, match="LabelledXGBClassifier of truerisk.models") as refused:
        tr.HonestSearchCV(model, {"max_depth": [1, 2]}, cv=3).fit(table, LABELS)
    (place,) = re.findall(r"(\w+) of (truerisk[\w.]+)", str(refused.value))
    ours = getattr(import_module(place[1]), place[0])(**model.get_params())
    honest = tr.HonestSearchCV(ours, {"max_depth": [1, 2]}, cv=3).fit(table, LABELS)
    assert {*honest.predict(table)} == {"bad", "good"}
    numbers = tr.HonestSearchCV(model, {"max_depth": [1, 2]}, cv=3).fit(table, TWO)
    assert honest.risk_.value == numbers.risk_.value
    assessed = tr.assess({"xgb": ours}, table, LABELS, scoring=["zero-one", "auc"], positive="bad")
    assert assessed.risks["xgb"].scores["auc"].value > 0.5
    plain = GridSearchCV(ours, {"max_depth": [1, 2]}, cv=3).fit(table, LABELS)
    assert tr.audit(plain, table, LABELS).claimed.value == pytest.approx(plain.best_score_)


def test_catboost_with_columns_of_levels():
    """A tuple of names is cloned, by us and by scikit-learn; a list is refused with these words."""
    model = cat(iterations=5).set_params(cat_features=("city",))
    grid = {"depth": [1, 2]}
    plain = GridSearchCV(model, grid, cv=3).fit(CREDIT, LABELS)
    honest = tr.HonestSearchCV(model, grid, cv=StratifiedKFold(3)).fit(CREDIT, LABELS)
    assert honest.best_score_ == pytest.approx(plain.best_score_)
    assert tr.audit(plain, CREDIT, LABELS).honest.interval is not None
    assert tr.assess({"cat": (model, grid)}, CREDIT, LABELS).report.interval is not None
    listed = cat(iterations=5).set_params(cat_features=["city"])
    for ask in (
        lambda: tr.HonestSearchCV(listed, grid).fit(CREDIT, LABELS),
        lambda: tr.estimate_risk(listed, CREDIT, LABELS),
        lambda: tr.validate(listed, CREDIT, LABELS),
    ):
        with pytest.raises(BadArgument, match=r"cat_features=\('city', 'sex'\) of CatBoost"):
            ask()


BROKEN = [
    (xgb(booster="dart", rate_drop=0.3), "booster='dart'"),
    (xgb(booster="gblinear", max_depth=None), "booster='gblinear'"),
    (lgb(boosting_type="dart"), "boosting_type='dart'"),
    (
        cat(learning_rate=None, leaf_estimation_iterations=None),
        "learning_rate is chosen by the number of trees",
    ),
    (cat(leaf_estimation_iterations=None), "leaf_estimation_iterations is chosen by"),
    (cat(model_shrink_rate=0.1), "model_shrink_rate=0.1"),
    (cat(langevin=True), "langevin=True"),
]


@pytest.mark.parametrize(("model", "why"), BROKEN, ids=[why for _, why in BROKEN])
def test_ensembles_refuse_what_would_differ(model, why):
    """Each refusal is needed: the first trees of a longer fit answer otherwise."""
    data = Data.check(X, SIGNAL > 0, task="classification")
    long_n = 12 if "chosen" not in why else 200
    family = Family.from_grid(model, {path_of(model): [5, long_n]})
    plan = as_method("3-fold").plan(data, Streams(1))
    assert why in Ensembles().refuse(family, data, plan, Request("probability"))
    short, long = (
        model.copy() if hasattr(model, "copy") else type(model)(**model.get_params())
        for _ in range(2)
    )
    short.set_params(**{path_of(model): 5}).fit(X, TWO)
    long.set_params(**{path_of(model): long_n}).fit(X, TWO)
    first = {"iteration_range": (0, 5)} if "XGB" in type(model).__name__ else {"num_iteration": 5}
    first = {"ntree_end": 5} if "CatBoost" in type(model).__name__ else first
    if why == "booster='gblinear'":
        first = {}  # it has no trees
    assert not np.array_equal(short.predict_proba(X), long.predict_proba(X, **first))


def test_honest_search_equals_the_plain_one():
    """On the same folds, mean scores of all settings and the best of them."""
    folds, y = StratifiedKFold(3), TWO
    for model in (xgb(random_state=0), lgb(random_state=0), cat(random_state=0)):
        pipe = make_pipeline(StandardScaler(), model)
        grid = {f"{type(model).__name__.lower()}__{path_of(model)}": [2, 5, 9]}
        plain = GridSearchCV(pipe, grid, cv=folds).fit(X, y)
        ours = tr.HonestSearchCV(pipe, grid, cv=folds).fit(X, y)
        name = "mean_test_score"
        assert ours.cv_results_[name] == pytest.approx(plain.cv_results_[name])
        assert ours.best_score_ == pytest.approx(plain.best_score_)


def test_catboost_levels_are_fitted_for_every_number():
    """Its codes of levels depend on how many trees are to come: 25 of 50 are other trees."""
    rng = np.random.default_rng(0)
    table = rng.integers(0, 6, (90, 3))
    y = (table[:, 0] + rng.normal(size=90) > 2.5).astype(int)
    data = Data.check(table, y, task="classification")
    plan, request = as_method("3-fold").plan(data, Streams(1)), Request("label")
    model = cat(cat_features=(0, 1, 2), iterations=50)
    family = Family.from_grid(model, {"iterations": [5, 50]})
    refused = Ensembles().refuse(family, data, plan, request)
    assert refused is not None
    assert "depends on the number of trees" in refused


def test_catboost_score_is_accuracy_and_keeps_no_engine_away():
    """CatBoost writes it anew: the search by its own score is served as by accuracy."""
    for model in (xgb(random_state=0), lgb(random_state=0), cat(random_state=0)):
        table = np.nan_to_num(X)
        fitted = clone(model).fit(table, TWO)
        assert fitted.score(table, TWO) == pytest.approx(np.mean(fitted.predict(table) == TWO))
        found = tr.HonestSearchCV(model, {path_of(model): [2, 5]}, cv=3).fit(table, TWO)
        assert found.risk_.engine == "ensemble"


def test_warning_of_every_fit_of_a_booster_is_said_once():
    """XGBoost's log has the time of day in it; the warning comes with how many fits gave it."""
    model = xgb(strange=1)
    grid = {"max_depth": [1, 2]}
    with pytest.warns(UserWarning, match=r"(?s)strange.*20 times in 20 fits") as said:
        tr.risk_curve(model, grid, np.nan_to_num(X), TWO, cv="10-fold")
    assert sum("strange" in str(one.message) for one in said) == 1
