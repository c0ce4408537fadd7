"""The page of a validation says what the validation says, in one file."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from tests.report.conftest import draw_any, told
from tests.support.rms_data import drawn

import truerisk as tr
from truerisk.core.formats import format_number
from truerisk.extend import Interval
from truerisk.report.validation_figures import draw_calibration_curve, draw_net_benefit

X, Y, _ = drawn()


@pytest.fixture
def content(validated):
    """Its JSON, to be changed."""
    return json.loads(validated.to_json())


def test_validation_page_says_every_measure(validated):
    page = told(validated.to_html())
    for part in (validated.discrimination, validated.calibration):
        for one in part.measures.values():
            for value in (one.honest, one.apparent, one.training, one.test, one.corrected):
                assert format_number(value) in page
            assert one.interval is None or str(one.interval) in page
    assert "corrected for optimism by 4 bootstrap samples" in page
    references = page.partition("References")[2].partition("How to repeat it")[0]
    for name in (
        "Harrell FE, Lee",
        "Harrell FE (",
        "White",
        "Bengio",
        "Cox DR",
        "Vickers",
        "Austin",
    ):
        assert name in references
    assert "tr.validate(search, X, y, replicates=4)" in page
    assert validated.checklist.methods_text in page
    area = format_number(validated.discrimination["auc"].honest)
    assert f"Predictions of all folds, pooled. AUC, mean over folds, {area}" in page


@pytest.mark.parametrize(
    ("slope", "large", "said"),
    [
        (0.8, -0.2, ("below 1 probabilities are too extreme", "below 0 probabilities are too la")),
        (1.3, 0.2, ("above 1 probabilities are too timid", "above 0 probabilities are too small")),
    ],
)
def test_validation_page_explains_the_side_of_miscalibration(validated, slope, large, said):
    """Of the slope and of calibration in the large, not the other one, where it is told."""

    def conclusion(reach):
        measures = {}
        for word, value in (("slope", slope), ("in-the-large", large)):
            around = Interval(value - reach, value + reach, "sandwich", 0.95)
            known = validated.calibration[word]
            measures[word] = replace(known, honest=value, interval=around)
        calibration = replace(validated.calibration, measures=measures)
        return replace(validated, calibration=calibration).conclusion.splitlines()

    sides, undecided = conclusion(0.1), conclusion(0.4)
    assert [sum(one in line for line in sides) for one in said] == [1, 1]
    assert sum("probabilities are too" in line for line in sides) == 2
    assert not any("probabilities are too" in line for line in undecided)
    for value in "01":
        holds = f"its interval contains {value}, the value of calibrated predictions, so no misc"
        assert sum(holds in line for line in undecided) == 1


def test_conclusion_stands_first_in_print_and_on_the_page(validated):
    """Each sentence is a line in print; without measures there is none, and the risk is first."""
    sentences = validated.conclusion.splitlines()
    assert len(sentences) > 2
    assert str(validated).splitlines()[0].startswith("On held-out rows the AUC is ")
    assert sentences[0] in told(validated.to_html())
    unknown = replace(validated, discrimination=None, calibration=None)
    assert unknown.conclusion == ""
    assert str(unknown).splitlines()[0] == str(validated.risk).splitlines()[0]


def test_printed_validation_counts_the_answers_of_the_checklist(validated):
    """The answers are on the page and in the printed checklist."""
    first, *_ = str(validated.checklist).splitlines()
    said = str(validated)
    assert first.startswith("TRIPOD+AI: ")
    assert first in said
    assert validated.checklist.methods_text not in said
    assert validated.checklist.methods_text in str(validated.checklist)
    assert len(said) < len(str(validated.checklist))


def test_conclusion_begins_with_the_doubt_that_risks_lack_their_horizon():
    """Risks between 0 and 1 are read as linear predictors, whose slope is then no answer."""
    rng = np.random.default_rng(1)
    y = np.column_stack([rng.integers(0, 2, 200), rng.exponential(size=200)])
    share = rng.random(200)
    first, *_ = tr.validate_predictions(y, share).conclusion.splitlines()
    assert first.startswith("Check this first: all predictions lie between 0 and 1")
    assert not tr.validate_predictions(y, 3 * share - 1).conclusion.startswith("Check")
    by_horizon = tr.validate_predictions(y, share, horizon=1.0).conclusion
    assert "On new rows the AUC (event by 1) is " in by_horizon


def test_conclusion_of_linear_predictors_ranks_and_judges_their_slope():
    """It states Harrell's C and the Cox slope, which is below 1 if predictors are stretched."""
    rng = np.random.default_rng(0)
    risk = rng.normal(size=300)
    times = rng.exponential(np.exp(-risk))
    y = np.column_stack([np.ones(300), times])
    stretched = tr.validate_predictions(y, 3 * risk).conclusion
    assert "On new rows Harrell's C is 0." in stretched
    assert "below 1 risks are too extreme." in stretched
    assert "above 1 risks are too timid." in tr.validate_predictions(y, risk / 3).conclusion


def test_validation_page_names_the_call(content):
    """Arguments of the rows and of what was asked; older pages say the samples alone."""
    rows = {"time": np.arange(60), "subgroups": {"half": np.arange(60) % 2}}
    found = tr.validate(
        LinearRegression(), X[:60], X[:60, 0] + Y[:60], replicates=0, random_state=3, **rows
    )
    assert (
        "tr.validate(search, X, y, replicates=0, subgroups={'half': half}, time=time, "
        "random_state=3)"
    ) in told(found.to_html())
    del content["given"]
    assert "tr.validate(search, X, y, replicates=4)" in told(draw_any(content))


def test_calibration_figure_has_a_bar_for_each_bin(validated):
    """Upwards for rows with the event; a line below the axis is cut, as that of all treated."""
    figure = draw_calibration_curve(validated.calibration.curve, validated.calibration)
    filled = sum(count > 0 for side in validated.calibration.counts for count in side)
    assert figure.svg.count('class="bar ') == filled
    steep = replace(validated.calibration.curve, corrected=3 * validated.calibration.curve.observed)
    lines = re.findall(r' d="M[^"]*"', draw_calibration_curve(steep, validated.calibration).svg)
    tops = [float(y) for line in lines for y in re.findall(r"[ML]-?[\d.]+ (-?[\d.]+)", line)]
    assert min(tops) >= figure.drawing.y(1) - 0.1
    drawing = draw_net_benefit(validated.net_benefit).drawing
    heights = [float(y) for y in re.findall(r"[ML]-?[\d.]+ (-?[\d.]+)", drawing.svg(""))]
    assert max(heights) <= drawing.y.start + 0.1
    assert min(validated.net_benefit.treat_all) < drawing.y.low


def test_validation_page_says_what_is_missing():
    page = told(tr.validate(LinearSVC(), X, Y, replicates=0).to_html())
    assert "Not available: LinearSVC gives no probabilities" in page
    assert "Decision curve" not in page
    three = told(tr.validate(GaussianNB(), X, np.arange(120) % 3, replicates=0).to_html())
    assert "y has 3 classes" in three
    assert "ROC curve" not in three


def test_validation_page_of_numbers():
    found = tr.validate(LinearRegression(), X, 50 * X[:, 0] + X[:, 1] ** 3, replicates=2)
    page = told(found.to_html())
    assert "Whether predictions are right on average" in page
    assert "Validation on 120 rows" in page
    assert f"On held-out rows R² is {format_number(found.calibration['explained'].honest)}" in page
    assert "probabilities" not in page.partition("Calibration")[0]
    assert "event" not in page.partition("Calibration")[2].partition("Net benefit")[0]
    figure = draw_calibration_curve(found.calibration.curve, found.calibration)
    filled = sum(count > 0 for count in found.calibration.counts[0])
    assert figure.svg.count('class="bar ') == filled
    heights = [float(y) for y in re.findall(r"[ML]-?[\d.]+ (-?[\d.]+)", figure.svg)]
    assert max(heights) <= figure.drawing.y.start + 0.1
    assert min(heights) >= figure.drawing.y.end - 0.1
    assert found.calibration.plot().get_xlabel() == "prediction"


@pytest.mark.parametrize("scoring", ["auc", "brier", "zero-one"])
def test_validation_page_and_view_show_a_score_once(scoring):
    """In the headline under its own name, and in the view beside no table of the same score."""
    scores = [scoring, *{"auc", "brier"} - {scoring}]
    found = tr.validate(GaussianNB(), X, Y, replicates=0, scoring=scores)
    page = found.to_html()
    has_own_headline = "misclassification rate" in told(page).partition("Discrimination")[0]
    assert has_own_headline == (scoring == "zero-one")
    assert len(found.blocks()[0].rows) == 1
    caption = page.partition("<figcaption>")[2].partition("</figcaption>")[0]
    assert str(found.measure("auc").interval) not in caption


def test_validation_page_has_all_parts(parts):
    page = parts.to_html()
    for name in ("subgroups-0", "subgroups-1", "subgroups-2", "instability"):
        assert f'id="figure-{name}"' in page
    for said in ("TRIPOD+AI", "PROBAST+AI, evaluation", "every fit used all 3 features"):
        assert said in page
    assert "site = &lt;i&gt;c&lt;/i&gt;" in page
    assert "<i>c</i>" not in page


def test_validation_page_unfolds_six_figures_at_most(show):
    """Of the losses in subgroups the AUC; the others are folded, and none is left out."""
    search = tr.HonestSearchCV(
        make_pipeline(SelectKBest(), LogisticRegression()),
        {"selectkbest__k": [1, 2]},
        cv="3-fold",
        scoring=["log", "f1", "mcc"],
    ).fit(X, Y)
    halves = {"half": np.arange(len(Y)) % 2}
    found = tr.validate(search, X, Y, replicates=0, subgroups=halves)
    page = show(found.to_html()).page
    every = page.eval_on_selector_all("figure", "all => all.map(f => f.id)")
    folded = page.eval_on_selector_all("details figure", "all => all.map(f => f.id)")
    assert [name for name in every if name not in folded] == [
        *("figure-roc", "figure-calibration", "figure-net-benefit"),
        *("figure-subgroups-3", "figure-features", "figure-instability"),
    ]
    assert [*found.subgroups].index("auc") == 3
    assert folded == [f"figure-subgroups-{i}" for i in (0, 1, 2, 4)]
    assert page.inner_text("details:has(figure) > summary").endswith(
        ": log, f1 of class 1, mcc, brier"
    )


def test_validation_page_draws_selected_features():
    """Bars where the learner selects, and the index in the caption; no subgroups, no such part."""
    found = tr.validate(LinearSVC(penalty="l1", dual=False, C=0.02), X, Y, replicates=0)
    page = found.to_html()
    assert 'id="figure-features"' in page
    assert f"{found.stability.features.index:.4f}" in page
    assert 'id="subgroups"' not in page
    assert 'id="stability"' in page
