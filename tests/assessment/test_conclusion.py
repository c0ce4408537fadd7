"""What a reader is told: the sentences as they stand, and what must never be claimed."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import truerisk as tr

QUICK = {"cv": ["3-fold"], "outer": "4-fold"}
TREE = (DecisionTreeClassifier(random_state=0), {"max_depth": [1, 3]})
KNN = (KNeighborsClassifier(), {"n_neighbors": [1, 5]})
BEATS = ("Use ", "ahead")


def noise(seed, n=48):
    """Features that have nothing to do with the classes."""
    draw = np.random.default_rng(seed)
    return draw.normal(size=(n, 3)), np.where(draw.random(n) < 0.6, "yes", "no")


def clear(n=48):
    """Two classes that one threshold tells apart, up to some rows."""
    X, y = tr.datasets.make_simple(n, random_state=2)
    return X, y


def test_a_clear_winner():
    """The number to report, learner, setting, risk, tuning score, baseline, rows, and lead.

    The interval of the lead is the corrected t of the four differences of the outer folds.
    """
    bayes = GaussianNB(), {"var_smoothing": [1e-9, 1e-8]}
    learners = {"bayes": bayes, "guess": DummyClassifier(strategy="most_frequent")}
    said = tr.assess(learners, *clear(), **QUICK).conclusion
    assert said == (
        "Report 0.1250 (12.5 % wrong answers; 95 % interval 0.0386 to 0.2889) for new rows: the "
        "choice among the 2 learners was repeated in every split. Use bayes "
        "(var_smoothing=1e-09), which on its own has 0.1250 (95 % interval 0.0386 to 0.2889); the "
        "risk that tuned it was 0.1458, and always answering the commonest class has 0.5000. "
        "Of 100 new rows about 12 get a wrong answer (4 to 29), 50 by always answering the "
        "commonest class. At 95 % confidence (one-sided), no other learner is as good."
    )


@pytest.mark.parametrize("noisy", [False, True])
def test_further_scores_are_told(noisy):
    """Those of what is reported, each with its class and its interval; also where none is of use.

    The loss, when it is among them, is told once.
    """
    X, y = noise(1) if noisy else clear()
    scores = {"scoring": ["accuracy", "f1", "neg_log_loss"]}
    found = tr.assess({"bayes": GaussianNB(), "knn": KNN}, X, y, positive=min(y), **scores, **QUICK)
    f1, log = (found.report.scores[name] for name in ("f1", "neg_log_loss"))
    low, high = f1.interval.low, f1.interval.high
    label = "'no'" if noisy else "0"
    told = f"f1 of {label} {f1.value:.4f} (95 % interval {low:.4f} to {high:.4f}) and neg_log_loss"
    first, _, further = found.conclusion.partition(" Report also ")
    assert log.value < 0
    assert log.interval is None  # neighbours of one class give the other one probability 0
    assert further.startswith(f"{told} {log.value:.4f} (no interval)")
    assert "accuracy" not in further
    assert ("is not shown to beat" in first) == noisy


def test_no_error_is_no_promise():
    """Of a risk of zero the upper end is said: "about 0" would be read as never."""
    y = np.arange(60) % 2
    X = y[:, None] + np.random.default_rng(0).normal(0, 0.01, (60, 2))
    said = tr.assess({"bayes": GaussianNB(), "knn": KNN}, X, y).conclusion
    assert (
        " No tested row got a wrong answer; of 1000 new rows at most about 72 do, 500 by always "
        "answering the commonest class."
    ) in said
    assert "about 0" not in said


@pytest.mark.parametrize("seed", range(6))
def test_pure_noise_beats_nothing(seed):
    """Where the features say nothing, nothing is said to beat the commonest class."""
    learners = {"knn": KNN, "tree": TREE, "bayes": GaussianNB()}
    found = tr.assess(learners, *noise(seed), **QUICK)
    said = found.conclusion
    assert said.startswith(
        "Choosing the best of these 3 learners is not shown to beat always answering the commonest "
        "class "
    )
    assert not any(word in said for word in BEATS)
    assert tr.core.formats.number(found.baseline) in said


def test_the_claim_rests_on_the_choice_not_on_the_best_of_many():
    """Of thirty useless learners the luckiest looks useful; the choice among them does not."""
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


def test_learners_that_tie_are_named_as_such():
    """The same learner twice: either of them may be the best, and all that share the lead are."""
    said = tr.assess({"one": KNN, "two": KNN}, *clear(), **QUICK).conclusion
    assert (
        "At 95 % confidence (one-sided), the best learner may also be two (risk +0.0000)." in said
    )
    three = tr.assess({"one": KNN, "two": KNN, "three": KNN}, *clear(), **QUICK)
    assert "may also be two (risk +0.0000) or three (risk +0.0000)." in three.conclusion
    assert three.best_set() == three.ranking


def test_one_learner_has_no_rivals():
    """No comparison, no choice: one sentence, and one in whole rows."""
    said = tr.assess({"knn": KNN}, *clear(), **QUICK).conclusion
    assert said.count(". ") == 1
    assert ". Of 100 new rows about " in said
    assert said.startswith("Use knn (n_neighbors=")
    assert "Report" not in said


def test_one_useless_learner_is_said_to_be():
    """In the singular, without advice to use it."""
    said = tr.assess({"knn": KNN}, *noise(0), **QUICK).conclusion
    assert said.startswith("knn is not shown to beat always answering the commonest class (")


def test_a_regression_is_held_against_the_mean():
    """Squared loss has no percentage of wrong answers, and the mean is its baseline."""
    draw = np.random.default_rng(0)
    X = draw.normal(size=(40, 2))
    y = 100 * X[:, 0] + draw.normal(size=40)
    learners = {"line": LinearRegression(), "tree": DecisionTreeRegressor(random_state=0)}
    said = tr.assess(learners, X, y, **QUICK).conclusion
    assert said.startswith("Report 1.0515 (squared; 95 % interval ")
    assert "Use line (as given), which on its own has 1.0515 (95 % interval " in said
    assert "and always answering the mean has 9465." in said
    assert "% wrong answers" not in said
    useless = tr.assess(learners, X, draw.normal(size=40), **QUICK).conclusion
    assert useless.startswith("Choosing the best of these 2 learners is not shown to beat always")


def test_a_loss_of_sets_has_no_interval_and_the_gain_may_be_chance():
    """Random splits justify none for AUC: the conclusion says so instead of claiming."""
    learners = {"bayes": GaussianNB(), "tree": TREE}
    asked = {**QUICK, "outer": tr.methods.MonteCarlo(5)}
    said = tr.assess(learners, *clear(), scoring="auc", **asked).conclusion
    assert re.match(r"Report 0\.\d{4} \(auc of 1; no interval\) for new rows: the choice", said)
    assert "on its own has 0.9125 (no interval, for loss 'auc' has no per-row losses" in said
    assert "ranking at random has 0.5000 (without an interval, the gain may be chance)." in said
    assert "At 95 % confidence" in said
    assert "Of 100" not in said


def test_a_loss_of_sets_on_noise_claims_nothing():
    """An AUC no larger than that of random ranking is not useful."""
    found = tr.assess({"bayes": GaussianNB()}, *noise(5), scoring="auc", **QUICK)
    assert found.risks["bayes"].value <= 0.5
    assert found.conclusion.startswith("bayes is not shown to beat ranking at random (0.5000)")


def test_no_errors_at_all_are_not_certainty():
    """Nothing wrong in 40 rows has an upper end; where an interval is missing it is explained."""
    X = np.repeat([[0.0], [5.0]], 20, axis=0) + np.random.default_rng(0).random((40, 1))
    y = np.repeat([0, 1], 20)
    learners = {"svm": LinearSVC(), "tree": TREE}
    said = tr.assess(learners, X, y, **QUICK).conclusion
    assert "Report 0.0000 (0.0 % wrong answers; 95 % interval 0.0000 to 0.1057)" in said
    said = tr.assess(learners, X, y, interval="wald", **QUICK).conclusion
    assert "on its own has 0.0000 (no interval, for every row has the same" in said


def test_failed_fits_of_all_learners_conclude_nothing():
    """Without any risk there is no advice."""
    engine = tr.engines.Generic(error="warn")
    model = DummyClassifier(strategy="constant", constant=7)
    with pytest.warns(tr.core.errors.FitFailedWarning):
        found = tr.assess({"bad": model}, *clear(), engine=engine, **QUICK)
    assert found.conclusion == "No learner has a risk: fits failed for all of them."


def test_hostile_names_and_settings_stay_text():
    """Control characters are shown, long names and settings are cut."""
    name, label = "a\x1b[31m\u202e</script>\n" + "x" * 500, "\x07" + "s" * 900
    grid = {"strategy": ["most_frequent"], "constant": [label]}
    found = tr.assess({name: (DummyClassifier(), grid)}, *clear(), **QUICK)
    assert found.conclusion.isprintable()
    assert len(found.conclusion) < 700


def test_a_rival_is_named_with_the_class_of_the_score():
    """As the score itself is: which class it speaks of is never left out."""
    learners = {"bayes": GaussianNB(), "tree": TREE, "again": GaussianNB(var_smoothing=1e-8)}
    said = tr.assess(learners, *clear(), scoring="auc", **QUICK).conclusion
    assert re.search(r"may also be \w+ \(auc of 1 [+-]\d\.\d{4}\)", " ".join(said.split()))


def test_a_score_is_named_as_itself():
    """Accuracy is no share of wrong answers, and its interval is that of the score."""
    said = tr.assess({"knn": KNN, "tree": TREE}, *clear(), scoring="accuracy", **QUICK).conclusion
    assert re.match(r"Report 0\.\d{4} \(accuracy; 95 % interval 0\.", said)
    assert "wrong answers" not in said


@pytest.mark.parametrize(("loss", "constant"), [("balanced-accuracy", 0.5), ("f1", None)])
def test_a_score_of_the_confusion_table_is_held_against_one_class(loss, constant):
    """On noise nothing is recommended: the best constant answer of these rows is no worse."""
    X, y = noise(1)
    found = tr.assess({"knn": KNN}, X, y, scoring=loss, positive="yes", **QUICK)
    share = np.mean(y == "yes")
    expected = 2 * share / (1 + share) if constant is None else constant
    assert found.baseline == pytest.approx(expected)
    assert found.conclusion.startswith(
        f"knn is not shown to beat always answering the same class ({expected:.4f})"
    )


def test_small_units_keep_their_digits():
    """A squared loss of a millionth is no 0.0000, nor are the ends of its interval."""
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


def test_weighted_rows_are_not_counted():
    """A weighted share of errors is no number of rows."""
    weights = np.linspace(0.1, 10, 48)
    said = tr.assess({"tree": TREE}, *clear(), sample_weight=weights, **QUICK).conclusion
    assert "% wrong answers" in said
    assert "new rows about" not in said
