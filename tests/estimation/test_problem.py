"""Data are checked and counted once; every family makes a problem of them."""

import inspect
from dataclasses import is_dataclass

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.data import data as data_module
from truerisk.engines import choice
from truerisk.estimation.problem import problem_from_arguments, problem_from_data
from truerisk.exceptions import NoEngine
from truerisk.extend import Data, Family

X, Y = tr.datasets.make_simple(40, random_state=2)
TREE, DEPTHS = DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2]}
THREE = {"bayes": GaussianNB(), "tree": DecisionTreeClassifier(), "guess": GaussianNB()}


@pytest.mark.parametrize("learners", [THREE, ["lda", "tree"], None])
@pytest.mark.parametrize("weighted", [False, True])
def test_assess_checks_and_counts_its_rows_once(learners, weighted, monkeypatch):
    calls = dict.fromkeys(("_view", "digest", "sums_of", "row_keys"), 0)
    for name in calls:
        real = getattr(data_module, name)

        def counting(*args, real=real, name=name, **kwargs):
            calls[name] += 1
            return real(*args, **kwargs)

        monkeypatch.setattr(data_module, name, counting)
    if weighted:
        learners = {"bayes": GaussianNB(), "piped": make_pipeline(StandardScaler(), GaussianNB())}
    weights = np.ones(len(Y)) if weighted else None
    tr.assess(learners, X, Y, cv=["2-fold"], outer="3-fold", sample_weight=weights)
    assert calls == dict.fromkeys(calls, 1)


def test_problem_on_shares_rows_and_names_the_weight_for_each_family():
    """Nothing is copied, and nothing counted, where the fits take nothing beside the rows."""
    data = Data.check(X, Y, task="classification", sample_weight=np.arange(1.0, 41))
    alone = problem_from_data(
        data, Family.from_grid(GaussianNB()), sample_weight=data.sample_weight
    )
    piped = Family.from_grid(make_pipeline(StandardScaler(), GaussianNB()))
    inside = problem_from_data(data, piped, sample_weight=data.sample_weight)
    assert list(alone.data.fit_params) == ["sample_weight"]
    assert list(inside.data.fit_params) == ["gaussiannb__sample_weight"]
    assert alone.data.X is inside.data.X
    assert alone.data.fingerprint == inside.data.fingerprint == data.fingerprint
    plain = Data.check(X, Y, task="classification")
    assert problem_from_data(plain, Family.from_grid(KNeighborsClassifier())).data is plain
    assert "fingerprint" not in vars(
        problem_from_arguments(Family.from_grid(GaussianNB()), X, Y).data
    )


def by_generic(fitted=False):
    search = tr.HonestSearchCV(TREE, DEPTHS, engine="generic", cv="3-fold", outer="pairs")
    return search.fit(X, Y) if fitted else search


BY_GENERIC = {
    "estimate_risk": lambda: tr.estimate_risk(TREE, X, Y, engine="generic"),
    "risk_curve": lambda: tr.risk_curve(TREE, DEPTHS, X, Y, engine="generic"),
    "assess": lambda: tr.assess(
        {"tuned": (TREE, DEPTHS), "as it is": TREE}, X, Y, engine="generic"
    ),
    "audit": lambda: tr.audit(GridSearchCV(TREE, DEPTHS).fit(X, Y), X, Y, engine="generic"),
    "learning_curve": lambda: tr.learning_curve(TREE, X, Y, engine="generic"),
    "HonestSearchCV": lambda: by_generic(fitted=True),
    "validate": lambda: tr.validate(by_generic(), X, Y, replicates=2),
    "validate, fitted": lambda: tr.validate(by_generic(fitted=True), X, Y, replicates=2),
    "permutation_test": lambda: tr.permutation_test(by_generic(), X, Y, n_permutations=2),
}


@pytest.mark.parametrize("verb", BY_GENERIC)
def test_engine_that_is_named_is_the_only_one_that_answers(verb, monkeypatch):
    """Not even what a verb asks after the risk: apparent risks, held-out scores, pairs, samples."""
    known = (name for name in tr.__all__ if callable(getattr(tr, name)))
    verbs = (name for name in known if not is_dataclass(getattr(tr, name)))
    takes = {v for v in verbs if "engine" in inspect.signature(getattr(tr, v)).parameters}
    assert takes <= set(BY_GENERIC), "ask a new verb, too"
    asked = []
    real = choice._resolve_engine
    monkeypatch.setattr(choice, "_resolve_engine", lambda given: asked.append(given) or real(given))
    monkeypatch.setattr(
        choice, "_reason_to_fit_learner", lambda *_: pytest.fail("any engine was asked")
    )
    BY_GENERIC[verb]()
    assert {getattr(one, "name", one) for one in asked} == {"generic"}


class Labels(tr.engines.Generic):
    """An engine that refuses probabilities, and all questions of training rows if it is `shy`."""

    def __init__(self, shy=False):
        super().__init__()
        object.__setattr__(self, "shy", shy)

    def refuse(self, family, data, plan, request):
        if self.shy and plan.n_fits == 1:
            return "it is shy."
        return "it says labels." if request.response == "probability" else None


@pytest.mark.parametrize("shy", [False, True])
def test_engine_that_refuses_leaves_its_reason(shy):
    """No other one answers in its place: held-out scores say why, the apparent risk is None."""
    found = tr.assess({"a": TREE, "b": (TREE, DEPTHS)}, X, Y, engine=Labels(shy)).learners["b"]
    assert found.held_out == "engine 'generic' cannot answer: it says labels. Use engine='auto'."
    assert (found.apparent is None) == shy
    search = tr.HonestSearchCV(TREE, DEPTHS, engine=Labels()).fit(X, Y)
    with pytest.raises(NoEngine, match="it says labels"):
        tr.validate(search, X, Y, replicates=0)
