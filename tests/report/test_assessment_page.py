"""The page says what the assessment found, in one file of a small size."""

import copy
import re

import numpy as np
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier
from tests.report.conftest import draw_any, told

import truerisk as tr
from truerisk.core.formats import format_number


def test_assessment_page_of_many_rows_and_settings_stays_small(content):
    """Thresholds, points and rows of tables are capped: 3000 rows and 300 settings fit, too."""
    X, y = tr.datasets.make_simple(3000, random_state=0)
    content = copy.deepcopy(content)
    for learner in content["learners"].values():
        for curve in (learner["curve"], *learner["criteria"].values()):
            first = curve["estimates"][0]
            more = [{**first, "params": {"n": i}} for i in range(300)]
            curve["estimates"], curve["best"] = more, 7
    content["roc"] = tr.RocCurve.from_scores(y, X[:, 0]).to_dict()
    page = draw_any(content)
    assert len(page.encode()) < 300_000
    assert "240 further rows are not on the page" in page


def test_assessment_page_begins_with_the_conclusion(found, content):
    """Before any table: the number to report, the words of the assessment, what is missing."""
    page = told(found.to_html().partition("<table>")[0])
    assert format_number(found.choice.value) in page
    for sentence in found.conclusion.split(". "):
        assert sentence.rstrip(".") in page
    page = draw_any({**content, "not_assessed": ["forest"]})
    assert "not assessed, because interrupted: forest" in page


def test_assessment_page_of_regression():
    """No thresholds, no calibration; beside a risk of thousands one decimal is enough."""
    X, _ = tr.datasets.make_simple(40, random_state=0)
    learners = {"line": LinearRegression(), "ridge": (Ridge(), {"alpha": [0.01, 1.0, 100.0]})}
    y = 1000 * X[:, 0] + 300 * X[:, 1] ** 2
    found = tr.assess(learners, X, y, cv=["3-fold"], outer="4-fold")
    page = found.to_html()
    assert 'id="rates-data"' not in page
    assert "C, logarithmic" not in page
    assert "alpha, logarithmic" in page
    assert "optimism +" in page or "optimism -" in page
    row = re.sub(r"<[^>]*>", "", page.partition('<div class="main">')[2]).split("line", 1)[1]
    assert found.risks["line"].value > 1000
    assert not re.search(r"[+-]\d+\.\d{4}", row.partition("selected:")[0])


def test_assessment_page_with_a_validation_has_no_two_sections_of_one_title():
    """The validation's calibration takes the place of the assessment's own, the ROC stays."""
    X, two = tr.datasets.make_simple(60, random_state=0)
    three = np.arange(60) % 3
    for y, also in ((two, False), (two, True), (three, True)):
        page = tr.assess(["lda"], X, y, validate=also).to_html()
        titles = re.findall(r"<h[23] id=[^>]*>([^<]*)<", page)
        assert "Calibration" in titles
        assert len(set(titles)) == len(titles)
        assert len(re.findall('<figure id="[^"]*roc"', page)) == (y is two)
        assert ("The ROC curve is shown above." in page) == (y is two and also)


def test_assessment_page_of_a_learner_that_tunes_inside():
    """What is known of its other scores is of the fit without tuning; its table has none, too."""
    X, y = tr.datasets.make_simple(40, random_state=0)
    inside = GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=2)
    found = tr.assess(
        {"inside": inside}, X, X[:, 0] + 0.1 * y, scoring=["squared", "absolute"], outer="4-fold"
    )
    (row,) = [row for row in found.reported_scores() if row[0] == "absolute"]
    assert row[2] is None
    drawn = found.to_html().partition("<bdi>absolute (lower is better)<")[2].partition("</tr>")[0]
    cells = re.findall("<bdi>([^<]*)<", drawn)
    assert cells[:2] == ["inside", format_number(row[3].value)]  # nothing was selected


def test_assessment_page_of_one_learner_without_a_grid():
    """No choice, no curve, no stability, and nothing was tuned: the rest is there."""
    X, y = tr.datasets.make_simple(40, random_state=0)
    found = tr.assess({"one": tr.models.FisherClassifier()}, X, y, outer="4-fold")
    page = found.to_html()
    assert "Assessment of 1 learner<" in page
    assert "risk on rows not used for fitting" in page
    assert "fitted without it" in page
    assert not re.search(r"tuned|tuning", told(page.partition("<h2>How to repeat it")[0]))
    assert "Risk curves" not in page


def test_assessment_page_draws_differences_of_earlier_versions(content):
    """They had a mean, a standard error and whether it exceeds its noise; now a reason for none."""
    old = {"learner": "tree", "mean": 0.1, "std_error": 0.04, "exceeds_noise": True}
    new = {**old, "interval": None, "probability": None, "rope": None, "std_error": None}
    new["notes"] = ["no row tells the two apart"]
    for written in (old, new):
        page = told(draw_any({**content, "differences": [written]}))
        assert re.search(r"tree\s*\+0\.1000\s*none", page)
        said = "tree, compared with the best: no row tells the two apart" in page
        assert said == ("notes" in written)


def test_assessment_page_needs_no_rows(found):
    """What is drawn without the losses of rows and splits is the same page; the JSON has them."""
    whole = found.to_dict()
    assert len(whole["learners"]["knn"]["risk"]["losses"]) == found.n_rows
    assert draw_any(without_rows(whole)) == found.to_html()


def without_rows(content):
    """The same where no estimate has losses of rows or risks of splits."""
    if isinstance(content, list):
        return [without_rows(one) for one in content]
    if not isinstance(content, dict):
        return content
    rows = dict.fromkeys({"losses", "loss_rows", "split_risks"} & content.keys())
    return {name: without_rows(one) for name, one in content.items()} | rows


X, Y = tr.datasets.make_difficult(60, random_state=0)
LABELS = np.where(Y == 1, "ill", "healthy")
COUNTED = f"60 rows ({(Y == 0).sum()} 'healthy', {(Y == 1).sum()} 'ill')".replace("'", "&#39;")
GRID = {"max_depth": [1, 2]}
TREE = DecisionTreeClassifier(random_state=0)


def test_page_counts_its_rows():
    """Rows, with those of each class where they are known; older documents lack these."""
    fitted = GridSearchCV(TREE, GRID, cv=3).fit(X, LABELS)
    assessed = tr.assess({"tree": (TREE, GRID)}, X, LABELS)
    audit = tr.audit(fitted, X, LABELS, replicates=20)
    validation = tr.validate(TREE, X, LABELS, replicates=0)
    pages = {COUNTED: [assessed, audit], "60 rows, event ill": [validation]}
    pages["60 rows"] = [tr.estimate_risk(TREE, X, LABELS)]
    for rows, found in pages.items():
        assert all(rows in one.to_html() for one in found)
    again = tr.Audit.from_json(audit.to_json())
    assert (again.n_rows, again.class_counts) == (60, audit.class_counts)
    content = assessed.to_dict()
    del content["class_sizes"]
    assert "2 classes" in tr.Assessment.from_dict(content).to_html()
