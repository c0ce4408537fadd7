"""Learning curves and risks over time on the page: what is drawn is what was measured."""

import json

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from tests.report.conftest import draw_any

import truerisk as tr
from truerisk.core.formats import format_number
from truerisk.report.learning import draw_learning_figure, draw_risk_over_time
from truerisk.report.methods_text import assessment_references, methods_paragraph, reproduction_info

LOAD = tr.datasets.make_daily_load


def curve_of(content, name):
    """The figure of a learner's learning curve."""
    document = tr.Assessment.from_dict(content)
    return draw_learning_figure(
        document.learning_curves[name], document.learners[name].expected, name
    )


def course_of(content, name="ridge"):
    """The figure of a learner's risk over time."""
    document = tr.Assessment.from_dict(content)
    return draw_risk_over_time(name, document.learners[name], document, 0)


def assessed(n: int, **more) -> tr.Assessment:
    X, y = LOAD(n, random_state=1)
    return tr.assess({"ridge": Ridge()}, X, y, **({"time": LOAD.dates(n)} | more))


@pytest.fixture
def content(learned):
    """The JSON of an assessment with learning curves, to be changed."""
    return json.loads(learned.to_json())


def test_learning_figure_has_every_size_and_the_law_beyond(content, learned) -> None:
    """Measured risks as a table with what is expected of more rows, and a sentence on twice."""
    figure = curve_of(content, "knn")
    one = learned.learners["knn"]
    sizes = [f"{size:g}" for size in one.learning_curve.sizes]
    assert [row[0] for row in figure.table.rows][: len(sizes)] == sizes
    measured = [format_number(value) for value in one.learning_curve.values]
    assert [row[1] for row in figure.table.rows][: len(sizes)] == measured
    last = one.expected[-1]
    said = (
        f"{format_number(last.value)} [{format_number(last.interval.low)}, "
        f"{format_number(last.interval.high)}]"
    )
    assert figure.caption == f"With twice the rows (120) expect {said}."
    assert figure.table.rows[-1][0] == "120"
    beyond = [at for at in one.expected if at.n_train > one.learning_curve.sizes[-1]]
    assert sum("(expected)" in row[1] for row in figure.table.rows) == len(beyond) > 2
    assert str(figure.svg).count('class="baseline"') == 1  # all rows there are
    stored = content["learners"]["lda"]["learning_curve"]
    stored.update(expected=[], lacking="a + b n^-c does not fit")
    lacking = curve_of(content, "lda")
    assert lacking.caption == "The curve is not extrapolated: a + b n^-c does not fit"
    assert 'class="band' not in str(lacking.svg)


def test_learning_section_says_who_has_none(content, learned) -> None:
    """The paragraph, the reference and the call name the curves; earlier JSON knows of none."""
    page = learned.to_html()
    assert '<section id="learning"' in page
    assert "tree: no learning curve: it takes" in page
    assert "Learning curves were measured on nested subsamples" in methods_paragraph(learned)
    assert f"With 120 rows, {learned.best} is expected" in methods_paragraph(learned)
    assert any(one.startswith("Mukherjee") for one in assessment_references(learned))
    curved = [name for name in learned.ranking if name != "tree"]
    assert f"learning_curve={curved!r}," in reproduction_info(learned).call
    for one in content["learners"].values():
        one.update(learning_curve=None, no_learning_curve=None)
    assert '<section id="learning"' not in draw_any(content)
    for one in content["learners"].values():
        del one["learning_curve"], one["no_learning_curve"]
    assert '<section id="learning"' not in draw_any(content)


def test_over_time_figure_has_every_stretch(dated) -> None:
    """Those of `risk_over_time` of the honest risk, with their band and what is said of a trend."""
    course = tr.risk_over_time(dated.risks["ridge"], LOAD.dates(600))
    figure = course_of(dated.to_dict())
    assert [row[2] for row in figure.table.rows] == [format_number(v) for v in course.values]
    assert figure.table.rows[0][0] == str(course.starts[0])[:10]
    low, high = course.low[0], course.high[0]
    assert figure.table.rows[0][3] == f"[{format_number(low)}, {format_number(high)}]"
    assert figure.caption == course.trend_sentence
    assert str(figure.svg).count('class="band') == 1
    assert str(figure.svg).count("data-tip") == len(course.values)


def test_over_time_figure_of_a_score() -> None:
    """Stretches, band, level and words: larger is better, and no risk is named."""
    X, y = LOAD(600, random_state=1)
    time, high = LOAD.dates(600), y > np.median(y)
    found = tr.assess({"line": LogisticRegression()}, X, high, time=time, scoring="accuracy")
    figure = course_of(found.to_dict(), "line")
    risk = found.risks["line"]
    course = tr.risk_over_time(risk, time)
    assert figure.keys[-1].text == f"honest score: {format_number(risk.value)}"
    assert [row[2] for row in figure.table.rows] == [format_number(v) for v in course.values]
    low, high = course.low[0], course.high[0]
    assert figure.table.rows[0][3] == f"[{format_number(low)}, {format_number(high)}]"
    assert figure.table.head[2] == "accuracy"
    assert f"the accuracy {'rises' if course.slope > 0 else 'falls'}" in figure.caption
    assert ">Score over time</h2>" in found.to_html()
    assert "risk" not in f"{figure.caption} {figure.title} {figure.svg} {course}"


def test_over_time_section_needs_times_and_losses(dated) -> None:
    """Fewer than 300 times are no test of a trend; R² has no course; times may be numbers."""
    assert '<section id="over-time"' in dated.to_html()
    earlier = dated.to_dict()
    for one in earlier["learners"].values():
        del one["over_time"], one["no_over_time"]
    assert '<section id="over-time"' not in draw_any(earlier)
    without = assessed(120, time=None)
    assert without.to_dict()["learners"]["ridge"]["no_over_time"] is None
    assert '<section id="over-time"' not in without.to_html()
    short = course_of(assessed(200, time=range(200)).to_dict())
    assert 'class="band' not in str(short.svg)
    assert {row[3] for row in short.table.rows} == {"none"}
    assert "No test: " in short.caption
    assert short.table.rows[-1][1] == "199"
    scored = assessed(200, scoring="r2")
    why = scored.to_dict()["learners"]["ridge"]["no_over_time"]
    assert "has no losses of single rows" in why
    assert f"ridge: no risk over time: {why}" in scored.to_html().replace("&#39;", "'")
