"""`audit_table`: the numbers of the bootstrap correction, whatever the form of the table."""

import html
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.core.progress import listen
from truerisk.exceptions import BadArgument, BadData, Refusal, UnknownName
from truerisk.extend import Streams
from truerisk.external.candidate_table import read_candidate_table
from truerisk.intervals.bootstrapped_choice import correct_risk_by_bootstrap

X, Y = (part[:150] for part in load_breast_cancer(return_X_y=True))
FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)
NEIGHBOURS = (1, 3, 5, 9, 15, 25, 41)
NAMES = [f"k={k}" for k in NEIGHBOURS]


def long_table(splits=None, repeats=1):
    """A line for each candidate and row, with out-of-fold labels and probabilities."""
    lines = []
    for repeat in range(repeats):
        folds = splits or list(FOLDS.split(X, Y))
        for name, k in zip(NAMES, NEIGHBOURS, strict=True):
            for fold, (train, test) in enumerate(folds):
                model = KNeighborsClassifier(k).fit(X[train], Y[train])
                shares = model.predict_proba(X[test])
                lines.append(
                    pd.DataFrame(
                        {
                            "candidate": name,
                            "row": test,
                            "y": Y[test],
                            "prediction": model.predict(X[test]),
                            "probability_0": shares[:, 0],
                            "probability_1": shares[:, 1],
                            "fold": fold,
                            "repeat": repeat,
                        }
                    )
                )
    return pd.concat(lines, ignore_index=True)


LONG = long_table()
LOSSES = np.array(
    [
        (one.prediction != one.y).astype(float).to_numpy()
        for one in (LONG[LONG.candidate == name].sort_values("row") for name in NAMES)
    ]
)
GUESSES = np.random.default_rng(0).integers(0, 2, size=(40, 120)).astype(float)


def numbers_of(audit):
    return (
        audit.selected.candidate,
        audit.selected.value,
        audit.honest.value,
        audit.honest.interval.low,
        audit.honest.interval.high,
        tuple(audit.best_set()),
        audit.n_candidates,
    )


def test_audit_table_is_the_bootstrap_correction():
    audit = tr.audit_table(GUESSES, random_state=3)
    corrected = correct_risk_by_bootstrap(GUESSES, Streams(3).get("bbc"))
    assert audit.selected.value == corrected.selected_mean_loss
    assert audit.honest.value == corrected.value
    interval = corrected.interval()
    assert (audit.honest.interval.low, audit.honest.interval.high) == (interval.low, interval.high)
    assert audit.optimism == corrected.optimism


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc"])
def test_audit_table_agrees_with_the_audit_of_the_search(scoring):
    """The table that a search leaves gives what a replay of the search gives."""
    grid = {"n_neighbors": list(NEIGHBOURS)}
    search = GridSearchCV(KNeighborsClassifier(), grid, cv=FOLDS, scoring=scoring).fit(X, Y)
    audit = tr.audit(search, X, Y, level="bbc")
    of_table = tr.audit_table(LONG, scoring=scoring)
    assert of_table.selected.candidate == f"k={search.best_params_['n_neighbors']}"
    assert of_table.selected.value == pytest.approx(search.best_score_, abs=1e-12)
    assert of_table.honest.value == pytest.approx(audit.honest.value, abs=1e-12)
    assert of_table.honest.interval.low == pytest.approx(audit.honest.interval.low, abs=1e-12)
    assert of_table.honest.interval.high == pytest.approx(audit.honest.interval.high, abs=1e-12)


def test_audit_table_agrees_with_the_audit_of_our_search():
    search = tr.HonestSearchCV(
        KNeighborsClassifier(), {"n_neighbors": list(NEIGHBOURS)}, cv=FOLDS
    ).fit(X, Y)
    audit = tr.audit(search, X, Y, level="bbc")
    of_table = tr.audit_table(LOSSES)
    assert of_table.selected.value == pytest.approx(audit.claimed.value, abs=1e-12)
    assert of_table.honest.value == pytest.approx(audit.honest.value, abs=1e-12)


def forms(folder, polars, pyarrow):
    """The losses of one search in every form that a table may have."""
    columns = dict(zip(NAMES, LOSSES, strict=True))
    wide, long = pd.DataFrame(columns), LONG.drop(columns=["probability_0", "probability_1"])
    wide.to_csv(folder / "wide.csv")
    wide.set_axis([f"patient {row}" for row in range(150)]).to_csv(folder / "texts.csv")
    wide.to_csv(folder / "plain.csv", index=False)
    polars.DataFrame(columns).write_parquet(folder / "wide.parquet")
    long.to_csv(folder / "long.tsv", sep="\t", index=False)
    prompts = long.assign(prompt="a\u2028b")  # The separator of lines is a part of this text.
    prompts.to_json(folder / "long.jsonl", orient="records", lines=True, force_ascii=False)
    labels = [long.y, long.prediction]
    losses = long.assign(loss=(long.prediction != long.y).astype(float))
    return {
        "mapping": columns,
        "frame": wide,
        "table of pyarrow": pyarrow.table(columns),
        "file with an index": folder / "wide.csv",
        "file with an index of texts": folder / "texts.csv",
        "file": str(folder / "plain.csv"),
        "parquet": folder / "wide.parquet",
        "lines": long,
        "objects": long.assign(y=labels[0].astype(bool).astype(object), prediction=labels[1] == 1),
        "bytes": dict(long) | dict(zip(["y", "prediction"], np.array(labels, "S"), strict=True)),
        "shuffled lines": long.sample(frac=1, random_state=0).sort_values("candidate", key=order),
        "file of lines": folder / "long.tsv",
        "json lines": folder / "long.jsonl",
        "lines of losses": losses[["candidate", "row", "loss"]],
    }


def order(names):
    return names.map(NAMES.index)


def test_audit_table_reads_every_form_alike(tmp_path):
    polars = pytest.importorskip("polars")
    expected = numbers_of(tr.audit_table(dict(zip(NAMES, LOSSES, strict=True))))
    pyarrow = pytest.importorskip("pyarrow")
    for form, table in forms(tmp_path, polars, pyarrow).items():
        assert numbers_of(tr.audit_table(table)) == expected, form
    with pytest.raises(BadArgument, match=r"collect\(\)"):
        tr.audit_table(polars.LazyFrame(LOSSES))
    of_array = numbers_of(tr.audit_table(LOSSES))
    assert of_array[1:5] == expected[1:5]
    assert numbers_of(tr.audit_table(LOSSES.T, axis=1)) == of_array


def test_audit_table_averages_repeats():
    twice = tr.audit_table(long_table(repeats=2))
    assert twice.honest.value == pytest.approx(tr.audit_table(LONG).honest.value, abs=1e-12)


def test_audit_table_draws_whole_groups():
    """Copies of every row in one group change nothing; without groups the interval shrinks."""
    tripled, groups = np.repeat(GUESSES, 3, axis=1), np.repeat(np.arange(120), 3)
    grouped = tr.audit_table(tripled, groups=groups)
    alone = tr.audit_table(GUESSES)
    assert grouped.selected.value == pytest.approx(alone.selected.value)
    assert grouped.honest.value == pytest.approx(alone.honest.value)
    assert grouped.honest.interval.width == pytest.approx(alone.honest.interval.width)
    assert grouped.best_set() == alone.best_set()
    assert grouped.n_groups == 120
    assert tr.audit_table(tripled).honest.interval.width < 0.75 * alone.honest.interval.width
    frame = pd.DataFrame(tripled.T).assign(site=groups)
    assert tr.audit_table(frame, groups="site").honest == grouped.honest


@pytest.mark.parametrize(
    ("scoring", "value"),
    [
        ("accuracy", lambda one: (one.prediction == one.y).mean()),
        ("brier", lambda one: ((one.probability_1 - one.y) ** 2).mean()),
        ("neg_brier_score", lambda one: -((one.probability_1 - one.y) ** 2).mean()),
    ],
)
def test_audit_table_is_on_the_scale_of_the_score(scoring, value):
    audit = tr.audit_table(LONG, scoring=scoring)
    by_name = {name: value(LONG[LONG.candidate == name]) for name in NAMES}
    best = max(by_name.values()) if audit.scale.better == "larger" else min(by_name.values())
    assert audit.selected.value == pytest.approx(best)
    assert audit.optimism >= 0
    for difference in audit.differences:
        assert difference.value == pytest.approx(by_name[difference.candidate])
        assert difference.difference == pytest.approx(difference.value - best)


@pytest.mark.parametrize("positive", ["ill", "well"])
@pytest.mark.parametrize("score", ["roc_auc", "average_precision", "f1"])
def test_audit_table_rates_the_positive_class(positive, score):
    """A column of predictions scores the positive class; probabilities name their classes."""
    rng = np.random.default_rng(0)
    y = rng.choice(["ill", "well"], 80)
    chance = 1 / (1 + np.exp(rng.normal(size=80) - 2 * (y == positive)))
    expected = {
        "roc_auc": roc_auc_score(y == positive, chance),
        "average_precision": average_precision_score(y == positive, chance),
        "f1": f1_score(y == positive, chance > 0.5),
    }
    lines = pd.DataFrame({"candidate": "a", "row": range(80), "y": y})
    other = {"ill": "well", "well": "ill"}[positive]
    shares = {f"probability_{positive}": chance, f"probability_{other}": 1 - chance}
    audit = tr.audit_table(lines.assign(**shares), scoring=score, positive=positive)
    assert audit.selected.value == pytest.approx(expected[score])
    assert abs(audit.honest.value - expected[score]) < 0.03
    assert audit.selected.named_scoring == audit.honest.named_scoring == f"{score} of '{positive}'"
    assert audit.conclusion.startswith(f"Expect the {score} of '{positive}' on new rows to be ")
    for text in (str(audit), html.unescape(audit.to_html())):
        assert f"{score} of '{positive}' (larger is better)" in text
    if score != "f1":
        again = tr.audit_table(lines.assign(prediction=chance), scoring=score, positive=positive)
        assert again.honest == audit.honest


def lines_of(y, **columns):
    return pd.DataFrame({"candidate": "a", "row": range(len(y)), "y": y} | columns)


DRAWN = np.random.default_rng(1)
NOISE, GAMMA, SHARES = (
    DRAWN.normal(size=60),
    DRAWN.gamma(1, 1, (4, 50)),
    DRAWN.dirichlet([1] * 3, 90),
)
CLASS = np.arange(90) % 3
RATED = {
    "numbers": (
        pd.concat(
            [
                lines_of(NOISE, prediction=3 * NOISE).assign(candidate="b"),
                lines_of(NOISE, prediction=2 * NOISE),
            ]
        ),
        "neg_mean_squared_error",
        -np.mean(NOISE**2),
    ),
    "counts": (lines_of(np.arange(40) % 5, prediction=2.0), "neg_mean_squared_error", -2.0),
    "scores": (-GAMMA, "neg_mean_squared_error", -GAMMA.mean(axis=1).min()),
    "losses": (GAMMA, "squared", GAMMA.mean(axis=1).min()),
    "three classes": (
        lines_of(CLASS, **{f"probability_{k}": SHARES[:, k] for k in range(3)}),
        "roc_auc_ovr",
        roc_auc_score(CLASS, SHARES, multi_class="ovr"),
    ),
}


@pytest.mark.parametrize("case", RATED)
def test_audit_table_selects_by_the_score_of_regressions_and_classes(case):
    """Whole-number outcomes are regression targets if the score is one of regressions."""
    table, scoring, value = RATED[case]
    assert tr.audit_table(table, scoring=scoring).selected.value == pytest.approx(value)


@pytest.mark.parametrize(
    ("losses", "options", "claim", "end"),
    [
        (
            GUESSES,
            {},
            "{}, the best of 40 candidates, which is {} too good.",
            " 37 other candidates may be",
        ),
        (GUESSES, {"scoring": "accuracy"}, "{}, the best of 40 candidates, which is {} too", " 37"),
        (GUESSES[:1], {"confidence_level": 0.9}, "{}, which is {} ", ""),
        (
            np.zeros((3, 30)),
            {},
            "{}, the best of 3 candidates, which is the same.",
            " 1 and 2 may be the best one, too.",
        ),
        (GUESSES, {"adaptive": True}, "{}, the best of 40 candidates, which is at least {} ", ""),
    ],
    ids=["losses", "scores", "one candidate", "equal candidates", "adaptive"],
)
def test_conclusion_of_a_table_says_what_to_expect(losses, options, claim, end):
    """The honest number and its interval come first, then the number that is too good."""
    audit = tr.audit_table(losses, **options)
    interval, name = audit.honest.interval, options.get("scoring", "mean loss")
    interval_text = "no interval" if interval is None else "{:.0f} % interval {:.4f} to {:.4f}"
    if interval is not None:
        level = 100 * audit.confidence_level
        interval_text = interval_text.format(level, interval.low, interval.high)
    start = (
        f"Expect the {name} on new rows to be "
        f"{audit.honest.value:.4f}{' at best' if 'adaptive' in options else ''} ({interval_text}) "
        f"for candidate {audit.selected.candidate}. In the table it is {claim}"
    ).format(f"{audit.selected.value:.4f}", f"{abs(audit.optimism):.4f}")
    assert audit.conclusion.startswith(start)
    assert end in audit.conclusion
    assert not audit.refuted


def test_conclusion_of_a_table_says_that_the_best_score_is_refuted():
    losses = (np.random.default_rng(2).random((400, 40)) < 0.5).astype(float)
    audit = tr.audit_table(losses)
    assert audit.refuted
    assert " too good. It lies outside the interval, so it is refuted. " in audit.conclusion


def test_audit_table_of_one_candidate_has_no_optimism():
    audit = tr.audit_table({"only": GUESSES[0]})
    assert audit.best_set() == ["only"]
    assert audit.differences == ()
    assert abs(audit.optimism) < 0.01


def test_audit_table_leaves_out_failed_candidates():
    losses = GUESSES.copy()
    losses[3] = np.nan
    audit = tr.audit_table(losses, order=True)
    assert audit.n_candidates == 39
    assert "left out: 3" in " ".join(audit.notes)
    assert audit.order_test.n_trials == 39


def test_best_set_of_trained_candidates_is_not_smaller():
    prompts = tr.audit_table(LOSSES, trained=False)
    trained = tr.audit_table(LOSSES)
    assert set(prompts.best_set()) <= set(trained.best_set())
    assert prompts.differences[0].high - prompts.differences[0].low < (
        trained.differences[0].high - trained.differences[0].low
    )


@pytest.mark.parametrize("n_true", [1, 8])
def test_intervals_of_differences_hold_together(n_true):
    """95 % of the tables have all true differences from the selected candidate in its intervals."""
    rates = np.full(8, 0.4)
    rates[:n_true] = 0.3
    held, n_tables = 0, 150
    for seed in range(n_tables):
        rng = np.random.default_rng(seed)
        losses = (rng.random((8, 150)) < rates[:, None]).astype(float)
        audit = tr.audit_table(losses, trained=False, replicates=50)
        selected = int(audit.selected.candidate)
        held += all(
            d.low <= rates[int(d.candidate)] - rates[selected] <= d.high for d in audit.differences
        )
    assert held / n_tables >= 0.92


def test_adaptive_search_is_found_and_has_no_interval():
    """Each trial copies most losses of the best one before it, as a greedy search does."""
    rng = np.random.default_rng(0)
    losses = [rng.integers(0, 2, 200)]
    for _ in range(119):
        best = min(losses, key=np.mean)
        flips = rng.random(200) < 0.1
        losses.append(np.where(flips, rng.integers(0, 2, 200), best))
    audit = tr.audit_table(losses, order=True)
    assert audit.codes[0] == "adaptive-search"
    assert audit.honest.interval is None
    assert audit.refuted is None
    assert audit.order_test.p_resemblance == 0.001
    assert "depend on the scores" in audit.honest.notes[-1]
    assert audit.differences[0].low is None
    assert len(audit.best_set()) == 120
    shuffled = np.random.default_rng(1).permutation(120)
    assert "adaptive-search" not in tr.audit_table(losses, order=shuffled).codes
    assert tr.audit_table(losses).order_test is None


def test_declared_adaptive_search_has_no_interval():
    audit = tr.audit_table(GUESSES, adaptive=True)
    assert audit.codes[0] == "adaptive-search"
    assert "was declared adaptive" in audit.findings[0].sentence
    assert audit.honest.interval is None
    assert audit.honest.value == tr.audit_table(GUESSES).honest.value
    assert audit.honest.notes[-1].startswith("no interval: the search was declared adaptive")
    assert audit.differences[0].low is None
    assert len(audit.best_set()) == 40


def test_order_test_is_read_from_the_json_of_version_0_2_0():
    """The p-value of the resemblance was named `p_following`."""
    written = {
        "n_trials": 40,
        "n_records": 18,
        "expected_records": 4.3,
        "p_records": 0.004,
        "p_trend": 0.002,
        "p_following": 0.001,
    }
    content = tr.audit_table(GUESSES, order=True).to_dict() | {"order_test": written}
    order_test = tr.TableAudit.from_dict(content).order_test
    assert order_test.p_resemblance == 0.001
    assert order_test.to_dict() == written


def test_order_test_keeps_its_level():
    """At most 9 of 100 searches at random look adaptive."""
    found = [
        tr.audit_table(
            np.random.default_rng(seed).integers(0, 2, (30, 60)), order=True, replicates=20
        ).order_test.is_adaptive
        for seed in range(100)
    ]
    assert sum(found) <= 9


def test_audit_of_a_table_comes_back_from_its_json(tmp_path):
    audit = tr.audit_table(LONG, scoring="roc_auc")
    back = tr.TableAudit.from_json(audit.to_json())
    assert back.to_json() == audit.to_json()
    assert str(back) == str(audit)
    assert json.loads(audit.to_json())["optimism"] == audit.optimism
    assert "Candidates minus k=" in audit.to_html(tmp_path / "page.html")
    assert set(audit.to_metrics()) == {
        "roc_auc",
        "roc_auc.low",
        "roc_auc.high",
        "selected",
        "optimism",
    }
    audit.require(roc_auc=0.5)


def test_candidates_that_may_be_best_are_all_named():
    audit = tr.audit_table(GUESSES, scoring="zero-one")
    page = html.unescape(audit.to_html())
    assert len(audit.best_set()) > 20
    for text in (" ".join(str(audit).split()), page):
        assert f"Not shown, but may be the best: {audit.best_set()[11]}, " in text


def test_page_of_an_audit_of_a_table_has_the_call_that_repeats_it():
    options = {"trained": False, "replicates": 100, "confidence_level": 0.8, "axis": 1}
    losses = GUESSES.T
    audit = tr.audit_table(losses, **options, scoring="accuracy", random_state=4)
    call, *_ = re.findall(r"tr\.audit_table\(.*?\)", html.unescape(audit.to_html()))
    again = eval(call, {"tr": tr, "losses": losses})
    assert again.to_json() == audit.to_json()


def root_mean_squared(y_true, y_pred):
    return float(np.sqrt(((y_true - y_pred) ** 2).mean()))


def test_wide_table_of_a_score_holds_scores():
    """1 is right for the accuracy, as in every table of answers; for a loss it is wrong."""
    wrong = pd.DataFrame(GUESSES.T).add_prefix("c")
    by_loss = tr.audit_table(wrong, scoring="zero-one")
    by_score = tr.audit_table(1 - wrong, scoring="accuracy")
    assert by_score.selected.value == pytest.approx(1 - by_loss.selected.value)
    assert by_score.honest.value == pytest.approx(1 - by_loss.honest.value)
    assert by_score.best_set() == by_loss.best_set()
    assert by_score.notes == ("1 is read as a right answer, and 0 as a wrong one",)
    for audit in (by_loss, tr.audit_table(wrong)):
        assert any("if 1 is right, the scoring is 'accuracy'" in note for note in audit.notes)
    assert not tr.audit_table(0.5 * wrong).notes
    of_lines = LONG[["candidate", "row"]].assign(
        loss=GUESSES[: len(set(LONG.candidate)), :1].mean()
    )
    assert tr.audit_table(of_lines, scoring="accuracy").selected.value == pytest.approx(
        1 - of_lines.loss.iloc[0]
    )


def test_audit_of_groups_speaks_of_new_groups_and_explains_its_set():
    """The note stands only where an interval contains 0 and its candidate is excluded."""
    answers = pd.read_csv(Path(__file__).parents[2] / "docs" / "answers.csv")
    audit = tr.audit_table(answers, scoring="accuracy", groups="text", trained=False)
    assert audit.conclusion.startswith("Expect the accuracy on rows of new groups to be 0.7894 ")
    steps = next(d for d in audit.differences if d.candidate == "steps")
    assert steps.low < 0 < steps.high
    assert not steps.may_be_best
    assert "note: what may be the best is decided by a one-sided test" in str(audit)
    alone = tr.audit_table(
        answers[["text", "short", "steps_and_examples"]], scoring="accuracy", groups="text"
    )
    assert "one-sided" not in str(alone)


def test_column_that_numbers_the_rows_is_no_candidate():
    """Values between 0 and 1 cannot count the rows; losses without bounds might: a refusal."""
    answers = pd.DataFrame(1 - GUESSES.T).add_prefix("c")
    plain = tr.audit_table(answers, scoring="accuracy")
    question = [f"What is {number}?" for number in range(120)]
    numbered = answers.assign(number=np.arange(120) + 7, question=question)
    audit = tr.audit_table(numbered, scoring="accuracy")
    assert (audit.honest.value, audit.honest.interval) == (
        plain.honest.value,
        plain.honest.interval,
    )
    assert audit.n_candidates == plain.n_candidates
    for name in ("number", "question"):
        assert any(note.startswith(f"{name} has a different value") for note in audit.notes)
    with pytest.raises(BadData, match="number looks like a number of the row"):
        tr.audit_table(numbered)


LINES = LONG[["candidate", "row", "y", "prediction", "fold"]]
NUMBERS = lines_of(np.linspace(0, 1, 40), prediction=0.5)
LACKS = "missing|lack"
REFUSED = {
    "wide table with outcomes": (
        pd.DataFrame(GUESSES.T).assign(y=0, fold=1),
        {},
        BadData,
        "'y', 'fold' are no candidates",
    ),
    "numbers of rows": (
        pd.DataFrame(GUESSES.T).assign(id=np.arange(120) + 1000),
        {},
        BadData,
        "id looks like a number of the row .* groups",
    ),
    "shuffled numbers of rows": (
        pd.DataFrame(GUESSES.T).assign(id=np.random.default_rng(0).permutation(120)),
        {},
        BadData,
        "id looks like a number of the row",
    ),
    "numbers of groups": (
        pd.DataFrame(GUESSES.T).assign(text=np.arange(120) // 3),
        {"scoring": "accuracy"},
        BadData,
        "text holds 2, and a score for scoring='accuracy' is between 0 and 1.* groups=",
    ),
    "scores": (GUESSES - 0.5, {"scoring": "log"}, BadData, "0 holds -0.5, .* is at least 0"),
    "denied adaptivity": (GUESSES, {"adaptive": False}, BadArgument, "adaptive=False: write True"),
    "trained": (GUESSES, {"trained": "no"}, BadArgument, "trained='no'"),
    "square": (GUESSES[:, :40], {}, BadArgument, "axis=0 if the candidates are its rows"),
    "axis with names": (LONG, {"axis": 1}, BadArgument, "names of this table"),
    "wrong axis": (GUESSES, {"axis": 2}, BadArgument, "axis=2"),
    "one axis": (GUESSES[0], {}, BadData, r"shape \(120,\)"),
    "no rows": (np.zeros((3, 0)), {}, BadData, r"shape \(3, 0\)"),
    "nothing": ({}, {}, BadData, "no candidate"),
    "unequal": ({"a": [1, 2], "b": [1]}, {}, BadData, "same rows"),
    "text": (pd.DataFrame({"a": [0, 1, 1], "b": ["x", "y", "y"]}), {}, BadData, "'b' holds 'x'"),
    "words for right": (
        {"a": ["yes", "no"] * 20},
        {"scoring": "accuracy"},
        BadData,
        "'a' holds 'yes', which is no loss and no score.* 1 for right and 0 for wrong",
    ),
    "complex": (GUESSES + 1j, {}, BadData, "which is no loss"),
    "dates": ({"a": np.arange(20).astype("M8[D]")}, {}, BadData, "'a' holds .*, which is no loss"),
    "huge": ({"a": [10**400] * 20}, {}, BadData, "'a' holds 1000.*, which is no loss"),
    "gap of pandas": ({"a": [pd.NA, *[True] * 19]}, {}, BadData, r"a \(19 of 20 rows\)"),
    "one name": ({1: GUESSES[0], "1": GUESSES[1]}, {}, BadData, "two columns have the name '1'"),
    "infinite": (np.where(GUESSES > 0, np.inf, 0), {}, BadData, "infinite"),
    "gaps": (
        np.where(np.arange(120) < 5, np.nan, GUESSES),
        {},
        BadData,
        r"40 of 40 candidates lack some rows: 0 \(115 of 120 rows\)",
    ),
    "all failed": (np.full((3, 20), np.nan), {}, BadData, "no candidate has a loss"),
    "few rows": (GUESSES[:, :9], {}, Refusal, "9 rows are too few"),
    "few groups": (GUESSES, {"groups": np.arange(120) // 30}, Refusal, "4 groups are too few"),
    "one group": (GUESSES, {"groups": np.zeros(120)}, BadData, "one group"),
    "short groups": (GUESSES, {"groups": [1, 2]}, BadData, "120 rows"),
    "unknown groups": (LINES, {"groups": "flod"}, UnknownName, "did you mean 'fold'"),
    "short order": (GUESSES, {"order": [1, 2]}, BadData, "40 candidates"),
    "equal order": (GUESSES, {"order": np.zeros(40)}, BadData, "different trial number"),
    "order with a gap": (GUESSES, {"order": [np.nan, *range(39)]}, BadData, "number on line 1"),
    "order by name": (LINES, {"order": "candidate"}, BadData, "text where numbers are needed"),
    "wide groups of lines": (LINES, {"groups": np.eye(1050)}, BadData, r"\(1050, 1050\)"),
    "groups by name": (LINES, {"groups": "candidate"}, BadData, "'group' has .* for row"),
    "order of lines": (LINES, {"order": [1, 2]}, BadArgument, "name of a column"),
    "score of losses": (GUESSES, {"scoring": "roc_auc"}, Refusal, "whole sets of rows"),
    "unknown score": (GUESSES, {"scoring": "acuracy"}, UnknownName, "acuracy"),
    "no outcomes": (LINES.drop(columns="y"), {}, BadData, "lacks: y"),
    "no predictions": (LINES.drop(columns="prediction"), {}, BadData, "lacks: prediction"),
    "missing line": (LINES.iloc[1:], {}, BadData, r"k=1 \(149 of 150 rows\)"),
    "line twice": (pd.concat([LINES, LINES[:1]]), {}, BadData, "2 lines for row .* 'repeat'"),
    "other folds": (
        LINES.assign(fold=np.where(LINES.index == 0, 4, LINES.fold)),
        {},
        BadData,
        "same folds",
    ),
    "two outcomes": (
        LINES.assign(y=np.where(LINES.index == 0, 1 - LINES.y, LINES.y)),
        {},
        BadData,
        "'y' has .* for row",
    ),
    "foreign label": (
        LINES.assign(prediction=np.where(LINES.index == 7, 5, LINES.prediction)),
        {},
        BadData,
        "'5', which is no class of y",
    ),
    "no probabilities": (
        LINES.assign(prediction=LINES.prediction * 3.5),
        {"scoring": "log"},
        BadData,
        "between 0 and 1",
    ),
    "one probability": (LONG.drop(columns="probability_0"), {}, BadData, "probability_<class>"),
    "scorer": (LINES, {"scoring": "jaccard"}, Refusal, "predictions only"),
    "level": (GUESSES, {"confidence_level": 95}, BadArgument, "confidence_level=95"),
    "replicates": (GUESSES, {"replicates": 0}, BadArgument, "replicates=0"),
    "no weights": (NUMBERS, {"scoring": root_mean_squared}, Refusal, "weight its rows"),
    "missing y": (LINES.assign(y=np.where(LINES.index == 3, np.nan, LINES.y)), {}, BadData, LACKS),
    "missing text": (LINES.assign(y=[None, *LINES.y.astype(str)[1:]]), {}, BadData, LACKS),
    "no name": (LINES.assign(candidate=[None, *LINES.candidate[1:]]), {}, BadData, LACKS),
    "no group": (GUESSES, {"groups": [np.nan, *range(119)]}, BadData, LACKS),
    "masked": (np.ma.masked_array(GUESSES, 2 * (np.arange(120) > 3) < GUESSES), {}, BadData, LACKS),
}


@pytest.mark.parametrize("case", REFUSED)
def test_audit_table_refuses(case):
    table, options, error, message = REFUSED[case]
    with pytest.raises(error, match=message):
        tr.audit_table(table, **options)


@pytest.mark.parametrize(
    ("losses", "options", "n_best", "note"),
    [
        (GUESSES, {"replicates": 10}, 38, "replicates=40 at least"),
        (np.zeros((3, 30)), {}, 3, ""),
    ],
    ids=["few replicates", "equal candidates"],
)
def test_audit_table_of_equal_candidates_or_few_replicates_has_no_end(
    losses, options, n_best, note
):
    audit = tr.audit_table(losses, **options)
    assert audit.honest.interval is None
    assert len(audit.best_set()) == n_best
    assert note in "".join(audit.honest.notes[-1:])


def test_groups_of_a_search_by_groups_agree_with_its_audit():
    groups = np.repeat(np.arange(30), 5)
    splits = list(GroupKFold(5).split(X, Y, groups))
    grid = {"C": [0.001, 0.1, 10.0]}
    model = LogisticRegression(solver="liblinear")
    search = GridSearchCV(model, grid, cv=splits).fit(X, Y)
    audit = tr.audit(search, X, Y, groups=groups, level="bbc", checks=False)
    losses = np.empty((3, 150))
    for c, value in enumerate(grid["C"]):
        for train, test in splits:
            fitted = LogisticRegression(C=value, solver="liblinear").fit(X[train], Y[train])
            losses[c, test] = fitted.predict(X[test]) != Y[test]
    of_table = tr.audit_table(1 - losses, groups=groups, scoring="accuracy")
    assert of_table.honest.value == pytest.approx(audit.honest.value, abs=1e-12)


def test_audit_table_of_unequal_folds_agrees_with_itself():
    """Rows count by their fold; the losses by influence have the score as their mean."""
    rng = np.random.default_rng(0)
    fold = np.repeat(np.arange(7), [120, *6 * [20]])
    y, scores = rng.integers(0, 2, 240), rng.normal(size=(3, 240))
    lines = [
        pd.DataFrame({"candidate": f"c{c}", "row": range(240), "y": y, "fold": fold}).assign(
            prediction=scores[c] + (c + 0.5) * y * (fold > 0)
        )
        for c in range(3)
    ]
    columns = {n: pd.concat(lines)[n].to_numpy() for n in lines[0]}
    options = dict.fromkeys(("positive", "groups", "order", "axis"))
    table = read_candidate_table(columns, scoring="roc_auc", **options)
    assert table.losses.mean(axis=1) == pytest.approx(table.risks)
    folds = [
        roc_auc_score(y[fold == k], scores[2][fold == k] + 2.5 * y[fold == k] * (k > 0))
        for k in range(7)
    ]
    assert table.risks[2] == pytest.approx(1 - np.mean(folds))


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e6])
def test_intervals_of_differences_have_the_unit_of_the_losses(scale):
    losses = np.random.default_rng(0).gamma(1, 1, (4, 100))
    plain = tr.audit_table(losses, trained=False).differences[0]
    scaled = tr.audit_table(losses * scale, trained=False).differences[0]
    assert scaled.high - scaled.low == pytest.approx(scale * (plain.high - plain.low))


def test_intervals_of_differences_survive_losses_that_agree_in_most_digits():
    rng = np.random.default_rng(0)
    noise = 1e-3 * rng.normal(size=(4, 100))
    alone = tr.audit_table(noise, trained=False).differences[0]
    beside = tr.audit_table(1e6 * rng.random(100) + noise, trained=False).differences[0]
    assert beside.high - beside.low == pytest.approx(alone.high - alone.low, rel=0.05)


def test_audit_table_progress_moves_within_a_batch_of_samples():
    """600 candidates are rated in three parts of each batch."""
    rows, done = np.tile(np.arange(20), 600), []
    scores = np.random.default_rng(0).random(len(rows))
    lines = {"candidate": np.repeat(np.arange(600), 20), "row": rows, "y": rows % 2}
    with listen(lambda progress: done.append(progress.done)):
        tr.audit_table(lines | {"prediction": scores}, scoring="roc_auc", replicates=90)
    assert done == [0, 38, 76]
