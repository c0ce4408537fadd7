"""What means nothing changes nothing: order, names, engines, executors, compiled code."""

import re
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.support.fitted_once import fitted_once

import truerisk as tr
from truerisk.engines.trees.recipes import equality_gap
from truerisk.extend import Refusal
from truerisk.methods import (
    Blocks,
    Bootstrap,
    Buffered,
    KFold,
    MonteCarlo,
    NestedInterval,
    PairedHalves,
)

X, Y = tr.datasets.make_difficult(36, random_state=5)
NUMBERS = X[:, 0] + X[:, 1] ** 2
NAMES = {"knn": "zebra", "bayes": "alpha", "tree": "mole", "ridge": "beta"}
CLASSIFIERS = {
    "knn": (KNeighborsClassifier(), {"n_neighbors": [1, 5]}),
    "tree": (DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2]}),
    "bayes": GaussianNB(),
}
REGRESSIONS = {
    "knn": (KNeighborsRegressor(), {"n_neighbors": [1, 5]}),
    "tree": (DecisionTreeRegressor(random_state=0), {"max_depth": [1, 2]}),
    "ridge": (Ridge(), {"alpha": [0.1, 10.0]}),
}
QUICK = {  # what is quicker than the word, and asks the same kinds of questions
    "K-fold": KFold(4),
    "loo": KFold(6),
    "monte-carlo": MonteCarlo(3),
    "bootstrap": Bootstrap("bootstrap", replicates=6),
    ".632": Bootstrap(".632", replicates=6),
    ".632+": Bootstrap(".632+", replicates=6),
    "optimism": Bootstrap("optimism", replicates=6),
    "ncv": NestedInterval(3, repeats=2),
    "paired-halves": PairedHalves(2, pairs=2, test_share=0.25),
    "oob": Bootstrap("oob", replicates=6),
    "reversed": "reversed 3-fold",
    "pairs": "pairs",
    "forward-K": "forward-3",
    "purged-K": "purged-3",
    "blocks-K": Blocks(3),
    "buffered": Buffered(radius=0.2, k=3),
}
FURTHER = {"forward": TimeSeriesSplit(3), "2x4-fold": KFold(4, repeats=2)}
# A model cannot be tuned again in the training sets of these methods.
NEVER_OUTER = {"aic", "aicc", "alo", "apparent", "bbc", "bee", "bee-improper", "bic", "bolstered"}
NEVER_OUTER |= {"complete", "cp", "ebic", "exact-oob", "gcv", "nested", "racing", "swapping"}
NEVER_OUTER |= {"three-way"}
OUTER = ["holdout", *QUICK, *FURTHER]
OUTER += [word for word in tr.methods.names() if word not in {*OUTER, *NEVER_OUTER}]
LOSSES = {
    "classification": ["zero-one", "brier", "auc", "balanced_accuracy"],
    "regression": ["squared", "r2"],
}
CASES = [(task, loss) for task, losses in LOSSES.items() for loss in losses]
# Every outer method meets one loss, of single rows or of whole test sets; both tasks take turns.
TURNS = [CASES[i] for i in (0, 5, 2, 4, 1, 5, 3, 4)]
PAIRS = [(outer, *TURNS[i % len(TURNS)]) for i, outer in enumerate(OUTER)]
FEW = ["K-fold", ".632+", "monte-carlo"]
FEW_PAIRS = [(FEW[i % len(FEW)], *case) for i, case in enumerate(CASES)]
FITTED = {}


@pytest.fixture
def each_fit_once():
    """All engines split alike: what one learns there, the others need not learn anew."""
    learners = [KNeighborsClassifier, DecisionTreeClassifier, GaussianNB]
    learners += [KNeighborsRegressor, DecisionTreeRegressor, Ridge]
    with fitted_once(*learners, known=FITTED):
        yield


def assessed(task, loss, outer, *, reverse=False, names=None, y=None, table=None, **options):
    """An assessment of three learners, or the sentence with which it is refused."""
    models = CLASSIFIERS if task == "classification" else REGRESSIONS
    pairs = list(models.items())[:: -1 if reverse else 1]
    models = {(names or {}).get(name, name): given for name, given in pairs}
    target = (Y if task == "classification" else NUMBERS) if y is None else y
    x = X if table is None else table
    methods = ["3-fold"]
    if outer in ("blocks-K", "buffered"):
        methods, options["block"] = ["blocks-3"], np.asarray(x)[:, :2]
    outer = FURTHER.get(outer) or QUICK.get(outer, re.sub("-K$", "-3", outer))
    try:
        return tr.assess(models, x, target, cv=methods, outer=outer, scoring=loss, **options)
    except Refusal as error:
        return str(error)


@cache
def base(task, loss, outer):
    """The assessment as it stands."""
    return assessed(task, loss, outer)


def said(found, renamed=None):
    """All that an assessment says, but seconds, engines and fits."""
    if isinstance(found, str):
        return found
    names = {name: name for name in found.learners} | {
        new: old for old, new in (renamed or {}).items()
    }

    def old(text):
        for new in found.learners:
            text = text.replace(new, names[new])
        return text

    risks = {names[name]: one for name, one in found.risks.items()}
    if found.choice is not None:
        risks["the choice"] = found.choice
    roc, mine = found.roc, sorted(found.learners, key=names.__getitem__)
    return {
        "best": names[found.best],
        "ranking": [names[name] for name in found.ranking],
        "risks": {name: numbers(one) for name, one in sorted(risks.items())},
        "notes": {name: [old(note) for note in one.notes] for name, one in sorted(risks.items())},
        "curve": {names[n]: list(found.learners[n].curve.values) for n in mine},
        "optimism": {names[n]: found.learners[n].optimism for n in mine},
        "settings": {names[n]: found.learners[n].curve.best_params for n in mine},
        "conclusion": old(found.conclusion),
        "findings": [old(str(one)) for one in found.findings],
        "roc": None if roc is None else [roc.auc, roc.std_error, len(roc.rows), list(roc.notes)],
        "no roc": found.learners[found.best].no_roc,
        "baseline": found.baseline,
    }


def numbers(risk):
    """Value, error, interval and table of a risk."""
    ends = None if risk.interval is None else [risk.interval.low, risk.interval.high]
    form = None if risk.interval is None else risk.interval.method
    return [risk.value, risk.std_error, ends, form, dict(risk.table or {}), risk.method]


def the_same(one, other, place="assessment"):
    """Words and None equal, numbers up to the order of sums."""
    assert type(one) is type(other), place
    if isinstance(one, dict):
        assert list(one) == list(other), place
        for name in one:
            the_same(one[name], other[name], f"{place}.{name}")
    elif isinstance(one, list):
        assert len(one) == len(other), place
        for i, (a, b) in enumerate(zip(one, other, strict=True)):
            the_same(a, b, f"{place}[{i}]")
    elif isinstance(one, float):
        assert one == pytest.approx(other, rel=1e-9, abs=1e-12), place
    else:
        assert one == other, place


def test_never_outer_methods_are_refused_as_outer_ones():
    for word in sorted(NEVER_OUTER | {"oob"}):
        with pytest.raises(Refusal, match="outer method"):
            tr.assess(CLASSIFIERS, X, Y, cv=["3-fold"], outer=word)


@pytest.mark.usefixtures("each_fit_once")
@pytest.mark.parametrize(("outer", "task", "loss"), PAIRS)
@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({"reverse": True, "names": NAMES}, id="order and names"),
        pytest.param({"engine": "generic"}, id="engine"),
    ],
)
def test_assess_does_not_depend_on_order_names_and_engine_of_learners(task, loss, outer, changed):
    found = assessed(task, loss, outer, **changed)
    the_same(said(found, changed.get("names")), said(base(task, loss, outer)))


@pytest.mark.usefixtures("each_fit_once")
@pytest.mark.parametrize(("outer", "task", "loss"), FEW_PAIRS[: len(LOSSES["classification"])])
def test_assess_does_not_depend_on_names_of_classes_and_columns(task, loss, outer):
    table = pd.DataFrame(X, columns=["width", "height"])
    found = assessed(task, loss, outer, y=np.where(Y.max() == Y, "yes", "no"), table=table)
    wanted = base(task, loss, outer)
    if isinstance(wanted, str):
        assert found == wanted
        return
    for name in ("risks", "notes", "curve", "optimism", "ranking", "roc", "baseline"):
        the_same(said(found)[name], said(wanted)[name], name)
    assert [f.code for f in found.findings] == [f.code for f in wanted.findings]


@pytest.mark.parametrize(("task", "loss"), [CASES[0], CASES[-2]])
@pytest.mark.parametrize("outer", FEW)
def test_assess_does_not_depend_on_the_executor(task, loss, outer):
    with ThreadPoolExecutor(2) as pool:
        found = assessed(task, loss, outer, n_jobs=pool, engine="generic")
    the_same(said(found), said(base(task, loss, outer)))


@pytest.mark.filterwarnings("ignore::truerisk.exceptions.CompiledModuleWarning")
@pytest.mark.parametrize(("outer", "task", "loss"), FEW_PAIRS)
def test_assess_does_not_depend_on_the_compiled_module(task, loss, outer, monkeypatch):
    wanted = said(base(task, loss, outer))
    equality_gap.cache_clear()
    monkeypatch.setattr("truerisk.kernels.import_native", lambda: (None, "none"))
    found = said(assessed(task, loss, outer))
    equality_gap.cache_clear()
    the_same(found, wanted)


def test_assess_of_equal_learners_does_not_depend_on_their_order():
    twins = {"one": CLASSIFIERS["knn"], "two": CLASSIFIERS["knn"], "bayes": GaussianNB()}
    found = [
        tr.assess(dict(pairs), X, Y, cv=["3-fold"], outer="4-fold")
        for pairs in (list(twins.items()), list(twins.items())[::-1])
    ]
    the_same(numbers(found[0].choice), numbers(found[1].choice))
    assert {found[0].best, found[1].best} <= {"one", "two"} or found[0].best == found[1].best
