"""An assessment prints, becomes a frame, JSON and HTML, and its differences are what they say."""

import html
import json
import time

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.assessment.assessment import MAX_WIDTH, TABLE_HEADER
from truerisk.exceptions import UnknownName
from truerisk.extend import BadArgument

X, Y = tr.datasets.make_difficult(40, random_state=1)
QUICK = {"cv": ["3-fold"], "outer": "4-fold"}
LEARNERS = {
    "guess": DummyClassifier(strategy="most_frequent"),
    "tree": (DecisionTreeClassifier(random_state=0), {"max_depth": [1, 3]}),
    "bayes": GaussianNB(),
}
HOSTILE = "</script><img src=x onerror=alert(1)>\u202e\x1b[2J'\""


@pytest.fixture(scope="module")
def found():
    """Three learners, assessed once."""
    return tr.assess(LEARNERS, X, Y, **QUICK)


def test_assessment_ranks_by_honest_risk_and_subtracts_selected(found):
    values = {name: risk.value for name, risk in found.risks.items()}
    assert found.ranking == sorted(values, key=values.get)
    assert (found.best, found.runner_up) == tuple(found.ranking[:2])
    for name, one in found.learners.items():
        if name == "tree":
            assert one.selected.value == one.curve.values[one.curve.best]
            assert one.optimism == one.risk.value - one.selected.value
        else:
            assert (one.selected, one.optimism) == (None, None)
            assert one.no_selected == "one setting: nothing was selected"
            assert one.curve[0].value is not None
    constant = np.bincount(Y.astype(int)).argmax() != Y
    assert found.gain().mean == pytest.approx((constant - found.choice.losses).mean())
    assert found.baseline == constant.mean()


def test_difference_is_that_of_the_row_losses(found):
    d = found.risks["guess"].losses - found.risks["tree"].losses
    paired = found.difference("guess", "tree")
    assert paired.value == pytest.approx(d.mean())
    usual = tr.compare(found.risks["guess"], found.risks["tree"], test="bayes")
    assert (paired.test, paired.interval) == ("bayes", usual.interval)
    assert paired.names == ("guess", "tree")
    assert found.difference("tree", "guess").value == -paired.value


def test_difference_of_auc_is_tested_without_row_losses():
    scored = tr.assess({"a": GaussianNB(), "b": LogisticRegression()}, X, Y, scoring="auc", **QUICK)
    found = scored.difference("a", "b")
    assert found.value == pytest.approx(scored.risks["a"].value - scored.risks["b"].value)
    assert (found.test, found.details["factor"]) == ("paired-cv", 1.8)
    assert f"auc of class 1 a − b {found.value:+.4f}, 95 % interval {found.interval} (" in str(
        found
    )
    assert found.interval.low < found.value < found.interval.high
    assert scored.gain() is None
    micro = tr.assess({"a": GaussianNB()}, X, Y, scoring=["f1_micro", "neg_log_loss"], **QUICK)
    assert micro.table()[["low", "high", "interval"]].isna().all(axis=None)
    assert {row[0] for row in micro._scorecard_rows} == {"neg_log_loss"}
    assert "\nf1_micro of 1" not in str(micro)


@pytest.fixture(scope="module")
def in_pairs():
    """Two learners that were tested by pairs, with scores besides."""
    learners = {"bayes": GaussianNB(), "tree": LEARNERS["tree"]}
    return tr.assess(learners, X, Y, cv=["5-fold"], scoring=["zero-one", "auc", "brier", "f1"])


@pytest.mark.parametrize("score", [None, "zero-one", "auc", "brier", "f1"])
def test_difference_in_any_score_is_that_of_risks(in_pairs, score):
    found = in_pairs.difference("bayes", "tree", score=score)
    risks = [in_pairs.risks[name] for name in ("bayes", "tree")]
    if score not in (None, "zero-one"):
        risks = [risk.scores[score] for risk in risks]
    assert found.value == pytest.approx(risks[0].value - risks[1].value)
    assert (found.test, found.interval) == ("paired-cv", (risks[0] - risks[1]).interval)
    assert found.interval.low < found.value < found.interval.high
    assert 0 <= found.probability <= 1
    if score is None:
        (written,) = in_pairs.to_dict()["differences"]
        found = in_pairs.difference(*reversed(in_pairs.ranking))
        assert written["mean"] == found.value >= 0
        ends = {"low": found.interval.low, "high": found.interval.high}
        assert written["interval"] == {**ends, "method": "paired-cv", "confidence_level": 0.95}
        assert written["probability"] == found.probability
        page = in_pairs.to_html()
        for cell in ("{low:+.4f} to {high:+.4f}".format(**ends), f"{found.probability:.3f}"):
            assert f"<bdi>{cell}</bdi>" in page


@pytest.mark.parametrize(
    ("ask", "kind", "message"),
    [
        (lambda a: a.difference("bayes", "trees"), UnknownName, "'trees'; did you mean 'tree'"),
        (lambda a: a.difference("bayes", "tree", score="mcc"), UnknownName, "'mcc' was not asked"),
        (lambda a: a.difference("tree", "tree"), UnknownName, "'tree' is compared with itself"),
        (lambda a: a.difference("bayes", "tree", rope="x"), BadArgument, "rope='x': it is half"),
        (lambda a: a.best_set(score="acu"), UnknownName, "mean 'auc'.*: zero-one, auc, brier, f1"),
    ],
)
def test_assessment_refuses_unknown_learners_and_scores(in_pairs, ask, kind, message):
    with pytest.raises(kind, match=message):
        ask(in_pairs)


def test_difference_rope_is_the_callers(in_pairs):
    narrow, wide = (in_pairs.difference("bayes", "tree", rope=rope) for rope in (0.0, 0.9))
    assert narrow.equivalent == pytest.approx(0)
    assert wide.equivalent > 0.99
    assert sum(wide.probabilities.values()) == pytest.approx(1)


def test_table_has_one_row_per_learner(found):
    frame = found.table()
    assert list(frame["learner"]) == found.ranking
    assert list(frame.columns) == [
        *("learner", "setting", "selected", "value", "low", "high"),
        *("interval", "may_be_best", "optimism", "n_fits", "seconds"),
    ]
    assert frame["value"].tolist() == [found.risks[n].value for n in found.ranking]
    assert (frame["low"] <= frame["value"]).all()


def test_to_json_of_assessment_is_one_strict_document(found, tmp_path):
    text = found.to_json(tmp_path / "a.json")
    content = json.loads(text, parse_constant=pytest.fail)
    assert json.loads((tmp_path / "a.json").read_text("utf-8")) == content
    assert content["schema"] == "truerisk.assessment/2"
    assert content["best"] == found.best
    assert content["conclusion"] == found.conclusion
    assert content["choice"]["value"] == found.choice.value
    assert content["not_assessed"] == []
    assert (content["tuned_by"], content["tested_by"], content["scoring"]) == (
        *("3-fold", "4-fold", "zero-one"),
    )
    for name, one in content["learners"].items():
        assert one["risk"]["value"] == found.risks[name].value
        assert one["optimism"] == found.learners[name].optimism
        assert len(one["outer"]) == 4
        assert tr.RiskEstimate.from_dict(one["risk"]).value == found.risks[name].value


def test_str_of_assessment_is_table_legend_conclusion_and_findings(found):
    lines = str(found).splitlines()
    assert lines[0] == "zero-one risk (lower is better) of 3 tuned learners on 40 rows"
    assert lines[2].split() == " ".join(TABLE_HEADER).split()
    assert [line.split()[0] for line in lines[4:7]] == found.ranking
    assert lines[8] == ("selected: the risk that tuning minimised (3-fold on all rows, rule min)")
    assert lines[9] == (
        "honest: risk on rows used neither for tuning nor for fitting "
        "(4-fold; 95 % interval: beta-cv)"
    )
    assert lines[10] == "best?: whether these rows leave open that it is the best (95 %, one-sided)"
    assert lines[11] == "optimism: honest − selected"
    assert lines[12] == "guess, bayes: one setting: nothing was selected"
    end = lines.index("", 14)
    assert " ".join(lines[14:end]) == found.conclusion
    assert " ".join(lines[end + 1 :]) == " ".join(map(str, found.findings))
    assert max(map(len, lines)) <= MAX_WIDTH


def test_str_of_assessment_does_not_call_fixed_learners_tuned():
    found = tr.assess({"guess": LEARNERS["guess"], "bayes": GaussianNB()}, X, Y, **QUICK)
    lines = str(found).splitlines()
    assert lines[0] == "zero-one risk (lower is better) of 2 learners on 40 rows"
    assert lines[7].startswith("honest: risk on rows not used for fitting (4-fold")
    assert lines[9] == "guess, bayes: one setting: nothing was selected"
    inside = GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2]}, cv=2)
    assert "of 1 tuned learner on" in tr.assess({"a": inside}, X, Y, **QUICK).title


def test_str_of_assessment_cuts_long_settings():
    grid = {"strategy": ["constant"], "constant": [0], "random_state": [4_000_000_000]}
    found = tr.assess({"n" * 60: (DummyClassifier(), grid)}, X, Y, **QUICK)
    table = str(found).splitlines()[2:5]
    assert max(map(len, table)) <= MAX_WIDTH
    assert "…" in table[2]
    whole = "constant=0, random_state=4000000000, strategy=constant"
    assert found.rows()[0][1] == found.table()["setting"][0] == whole


def test_html_of_assessment_escapes_hostile_names():
    grid = {"strategy": ["most_frequent"], "constant": [HOSTILE]}
    found = tr.assess({HOSTILE: (DummyClassifier(), grid)}, X, Y, **QUICK)
    page = found._repr_html_()
    assert "<img" not in page
    assert "<script" not in page
    assert "</script" not in page
    assert html.escape("</script>") in page
    assert html.escape(found.conclusion) in page
    assert html.escape(found.title) in page
    assert all(line.isprintable() for line in str(found).splitlines())
    text = found.to_json()
    assert text.isascii()
    assert list(json.loads(text)["learners"]) == [HOSTILE]


@pytest.mark.parametrize("loss", [None, "brier", "auc"])
def test_assessment_is_shown_without_further_fits(loss, tmp_path):
    class Counting(GaussianNB):
        seen = 0

        def fit(self, X, y, sample_weight=None):
            time.sleep(0.002)
            Counting.seen += 1
            return super().fit(X, y)

    learners = {"tuned": (Counting(), {"var_smoothing": [1e-9, 1e-3]}), "as given": Counting()}
    found = tr.assess(learners, X, Y, scoring=loss, **QUICK)
    made = Counting.seen
    assert made == sum(one.n_fits for one in found.learners.values())
    for one in found.learners.values():
        assert None not in (one.apparent, one.roc, one.calibration)
        assert one.seconds >= 0.002 * one.n_fits
    found.to_json(tmp_path / "found.json")
    found.to_html(tmp_path / "found.html")
    found.plot_ladder()
    found.plot_roc(learner="tuned")
    assert found.findings is not None
    assert str(found)
    assert found._repr_html_()
    assert Counting.seen == made


def test_optimism_of_zero_is_not_negative():
    curve = tr.risk_curve(GaussianNB(), {"var_smoothing": [1e-9]}, X, Y, cv="4-fold")
    plan = curve.evaluation.plan
    same = [
        (plan.train_rows(plan.fit[question])[0], plan.test_rows(question)[0])
        for question in range(plan.n_questions)
    ]
    both = GaussianNB(), {"var_smoothing": [1e-9, 1e-8]}
    found = tr.assess({"a": both}, X, Y, cv=["4-fold"], outer=same)
    assert found.learners["a"].optimism == 0
    assert found.rows()[0][TABLE_HEADER.index("optimism")] == "+0.0000"
