"""Learners of scikit-survival by word, and outcomes in time by the command line."""

import json
from pathlib import Path

import numpy as np
import pytest
from tests.cli.conftest import call  # noqa: F401

import truerisk as tr
from truerisk.extend import Refusal
from truerisk.models import default_words, learner

pytest.importorskip(
    "sksurv", reason="scikit-survival is not installed; `make test-partners` installs it"
)
from sklearn.preprocessing import StandardScaler
from sksurv.ensemble import RandomSurvivalForest
from sksurv.linear_model import CoxnetSurvivalAnalysis, CoxPHSurvivalAnalysis
from sksurv.metrics import brier_score, concordance_index_censored
from sksurv.nonparametric import kaplan_meier_estimator

RNG = np.random.default_rng(3)
N = 80
X = np.round(RNG.normal(size=(N, 3)), 2)
LOST = RNG.exponential(3, N)
CAME = RNG.exponential(np.exp(-X[:, 0]))
Y = np.array(list(zip(CAME <= LOST, np.round(np.minimum(CAME, LOST), 3), strict=True)), "?,f8")
OF_FILE = ("--event", "state=dead", "--time-to-event", "years")


@pytest.fixture
def followed(tmp_path: Path) -> Path:
    """The rows as a file, in which a column of text is a feature, too."""
    path = tmp_path / "followed.csv"
    lines = [
        f"{a},{b},{c},{'m' if c > 0 else 'f'},{time},{'dead' if came else 'alive'}"
        for (a, b, c), (came, time) in zip(X, Y, strict=True)
    ]
    path.write_text("\n".join(["a,b,c,sex,years,state", *lines]) + "\n")
    return path


def test_learner_words_are_models_of_scikit_survival():
    """Behind the usual scaling, a grid each; the risk of the first is scikit-survival's own."""
    assert default_words("survival") == ("cox", "survival-forest")
    kinds = {
        "cox": CoxPHSurvivalAnalysis,
        "cox-lasso": CoxnetSurvivalAnalysis,
        "survival-forest": RandomSurvivalForest,
    }
    for word, kind in kinds.items():
        pipeline, grid = learner(word, "survival", n_rows=N, n_features=9)
        assert type(pipeline[-1]) is kind
        (values,) = grid.values()
        assert len(values) > 1
    pipeline, _ = learner("cox", "survival", n_rows=N, n_features=3)
    assert list(pipeline.named_steps) == ["prepare", "model"]
    found = tr.estimate_risk(pipeline, X, Y, cv="holdout")
    assert found.scoring == "concordance"


def test_lasso_path_is_that_of_scikit_survival():
    """Down to each penalty, with a curve for every horizon; many columns of noise are left out."""
    rng = np.random.default_rng(0)
    wide = np.hstack([X, rng.normal(size=(N, 2 * N))])
    pipeline, grid = learner("cox-lasso", "survival", n_rows=N, n_features=wide.shape[1])
    search = tr.HonestSearchCV(pipeline, grid, scoring=["integrated-brier", "concordance"])
    found = search.fit(wide, Y).best_estimator_[-1]
    scaled = StandardScaler().fit_transform(wide)
    path = CoxnetSurvivalAnalysis(l1_ratio=1.0, alphas=found.alphas_).fit(scaled, Y)
    assert found.coef_ == pytest.approx(path.coef_, abs=1e-9)
    assert min(grid["model__alpha_min_ratio"]) == 0.05
    assert 0.02 in learner("cox-lasso", "survival", n_rows=N, n_features=3)[1].popitem()[1]
    assert 0 < np.count_nonzero(found.coef_[:, -1]) < N
    assert search.scores_["concordance"].value > 0.5


def test_estimate_risk_of_one_split_is_harrells_c():
    pipeline, _ = learner("cox", "survival", n_rows=N, n_features=3)
    rows = np.arange(N)
    cv = [(rows[:50], rows[50:])]
    found = tr.estimate_risk(pipeline, X, Y, cv=cv)
    told = pipeline.fit(X[:50], Y[:50]).predict(X[50:])
    names = Y.dtype.names
    expected = concordance_index_censored(Y[names[0]][50:], Y[names[1]][50:], told)[0]
    assert found.value == pytest.approx(expected)


def test_assess_takes_words_of_survival():
    """Pairs in y make the task; a word of another task is refused by the task."""
    found = tr.assess(["cox"], X, Y, scoring=["brier-at-1", "integrated-brier"])
    assert found.best == "cox"
    assert found.baseline_rule == "always predicting the Kaplan–Meier curve"
    came, time = (Y[name] for name in Y.dtype.names)
    times, free = kaplan_meier_estimator(came, time)
    curve = free[np.searchsorted(times, 1, side="right") - 1]
    _, scores = brier_score(Y, Y, np.full((N, 1), curve), [1.0])
    assert found.baseline == pytest.approx(scores[0])
    with pytest.raises(Refusal, match="the task is survival: use cox, cox-lasso, survival-forest"):
        tr.assess(["knn"], X, Y)


def test_estimate_reads_outcomes_in_time(call, followed: Path):  # noqa: F811
    words = ("--model", "cox", "--scoring", "brier-at-1,uno,auc-at-1", "--json")
    said = call("estimate", followed, *OF_FILE, *words)
    assert said.code == 0, said.err
    assert "target 'state' is 'dead' in" in said.err
    found = said.content
    assert set(found["scores"]) == {"uno", "auc-at-1"}
    table = tr.datasets.read_table(followed, event="state=dead", time_to_event="years")
    layout = {"numeric": table.numeric, "text": table.text, "n_features": table.n_features}
    pipeline, _ = learner("cox", "survival", n_rows=N, **layout)
    again = tr.estimate_risk(pipeline, table.X, table.y, scoring="brier-at-1")
    assert found["value"] == pytest.approx(again.value)


def test_assess_reads_outcomes_in_time_and_validates(call, followed: Path, tmp_path: Path):  # noqa: F811
    """Both default words on one page; the event of the validation is that it came by the time."""
    page = tmp_path / "page.html"
    words = ("--cv", "3", "--validate", "--horizon", "1", "--report", page, "--json")
    said = call("assess", followed, *OF_FILE, *words)
    assert said.code == 0, said.err
    assert set(said.content["learners"]) == {"cox", "survival-forest"}
    assert said.content["validation"]["rows"]["event"] == "by 1"
    shown = page.read_text()
    assert "--event state=dead --time-to-event years" in shown
    assert "concordance" in shown


def test_validate_tunes_by_what_it_rates(call, followed: Path):  # noqa: F811
    """Brier's score at the horizon is the default; predictions must be probabilities."""
    words = ("--model", "cox", "--replicates", "0", "--horizon", "1", "--min-score", "auc=.5")
    said = call("validate", followed, *OF_FILE, *words, "--json")
    assert said.code == 0, said.err
    assert said.content["risk"]["scoring"] == "brier-at-1"
    assert "bound kept: auc" in said.err
    order = call(
        "validate", followed, *OF_FILE, *words[:-1], "concordance=.4", "--min-score", "uno=1"
    )
    assert order.code == 4
    assert "bound kept: concordance 0." in order.err
    assert "bound missed: uno 0." in order.err
    refused = call("validate", followed, *OF_FILE, "--horizon", "1", "--predictions", "a")
    assert "values are not between 0 and 1" in refused.err
    named = call("validate", followed, *OF_FILE, *words[:6], "--scoring", "uno", "--json")
    assert json.loads(named.out)["risk"]["scoring"] == "uno"


@pytest.mark.parametrize(
    ("command", "words", "message"),
    [
        ("validate", (), "such as --horizon"),
        ("validate", ("--horizon", "nan"), "--horizon nan"),
        ("validate", ("--horizon", "1e6"), "no row was followed past the time 1000000"),
        ("validate", ("--horizon", "1", "--positive", "dead"), "named by --event COL=LABEL"),
        ("estimate", ("--positive", "dead"), "named by --event COL=LABEL"),
        ("estimate", ("--scoring", "log"), "loss 'log' is not defined for survival"),
        ("plan", ("--rows", "60"), "the target has no classes"),
    ],
)
def test_command_refuses_no_question_of_times(call, followed, command, words, message):  # noqa: F811
    said = call(command, followed, *OF_FILE, "--model", "cox", *words)
    assert said.code
    assert message in said.err


def test_permute_reads_outcomes_in_time(call, followed: Path):  # noqa: F811
    words = ("--model", "cox", "--cv", "3-fold", "--permutations", "3", "--json")
    said = call("permute", followed, *OF_FILE, *words)
    assert said.code == 0, said.err
    assert said.content["observed"] > 0.55
