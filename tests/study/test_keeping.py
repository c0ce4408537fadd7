"""An assessment with a store: cut off anywhere it goes on, and its numbers are those without."""

from __future__ import annotations

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
from truerisk.contracts import Fits
from truerisk.core.errors import (
    BadStore,
    FitFailed,
    Refusal,
    StoreLocked,
    StudyIncomplete,
    UnknownName,
)
from truerisk.core.progress import listen
from truerisk.study import keeping, versions
from truerisk.study.lock import Lock
from truerisk.study.results import rows_of
from truerisk.study.status import status_of
from truerisk.study.store import Store


@pytest.fixture(scope="module")
def plain():
    """What is said without a store, undisturbed."""
    return told(assessed())


def test_a_store_changes_no_number(tmp_path, plain):
    """Neither when it is filled nor when it answers; then nothing is fitted."""
    path = tmp_path / "runs.db"
    first = assessed(path)
    assert told(first) == plain
    assert first.kept == Fits(0, sum(one.n_fits for one in first.learners.values()))
    Napping.fits = 0
    again = assessed(path)
    assert Napping.fits == 0
    assert told(again) == plain
    assert again.kept == Fits(first.kept.added, 0)
    assert assessed().kept is None


def test_an_interrupted_assessment_goes_on(tmp_path, plain):
    """Ctrl-C keeps every fit that ended, whatever the last second brought."""
    path = tmp_path / "runs.db"

    with listen(interrupted_at(30)), pytest.raises(Interrupted):
        assessed(path)
    assert n_results(path)
    found = assessed(path)
    assert told(found) == plain
    assert found.kept.reused == 30


def test_an_error_keeps_what_was_found(tmp_path, monkeypatch, plain):
    """A learner that fails stops the assessment; mended, it goes on."""
    path = tmp_path / "runs.db"
    fit = Napping.fit

    def fails(self, X, y, sample_weight=None):
        if self.var_smoothing > 1:
            raise ValueError("not today")
        return fit(self, X, y, sample_weight)

    monkeypatch.setattr(Napping, "fit", fails)
    with pytest.raises(FitFailed, match="not today"):
        assessed(path)
    monkeypatch.setattr(Napping, "fit", fit)
    assert n_results(path) == 7
    assert told(assessed(path)) == plain


SLOW = """
import sys
from tests.study.learners import assessed
assessed(sys.argv[1], n_jobs=eval(sys.argv[2]))
"""


@pytest.mark.parametrize("executor", [None, 2])
def test_a_killed_assessment_goes_on(tmp_path, plain, executor):
    """After SIGKILL the fits that were stored are not made again, here or by workers."""
    path = tmp_path / "runs.db"
    kept = killed_at(8, SLOW, path, executor, nap=0.08)
    every = 102 + 2 * (3 + 1)  # scores, apparent risk
    assert 8 <= kept < every  # killed before the end, however slow the look at the store was
    found = assessed(path, n_jobs=executor)
    assert told(found) == plain
    assert found.kept.reused >= kept  # a forest that answers two settings is one entry
    assert found.kept.reused + found.kept.added == every


def test_a_kill_loses_a_second_at_the_most(tmp_path, monkeypatch):
    """Fits that follow each other fast share a transaction; one that comes later is stored."""
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


# ---------------------------------------------------------------- what a fit is known by


def test_other_data_are_added(tmp_path, plain):
    """One file serves several data sets: each finds its own."""
    path = tmp_path / "runs.db"
    assessed(path)
    other = X + 0.5
    assert assessed(path, X=other).kept.reused == 0
    assert told(assessed(path, X=other)) == told(assessed(X=other))
    assert told(assessed(path)) == plain


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"random_state": 5}, 0),
        ({"scoring": "log"}, 1),  # the winners were asked for probabilities, too
        ({"sample_weight": np.linspace(1, 2, 40)}, 0),
        ({"outer": "4-fold"}, 6),
        ({"scoring": tr.losses.Cost([[0, 1], [2, 0]])}, 24),
        ({"rule": "1-se"}, 24),
        ({"learners": {"renamed": (Napping(), {"var_smoothing": [0.1, 0.5, 1.0]})}}, 27),
        ({"learners": {"napping": (Napping(), {"var_smoothing": [0.5, 0.1]})}}, 16),
        ({"learners": {"napping": (Napping(priors=[0.5, 0.5]), {"var_smoothing": [0.1, 0.5]})}}, 0),
    ],
    ids=["seed", "response", "weights", "plan", "loss", "rule", "name", "order", "parameter"],
)
def test_what_fits_depend_on_is_their_key(tmp_path, change, found):
    """Seed, response, weights and plan are part of it; a name, a rule, a loss of labels are not."""
    path = tmp_path / "runs.db"
    learners = {"napping": (Napping(), {"var_smoothing": [0.1, 0.5, 1.0]})}
    assessed(path, learners)
    again = assessed(path, **{"learners": learners, **change})
    assert again.kept.reused >= found
    assert bool(again.kept.reused) == bool(found)
    assert told(again) == told(assessed(**{"learners": learners, **change}))


def test_a_seed_is_part_of_the_key_where_the_plan_has_none(tmp_path):
    """Leave-one-out is the same plan for every seed; a forest without a seed of its own is not."""
    path, forest = tmp_path / "runs.db", {"forest": RandomForestClassifier(n_estimators=2)}
    options = {"X": X[:10], "y": Y[:10], "cv": "loo", "outer": "loo"}
    assessed(path, forest, **options)
    again = assessed(path, forest, **options, random_state=5)
    assert again.kept.reused == 0
    assert told(again) == told(assessed(None, forest, **options, random_state=5))


@pytest.mark.filterwarnings("ignore:A column-vector")
def test_the_form_of_y_is_part_of_the_key_where_fits_see_it(tmp_path):
    """All fits see its type; a column is given to learners of other people alone."""
    options = {"cv": "2-fold", "outer": "2-fold"}
    numbers = X[:, 0].astype(np.float32).astype(float)
    single, column = numbers.astype(np.float32), numbers[:, None]
    for place, (learner, given, known) in enumerate(
        [
            (Own(), single, False),
            (BayesianRidge(), single, False),
            (Own(), column, False),
            (BayesianRidge(), column, True),
        ]
    ):
        for y in (numbers, given):
            again = assessed(tmp_path / f"{place}.db", {"it": learner}, y=y, **options)
        assert bool(again.kept.reused) == known
        assert told(again) == told(assessed(None, {"it": learner}, y=given, **options))


class Own(BayesianRidge):
    """No class of scikit-learn's."""


def test_a_longer_grid_finds_the_shorter_one(tmp_path):
    """Settings are kept one by one: a grid that grows computes what is new."""
    path = tmp_path / "runs.db"
    short, long = ({"napping": (Napping(), {"var_smoothing": v})} for v in ([0.1], [0.01, 0.1]))
    assessed(path, short, outer="2-fold")
    assert assessed(path, long, outer="2-fold").kept.reused > 0


# ---------------------------------------------------------------- what is refused


def test_a_learner_without_a_key_is_refused_before_a_file_is_made(tmp_path):
    """The sentence names learner and parameter."""
    learners = {**LEARNERS, "mine": SVC(kernel=lambda a, b: a @ b.T)}
    with pytest.raises(Refusal, match="learner 'mine': kernel is <function"):
        assessed(tmp_path / "runs.db", learners)
    with pytest.raises(Refusal, match="loss is <function"):
        assessed(tmp_path / "runs.db", scoring=lambda model, X, y: 1.0)
    assert not list(tmp_path.iterdir())


def test_other_versions_are_refused_unless_allowed(tmp_path, monkeypatch, plain):
    """As in a study."""
    path = tmp_path / "runs.db"
    assessed(path)
    now = versions.versions()
    monkeypatch.setattr(versions, "versions", lambda: {**now, "numpy": "9.9"})
    with pytest.raises(BadStore, match=r"begun with numpy .* \(now 9.9\)"):
        assessed(path)
    mixed = assessed(path, mixed_versions=True)
    assert mixed.kept.added == 0
    assert told(mixed) == plain


def test_mixed_versions_without_a_store_are_refused():
    """An option that says nothing is not ignored."""
    with pytest.raises(UnknownName, match="mixed_versions=True"):
        assessed(mixed_versions=True)


def test_foreign_and_locked_files_are_refused(tmp_path):
    """A text, a study, and a store that another run writes to."""
    text, study = tmp_path / "a.csv", tmp_path / "study.db"
    text.write_text("a,b\n1,2\n" * 50)
    with pytest.raises(BadStore, match="it is no SQLite file"):
        assessed(text)
    run(study, numbers, wanted=1)
    with Store.write(study) as store:
        store.note({"kind": "study"})
    with pytest.raises(BadStore, match="holds a study, not an assessment"):
        assessed(study)
    lock = Lock(tmp_path / "runs.db").take()
    with pytest.raises(StoreLocked, match="in use"):
        assessed(tmp_path / "runs.db")
    lock.free()


def test_no_study_is_made_of_it(tmp_path):
    """Status, results, a run and what is to be tried again: each says what the file is."""
    path = tmp_path / "runs.db"
    assessed(path)
    with Store.read(path) as store:
        for look in (status_of, lambda store: list(rows_of(store))):
            with pytest.raises(BadStore, match="holds fits of an assessment, not a study"):
                look(store)
    for study in (
        tr.Study(SPEC, path).run,
        tr.Study(SPEC, path).retry,
        lambda: tr.Study(None, path),
    ):
        with pytest.raises(BadStore, match="an assessment, not a study"):
            study()


SPEC = {"replicates": 1, "sizes": [20], "problems": ["simple"], "learners": ["knn"],
        "methods": ["2-fold"]}  # fmt: skip


def test_a_full_disk_stops_with_a_sentence(tmp_path, monkeypatch, plain):
    """What was stored before is intact; with room again all is well."""
    path, save = tmp_path / "runs.db", Store.save
    monkeypatch.setattr(keeping, "COMMIT_SIZE", 10)
    calls = []

    def full(store, fates, **options):
        calls.append(len(fates))
        if len(calls) > 2:
            raise StudyIncomplete("the disk is full")
        save(store, fates, **options)

    monkeypatch.setattr(Store, "save", full)
    with pytest.raises(StudyIncomplete, match="the disk is full"):
        assessed(path)
    monkeypatch.setattr(Store, "save", save)
    assert n_results(path) == 20
    assert told(assessed(path)) == plain
