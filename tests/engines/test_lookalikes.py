"""A class that only looks like one that an engine knows is answered as what it is."""

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, clone, is_classifier
from sklearn.datasets import make_classification
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.engines.closed_forms import plan_of
from tests.support.data import checked

import truerisk as tr
from truerisk.engines import choose_engine, registry
from truerisk.engines.running.members import out_of_bag_refusal
from truerisk.extend import Family, Refusal, Request
from truerisk.losses.loss_words import as_loss
from truerisk.models import (
    FisherClassifier,
    IntervalClassifier,
    LinearDiscriminant,
    LogisticPath,
    QuadraticDiscriminant,
)

X, Y = make_classification(
    24, 2, n_informative=2, n_redundant=0, n_clusters_per_class=1, flip_y=0.2, random_state=8
)
X = X * [1.0, 2.0] + [0.0, 1.0]
NUMBERS = X[:, 0] + np.sin(X[:, 1]) + Y

STEPS = [
    Normalizer(),
    Binarizer(),
    PolynomialFeatures(),
    StandardScaler(),
    MinMaxScaler(),
    MaxAbsScaler(),
    RobustScaler(),
]
CLASSIFIERS = {
    "knn": KNeighborsClassifier(3),
    "interval": IntervalClassifier(2),
    "tree": DecisionTreeClassifier(max_depth=3, random_state=0),
    "discriminant": LinearDiscriminantAnalysis(),
    "discriminant, ours": LinearDiscriminant(),
    "quadratic": QuadraticDiscriminantAnalysis(),
    "quadratic, ours": QuadraticDiscriminant(),
    "fisher": FisherClassifier(),
    "logistic-path": LogisticRegression(C=0.1, tol=1e-7),
    "logistic-path, ours": LogisticPath(at=5, n_lambdas=8),
    "svm": SVC(tol=1e-9),
    "ensemble": RandomForestClassifier(3, random_state=0),
    "ensemble, bags": BaggingClassifier(n_estimators=3, random_state=0),
    "ensemble, weighed": AdaBoostClassifier(n_estimators=3, random_state=0),
    "ensemble, staged": GradientBoostingClassifier(n_estimators=3, random_state=0),
    "least-squares": RidgeClassifier(),
}
REGRESSORS = {
    "knn, numbers": KNeighborsRegressor(3),
    "tree, numbers": DecisionTreeRegressor(max_depth=3, random_state=0),
    "ensemble, numbers": RandomForestRegressor(3, random_state=0),
    "least-squares, numbers": Ridge(),
    "least-squares, plain": LinearRegression(),
    "elastic-net": Lasso(0.1),
    "kernel-ridge": KernelRidge(kernel="rbf"),
}
LISTED = {name.partition(",")[0] for name in CLASSIFIERS | REGRESSORS}
# Of an engine that is not listed, the first learner with its default parameters.
for engine in (registry.load(word)() for word in registry if word not in {*LISTED, "generic"}):
    learner = engine.learners()[0]()
    (CLASSIFIERS if is_classifier(learner) else REGRESSORS)[engine.name] = learner
LEARNERS = CLASSIFIERS | REGRESSORS
PREPARED = [  # one of each way that an engine goes about the steps before the learner
    *("knn", "discriminant", "quadratic", "fisher", "logistic-path, ours", "svm", "ensemble"),
    *("least-squares", "knn, numbers", "least-squares, plain", "kernel-ridge"),
]


def own_transform(self, X):
    """What no scaler does: it folds the rows about what the fit has seen."""
    return np.abs(np.asarray(X, dtype=float) - self.middle_) ** 1.5


def own_fit(self, X, y=None, **params):
    self.middle_, self.n_features_in_ = np.median(X, axis=0), np.shape(X)[1]
    return self


def own_fit_transform(self, X, y=None, **params):
    return self.fit(X, y).transform(X)


STEP = {"fit": own_fit, "transform": own_transform, "fit_transform": own_fit_transform}


def subclass_of_step(step):
    """A subclass of the same name that does otherwise."""
    return type(type(step).__name__, (type(step),), {**STEP, "__init__": type(step).__init__})()


def namesake_of_step(step, **fields):
    """A class of this file that has nothing but the name."""
    return type(type(step).__name__, (TransformerMixin, BaseEstimator), {**STEP, **fields})()


def disguised_step(step):
    """A class that says it comes from scikit-learn's module."""
    return namesake_of_step(step, __module__=type(step).__module__)


LOOK_ALIKE = [subclass_of_step, namesake_of_step, disguised_step]


def contrary(learner, module=__name__):
    """A subclass of the same name that answers the contrary."""
    kind, given = type(learner), learner.get_params(deep=False)
    fields = {"__init__": kind.__init__, "__module__": module}
    if hasattr(learner, "predict_proba"):
        fields["predict_proba"] = lambda self, X, *at: kind.predict_proba(self, X, *at)[:, ::-1]
    if learner in CLASSIFIERS.values():
        fields["predict"] = lambda self, X, *at: self.classes_[
            1 - np.searchsorted(self.classes_, kind.predict(self, X, *at))
        ]
    else:
        fields["predict"] = lambda self, X: 1 - kind.predict(self, X)
    return type(kind.__name__, (kind,), fields)(**given)


def taught_otherwise(learner):
    """A subclass of the same name that learns from seven in eight of the rows."""
    kind, given = type(learner), learner.get_params(deep=False)

    def fit(self, X, y, **params):
        some = np.arange(len(y)) % 8 != 1
        return kind.fit(self, np.asarray(X)[some], np.asarray(y)[some], **params)

    return type(kind.__name__, (kind,), {"fit": fit, "__init__": kind.__init__})(**given)


OF_ROW = np.arange(len(X)) % 3
FOLDS = [(np.flatnonzero(fold != OF_ROW), np.flatnonzero(fold == OF_ROW)) for fold in range(3)]


def by_hand(model, table, y, losses):
    """Mean losses over three folds from clones, fitted and asked one by one."""
    found = {loss: np.zeros(len(y)) for loss in losses}
    for train, test in FOLDS:
        fitted = clone(model).fit(table[train], y[train])
        for loss in losses:
            if loss == "squared":
                found[loss][test] = (fitted.predict(table[test]) - y[test]) ** 2
            elif loss == "zero-one":
                found[loss][test] = fitted.predict(table[test]) != y[test]
            else:
                found[loss][test] = (fitted.predict_proba(table[test])[:, 1] - y[test]) ** 2
    return {loss: values.mean() for loss, values in found.items()}


def require_as_given(name, model, grid=None):
    """Every setting has the risk that the models themselves have. Return who answered."""
    alone = not name.startswith(("tree", "ensemble"))  # others know no closed form of leave-one-out
    regression, table = LEARNERS[name] in REGRESSORS.values(), X[:, :1] if "interval" in name else X
    y, losses = (NUMBERS, ["squared"]) if regression else (Y, ["zero-one"])
    if not regression and hasattr(model, "predict_proba"):
        losses.append("brier")
    family, engines = Family.from_grid(model, grid), set()
    own = [by_hand(family.make(c), table, y, losses) for c in range(len(family))]
    for loss in losses:
        given = {"scoring": loss, "random_state": 0}
        curve = tr.risk_curve(model, grid, table, y, cv=FOLDS, **given)
        np.testing.assert_allclose(curve.values, [risks[loss] for risks in own], atol=1e-7)
        engines.add(curve.common.engine)
    half = table[::2], y[::2]
    if alone and answers_at_once(family, *half, loss):
        one, other = (
            tr.risk_curve(model, grid, *half, cv="loo", engine=engine, **given)
            for engine in ("auto", "generic")  # which the folds have held against fits by hand
        )
        np.testing.assert_allclose(one.values, other.values, atol=1e-7)
    return engines


def answers_at_once(family, table, y, loss):
    """Whether another engine than the generic one answers leave-one-out."""
    data = checked(table, y)
    plan = plan_of("loo", data)
    request = Request.from_plan(as_loss(loss, data), plan)
    return choose_engine("auto", family, data, plan, request)[0].name != "generic"


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def test_engines_answer_for_their_plain_learners_and_all_are_here():
    assert {name.partition(",")[0] for name in LEARNERS} == {*registry} - {"generic"}
    for name, learner in LEARNERS.items():
        assert require_as_given(name, learner) == {name.partition(",")[0]}


ALIKE = [subclass_of_step(step) for step in STEPS]
ALIKE += [look_alike(step) for step in STEPS[:4:3] for look_alike in LOOK_ALIKE[1:]]
WRITING = [clone(step).set_params(copy=False) for step in STEPS if "copy" in step.get_params()]
WRITING += [Normalizer().set_output(transform="pandas")]


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        *(pytest.param(name, ALIKE, id=f"{name}-look-alikes") for name in PREPARED),
        *(
            pytest.param(name, WRITING, id=f"{name}-writing")
            for name in ("knn", "discriminant", "least-squares, plain")
        ),
    ],
)
def test_step_is_known_by_its_class_and_may_write_into_its_rows(name, steps):
    """A step that shares only its name with a scikit-learn class is refitted on every training set.

    Neither copy=False nor set_output changes an answer, and X stays as it was.
    """
    before = X.copy()
    model = Pipeline([("step", "passthrough"), ("learner", LEARNERS[name])])
    require_as_given(name, model, {"step": steps})
    np.testing.assert_array_equal(X, before)


def test_step_with_two_settings_has_two_lists_of_neighbours():
    model = make_pipeline(Normalizer(), KNeighborsClassifier(3))
    require_as_given("knn", model, {"normalizer__norm": ["l1", "l2", "max"]})


class Contrary(Pipeline):
    def predict(self, X, **params):
        return 1 - super().predict(X, **params)


@pytest.mark.parametrize("change", [contrary, taught_otherwise, None])
@pytest.mark.parametrize("name", LEARNERS)
def test_learner_and_pipeline_are_known_by_their_classes(name, change):
    """One that answers or learns otherwise, alone and last in a pipeline, is fitted."""
    if change is None:
        model = Contrary([("scaler", MinMaxScaler()), ("learner", LEARNERS[name])])
        assert require_as_given(name, model) == {"generic"}
        return
    own = change(LEARNERS[name])
    for model in (own, make_pipeline(MinMaxScaler(), own)):
        assert require_as_given(name, model) == {"generic"}


@pytest.mark.parametrize("kind", [RandomForestClassifier, BaggingClassifier])
def test_bags_are_those_of_the_class(kind):
    """Out-of-bag answers of a subclass are not put together for it, unless it states its bags."""
    for change in (contrary, taught_otherwise):
        assert "is not trained on bootstrap samples" in str(
            out_of_bag_refusal(Family.from_grid(change(kind())))
        )

    class States(kind):
        @property
        def estimators_samples_(self):
            return super().estimators_samples_

    assert (
        out_of_bag_refusal(Family.from_grid(kind()))
        is out_of_bag_refusal(Family.from_grid(States()))
        is None
    )


class Doubled(tr.losses.Squared):
    """A loss of one's own under the word of another."""

    def of_rows(self, data, rows, answers):
        return 2 * super().of_rows(data, rows, answers)


class Halved(tr.losses.ZeroOne):
    def of_rows(self, data, rows, answers):
        return super().of_rows(data, rows, answers) / 2


def test_loss_is_known_by_its_class():
    """What is stated for squared or zero-one loss is not stated for a subclass of either."""
    method = tr.methods.Bootstrap(".632+", replicates=5)
    plain, double = (
        tr.estimate_risk(Ridge(), X, NUMBERS, cv=method, scoring=loss)
        for loss in ("squared", Doubled())
    )
    assert double.value == pytest.approx(2 * plain.value)
    for word in ("swapping", "bee", "bolstered"):
        with pytest.raises(Refusal):
            tr.estimate_risk(LinearDiscriminantAnalysis(), X, Y, cv=word, scoring=Halved())
    with pytest.raises(Refusal, match="reports in loss"):
        tr.estimate_risk(Ridge(), X, NUMBERS, cv="cp", scoring=Doubled())
