"""The audit reads the real OptunaSearchCV: `make test-partners` installs it."""

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, cross_val_predict, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.extend import Refusal

why = "optuna-integration is not installed; `make test-partners` installs it"
optuna = pytest.importorskip("optuna", reason=why)
integration = pytest.importorskip("optuna_integration", reason=why)
pytestmark = [
    pytest.mark.filterwarnings("ignore:OptunaSearchCV is experimental"),
    pytest.mark.filterwarnings("ignore:`optuna.terminator` module has been deprecated"),
]


@pytest.fixture(autouse=True)
def silent():
    """Trials are not logged."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)


@pytest.fixture(scope="module")
def rows():
    """60 rows of two classes that overlap."""
    return tr.datasets.make_simple(60, random_state=3)


def search(rows, **options):
    """Fifteen trials among 30 numbers of neighbours."""
    space = {"n_neighbors": optuna.distributions.IntDistribution(1, 30)}
    options = {"n_trials": 15, "random_state": 0, "cv": 5, **options}
    return integration.OptunaSearchCV(KNeighborsClassifier(), space, **options).fit(*rows)


def test_audit_takes_trials_for_candidates(rows):
    """Claim, settings and the chosen one are those that the study holds."""
    fitted = search(rows)
    found = tr.audit(fitted, *rows, level="scores")
    assert found.claimed.value == pytest.approx(fitted.best_score_)
    assert f"chosen n_neighbors={fitted.best_params_['n_neighbors']}" in str(found)
    assert "15 settings" in str(found)


def test_audit_bbc_meets_the_scores_that_the_study_kept(rows):
    """Level bbc fits the same splits again; nothing differs, so its value rests on them."""
    fitted = search(rows)
    found = tr.audit(fitted, *rows, level="bbc")
    assert "replay-differs" not in found.codes
    best = clone(fitted.estimator).set_params(**fitted.best_params_)
    assert np.mean(cross_val_score(best, *rows, cv=5)) == pytest.approx(fitted.best_score_)
    assert found.honest.interval is not None


def test_audit_nested_repeats_the_whole_search(rows):
    """Level nested clones and fits it in every outer fold; sampler and study start anew."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what optuna says in each of the fits, said once
        found = tr.audit(search(rows), *rows, level="nested", outer="3-fold")
    assert "OptunaSearchCV cloned" in str(found)
    assert "state-survives-clone" not in found.codes


def test_audit_does_not_repeat_a_study_that_knows_all_rows(rows):
    """A clone would go on with what it learned from the test rows."""
    known = search(rows, study=optuna.create_study(direction="maximize"))
    with pytest.raises(Refusal, match="study=None"):
        tr.audit(known, *rows, level="nested", outer="3-fold")
    assert "state-survives-clone" in tr.audit(known, *rows, level="bbc").codes


def test_audit_replays_trials_of_a_share_of_the_rows_on_that_share(rows):
    """`subsample` draws the rows that the splits are made of."""
    found = tr.audit(search(rows, subsample=40), *rows, level="bbc")
    assert "replay-differs" not in found.codes


def lines_of_page(name: str) -> str:
    """Return the block of a page that imports optuna."""
    page = (Path(__file__).parents[2] / "docs" / name).read_text("utf-8")
    (lines,) = (
        b for b in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "import optuna" in b
    )
    return lines


@pytest.mark.parametrize(("sampler", "found"), [("TPESampler", True), ("RandomSampler", False)])
def test_table_audit_of_a_study_by_the_lines_of_the_page(rows, sampler, found):
    """The losses of all trials, in their order, tell whether the search was adaptive."""
    names: dict[str, Any] = {"X": rows[0], "y": rows[1], "tr": tr, "np": np}
    names |= {"cross_val_predict": cross_val_predict, "folds": StratifiedKFold(5)}
    exec(lines_of_page("tables-of-searches.md").replace("TPESampler", sampler), names)
    study, audit = names["study"], names["u"]
    assert audit.selected.value == pytest.approx(study.best_value)
    assert audit.selected.candidate == str(study.best_trial.number)
    assert audit.order_test.n_trials == len(study.trials) == 50
    assert ("adaptive-search" in audit.codes) is found


def test_audit_of_a_study_says_what_to_write():
    with pytest.raises(Refusal, match=r"trial\.set_user_attr\('losses'.*tr\.audit_table\("):
        tr.audit(optuna.create_study(), np.eye(4), [0, 1, 0, 1])


def test_honest_search_takes_a_study_in_a_class(rows):
    """The lines of the page as they stand: an honest risk beside the study's best value."""
    lines = lines_of_page("adaptive-searches.md")
    names: dict[str, Any] = {}
    exec(lines, names)
    search, study = names["search"], names["study"]
    assert search.selected_risk_.value == pytest.approx(1 - search.best_score_)
    assert search.optimism_ == pytest.approx(search.risk_.value - search.selected_risk_.value)
    assert set(search.best_params_) == {"C"}

    study.set_params(n_trials=2, random_state=0)
    assessed = tr.assess({"study": study}, *rows, cv=["3-fold"], outer="3-fold")
    learner = assessed.learners["study"]
    assert learner.tuned
    assert learner.selected.value == pytest.approx(1 - clone(study).fit(*rows).best_score_)
    assert tr.estimate_risk(study, *rows, cv="3-fold", scoring="auc").value > 0.5
