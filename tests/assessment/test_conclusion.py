"""What a reader is told: the conclusion, what must never be claimed, and what makes it fragile."""

import re
from dataclasses import replace

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import truerisk as tr
from truerisk.exceptions import DuplicateRowsWarning

QUICK = {"cv": ["3-fold"], "outer": "4-fold"}
TREE = (DecisionTreeClassifier(random_state=0), {"max_depth": [1, 3]})
KNN = (KNeighborsClassifier(), {"n_neighbors": [1, 5]})
CLEAR = tr.datasets.make_simple(48, random_state=2)
"""Two classes that one threshold tells apart, up to some rows."""


def noise(seed, n=48):
    """Features that have nothing to do with the classes."""
    draw = np.random.default_rng(seed)
    return draw.normal(size=(n, 3)), np.where(draw.random(n) < 0.6, "yes", "no")


def test_conclusion_of_clear_winner():
    bayes = GaussianNB(), {"var_smoothing": [1e-9, 1e-8]}
    learners = {"bayes": bayes, "guess": DummyClassifier(strategy="most_frequent")}
    said = tr.assess(learners, *CLEAR, **QUICK).conclusion
    assert said == (
        "Report 0.1250 (12.5 % wrong answers, 6 of 48; 95 % interval 0.0386 to 0.2889) for new "
        "rows: the "
        "choice among the 2 learners was repeated in every split. Use bayes (var_smoothing=1e-09), "
        "whose own risk is 0.1250 (95 % interval 0.0386 to 0.2889); the risk by which its "
        "setting was chosen was 0.1458, and always predicting the most frequent class has 0.5000. "
        "Of 100 new rows about 12 get a wrong answer (4 to 29), 50 by always predicting the most "
        "frequent class. At 95 % confidence (one-sided), no other learner is as good."
    )


@pytest.mark.parametrize("noisy", [False, True])
def test_conclusion_reports_further_scores(noisy):
    X, y = noise(1) if noisy else CLEAR
    scores = {"scoring": ["accuracy", "f1", "neg_log_loss"]}
    found = tr.assess({"bayes": GaussianNB(), "knn": KNN}, X, y, positive=min(y), **scores, **QUICK)
    f1, log = (found.report.scores[name] for name in ("f1", "neg_log_loss"))
    low, high = f1.interval.low, f1.interval.high
    label = "'no'" if noisy else "class 0"
    told = f"f1 of {label} {f1.value:.4f} (95 % interval {low:.4f} to {high:.4f}) and neg_log_loss"
    first, _, further = found.conclusion.partition(" Report also ")
    assert log.value < 0
    assert log.interval is None  # neighbours of one class give the other one probability 0
    assert further.startswith(f"{told} {log.value:.4f} (no interval)")
    assert "accuracy" not in further
    assert ("is not shown to beat" in first) == noisy


def test_conclusion_bounds_errors_if_no_row_was_wrong():
    y = np.arange(60) % 2
    X = y[:, None] + np.random.default_rng(0).normal(0, 0.01, (60, 2))
    said = tr.assess({"bayes": GaussianNB(), "knn": KNN}, X, y).conclusion
    assert (
        " No tested row got a wrong answer; of 1000 new rows at most about 72 do, 500 by always "
        "predicting the most frequent class."
    ) in said
    assert "about 0" not in said


@pytest.mark.parametrize("seed", range(4))
def test_conclusion_on_noise_claims_no_gain(seed):
    learners = {"knn": KNN, "tree": TREE, "bayes": GaussianNB()}
    found = tr.assess(learners, *noise(seed), **QUICK)
    said = found.conclusion
    assert said.startswith(
        "Choosing the best of these 3 learners is not shown to beat always predicting the most "
        "frequent class "
    )
    assert "Use " not in said
    assert "ahead" not in said
    assert tr.core.formats.format_number(found.baseline) in said


def test_conclusion_rests_on_the_choice_and_not_on_the_best_of_many():
    X = np.random.default_rng(0).normal(size=(40, 30))
    y = np.repeat([0, 1], 20)
    learners = {f"stump {j}": OneColumn(j) for j in range(30)}
    found = tr.assess(learners, X, y, **QUICK)
    lucky = replace(found, choice=None).gain()
    assert lucky.mean > 0
    assert lucky.exceeds_noise(0.95)
    assert found.conclusion.startswith("Choosing the best of these 30 learners is not shown to")


class OneColumn(DecisionTreeClassifier):
    """A stump on one column."""

    def __init__(self, column=0):
        super().__init__(max_depth=1, random_state=0)
        self.column = column

    def fit(self, X, y):
        return super().fit(X[:, [self.column]], y)

    def predict(self, X):
        return super().predict(X[:, [self.column]])


def test_conclusion_of_regression_compares_with_the_mean():
    draw = np.random.default_rng(0)
    X = draw.normal(size=(40, 2))
    y = 100 * X[:, 0] + draw.normal(size=40)
    learners = {"line": LinearRegression(), "tree": DecisionTreeRegressor(random_state=0)}
    said = tr.assess(learners, X, y, **QUICK).conclusion
    assert said.startswith("Report 1.0515 (squared; 95 % interval ")
    assert "Use line (as given), whose own risk is 1.0515 (95 % interval " in said
    assert "and always predicting the mean has 9465." in said
    assert "% wrong answers" not in said
    useless = tr.assess(learners, X, draw.normal(size=40), **QUICK).conclusion
    assert useless.startswith("Choosing the best of these 2 learners is not shown to beat always")


def test_conclusion_without_interval_says_that_gain_may_be_chance():
    learners = {"bayes": GaussianNB(), "tree": TREE}
    asked = {**QUICK, "outer": tr.methods.MonteCarlo(5)}
    said = tr.assess(learners, *CLEAR, scoring="auc", **asked).conclusion
    assert re.match(
        r"Report 0\.\d{4} \(auc of class 1; no interval\) for new rows: the choice", said
    )
    assert (
        "whose own score is 0.9125 (no interval, for 'auc' is computed from whole test sets" in said
    )
    assert "ranking at random has 0.5000 (without an interval, the gain may be chance)." in said
    assert "At 95 % confidence" in said
    assert "Of 100" not in said


def test_conclusion_cuts_and_escapes_hostile_names():
    name, label = "a\x1b[31m\u202e</script>\n" + "x" * 500, "\x07" + "s" * 900
    grid = {"strategy": ["most_frequent"], "constant": [label]}
    found = tr.assess({name: (DummyClassifier(), grid)}, *CLEAR, **QUICK)
    assert found.conclusion.isprintable()
    assert len(found.conclusion) < 700


@pytest.mark.parametrize(("loss", "constant"), [("balanced-accuracy", 0.5), ("f1", None)])
def test_conclusion_compares_confusion_score_with_one_class(loss, constant):
    X, y = noise(1)
    found = tr.assess({"knn": KNN}, X, y, scoring=loss, positive="yes", **QUICK)
    share = np.mean(y == "yes")
    expected = 2 * share / (1 + share) if constant is None else constant
    assert found.baseline == pytest.approx(expected)
    assert found.conclusion.startswith(
        f"knn is not shown to beat always predicting the same class ({expected:.4f})"
    )


def test_conclusion_keeps_digits_of_small_units():
    draw = np.random.default_rng(0)
    X = draw.normal(size=(60, 2))
    y = 1e-3 * (X[:, 0] + draw.normal(size=60))
    found = tr.assess({"line": LinearRegression()}, X, y, **QUICK)
    risk, table = found.risks["line"], found.curves["line"]
    assert f"a risk of {risk.value:.4g} (squared; 95 % interval {risk.interval.low:.4g}" in (
        found.conclusion
    )
    assert "0.0000" not in found.conclusion
    for view in (risk._repr_html_(), str(table)):
        assert " 0.0000" not in view
        assert ">0.0000" not in view


def test_conclusion_of_one_learner_names_no_rivals_and_no_choice():
    said = tr.assess({"knn": KNN}, *CLEAR, **QUICK).conclusion
    assert said.count(". ") == 1
    assert ". Of 100 new rows about " in said
    assert said.startswith("Use knn (n_neighbors=")
    assert "Report" not in said
    said = tr.assess({"knn": KNN}, *noise(0), **QUICK).conclusion
    assert said.startswith("knn is not shown to beat always predicting the most frequent class (")
    found = tr.assess({"bayes": GaussianNB()}, *noise(5), scoring="auc", **QUICK)
    assert found.risks["bayes"].value <= 0.5
    assert found.conclusion.startswith("bayes is not shown to beat ranking at random (0.5000)")
    weighted = tr.assess({"tree": TREE}, *CLEAR, sample_weight=np.linspace(0.1, 10, 48), **QUICK)
    assert "% wrong answers" in weighted.conclusion
    assert "new rows about" not in weighted.conclusion


def test_conclusion_names_rivals_that_may_be_best():
    three = tr.assess({"one": KNN, "two": KNN, "three": KNN}, *CLEAR, **QUICK)
    assert (
        "At 95 % confidence (one-sided), the best learner may also be two (risk +0.0000) or three "
        "(risk +0.0000)."
    ) in three.conclusion
    assert three.best_set() == three.ranking
    learners = {"bayes": GaussianNB(), "tree": TREE, "again": GaussianNB(var_smoothing=1e-8)}
    said = tr.assess(learners, *CLEAR, scoring="auc", **QUICK).conclusion
    assert re.search(r"may also be \w+ \(auc of class 1 [+-]\d\.\d{4}\)", " ".join(said.split()))
    said = tr.assess({"knn": KNN, "tree": TREE}, *CLEAR, scoring="accuracy", **QUICK).conclusion
    assert re.match(r"Report 0\.\d{4} \(accuracy; 95 % interval 0\.", said)
    assert "wrong answers" not in said


def test_conclusion_says_why_there_is_no_interval_or_no_risk():
    X = np.repeat([[0.0], [5.0]], 20, axis=0) + np.random.default_rng(0).random((40, 1))
    y = np.repeat([0, 1], 20)
    learners = {"svm": LinearSVC(), "tree": TREE}
    said = tr.assess(learners, X, y, **QUICK).conclusion
    assert "Report 0.0000 (0.0 % wrong answers, 0 of 40; 95 % interval 0.0000 to 0.1057)" in said
    said = tr.assess(learners, X, y, interval="wald", **QUICK).conclusion
    assert "whose own risk is 0.0000 (no interval, for every row has the same" in said
    engine = tr.engines.Generic(error="warn")
    model = DummyClassifier(strategy="constant", constant=7)
    with pytest.warns(tr.exceptions.FitFailedWarning):
        found = tr.assess({"bad": model}, X, y, engine=engine, **QUICK)
    assert found.conclusion == "No learner has a risk: fits failed for all of them."


MANY = KNeighborsClassifier(), {"n_neighbors": [1, 3, 5, 7, 9, 11, 13, 15]}


def found_in(X, y, learners=None, **options):
    """The assessment of two learners and the codes of its findings."""
    learners = learners or {"bayes": GaussianNB()}
    found = tr.assess(learners, X, y, cv=["3-fold"], outer="5-fold", **options)
    return found, [finding.code for finding in found.findings]


@pytest.fixture(scope="module")
def sound():
    """Two clear clouds of 300 rows."""
    return tr.datasets.make_simple(300, random_state=0)


def test_findings_name_class_of_few_rows(sound):
    X, y = sound
    for size in (11, 12):
        kept = np.r_[np.flatnonzero(y == y[0]), np.flatnonzero(y != y[0])[:size]]
        _, codes = found_in(X[kept], y[kept])
        if size == 11:
            assert "few-events" in codes
        else:
            assert "few-events" not in codes


def test_findings_name_setting_that_few_splits_choose():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(60, 4)), np.arange(60) % 2
    codes = [found_in(X, y, {"knn": MANY}, random_state=seed)[1] for seed in range(4)]
    assert any("setting-unstable" in of_seed for of_seed in codes)


def test_findings_name_leaking_columns_and_copies(sound):
    X, y = sound
    told = np.column_stack([X, y == y[0]])
    found, codes = found_in(told, y)
    assert "column-predicts-alone" in codes
    found = replace(found, column_names=("age", "size", "outcome code"))
    assert "outcome code" in found.findings[0].sentence
    with pytest.warns(DuplicateRowsWarning):
        _, codes = found_in(np.r_[X, X[:40]], np.r_[y, y[:40]])
    assert "duplicate-rows" in codes


def test_findings_of_sound_answer_are_none_and_of_few_rows_a_wide_interval(sound):
    found, codes = found_in(*sound)
    assert codes == []
    assert "[" not in str(found).splitlines()[-1]
    found, codes = found_in(*tr.datasets.make_simple(20, random_state=0))
    assert "interval-wide" in codes
    assert "About 80 rows" in " ".join(str(found).split())
    assert [one["code"] for one in found.to_dict()["findings"]] == codes
    assert "are too few for a precise risk" in found.to_html()
    assert "few-rows-per-fold" not in codes


def test_findings_flag_selection_outside_and_not_inside():
    X, y = np.random.default_rng(0).normal(size=(50, 2000)), np.arange(50) % 2
    inside = make_pipeline(SelectKBest(k=20), KNeighborsClassifier())
    grid = {"kneighborsclassifier__n_neighbors": [1, 3, 5]}
    found, codes = found_in(X, y, {"knn": (inside, grid)})
    assert found.conclusion.startswith("knn is not shown to beat always predicting")
    assert "selection-outside" not in codes
    found, codes = found_in(SelectKBest(k=20).fit(X, y).transform(X), y)
    assert found.learners["bayes"].risk.value < 0.2
    assert "selection-outside" in codes


@pytest.mark.parametrize("outer", [".632", ".632+", "optimism", "bootstrap", "monte-carlo"])
def test_findings_do_not_say_that_samples_split_groups(sound, outer):
    X, y = (part[:60] for part in sound)
    kind = outer if outer == "monte-carlo" else tr.methods.Bootstrap(outer, replicates=10)
    words = {"cv": ["3-fold"], "outer": kind, "groups": np.arange(60) // 3}
    found = tr.assess({"bayes": GaussianNB()}, X, y, **words)
    assert "groups-split" not in [finding.code for finding in found.findings]
