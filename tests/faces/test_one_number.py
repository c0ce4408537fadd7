"""The same splits and the same scoring give one number and one interval on every face."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from tests.adversary.commands import called
from tests.support.survival import Exponential, drawn_times

import truerisk as tr
from truerisk.core import formats
from truerisk.core.errors import BoundMissed
from truerisk.models.learners import learner

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


def words_of(scoring: Any, case: Case) -> dict[str, Any]:
    return {"cv": case.cv, "scoring": scoring}


def estimated(scoring: Any, case: Case) -> tr.RiskEstimate:
    return tr.estimate_risk(case.model, case.X, case.y, **words_of(scoring, case))


def searched(scoring: str, case: Case) -> tr.HonestSearchCV:
    search = tr.HonestSearchCV(case.model, case.grid, outer=case.cv, **words_of(scoring, case))
    return search.fit(case.X, case.y)


def curve(scoring: str, case: Case) -> tr.RiskCurve:
    return tr.risk_curve(case.model, case.grid, case.X, case.y, **words_of(scoring, case))


def assessed(scoring: str, case: Case) -> tr.Assessment:
    models = {"mine": (case.model, case.grid)}
    return tr.assess(models, case.X, case.y, outer=case.cv, **words_of(scoring, case))


def audited(scoring: str, case: Case) -> tr.Audit:
    search = searched(scoring, case)
    return tr.audit(search, case.X, case.y, level="nested", outer=case.cv)


def validated(scoring: str, case: Case) -> tr.Validation:
    search = searched(scoring, case)
    return tr.validate(search, case.X, case.y, replicates=0, **case.validated)


def learned(scoring: str, case: Case) -> tr.LearningCurve:
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
def result_of(face: str, scoring: str) -> Any:
    return FACES[face].call(scoring, CASES[scoring])


def numbers(estimate: tr.RiskEstimate) -> list[float]:
    """The value and the ends of the interval."""
    assert estimate.interval is not None
    return [estimate.value, estimate.interval.low, estimate.interval.high]


def told(scoring: str) -> list[float]:
    """Those of `estimate_risk`, with which all others are compared."""
    return numbers(result_of("estimate_risk", scoring))


def printed(values: Iterable[float]) -> list[str]:
    return [formats.risk(value) for value in values]


of_each_scoring = pytest.mark.parametrize("scoring", CASES)


@pytest.mark.parametrize("face", FACES)
@of_each_scoring
def test_a_face_has_the_number_of_all_others(face, scoring):
    """Value, both ends, their order, the word of the interval, and which way is better."""
    found = FACES[face].estimate(result_of(face, scoring))
    assert numbers(found) == pytest.approx(told(scoring))
    assert found.interval.low <= found.value <= found.interval.high
    assert found.interval.method == result_of("estimate_risk", scoring).interval.method
    assert found.scoring == scoring
    assert found.greater_is_better == (scoring not in LOSSES)


@pytest.mark.parametrize("scoring", OF_SCIKIT_LEARN)
def test_the_number_is_that_of_cross_val_score(scoring):
    """For the names of scikit-learn, sign included."""
    case = CASES[scoring]
    scores = cross_val_score(case.model, case.X, case.y, cv=case.cv, scoring=scoring)
    assert told(scoring)[0] == pytest.approx(scores.mean())


@pytest.mark.parametrize("scoring", OF_SCIKIT_LEARN)
def test_an_audit_of_another_search_tells_the_number(scoring):
    """The outer splits are of the kind that GridSearchCV chose by, and so is the claim."""
    case = CASES[scoring]
    search = GridSearchCV(case.model, case.grid, **words_of(scoring, case)).fit(case.X, case.y)
    found = tr.audit(search, case.X, case.y, level="nested", outer=case.cv)
    assert numbers(found.honest) == pytest.approx(told(scoring))
    assert found.claimed.value == pytest.approx(told(scoring)[0])
    assert found.optimism == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("face", RECORDS)
@of_each_scoring
def test_the_text_tells_the_number(face, scoring):
    """A curve of settings prints standard errors in the place of intervals."""
    value, low, high = printed(told(scoring))
    text = str(result_of(face, scoring))
    assert value in numbers_in(text)
    if FACES[face].prints_interval:
        assert f"[{low}, {high}]" in text


@pytest.mark.parametrize("face", RECORDS)
@of_each_scoring
def test_the_page_tells_the_number(face, scoring):
    """The headline of a validation rounds the value to three digits."""
    page = re.sub(r"<[^>]*>", " ", result_of(face, scoring).to_html().partition("<body")[2])
    value, low, high = printed(told(scoring))
    value = f"{told(scoring)[0]:.3f}" if face == "validate" else value
    ends = {low, high} if FACES[face].prints_interval else set()
    assert {value} | ends <= {*numbers_in(html.unescape(page))}


def numbers_in(text: str) -> list[str]:
    return re.findall(r"-?\d+\.\d+", text.replace("−", "-"))


@pytest.mark.parametrize("face", RECORDS)
@of_each_scoring
def test_the_json_holds_the_number(face, scoring):
    """As it stands there, with nothing to convert."""
    content = json.loads(result_of(face, scoring).to_json())
    for key in FACES[face].json:
        content = content[key]
    ends = [content["interval"][end] for end in ("low", "high")]
    assert [content["value"], *ends] == pytest.approx(told(scoring))
    assert content["greater_is_better"] == (scoring not in LOSSES)


@pytest.mark.parametrize("face", [name for name in RECORDS if FACES[name].frame])
@of_each_scoring
def test_the_frame_holds_the_number(face, scoring):
    """In its last line, that of the most rows or of the one setting."""
    line = result_of(face, scoring).to_frame().iloc[-1]
    assert [line[name] for name in FACES[face].frame] == pytest.approx(told(scoring))


@pytest.mark.parametrize("face", [name for name, face in FACES.items() if face.has_metrics])
@of_each_scoring
def test_the_metrics_are_the_number(face, scoring):
    """For a tracker, under the name that was asked for."""
    metrics = result_of(face, scoring).to_metrics()
    names = (scoring, f"{scoring}.low", f"{scoring}.high")
    assert [metrics[name] for name in names] == pytest.approx(told(scoring))


@pytest.mark.parametrize("face", [name for name in RECORDS if FACES[name].has_bounds])
@of_each_scoring
def test_a_bound_is_held_against_the_number(face, scoring):
    """Of a score the lower end keeps it, of a loss the upper end."""
    found, keyword = result_of(face, scoring), re.sub(r"\W", "_", scoring)
    _, low, high = told(scoring)
    end, worse = (high, 1e-6) if scoring in LOSSES else (low, -1e-6)
    found.require(**{keyword: end + worse})
    with pytest.raises(BoundMissed, match=re.escape(f"{formats.risk(end)}; ")):
        found.require(**{keyword: end - worse})


@pytest.mark.parametrize("scoring", [name for name in CASES if CASES[name] is not TIMES])
def test_the_command_tells_the_number(tmp_path, scoring):
    """In its text and in its JSON, of the learner of that word."""
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
    value, low, high = printed(expected)
    assert value in numbers_in(text)
    assert f"[{low}, {high}]" in text
