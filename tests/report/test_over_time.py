"""Risk over time on the page: what is drawn is what was measured, and damaged ones are refused."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from tests.report.conftest import draw_any
from tests.report.test_in_browser import require_open_to_all

import truerisk as tr
from truerisk.core.errors import BadData
from truerisk.core.formats import number
from truerisk.report.learning import draw_over_time

LOAD = tr.datasets.make_daily_load
LEARNERS = {"ridge": Ridge(), "mean": DummyRegressor()}


def assessed(n: int, **more) -> tr.Assessment:
    X, y = LOAD(n, random_state=1)
    return tr.assess(LEARNERS, X, y, **({"time": LOAD.dates(n)} | more))


@pytest.fixture(scope="module")
def found() -> tr.Assessment:
    """Long enough for a test of a trend."""
    return assessed(600)


@pytest.fixture
def content(found):
    """Its JSON, read again."""
    return json.loads(found.to_json())


def drawn(content, name="ridge"):
    document = tr.Assessment.from_dict(content)
    return draw_over_time(name, document.learners[name], document, 0)


def test_a_figure_has_every_stretch(content, found) -> None:
    """Those of `risk_over_time` of the honest risk, with their band and what is said of a trend."""
    course = tr.risk_over_time(found.risks["ridge"], LOAD.dates(600))
    figure = drawn(content)
    assert [row[2] for row in figure.table.rows] == [number(v) for v in course.values]
    assert figure.table.rows[0][0] == str(course.starts[0])[:10]
    low, high = course.low[0], course.high[0]
    assert figure.table.rows[0][3] == f"[{number(low)}, {number(high)}]"
    assert figure.caption == course.said
    assert str(figure.svg).count('class="band') == 1
    assert str(figure.svg).count("data-tip") == len(course.values)


def test_a_score_is_drawn_as_a_score() -> None:
    """Stretches, band, level and words: larger is better, and no risk is named."""
    X, y = LOAD(600, random_state=1)
    time, high = LOAD.dates(600), y > np.median(y)
    found = tr.assess({"line": LogisticRegression()}, X, high, time=time, scoring="accuracy")
    figure = drawn(json.loads(found.to_json()), "line")
    risk = found.risks["line"]
    assert figure.keys[-1].text == f"honest score: {number(risk.value)}"
    course = tr.risk_over_time(risk, time)
    assert [row[2] for row in figure.table.rows] == [number(v) for v in course.values]
    low, high = course.low[0], course.high[0]
    assert figure.table.rows[0][3] == f"[{number(low)}, {number(high)}]"
    assert figure.table.head[2] == "accuracy"
    assert f"the accuracy {'rises' if course.slope > 0 else 'falls'}" in figure.caption
    assert ">Score over time</h2>" in found.to_html()
    assert "risk" not in f"{figure.caption} {figure.title} {figure.svg} {course}"


def test_the_page_has_the_section(content, found) -> None:
    """From the assessment and from its JSON alike."""
    page = found.to_html()
    assert page == draw_any(content)
    assert '<section id="over-time"' in page
    for one in content["learners"].values():
        del one["over_time"], one["no_over_time"]  # as earlier versions wrote it
    assert '<section id="over-time"' not in draw_any(content)


def test_without_times_there_is_no_section() -> None:
    """And nothing is said."""
    without = assessed(120, time=None)
    assert without.to_dict()["learners"]["ridge"]["no_over_time"] is None
    assert '<section id="over-time"' not in without.to_html()


def test_a_short_series_has_no_band_and_says_why() -> None:
    """Fewer than 300 times are no test of a trend."""
    figure = drawn(assessed(200).to_dict())
    assert 'class="band' not in str(figure.svg)
    assert {row[3] for row in figure.table.rows} == {"none"}
    assert "No test: " in figure.caption


def test_scores_without_losses_of_rows_say_why() -> None:
    """R² has no course; the note names the learner."""
    scored = assessed(200, scoring="r2")
    why = scored.to_dict()["learners"]["ridge"]["no_over_time"]
    assert "has no losses of single rows" in why
    assert f"ridge: no risk over time: {why}" in scored.to_html().replace("&#39;", "'")


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"values": [1.0]}, "not as long as 'starts'"),
        ({"low": [1.0]}, "not as long as 'starts'"),
        ({"starts": [None] * 10}, "starts"),
        ({"n_rows": "many"}, "n_rows"),
        ({"said": 3}, "said"),
        ({"confidence_level": 7}, "confidence_level"),
    ],
)
def test_damaged_courses_are_refused(content, change, wrong) -> None:
    """With the place that is wrong."""
    damaged = copy.deepcopy(content)
    damaged["learners"]["ridge"]["over_time"].update(change)
    with pytest.raises(BadData, match=wrong):
        tr.Assessment.from_dict(damaged)


def test_times_may_be_numbers() -> None:
    """They are written as such."""
    figure = drawn(assessed(200, time=range(200)).to_dict())
    assert figure.table.rows[-1][1] == "199"


def test_the_section_shuts_nobody_out(show, content) -> None:
    """Nothing that axe-core finds, and nothing that sticks out, on a phone or on a desk."""
    require_open_to_all(show(content), phone=390)
