"""Fits that are left with a keeper are not made again, and nobody can tell from the answers."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier
from tests.support.data import checked

import truerisk as tr
from truerisk.contracts import RunOptions
from truerisk.core.progress import listen
from truerisk.engines import Ensembles, Generic, Trees
from truerisk.engines.running.fitting import FitResult
from truerisk.engines.running.kept_fits import decode_results, encode_results
from truerisk.exceptions import BadStore, FitFailed, FitFailedWarning
from truerisk.extend import Family, Request, Streams
from truerisk.methods import KFold
from truerisk.plan.extras.model_facts import ModelFacts, get_degrees_of_freedom
from truerisk.study.values import pack_result, unpack_result

X, Y = tr.datasets.make_difficult(30, random_state=3)
DATA = checked(X, Y)
PLAN = KFold(4).plan(DATA, Streams(0))
LABELS = Request("label")


class Dictionary:
    """A fit store that holds everything in memory, packed as a file would hold it."""

    def __init__(self):
        self.n_found = self.n_added = 0
        self.packed = {}

    def cache_for(self, engine, family, candidates, data, plan, request, seed):
        place = engine, tuple(candidates), plan.fingerprint, request.response, seed
        return _Place(self, place)


class _Place:
    def __init__(self, keeper, place):
        self.keeper, self.place = keeper, place

    def load_fits(self, fits):
        for (place, fit), packed in list(self.keeper.packed.items()):
            if place == self.place and fit in fits:
                self.keeper.n_found += 1
                yield fit, unpack_result(packed.text, packed.npy)

    def save_fit(self, fit, content, seconds):
        assert seconds >= 0
        self.keeper.n_added += 1
        self.keeper.packed[self.place, fit] = pack_result(content)


class Moody(ClassifierMixin, BaseEstimator):
    """Counts its fits, and fails where it is told to."""

    fits = 0
    fails = False

    def __init__(self, depth=1):
        self.depth = depth

    def fit(self, X, y):
        type(self).fits += 1
        self.classes_ = np.unique(y)
        if self.fails and self.depth == 2:
            raise ValueError("not today")
        return self

    def predict(self, X):
        return self.classes_[(X[:, 0] > self.depth / 3).astype(int)]


class Lines(RegressorMixin, BaseEstimator):
    """Two numbers for every row."""

    def fit(self, X, y):
        self.mean_ = y.mean(axis=0)
        return self

    def predict(self, X):
        return self.mean_ + X[:, :2]


CASES = {
    "generic, random": (Generic(), MLPClassifier(max_iter=3), {"alpha": [0.1, 1, 2]}, LABELS),
    "probabilities": (Generic(), GaussianNB(), {"var_smoothing": [0.1, 1]}, Request("probability")),
    "scores": (Generic(), LogisticRegression(), {"C": [0.1, 1]}, Request("score")),
    "scored": (Generic(), GaussianNB(), {"var_smoothing": [0.1, 1]},
               Request("scored", get_scorer("roc_auc"))),
    "forests": (Ensembles(), RandomForestClassifier(),
                {"n_estimators": [2, 4], "max_depth": [1, 2]}, LABELS),
    "trees": (Trees(), DecisionTreeClassifier(), {"ccp_alpha": [0, 0.1, 0.2]}, LABELS),
}  # fmt: skip


def same(a, b):
    """Every number of two answers is the same, to the last bit."""
    return (
        a.values.dtype == b.values.dtype
        and a.values.tobytes() == b.values.tobytes()
        and (a.answered == b.answered).all()
        and a.n_fits == b.n_fits
        and np.array_equal(get_degrees_of_freedom(a), get_degrees_of_freedom(b))
    )


def answered(case, keeper=None, **options):
    """What the case's engine answers to its plan."""
    engine, model, grid, request = case
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        family = Family.from_grid(model, grid)
        return engine.run(
            family, DATA, PLAN, request, RunOptions(seed=5, fit_store=keeper, **options)
        )


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.parametrize("only", [None, np.array([1, 0, 1, 1])], ids=["all", "only"])
def test_stored_fits_change_no_bit_of_the_answers(case, only):
    """With an empty keeper, with half of the fits, with all of them, and without one."""
    plain = answered(case, candidate_by_fit=only)
    keeper = Dictionary()
    assert same(answered(case, keeper, candidate_by_fit=only), plain)
    whole = dict(keeper.packed)
    keeper.packed = {key: whole[key] for key in list(whole)[::2]}
    keeper.n_found = keeper.n_added = 0
    assert same(answered(case, keeper, candidate_by_fit=only), plain)
    assert (keeper.n_found, keeper.n_added) == (-(-len(whole) // 2), len(whole) // 2)
    found = answered(case, keeper, candidate_by_fit=only)
    assert same(found, plain)
    assert keeper.n_found == -(-len(whole) // 2) + len(whole)
    assert (found.fit_seconds > 0).all()  # what the fits once took


def test_stored_fits_of_several_targets_and_their_warnings_come_back():
    """Warnings are said again, of their kind and with their count; answers have an axis more."""
    two, keeper = checked(X, X[:, :2]), Dictionary()
    given = Family.from_grid(Lines()), two, KFold(3).plan(two, Streams(0)), Request("value")
    first, second = (Generic().run(*given, RunOptions(fit_store=keeper)) for _ in range(2))
    assert keeper.n_found == 3
    assert same(first, second)
    keeper, family = Dictionary(), Family.from_grid(MLPClassifier(max_iter=3))
    for _ in range(2):
        with pytest.warns(ConvergenceWarning, match=r"4 times in 4 fits") as caught:
            Generic().run(family, DATA, PLAN, LABELS, RunOptions(fit_store=keeper))
        assert len(caught) == 1
    assert keeper.n_found == 4


def test_stored_fits_are_not_made_again():
    """Neither a candidate of a fit that was cut off in the middle."""
    keeper, case = Dictionary(), (Generic(), Moody(), {"depth": [1, 3, 4]}, LABELS)

    def stop(progress):
        if progress.done == 7:
            raise KeyboardInterrupt

    Moody.fits = 0
    with listen(stop), pytest.raises(KeyboardInterrupt):
        answered(case, keeper)
    assert (Moody.fits, keeper.n_added) == (7, 7)
    told = []
    with listen(told.append):
        answered(case, keeper)
    assert Moody.fits == 12
    assert [(p.done, p.unit) for p in told[:3]] == [
        (0, "fits"), (7, "fits (7 were stored)"), (8, "fits (7 were stored)"),
    ]  # fmt: skip


def test_stored_fits_are_those_that_did_not_fail(monkeypatch):
    """What was made before a failure is kept; mended, all is as if nothing was."""
    monkeypatch.setattr(Moody, "fails", True)
    keeper, grid = Dictionary(), {"depth": [1, 2]}
    with pytest.raises(FitFailed):
        answered((Generic(), Moody(), grid, LABELS), keeper)
    assert keeper.n_added == 1
    warn, run = Generic(error="warn"), RunOptions(seed=5, fit_store=keeper)
    with pytest.warns(FitFailedWarning, match="4 of 8 fits failed"):
        given = warn.run(Family.from_grid(Moody(), grid), DATA, PLAN, LABELS, run)
    assert len(given.failures) == 4
    assert keeper.n_added == 4
    monkeypatch.setattr(Moody, "fails", False)
    case = warn, Moody(), grid, LABELS
    assert same(answered(case, keeper), answered(case))


def test_stored_fits_hold_no_linear_rules():
    """A plan that asks for coefficients is answered without the keeper."""
    facts = ModelFacts(rules=np.arange(PLAN.n_questions, dtype=np.int32))
    plan, keeper = replace(PLAN, extra=facts), Dictionary()
    family = Family.from_grid(LogisticRegression())
    given = Generic().run(family, DATA, plan, LABELS, RunOptions(fit_store=keeper))
    assert len(given.extra.rules) == 4
    assert keeper.n_added == 0


def test_pieces_come_back():
    """Counts, degrees of freedom and seconds, too; a file does not have any warning imported."""
    piece = FitResult(
        3, 1, [np.array([0.1, -0.0]), np.float64(0.3)], 0.1, 0.2,
        extra={"freedom": 2.5, "counts": (np.array([[1.0, 2.0]]),)},
        warnings=((ConvergenceWarning, "slow"),),
    )  # fmt: skip
    content = encode_results([piece, replace(piece, candidate=2, extra={})])
    packed = pack_result(content)
    first, second = decode_results(unpack_result(packed.text, packed.npy), 3, (1, 2))
    assert [np.asarray(a).tobytes() for a in first.answers] == [a.tobytes() for a in piece.answers]
    np.testing.assert_array_equal(first.extra["counts"][0], piece.extra["counts"][0])
    names = ("fit", "candidate", "fit_seconds", "answer_seconds", "warnings")
    assert first.extra["freedom"] == 2.5
    assert [getattr(first, name) for name in names] == [getattr(piece, name) for name in names]
    assert second.candidate == 2
    assert "freedom" not in second.extra
    content["pieces"][0]["warned"] = [["antigravity:Up", "slow"]]
    assert decode_results(content, 3, (1, 2))[0].warnings == ((UserWarning, "slow"),)


def _cut(content):
    content["answer 0 0"] = content["answer 0 0"][:1]


def _fractions(content):
    content["answer 0 0"] = content["answer 0 0"] + 0.5


def _other(content):
    content["pieces"] *= 2


def _lost(content):
    del content["answer 0 0"]


@pytest.mark.parametrize("change", [_cut, _fractions, _other, _lost])
def test_stored_fits_that_were_changed_are_refused(change):
    """One answer for all rows, fractions for labels, two settings for one, a missing array."""
    keeper, case = Dictionary(), (Generic(), GaussianNB(), {"var_smoothing": [0.1, 1]}, LABELS)
    answered(case, keeper)
    key = next(key for key in keeper.packed if key[0][1] == (0,))
    content = unpack_result(keeper.packed[key].text, keeper.packed[key].npy)
    change(content)
    keeper.packed[key] = pack_result(content)
    with pytest.raises(BadStore, match="a stored fit"):
        answered(case, keeper)
