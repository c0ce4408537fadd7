"""An assessment prints, becomes a frame, JSON and HTML, and its differences are what they say."""

from __future__ import annotations

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
from truerisk.assessment.assessment import HEAD, WIDEST
from truerisk.core.errors import BadArgument, NotWritten, UnknownName

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


def test_the_best_is_the_smallest_honest_risk(found):
    """Ranked by the honest risk, not by the one that was minimised."""
    values = {name: risk.value for name, risk in found.risks.items()}
    assert found.ranking == sorted(values, key=values.get)
    assert found.best == found.ranking[0]
    assert found.runner_up == found.ranking[1]


def test_optimism_is_honest_minus_selected(found):
    """For every learner that had a choice, with its sign."""
    for one in found.learners.values():
        if len(one.curve) > 1:
            assert one.selected.value == one.curve.values[one.curve.best]
            assert one.optimism == one.risk.value - one.selected.value


def test_one_setting_was_not_selected(found):
    """No selected risk, no optimism, and a sentence that says why; the curve has its risk."""
    fixed = [name for name, one in found.learners.items() if len(one.curve) == 1]
    for name in fixed:
        one = found.learners[name]
        assert (one.selected, one.optimism) == (None, None)
        assert one.no_selected == "one setting: nothing was selected"
        assert one.curve[0].value is not None
    assert f"{', '.join(fixed)}: one setting: nothing was selected" in str(found)


def test_a_difference_is_that_of_the_row_losses(found):
    """Where the splits are no pairs, by the correlated t of their differences; a − b by name."""
    d = found.risks["guess"].losses - found.risks["tree"].losses
    paired = found.difference("guess", "tree")
    assert paired.value == pytest.approx(d.mean())
    usual = tr.compare(found.risks["guess"], found.risks["tree"], test="bayes")
    assert (paired.test, paired.interval) == ("bayes", usual.interval)
    assert paired.names == ("guess", "tree")
    assert found.difference("tree", "guess").value == -paired.value


def test_a_difference_of_areas_needs_no_losses_of_rows():
    """AUC rates whole sets: what each row does to it is paired, with the factor of one drawing."""
    scored = tr.assess({"a": GaussianNB(), "b": LogisticRegression()}, X, Y, scoring="auc", **QUICK)
    found = scored.difference("a", "b")
    assert found.value == pytest.approx(scored.risks["a"].value - scored.risks["b"].value)
    assert (found.test, found.details["factor"]) == ("paired-cv", 1.8)
    assert f"auc of 1 a − b {found.value:+.4f}, 95 % interval {found.interval} (" in str(found)
    assert found.interval.low < found.value < found.interval.high
    assert scored.gain() is None


@pytest.fixture(scope="module")
def in_pairs():
    """Two learners that were tested by pairs, with scores besides."""
    learners = {"bayes": GaussianNB(), "tree": LEARNERS["tree"]}
    return tr.assess(learners, X, Y, cv=["5-fold"], scoring=["zero-one", "auc", "brier", "f1"])


@pytest.mark.parametrize("score", [None, "zero-one", "auc", "brier", "f1"])
def test_a_difference_in_any_score(in_pairs, score):
    """It is the difference of the two honest scores, by the pairs, as of two searches."""
    found = in_pairs.difference("bayes", "tree", score=score)
    risks = [in_pairs.risks[name] for name in ("bayes", "tree")]
    if score not in (None, "zero-one"):
        risks = [risk.scores[score] for risk in risks]
    assert found.value == pytest.approx(risks[0].value - risks[1].value)
    assert (found.test, found.interval) == ("paired-cv", (risks[0] - risks[1]).interval)
    assert found.interval.low < found.value < found.interval.high
    assert 0 <= found.probability <= 1
    assert in_pairs.difference("bayes", "tree", score=score) == found


def test_the_region_of_equivalence_is_the_callers(in_pairs):
    """A wide one holds nearly all of the posterior; the three probabilities add to 1."""
    narrow, wide = (in_pairs.difference("bayes", "tree", rope=rope) for rope in (0.0, 0.9))
    assert narrow.equivalent == pytest.approx(0)
    assert wide.equivalent > 0.99
    assert sum(wide.probabilities.values()) == pytest.approx(1)


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        (("bayes", "trees"), "no learner 'trees'; did you mean 'tree'"),
        (("bayes", "tree", {"score": "mcc"}), "score='mcc' was not asked of these fits"),
        (("tree", "tree"), "'tree' is compared with itself"),
    ],
)
def test_unknown_learners_and_scores_are_refused(in_pairs, wish, message):
    """By name, with what there is."""
    *names, options = wish if isinstance(wish[-1], dict) else (*wish, {})
    with pytest.raises(UnknownName, match=message):
        in_pairs.difference(*names, **options)


def test_a_region_is_a_number(in_pairs):
    """As `tr.compare` says it."""
    with pytest.raises(BadArgument, match="rope='x': it is half the width of a region"):
        in_pairs.difference("bayes", "tree", rope="x")


def test_a_score_of_the_best_set_is_known_by_name(in_pairs):
    """A misspelt one is refused with the nearest."""
    known = "zero-one, auc, brier, f1"
    with pytest.raises(UnknownName, match=rf"did you mean 'auc'\? Known: {known}\."):
        in_pairs.best_set(score="acu")


def test_differences_are_written_and_drawn(in_pairs):
    """Each learner minus the best one, with interval and probability, in JSON and on the page."""
    best, other = in_pairs.ranking
    (written,) = in_pairs.to_dict()["differences"]
    found = in_pairs.difference(other, best)
    assert written["mean"] == found.value >= 0
    assert written["interval"] == {
        "low": found.interval.low,
        "high": found.interval.high,
        "method": "paired-cv",
        "confidence_level": 0.95,
    }
    assert written["probability"] == found.probability
    ends = f"{found.interval.low:+.4f} to {found.interval.high:+.4f}"
    page = in_pairs.to_html()
    for cell in (ends, f"{found.probability:.3f}"):
        assert f"<bdi>{cell}</bdi>" in page


def test_the_gain_is_over_the_best_constant(found):
    """Constant losses minus those of the choice, row by row."""
    constant = np.bincount(Y.astype(int)).argmax() != Y
    d = constant - found.choice.losses
    assert found.gain().mean == pytest.approx(d.mean())
    assert found.baseline == constant.mean()


def test_the_frame_has_one_row_per_learner(found):
    """The best first, numbers as numbers."""
    frame = found.table()
    assert list(frame["learner"]) == found.ranking
    assert list(frame.columns) == [
        *("learner", "setting", "selected", "value", "low", "high"),
        *("interval", "may_be_best", "optimism", "n_fits", "seconds"),
    ]
    assert frame["value"].tolist() == [found.risks[n].value for n in found.ranking]
    assert (frame["low"] <= frame["value"]).all()


def test_the_frame_without_intervals():
    """Where there is none the cells are empty, not invented."""
    frame = tr.assess({"a": GaussianNB()}, X, Y, scoring="f1_micro", **QUICK).table()
    assert frame[["low", "high", "interval"]].isna().all(axis=None)


@pytest.mark.parametrize("write", ["to_html", "to_json"])
def test_a_place_that_is_not_there_is_a_sentence(found, write):
    """The missing folder is named; callers of files may expect an OSError."""
    with pytest.raises(OSError, match="there is no folder 'no/such'; make it") as refused:
        getattr(found, write)("no/such/a.html")
    assert isinstance(refused.value, NotWritten)


def test_json_is_one_strict_document(found, tmp_path):
    """The schema is named, the numbers are those of the object, the file holds the text."""
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


def test_json_holds_the_criteria():
    """Curves by further methods are in the document."""
    one = {"tree": LEARNERS["tree"]}
    found = tr.assess(one, X, Y, cv=["3-fold", "holdout"], outer="4-fold")
    content = found.to_dict()["learners"]["tree"]["criteria"]
    assert list(content) == ["holdout"]
    assert [e["value"] for e in content["holdout"]["estimates"]] == pytest.approx(
        found.criteria["tree"]["holdout"].values
    )


def test_the_printed_table(found):
    """Title, heads, best first, meanings, conclusion; nothing wider than a hundred columns."""
    lines = str(found).splitlines()
    assert lines[0] == "zero-one risk (lower is better) of 3 tuned learners on 40 rows"
    assert lines[2].split() == " ".join(HEAD).split()
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
    assert max(map(len, lines)) <= WIDEST


def test_learners_of_one_setting_are_not_called_tuned():
    """No setting was chosen: neither title nor meanings speak of tuning."""
    found = tr.assess({"guess": LEARNERS["guess"], "bayes": GaussianNB()}, X, Y, **QUICK)
    lines = str(found).splitlines()
    assert lines[0] == "zero-one risk (lower is better) of 2 learners on 40 rows"
    assert lines[7].startswith("honest: risk on rows not used for fitting (4-fold")
    assert lines[9] == "guess, bayes: one setting: nothing was selected"
    inside = GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2]}, cv=2)
    assert "of 1 tuned learner on" in tr.assess({"a": inside}, X, Y, **QUICK).title


def test_long_settings_are_cut_in_print_and_whole_elsewhere():
    """The table keeps to its width; rows() and the frame have the whole setting."""
    grid = {"strategy": ["constant"], "constant": [0], "random_state": [4_000_000_000]}
    found = tr.assess({"n" * 60: (DummyClassifier(), grid)}, X, Y, **QUICK)
    table = str(found).splitlines()[2:5]
    assert max(map(len, table)) <= WIDEST
    assert "…" in table[2]
    whole = "constant=0, random_state=4000000000, strategy=constant"
    assert found.rows()[0][1] == found.table()["setting"][0] == whole


def test_a_zero_is_not_negative():
    """An optimism of nothing has a plus."""
    both = GaussianNB(), {"var_smoothing": [1e-9, 1e-8]}
    found = tr.assess({"a": both}, X, Y, cv=["4-fold"], outer=[*splits_of("4-fold")])
    assert found.learners["a"].optimism == 0
    assert found.rows()[0][HEAD.index("optimism")] == "+0.0000"


def splits_of(method):
    """The very splits that tuning draws from seed 0."""
    plan = tr.risk_curve(GaussianNB(), {"var_smoothing": [1e-9]}, X, Y, cv=method).evaluation.plan
    for question in range(plan.n_questions):
        yield plan.train_rows(plan.fit[question])[0], plan.test_rows(question)[0]


def test_hostile_names_stay_text():
    """No name or setting becomes markup or moves a cursor; JSON gives it back as it was."""
    grid = {"strategy": ["most_frequent"], "constant": [HOSTILE]}
    found = tr.assess({HOSTILE: (DummyClassifier(), grid)}, X, Y, **QUICK)
    page = found._repr_html_()
    assert "<img" not in page
    assert "<script" not in page
    assert "</script" not in page
    assert html.escape("</script>") in page
    assert all(line.isprintable() for line in str(found).splitlines())
    text = found.to_json()
    assert text.isascii()
    assert list(json.loads(text)["learners"]) == [HOSTILE]


def test_html_has_every_learner_and_the_conclusion(found):
    """The notebook shows what print shows."""
    page = found._repr_html_()
    assert page.count("<tr>") == 4
    assert html.escape(found.conclusion) in page
    assert html.escape(found.title) in page


def test_an_assessment_is_frozen(found):
    """A result is a value."""
    with pytest.raises(AttributeError):
        found.best = "guess"


@pytest.mark.parametrize("loss", [None, "brier", "auc"])
def test_an_assessment_is_data(loss, tmp_path):
    """Every fit is made by `assess` and counted: what is written, drawn and printed makes none."""

    class Counting(GaussianNB):
        seen = 0

        def fit(self, X, y, sample_weight=None):
            Counting.seen += 1
            return super().fit(X, y)

    learners = {"tuned": (Counting(), {"var_smoothing": [1e-9, 1e-3]}), "as given": Counting()}
    found = tr.assess(learners, X, Y, scoring=loss, **QUICK)
    made = Counting.seen
    assert made == sum(one.n_fits for one in found.learners.values())
    for one in found.learners.values():
        assert one.apparent is not None
        assert one.roc is not None
        assert one.calibration is not None
    found.to_json(tmp_path / "found.json")
    found.to_html(tmp_path / "found.html")
    found.plot_ladder()
    found.plot_roc(learner="tuned")
    assert found.findings is not None
    assert str(found)
    assert found._repr_html_()
    assert Counting.seen == made


def test_the_time_of_every_fit_is_told():
    """Also that of the apparent risk and of the scores of rows that were held out."""

    class Slow(GaussianNB):
        def fit(self, X, y, sample_weight=None):
            time.sleep(0.1)
            return super().fit(X, y)

    one = tr.assess({"slow": Slow()}, X, Y, **QUICK).learners["slow"]
    assert one.seconds >= 0.1 * one.n_fits


def test_each_score_is_listed_once():
    """The score that chooses has the table of learners, and the card holds the others."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
    found = tr.assess({"bayes": GaussianNB()}, X, y, scoring=["roc_auc", "neg_log_loss"])
    assert {row[0] for row in found._card} == {"neg_log_loss"}
    assert "\nroc_auc of 1" not in str(found)
