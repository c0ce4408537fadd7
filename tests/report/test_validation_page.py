"""The page of a validation says what the validation says, in one file."""

from __future__ import annotations

import copy
import html
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from tests.report.conftest import HOSTILE, draw_any
from tests.report.test_in_browser import require_open_to_all, require_room
from tests.support.rms_data import drawn

import truerisk as tr
from truerisk.core.errors import BadData
from truerisk.core.formats import number
from truerisk.report.validation_figures import draw_benefit, draw_calibration_curve
from truerisk.report.validation_page import validated_again, verdict
from truerisk.results.interval import Interval
from truerisk.results.json_values import parse
from truerisk.validation.validation import Validation

X, Y, _ = drawn()


@pytest.fixture(scope="module")
def validated():
    """With optimism, of a model that is not well calibrated."""
    return tr.validate(GaussianNB(), X, Y, replicates=4)


@pytest.fixture
def content(validated):
    """Its JSON, to be changed."""
    return json.loads(validated.to_json())


def told(page):
    """The words of a page."""
    return html.unescape(re.sub(r"<[^>]*>", " ", page.partition("<body>")[2]))


def test_the_page_is_drawn_again_from_the_file(validated, tmp_path):
    """`to_html`, and the page of what `to_json` wrote, are the same to the letter."""
    written = validated.to_html(tmp_path / "v.html")
    validated.to_json(tmp_path / "v.json")
    assert (tmp_path / "v.html").read_text("utf-8") == written
    assert draw_any(parse(tmp_path / "v.json")) == written


def test_the_page_says_every_measure(validated):
    """Each number of each measure, the interval, the paragraph and its papers."""
    page = told(validated.to_html())
    for part in (validated.discrimination, validated.calibration):
        for one in part.measures.values():
            for value in (one.honest, one.apparent, one.training, one.test, one.corrected):
                assert number(value) in page
            assert one.interval is None or str(one.interval) in page
    assert "corrected for optimism by 4 bootstrap samples" in page
    for name in ("Steyerberg", "Cox", "Austin", "Vickers", "Harrell"):
        assert name in page
    assert "tr.validate(search, X, y, replicates=4)" in page


def test_the_curve_says_which_area_is_meant(validated):
    """It pools the folds, and the AUC is the mean over them."""
    area = number(validated.discrimination["auc"].honest)
    assert f"Answers of all folds, pooled. AUC, mean over folds, {area}" in validated.to_html()


@pytest.mark.parametrize(
    ("slope", "large", "said"),
    [
        (0.8, -0.2, ("below 1 probabilities are too extreme", "below 0 probabilities are too la")),
        (1.3, 0.2, ("above 1 probabilities are too timid", "above 0 probabilities are too small")),
    ],
)
def test_the_conclusion_explains_the_side_that_there_is(validated, slope, large, said):
    """Of the slope and of calibration in the large, not the other one, where it is told."""

    def conclusion(reach):
        values = {"slope": slope, "in-the-large": large}
        measures = {
            word: replace(
                validated.calibration[word],
                honest=value,
                interval=Interval(
                    value - reach, value + reach, method="sandwich", confidence_level=0.95
                ),
            )
            for word, value in values.items()
        }
        calibration = replace(validated.calibration, measures=measures)
        return verdict(replace(validated, calibration=calibration))

    sides = conclusion(0.1)
    assert [sum(one in line for line in sides) for one in said] == [1, 1]
    assert sum("probabilities are too" in line for line in sides) == 2
    undecided = conclusion(0.4)
    assert not any("probabilities are too" in line for line in undecided)
    assert [
        any(
            f"its interval holds {value}, the value of calibrated answers." in line
            for value in "01"
        )
        for line in undecided
        if "alibration" in line
    ] == [True, True]


def test_the_call_names_what_was_given(content):
    """Arguments of the rows and of what was asked; older pages say the samples alone."""
    rows = {"time": np.arange(60), "subgroups": {"half": np.arange(60) % 2}}
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    found = tr.validate(
        LinearRegression(), X, X[:, 0] + rng.normal(size=60), replicates=0, random_state=3, **rows
    )
    call = validated_again(Validation.from_dict(found.to_dict())).call
    assert call == (
        "tr.validate(search, X, y, replicates=0, subgroups={'half': half}, time=time, "
        "random_state=3)"
    )
    older = {name: value for name, value in content.items() if name != "given"}
    assert validated_again(Validation.from_dict(older)).call == (
        "tr.validate(search, X, y, replicates=4)"
    )


def test_lines_below_the_axis_are_cut(content):
    """Treating everybody falls without end, and is drawn as far as the axis goes."""
    document = Validation.from_dict(content)
    drawing = draw_benefit(document.net_benefit).drawing
    heights = [float(y) for y in re.findall(r"[ML]-?[\d.]+ (-?[\d.]+)", drawing.svg(""))]
    assert max(heights) <= drawing.y.start + 0.1
    assert min(document.net_benefit.treat_all) < drawing.y.low


def test_the_bars_are_the_probabilities(content):
    """A bar for each bin with rows, upwards for rows with the event."""
    document = Validation.from_dict(content)
    figure = draw_calibration_curve(document.calibration.curve, document.calibration)
    filled = sum(count > 0 for side in document.calibration.counts for count in side)
    assert figure.svg.count('class="bar ') == filled


def test_what_is_missing_is_said():
    """A learner without probabilities, numbers, and nothing but labels."""
    page = told(tr.validate(LinearSVC(), X, Y, replicates=0).to_html())
    assert "Not available: LinearSVC gives no probabilities" in page
    assert "Decision curve" not in page
    three = told(tr.validate(GaussianNB(), X, np.arange(120) % 3, replicates=0).to_html())
    assert "y has 3 classes" in three
    assert "ROC curve" not in three


def test_the_paragraph_is_that_of_the_checklist(validated):
    """One paragraph, on the page and in the checklist."""
    assert validated.checklist.methods_text in told(validated.to_html())


def test_numbers_have_a_curve_of_their_own():
    """Axes of the answers, one row of bars, no event anywhere."""
    found = tr.validate(LinearRegression(), X, 50 * X[:, 0] + X[:, 1] ** 3, replicates=2)
    page = told(found.to_html())
    assert "Whether answers are right on average" in page
    assert "Validation on 120 rows" in page
    assert f"On held-out rows R² is {number(found.calibration['explained'].honest)}" in page
    assert "probabilities" not in page.partition("Calibration")[0]
    assert "event" not in page.partition("Calibration")[2].partition("Net benefit")[0]
    document = Validation.from_dict(found.to_dict())
    figure = draw_calibration_curve(document.calibration.curve, document.calibration)
    filled = sum(count > 0 for count in document.calibration.counts[0])
    assert figure.svg.count('class="bar ') == filled
    heights = [float(y) for y in re.findall(r"[ML]-?[\d.]+ (-?[\d.]+)", figure.svg)]
    assert max(heights) <= figure.drawing.y.start + 0.1
    assert min(heights) >= figure.drawing.y.end - 0.1
    assert found.calibration.plot().get_xlabel() == "answer"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda c: c.pop("risk"), "lack 'risk'"),
        (lambda c: c["net_benefit"]["low"].pop(), "net_benefit.low"),
        (lambda c: c["net_benefit"].update(thresholds="x"), "not an array"),
        (lambda c: c["calibration"]["edges"].pop(), "an array of 21 numbers"),
        (lambda c: c["calibration"].update(counts=[]), "of 1 entries at least"),
        (lambda c: c["calibration"]["curve"].update(high=[1.0]), "as long as 'predicted', 101"),
        (lambda c: c["calibration"]["measures"]["slope"].update(honest="x"), "not a number"),
        (lambda c: c["calibration"]["measures"]["slope"].update(word="x"), "word of a measure"),
        (
            lambda c: c.update(schema="truerisk.validation/3"),
            "reads versions 1 to 2: upgrade truerisk",
        ),
    ],
)
def test_damaged_json_is_refused(content, change, said):
    """A sentence names the place."""
    damaged = copy.deepcopy(content)
    change(damaged)
    with pytest.raises(BadData, match=re.escape(said)):
        draw_any(damaged)


def wild():
    """Labels that try to leave their place, in few rows."""
    labels = np.where(Y == 1, HOSTILE, "!")
    return tr.validate(GaussianNB(), X, labels, replicates=0)


def test_names_stay_where_they_are():
    """A label is text, whatever it looks like."""
    page = wild().to_html()
    assert "<img" not in page
    assert "{{7*7}}" in html.unescape(page)


def test_the_page_shuts_nobody_out(show, content):
    """No violation of axe-core's rules, in either scheme, at any width."""
    require_open_to_all(show(content))


def test_a_page_of_wild_names_fits(show):
    """Labels do not stretch it."""
    require_room(show(wild().to_dict()), 375)
