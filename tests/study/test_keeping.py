"""An assessment with a store: cut off anywhere it goes on, and its numbers are those without."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import BayesianRidge
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC
from tests.study.learners import LEARNERS, Napping, X, Y, assessed, told
from tests.study.works import numbers, run
from tests.support.cut_off import interrupted_at, killed_at, n_results

import truerisk as tr
from truerisk.assessment.assess import Interrupted
from truerisk.contracts import FitCounts
from truerisk.core.progress import listen
from truerisk.exceptions import BadStore, FitFailed, StoreLocked, StudyIncomplete, UnknownName
from truerisk.extend import Refusal
from truerisk.study import keeping, versions
from truerisk.study.results import iterate_result_rows
from truerisk.study.status import compute_status
from truerisk.study.store import Store


@pytest.fixture(scope="module")
def plain():
    """What is said without a store, undisturbed."""
    return told(assessed())


SLOW = """
import sys
from tests.study.learners import assessed
from truerisk.study import keeping
keeping.COMMIT_PAUSE_FACTOR = 0  # on a busy machine all fits would end between two commits
assessed(sys.argv[1], n_jobs=eval(sys.argv[2]))
"""


@pytest.mark.parametrize("executor", [None, 2])
def test_store_of_killed_assessment_spares_what_was_fitted(tmp_path, plain, executor):
    path = tmp_path / "runs.db"
    kept = killed_at(8, SLOW, path, executor, nap=0.08)
    every = 102 + 2 * (3 + 1)  # scores, apparent risk
    assert 8 <= kept < every  # killed before the end, however slow the look at the store was
    found = assessed(path, n_jobs=executor)
    assert told(found) == plain
    assert found.kept.reused >= kept  # a forest that answers two settings is one entry
    assert found.kept.reused + found.kept.added == every


def test_store_is_saved_to_every_second(tmp_path, monkeypatch):
    saved, clock = [], [0.0]
    monkeypatch.setattr(keeping, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    save = Store.save

    def watched(store, fates, **options):
        saved.append((clock[0], len(fates)))
        save(store, fates, **options)

    def step(self, X, y, sample_weight=None):
        clock[0] += 0.4
        return GaussianNB.fit(self, X, y, sample_weight)

    monkeypatch.setattr(Store, "save", watched)
    monkeypatch.setattr(Napping, "fit", step)
    assessed(tmp_path / "runs.db", {"napping": Napping()})
    assert [count for _, count in saved] == [3, 3, 3]
    assert np.allclose([moment for moment, _ in saved], [1.2, 2.4, 3.6])


class Own(BayesianRidge):
    """Learner whose class is not one of scikit-learn's."""


def grid_of(values, **options):
    """Return one learner and a grid of its settings."""
    return Napping(**options), {"var_smoothing": values}


NAPPING = {"learners": {"napping": grid_of([0.1, 0.5, 1.0])}}
FOREST = {
    "learners": {"forest": RandomForestClassifier(n_estimators=2)},
    "X": X[:10],
    "y": Y[:10],
    "cv": "loo",
    "outer": "loo",
}
SINGLE = X[:, 0].astype(np.float32)
DOUBLE = SINGLE.astype(float)


def of_numbers(learner):
    """Return the arguments of a regression study with one learner."""
    return {"learners": {"it": learner}, "y": DOUBLE, "cv": "2-fold", "outer": "2-fold"}


@pytest.mark.filterwarnings("ignore:A column-vector")
@pytest.mark.parametrize(
    ("first", "change", "found"),
    [
        (NAPPING, {"random_state": 5}, 0),
        (NAPPING, {"X": X + 0.5}, 0),
        (NAPPING, {"scoring": "log"}, 1),  # the winners were asked for probabilities, too
        (NAPPING, {"sample_weight": np.linspace(1, 2, 40)}, 0),
        (NAPPING, {"outer": "4-fold"}, 6),
        (NAPPING, {"scoring": tr.losses.Cost([[0, 1], [2, 0]])}, 24),
        (NAPPING, {"rule": "1-se"}, 24),
        (NAPPING, {"learners": {"renamed": grid_of([0.1, 0.5, 1.0])}}, 27),
        (NAPPING, {"learners": {"napping": grid_of([0.5, 0.1])}}, 16),
        (NAPPING, {"learners": {"napping": grid_of([0.01, 0.1])}}, 1),
        (NAPPING, {"learners": {"napping": grid_of([0.1, 0.5], priors=[0.5, 0.5])}}, 0),
        # its plan has no seed, and the forest has one
        pytest.param(FOREST, {"random_state": 5}, 0, id="forest"),
        pytest.param(of_numbers(Own()), {"y": SINGLE}, 0, id="own class, float32 y"),
        pytest.param(of_numbers(BayesianRidge()), {"y": SINGLE}, 0, id="float32 y"),
        pytest.param(of_numbers(Own()), {"y": DOUBLE[:, None]}, 0, id="own class, column y"),
        pytest.param(of_numbers(BayesianRidge()), {"y": DOUBLE[:, None]}, 1, id="column y"),
    ],
)
def test_store_knows_fits_by_what_they_depend_on(tmp_path, first, change, found):
    path = tmp_path / "runs.db"
    assessed(path, **first)
    again = assessed(path, **{**first, **change})
    assert again.kept.reused >= found
    assert bool(again.kept.reused) == bool(found)
    assert told(again) == told(assessed(**{**first, **change}))


def test_store_changes_no_number_of_an_assessment_and_spares_every_fit(tmp_path, plain):
    path = tmp_path / "runs.db"
    with listen(interrupted_at(30)), pytest.raises(Interrupted):
        assessed(path)
    first = assessed(path)
    assert told(first) == plain
    n_fits = sum(one.n_fits for one in first.learners.values())
    assert first.kept == FitCounts(30, n_fits - 30)
    Napping.fits = 0
    again = assessed(path)
    assert Napping.fits == 0
    assert told(again) == plain
    assert again.kept == FitCounts(n_fits, 0)
    assert assessed().kept is None


def test_store_keeps_what_was_fitted_before_an_error_or_a_full_disk(tmp_path, monkeypatch, plain):
    def fails(self, X, y, sample_weight=None):
        if self.var_smoothing > 1:
            raise ValueError("not today")
        return GaussianNB.fit(self, X, y, sample_weight)

    broken, full = tmp_path / "broken.db", tmp_path / "full.db"
    with monkeypatch.context() as patched:
        patched.setattr(Napping, "fit", fails)
        with pytest.raises(FitFailed, match="not today"):
            assessed(broken)
    assert n_results(broken) == 7
    assert told(assessed(broken)) == plain
    calls, save = [], Store.save

    def fills(store, fates, **options):
        calls.append(len(fates))
        if len(calls) > 2:
            raise StudyIncomplete("the disk is full")
        save(store, fates, **options)

    monkeypatch.setattr(keeping, "COMMIT_SIZE", 10)
    with monkeypatch.context() as patched:
        patched.setattr(Store, "save", fills)
        with pytest.raises(StudyIncomplete, match="disk is full"):
            assessed(full)
    assert n_results(full) == 20
    assert told(assessed(full)) == plain


def test_store_of_other_versions_is_used_by_an_assessment_if_allowed(tmp_path, monkeypatch):
    path, few = tmp_path / "runs.db", {"bayes": GaussianNB()}
    first = assessed(path, few)
    now = versions.versions()
    monkeypatch.setattr(versions, "versions", lambda: {**now, "numpy": "9.9"})
    with pytest.raises(BadStore, match=r"begun with numpy .* \(now 9.9\)"):
        assessed(path, few)
    mixed = assessed(path, few, mixed_versions=True)
    assert mixed.kept.added == 0
    assert told(mixed) == told(first)
    with pytest.raises(UnknownName, match="mixed_versions=True"):
        assessed(mixed_versions=True)


SPEC = {
    "replicates": 1,
    "sizes": [20],
    "problems": ["simple"],
    "learners": ["knn"],
    "methods": ["2-fold"],
}


def test_store_of_an_assessment_is_no_study_and_of_a_study_no_assessment(tmp_path):
    path, study = tmp_path / "runs.db", tmp_path / "study.db"
    learners = {**LEARNERS, "mine": SVC(kernel=lambda a, b: a @ b.T)}
    with pytest.raises(Refusal, match="learner 'mine': kernel is <function"):
        assessed(path, learners)
    with pytest.raises(Refusal, match="loss is <function"):
        assessed(path, scoring=lambda model, X, y: 1.0)
    assert not list(tmp_path.iterdir())
    assessed(path, {"bayes": GaussianNB()})
    with Store.open_for_reading(path) as store:
        for look in (compute_status, lambda store: list(iterate_result_rows(store))):
            with pytest.raises(BadStore, match="holds fits of an assessment, not a study"):
                look(store)
    for call in (
        tr.Study(SPEC, path).run,
        tr.Study(SPEC, path).retry,
        lambda: tr.Study(None, path),
    ):
        with pytest.raises(BadStore, match="an assessment, not a study"):
            call()
    run(study, numbers, wanted=1)
    with Store.open_for_writing(study) as store:
        store.note({"kind": "study"})
        with pytest.raises(StoreLocked, match="in use"):
            assessed(study)
    with pytest.raises(BadStore, match="holds a study, not an assessment"):
        assessed(study)
