"""The same splits and the same scoring give one number and one interval on every face."""

import html
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import make_scorer, matthews_corrcoef
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    ShuffleSplit,
    cross_val_score,
)
from sklearn.tree import DecisionTreeClassifier
from tests.adversary.commands import called
from tests.support.survival import Exponential, drawn_times

import truerisk as tr
from truerisk.core import formats
from truerisk.exceptions import BoundMissed
from truerisk.models import learner

RNG = np.random.default_rng(3)
X = RNG.normal(size=(90, 3))
EVENTS = (X[:, 0] + RNG.normal(size=90) > 0.3).astype(int)
NUMBERS = X[:, 0] + RNG.normal(size=90)


@dataclass(frozen=True)
class Case:
    """A learner of one setting, its rows and its splits; `other` is a further score."""

    model: Any
    grid: dict[str, list[float]]
    X: np.ndarray
    y: np.ndarray
    other: str
    sizes: tuple[int, ...] = (20, 30, 45, 72)
    cv: Any = 5
    validated: dict[str, float] = field(default_factory=dict)


CLASSES = Case(LogisticRegression(), {"C": [1.0]}, X, EVENTS, "mcc")
AMOUNTS = Case(Ridge(), {"alpha": [1.0]}, X, NUMBERS, "squared")
TIMES = Case(
    Exponential(),
    {"alpha": [1.0]},
    *drawn_times(),
    "uno",
    sizes=(25, 40, 60, 96),
    cv=KFold(5),
    validated={"horizon": 2.0},
)
OF_CLASSES = ("accuracy", "roc_auc", "f1", "average_precision", "neg_log_loss")
OF_AMOUNTS = ("r2", "neg_mean_squared_error")
OF_SCIKIT_LEARN = (*OF_CLASSES, *OF_AMOUNTS)
LOSSES = ("zero-one", "log", "brier", "absolute")
CASES = {
    **dict.fromkeys((*OF_CLASSES, "f1 pooled", "zero-one", "log", "brier"), CLASSES),
    **dict.fromkeys((*OF_AMOUNTS, "absolute"), AMOUNTS),
    "concordance": TIMES,
}
"""Ways to ask for a score, of which less is better where they are among `LOSSES`."""


def words_of(scoring, case):
    return {"cv": case.cv, "scoring": scoring}


def estimated(scoring, case):
    return tr.estimate_risk(case.model, case.X, case.y, **words_of(scoring, case))


def searched(scoring, case):
    search = tr.HonestSearchCV(case.model, case.grid, outer=case.cv, **words_of(scoring, case))
    return search.fit(case.X, case.y)


def curve(scoring, case):
    return tr.risk_curve(case.model, case.grid, case.X, case.y, **words_of(scoring, case))


def assessed(scoring, case):
    models = {"mine": (case.model, case.grid)}
    return tr.assess(models, case.X, case.y, outer=case.cv, **words_of(scoring, case))


def audited(scoring, case):
    return tr.audit(searched(scoring, case), case.X, case.y, level="nested", outer=case.cv)


def validated(scoring, case):
    return tr.validate(searched(scoring, case), case.X, case.y, replicates=0, **case.validated)


def learned(scoring, case):
    words = words_of(scoring, case)
    return tr.learning_curve(case.model, case.X, case.y, sizes=list(case.sizes), **words)


@dataclass(frozen=True)
class Face:
    """A call, the estimate in its result, and where that stands in the JSON and in the frame."""

    call: Callable[[str, Case], Any]
    estimate: Callable[[Any], tr.RiskEstimate] = lambda result: result
    json: tuple[str | int, ...] | None = None
    frame: tuple[str, ...] = ("value", "low", "high")
    has_metrics: bool = True
    has_bounds: bool = True
    prints_interval: bool = True


FACES = {
    "estimate_risk": Face(estimated, json=()),
    "risk_curve": Face(
        curve,
        lambda found: found[0],
        json=("estimates", 0),
        has_metrics=False,
        prints_interval=False,
    ),
    "HonestSearchCV": Face(searched, lambda search: search.risk_, has_bounds=False),
    "assess": Face(assessed, lambda found: found.risks["mine"], json=("learners", "mine", "risk")),
    "audit": Face(
        audited,
        lambda found: found.honest,
        json=("honest",),
        frame=("honest.value", "honest.interval.low", "honest.interval.high"),
    ),
    "validate": Face(validated, lambda found: found.risk, json=("risk",), frame=()),
    "learning_curve": Face(
        learned,
        lambda found: found.estimates[-1],
        json=("estimates", -1),
        has_metrics=False,
        has_bounds=False,
    ),
    "first of several": Face(lambda scoring, case: estimated([scoring, case.other], case)),
    "second of several": Face(
        lambda scoring, case: estimated([case.other, scoring], case),
        lambda found: next(iter(found.scores.values())),
    ),
    "read from JSON": Face(
        lambda scoring, case: tr.RiskEstimate.from_json(estimated(scoring, case).to_json())
    ),
}
RECORDS = [name for name, face in FACES.items() if face.json is not None]


@cache
def result_of(face, scoring):
    return FACES[face].call(scoring, CASES[scoring])


def numbers(estimate):
    """Return the value and the ends of the interval."""
    assert estimate.interval is not None
    return [estimate.value, estimate.interval.low, estimate.interval.high]


def told(scoring):
    """Return those of `estimate_risk`, with which all others are compared."""
    return numbers(result_of("estimate_risk", scoring))


def numbers_in(text):
    return re.findall(r"-?\d+\.\d+", text.replace("−", "-"))


of_each_scoring = pytest.mark.parametrize("scoring", CASES)


@pytest.mark.parametrize("face", FACES)
@of_each_scoring
def test_face_has_the_number_of_all_others(face, scoring):
    """Value, both ends, their order, the word of the interval, which way is better; metrics."""
    result, about = result_of(face, scoring), FACES[face]
    found = about.estimate(result)
    assert numbers(found) == pytest.approx(told(scoring))
    assert found.interval.low <= found.value <= found.interval.high
    assert found.interval.method == result_of("estimate_risk", scoring).interval.method
    assert found.scoring == scoring
    assert found.greater_is_better == (scoring not in LOSSES)
    if about.has_metrics:
        metrics = result.to_metrics()
        names = (scoring, f"{scoring}.low", f"{scoring}.high")
        assert [metrics[name] for name in names] == pytest.approx(told(scoring))


@pytest.mark.parametrize("face", RECORDS)
@of_each_scoring
def test_record_tells_the_number_in_text_page_json_and_frame(face, scoring):
    """A curve of settings prints standard errors in the place of intervals."""
    result, about = result_of(face, scoring), FACES[face]
    value, low, high = map(formats.format_risk, told(scoring))
    text = str(result)
    assert value in numbers_in(text)
    assert f"[{low}, {high}]" in text or not about.prints_interval
    page = re.sub(r"<[^>]*>", " ", result.to_html().partition("<body")[2])
    if face == "validate":  # its headline has three digits
        value = f"{told(scoring)[0]:.3f}"
    ends = {low, high} if about.prints_interval else set()
    assert {value} | ends <= {*numbers_in(html.unescape(page))}
    content = json.loads(result.to_json())
    for key in about.json:
        content = content[key]
    ends = [content["interval"][end] for end in ("low", "high")]
    assert [content["value"], *ends] == pytest.approx(told(scoring))
    assert content["greater_is_better"] == (scoring not in LOSSES)
    if about.frame:  # its last line is that of the most rows or of the one setting
        line = result.to_frame().iloc[-1]
        assert [line[name] for name in about.frame] == pytest.approx(told(scoring))


@pytest.mark.parametrize("face", [name for name in RECORDS if FACES[name].has_bounds])
@of_each_scoring
def test_require_holds_a_bound_against_the_number(face, scoring):
    """Of a score the lower end keeps it, of a loss the upper end."""
    found, keyword = result_of(face, scoring), re.sub(r"\W", "_", scoring)
    _, low, high = told(scoring)
    end, worse = (high, 1e-6) if scoring in LOSSES else (low, -1e-6)
    found.require(**{keyword: end + worse})
    with pytest.raises(BoundMissed, match=re.escape(f"{formats.format_risk(end)}; ")):
        found.require(**{keyword: end - worse})


@pytest.mark.parametrize("scoring", [name for name in CASES if CASES[name] is not TIMES])
def test_command_tells_the_number(tmp_path, scoring):
    case, path = CASES[scoring], tmp_path / "t.csv"
    rows = [[*row, y] for row, y in zip(case.X.tolist(), case.y.tolist(), strict=True)]
    path.write_text("\n".join(["a,b,c,y", *(",".join(map(repr, row)) for row in rows)]) + "\n")
    word, task = ("logistic", "classification") if case is CLASSES else ("ridge", "regression")
    asked = ["estimate", path, "--target", "y", "--model", word, "--cv", "5", "--scoring", scoring]
    code, out, _ = called([*map(str, asked), "--json"])
    assert code == 0
    content = json.loads(out)
    model, _ = learner(word, task, n_rows=90, n_features=3)
    expected = numbers(tr.estimate_risk(model, case.X, case.y, cv=5, scoring=scoring))
    ends = [content["interval"][end] for end in ("low", "high")]
    assert [content["value"], *ends] == pytest.approx(expected)
    _, text, _ = called([*map(str, asked)])
    value, low, high = map(formats.format_risk, expected)
    assert value in numbers_in(text)
    assert f"[{low}, {high}]" in text


# ---------------------------------------------------------------- as scikit-learn has it


@pytest.mark.parametrize("scoring", OF_SCIKIT_LEARN)
def test_audit_of_another_search_tells_the_number_of_cross_val_score(scoring):
    """The outer splits are of the kind that GridSearchCV chose by, and so is the claim."""
    case = CASES[scoring]
    scores = cross_val_score(case.model, case.X, case.y, cv=case.cv, scoring=scoring)
    assert told(scoring)[0] == pytest.approx(scores.mean())
    search = GridSearchCV(case.model, case.grid, **words_of(scoring, case)).fit(case.X, case.y)
    found = tr.audit(search, case.X, case.y, level="nested", outer=case.cv)
    assert numbers(found.honest) == pytest.approx(told(scoring))
    assert found.claimed.value == pytest.approx(told(scoring)[0])
    assert found.optimism == pytest.approx(0.0, abs=1e-9)


LABELS = np.where(EVENTS == 1, "ill", "healthy")
TREE = DecisionTreeClassifier(max_depth=2, random_state=0)
SPLITS = [5, KFold(3, shuffle=True, random_state=1), ShuffleSplit(4, random_state=0)]
SPLITS.append(list(KFold(4).split(X)))
SCORES = ["accuracy", "roc_auc", "f1_macro", "neg_log_loss", make_scorer(matthews_corrcoef)]


@pytest.mark.parametrize(
    ("y", "words"),
    [
        *[
            pytest.param(
                LABELS, {"cv": cv, "scoring": scoring}, id=f"{type(cv).__name__}-{scoring}"
            )
            for cv in SPLITS
            for scoring in SCORES
        ],
        pytest.param(
            EVENTS,
            {"cv": GroupKFold(5), "groups": np.arange(90) // 3, "scoring": "accuracy"},
            id="groups",
        ),
    ],
)
def test_cv_scoring_and_groups_are_those_of_cross_val_score(y, words):
    """The mean over folds, unshuffled, sign included."""
    theirs = cross_val_score(TREE, X, y, **words).mean()
    assert tr.estimate_risk(TREE, X, y, **words).value == pytest.approx(theirs, abs=1e-12)


def test_grid_is_rated_as_grid_search_rates_it():
    """`risk_curve` and `assess` by the same means, and they choose the same setting."""
    grid = {"max_depth": [1, 2, 4], "min_samples_leaf": [1, 8]}
    words = {"cv": 4, "scoring": "roc_auc"}
    theirs = GridSearchCV(TREE, grid, **words).fit(X, EVENTS)
    curve = tr.risk_curve(TREE, grid, X, EVENTS, **words)
    learner = tr.assess({"tree": (TREE, grid)}, X, EVENTS, **words).learners["tree"]
    scores = theirs.cv_results_["mean_test_score"]
    assert curve.values == pytest.approx(scores)
    assert learner.curve.values == pytest.approx(scores)
    assert curve.best_params == theirs.best_params_


@pytest.mark.parametrize(
    ("scoring", "names"),
    [
        (["roc_auc", "accuracy"], ("roc_auc", ["accuracy"])),
        ({"roc_auc": "roc_auc", "accuracy": "accuracy"}, ("roc_auc", ["accuracy"])),
        ({"roc_auc", "accuracy"}, ("accuracy", ["roc_auc"])),  # a set is put in order
    ],
    ids=["list", "dict", "set"],
)
def test_scoring_of_several_has_the_first_as_the_risk(scoring, names):
    risk = tr.estimate_risk(TREE, X, EVENTS, cv=5, scoring=scoring)
    assert (risk.scoring, list(risk.scores)) == names
