"""`Ladder`: what is accepted, what is told, attacks on the holdout, and the file that keeps it."""

import errno
import json
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import truerisk as tr
from truerisk.exceptions import (
    BadArgument,
    BadData,
    BadStore,
    NotWritten,
    Refusal,
    StoreLocked,
    UnknownName,
)
from truerisk.external.ladder import status_of
from truerisk.study.lock import Lock

N = 210
ROWS = np.arange(N)
Y = np.random.default_rng(0).permutation(ROWS % 2)
GROUPS = np.array([f"site {number}" for number in (ROWS**0.7).astype(int)])  # 1 to 7 rows
WRONG = ROWS >= N // 2
BASE = np.where(WRONG, 1 - Y, Y)
NOISE = np.random.default_rng(1).normal(size=(3, N))
SHARES = np.column_stack([0.5 - 0.2 * (Y - 0.5), 0.5 + 0.2 * (Y - 0.5)])


def corrected(n_fixed, n_broken):
    """The predictions that err on half the rows, with some errors fixed and others made."""
    is_wrong = WRONG.copy()
    is_wrong[N // 2 : N // 2 + n_fixed] = False
    is_wrong[:n_broken] = True
    return np.where(is_wrong, 1 - Y, Y)


def std_error_of(values, groups=None):
    """Standard error of the mean of values, by rows or by the sums of groups."""
    if groups is None:
        return np.std(values, ddof=1) / np.sqrt(len(values))
    residuals = values - values.mean()
    sums = [residuals[groups == group].sum() for group in np.unique(groups)]
    n_groups = len(sums)
    return np.sqrt(n_groups / (n_groups - 1) * np.square(sums).sum()) / len(values)


def factor_at(number):
    return max(1, np.sqrt(2 * np.log(number)))


def influences(scores):
    """1 - AUC plus the influence of each row on it, pair by pair."""
    positive, negative = scores[Y == 1], scores[Y == 0]
    is_wrong = (negative > positive[:, None]) + 0.5 * (negative == positive[:, None])
    losses, risk = np.empty(N), is_wrong.mean()
    losses[Y == 1] = risk + (is_wrong.mean(axis=1) - risk) * N / len(positive)
    losses[Y == 0] = risk + (is_wrong.mean(axis=0) - risk) * N / len(negative)
    return losses


def submitted_last(predictions, number, first, worse, **options):
    """The answer to predictions that are the submission of this number."""
    ladder = tr.Ladder(Y, **options)
    ladder.submit(first)
    for _ in range(number - 2):
        ladder.submit(worse)
    submission = ladder.submit(predictions)
    assert submission.number == number
    return submission


# ---------------- what is accepted


@pytest.mark.parametrize("groups", [None, GROUPS], ids=["rows", "groups"])
@pytest.mark.parametrize("number", [2, 8, 60])
def test_submit_accepts_what_is_better_by_the_noise(number, groups):
    """The standard error times the factor, of the mean difference of the losses."""
    expected, told = [], []
    for n_fixed in range(2, 90, 2):
        predictions = corrected(n_fixed, 2)
        differences = (predictions != Y) * 1.0 - WRONG
        noise = factor_at(number) * std_error_of(differences, groups)
        expected.append(-differences.mean() > noise)
        options = {"scoring": "accuracy", "groups": groups}
        told.append(submitted_last(predictions, number, BASE, 1 - Y, **options).accepted)
    assert told == expected
    assert set(told) == {True, False}


@pytest.mark.parametrize("groups", [None, GROUPS], ids=["rows", "groups"])
def test_submit_knows_the_noise_of_a_score_of_the_whole_set(groups):
    first, (second, _) = Y + NOISE[0], NOISE[1:]
    expected, told = [], []
    for strength in np.linspace(0.5, 5, 40):
        predictions = strength * Y + second
        differences = influences(predictions) - influences(first)
        noise = factor_at(5) * std_error_of(differences, groups)
        expected.append(-differences.mean() > noise)
        options = {"scoring": "roc_auc", "groups": groups}
        told.append(submitted_last(predictions, 5, first, -first, **options).accepted)
    assert told == expected
    assert set(told) == {True, False}


def test_submit_rates_against_the_best_and_not_the_last():
    ladder = tr.Ladder(Y, scoring="accuracy")
    told = [ladder.submit(each).accepted for each in (BASE, Y, 1 - Y, corrected(90, 0))]
    assert told == [True, True, False, False]


# ---------------- what is told


def test_submit_tells_the_old_value_of_what_is_not_accepted():
    ladder = tr.Ladder(Y, scoring="accuracy")
    first = ladder.submit(BASE)
    assert f"{N} rows, 1 submission; " in repr(ladder)
    others = [ladder.submit(each) for each in (1 - Y, corrected(1, 0), corrected(0, 1))]
    assert {each.value for each in others} == {first.value} == {0.5}


@pytest.mark.parametrize(
    ("scoring", "predictions", "value"),
    [
        ("roc_auc", Y + NOISE[0], 1 - round((1 - roc_auc_score(Y, Y + NOISE[0])) * N) / N),
        ("brier", SHARES**2 / (SHARES**2).sum(axis=1)[:, None], round(4 / 13 * 4 / 13 * N) / N),
        ("squared", Y + 0.1234, 0.1234**2),
    ],
    ids=["score", "loss", "loss without an upper end"],
)
def test_submit_rounds_to_one_row_of_n(scoring, predictions, value):
    """Only what lies between 0 and 1."""
    assert tr.Ladder(Y, scoring=scoring).submit(predictions).value == pytest.approx(value, abs=1e-9)


LABELS = np.array(["sick", "well"])
SOME_WRONG = np.where(ROWS < 21, 1 - Y, Y)
AUC = roc_auc_score(Y, SHARES[:, 1] + NOISE[0])
CASES = {
    "labels": ("accuracy", Y, SOME_WRONG, 0.9),
    "labels as floats": ("accuracy", Y, SOME_WRONG * 1.0, 0.9),
    "bools": ("accuracy", Y == 1, SOME_WRONG == 1, 0.9),
    "texts": ("accuracy", LABELS[Y], LABELS[SOME_WRONG], 0.9),
    "list": (None, Y.tolist(), SOME_WRONG.tolist(), 0.1),
    "most probable label": ("accuracy", LABELS[Y], np.eye(2)[SOME_WRONG], 0.9),
    "probabilities": ("log", LABELS[Y], SHARES, -np.log(0.6)),
    "probability of the second class": ("log", LABELS[Y], SHARES[:, 1], -np.log(0.6)),
    "probabilities by rank": ("roc_auc", LABELS[Y], SHARES, 1.0),
    "scores": ("roc_auc", LABELS[Y], 20 * SOME_WRONG - 5, 0.9),
    "numbers": ("neg_mean_squared_error", Y * 7.5, Y * 7.5 + 2, -4.0),
    "scores of the second class": ("roc_auc", LABELS[Y], Y * 3.0, 1.0, "well"),
    "scores of the first class": ("roc_auc", LABELS[Y], Y * 3.0, 0.0, "sick"),
    "a class as text": ("f1", Y, 0 * Y, 2 / 3, "0"),
}


@pytest.mark.parametrize("case", CASES)
def test_submit_takes(case):
    scoring, y, predictions, value, *positive = CASES[case]
    ladder = tr.Ladder(y, scoring=scoring, positive=positive[0] if positive else None)
    told = ladder.submit(predictions).value
    assert told == pytest.approx(value, abs=0.5 / N)


def test_ladder_keeps_its_steps():
    ladder = tr.Ladder(Y)
    assert ladder.best is None
    told = [ladder.submit(BASE, name="base"), ladder.submit(1 - Y), ladder.submit(Y)]
    assert ladder.steps == (told[0], told[2])
    assert ladder.best == told[2]
    assert [each.name for each in told] == ["base", "2", "3"]
    assert ladder.n_submissions == 3
    assert str(ladder.submit(Y, name="\x1b[31m\ud800")).startswith(r"\x1b[31m\xd800: not")


# ---------------- attacks and power


@pytest.mark.parametrize("seed", [0, 3, 6])
def test_ladder_resists_the_boosting_attack_that_deceives_a_plain_holdout(seed):
    """The attack of Blum and Hardt: 1,000 guesses, and the vote of those that did well."""
    rng = np.random.default_rng(seed)
    y, guesses = rng.integers(0, 2, 2000), rng.integers(0, 2, (1000, 2000))
    ladder = tr.Ladder(y, scoring="accuracy")
    accepted = [guess for guess in guesses if ladder.submit(guess).accepted]
    told = ladder.submit((np.mean(accepted, axis=0) > 0.5).astype(int)).value
    assert abs(told - 0.5) <= 0.02
    good = guesses[(guesses == y).mean(axis=1) > 0.5]
    assert np.mean((good.mean(axis=0) > 0.5) == y) - 0.5 >= 0.05


@pytest.mark.parametrize(("n_std_errors", "is_accepted"), [(4, True), (3.4, False)])
def test_ladder_accepts_a_real_improvement_as_the_thousandth(n_std_errors, is_accepted):
    """The step grows slowly: 3.7 standard errors are enough at the thousandth submission."""
    n_broken = 10
    std_errors = {
        n: -d.mean() / std_error_of(d)
        for n in range(11, 80)
        for d in [(corrected(n, n_broken) != Y) * 1.0 - WRONG]
    }
    n_fixed = min(n for n, number in std_errors.items() if number >= n_std_errors)
    submission = submitted_last(corrected(n_fixed, n_broken), 1000, BASE, BASE)
    assert submission.accepted is is_accepted


# ---------------- store


@pytest.fixture
def store(tmp_path):
    return tmp_path / "ladder.jsonl"


def numbers_of(ladder):
    return ladder.steps, ladder.best, ladder.n_submissions


STORED = {
    "labels": ("accuracy", LABELS[Y], [LABELS[p] for p in (BASE, 1 - Y, corrected(60, 1), Y)]),
    "probabilities": (
        "log",
        LABELS[Y],
        [np.clip(np.eye(2)[p], 0.1, 0.9) for p in (BASE, 1 - Y, corrected(60, 1), Y)],
    ),
    "scores": ("roc_auc", Y, [Y + NOISE[0], NOISE[1], 4 * Y + NOISE[2], -Y, 9 * Y + NOISE[0]]),
    "numbers": ("squared", NOISE[0], [NOISE[1], 9 * NOISE[2], NOISE[0] / 3, NOISE[0]]),
}


@pytest.mark.parametrize("case", STORED)
def test_ladder_goes_on_where_its_store_ended(case, store):
    """Ladders that are opened anew for each submission answer like one that stays open."""
    scoring, y, submissions = STORED[case]
    open_one = tr.Ladder(y, scoring=scoring)
    for predictions in submissions:
        anew = tr.Ladder(y, scoring=scoring, store=store)
        assert anew.submit(predictions) == open_one.submit(predictions)
        assert numbers_of(tr.Ladder(y, scoring=scoring, store=store)) == numbers_of(open_one)
    assert 1 < len(open_one.steps) < open_one.n_submissions


def test_ladder_sees_what_another_one_submitted(store):
    one, other = tr.Ladder(Y, store=store), tr.Ladder(Y, store=store)
    one.submit(Y)
    assert (other.submit(BASE).number, other.submit(BASE).accepted) == (2, False)


def test_ladder_does_not_write_y(store):
    """Neither labels nor numbers: of all that is written, only the predictions are an array."""
    for y in (LABELS[Y], NOISE[0]):
        store.unlink(missing_ok=True)
        ladder = tr.Ladder(y, store=store)
        ladder.submit(y[::-1])
        header, line = map(json.loads, store.read_text().splitlines())
        assert not [v for v in header.values() if isinstance(v, list | dict)]
        assert [key for key, v in line.items() if isinstance(v, list | dict)] == ["predictions"]
        assert "sick" not in store.read_text()
    assert line["predictions"] == NOISE[0][::-1].tolist()


def two_submitted(store):
    """A store with a submission that is accepted, one that is not, and its lines."""
    ladder = tr.Ladder(Y, store=store)
    ladder.submit(BASE, name="first")
    ladder.submit(1 - Y, name="second")
    return store.read_bytes().splitlines(keepends=True)


def test_ladder_only_appends(store):
    before = two_submitted(store)
    tr.Ladder(Y, store=store).submit(Y)
    assert store.read_bytes().splitlines(keepends=True)[:-1] == before


@pytest.mark.parametrize(
    ("line", "kept", "n_submissions"),
    [(2, 20, 1), (2, -1, 1), (1, 300, 0), (0, 20, 0)],
    ids=["in the last line", "before its end", "in the first submission", "in the header"],
)
def test_ladder_drops_a_line_that_a_kill_has_cut(store, line, kept, n_submissions):
    """And the next submission is written and read again."""
    lines = two_submitted(store)
    store.write_bytes(b"".join(lines[:line]) + lines[line][:kept])
    ladder = tr.Ladder(Y, store=store)
    assert ladder.n_submissions == n_submissions
    assert ladder.submit(Y).number == n_submissions + 1
    assert numbers_of(tr.Ladder(Y, store=store)) == numbers_of(ladder)


COSTS = tr.losses.Cost([[0, 1], [5, 0]])
OF_A_CLASS = {"scoring": "f1", "positive": 1, "groups": GROUPS}
OTHERS = {
    "other outcomes": ({}, 1 - Y, {}),
    "fewer rows": ({}, Y[:-1], {}),
    "other labels": ({}, LABELS[Y], {}),
    "its score": ({}, Y, {"scoring": "accuracy"}),
    "another loss": ({}, Y, {"scoring": "log"}),
    "another class": (OF_A_CLASS, Y, {"scoring": "f1", "positive": 0, "groups": GROUPS}),
    "no groups": (OF_A_CLASS, Y, {"scoring": "f1", "positive": 1}),
    "other groups": ({"groups": GROUPS}, Y, {"groups": GROUPS[::-1]}),
    "other costs": ({"scoring": COSTS}, Y, {"scoring": tr.losses.Cost([[0, 9], [1, 0]])}),
}


@pytest.mark.parametrize("case", OTHERS)
def test_ladder_refuses_the_store_of_another(store, case):
    options, y, other_options = OTHERS[case]
    tr.Ladder(Y, store=store, **options).submit(BASE)
    differ = ": .* differ" if case != "other costs" else ", or was changed"
    differ = ": groups differ" if case.endswith(" groups") else differ
    with pytest.raises(BadStore, match=f"written for another holdout{differ}"):
        tr.Ladder(y, store=store, **other_options)


DAMAGED = {
    "other file": (0, b'{"a": 1}\n', "no ladder of this version"),
    "earlier version": (0, b'{"schema": "truerisk.ladder/1"}\n', "no ladder of this version"),
    "removed": (1, b"", "line 2"),
    "text": (0, b"y,prediction\n", "line 1: no line of a ladder"),
    "list for the header": (0, b"[]\n", "line 1"),
    "no bytes of a text": (1, b"\xff\xfe\n", "line 2"),
    "half a line": (1, b'{"name": "first", "accepted": tr\n', "line 2"),
    "deep": (1, b"[" * 100_000 + b"\n", "line 2"),
    "number": (2, b"3\n", "line 3"),
    "no verdict": (2, b'{"name": "second"}\n', "line 3"),
    "no predictions": (2, b'{"name": "second", "accepted": true}\n', "line 3"),
    "few predictions": (2, b'{"name": "2", "accepted": true, "predictions": [0, 1]}\n', "line 3"),
    "empty line": (2, b"\n", "line 3"),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_ladder_refuses_a_damaged_line(store, case):
    number, damaged, message = DAMAGED[case]
    lines = two_submitted(store)
    lines[number] = damaged
    store.write_bytes(b"".join(lines))
    with pytest.raises(BadStore, match=message):
        tr.Ladder(Y, store=store)
    with pytest.raises(BadStore, match="is no ladder, or was changed"):
        status_of(store)


@pytest.mark.parametrize("lines", [(0, 2, 1), (0, 1, 1, 2), (0, 1, 3)])
def test_ladder_refuses_moved_copied_and_removed_lines(store, lines):
    """Each line is whole, so that only the lines before it can tell."""
    kept = [*two_submitted(store), b""]
    tr.Ladder(Y, store=store).submit(Y)
    kept[3] = store.read_bytes().splitlines(keepends=True)[3]
    store.write_bytes(b"".join(kept[line] for line in lines))
    with pytest.raises(BadStore, match="it was changed"):
        tr.Ladder(Y, store=store)
    with pytest.raises(BadStore, match="cannot be read: Is a directory"):
        status_of(store.parent)


def test_ladder_does_not_touch_a_locked_store(store, monkeypatch):
    monkeypatch.setattr("truerisk.external.ladder.WAIT_SECONDS", 0.1)
    ladder = tr.Ladder(Y, store=store)
    lock = Lock(store).acquire()
    with pytest.raises(StoreLocked):
        ladder.submit(Y)
    with pytest.raises(StoreLocked):
        tr.Ladder(Y, store=store)
    lock.release()
    assert ladder.submit(Y).number == 1


@pytest.mark.parametrize("predictions", [Y, Y[1:]], ids=["accepted", "refused"])
def test_ladder_releases_its_lock(store, predictions):
    ladder = tr.Ladder(Y, store=store)
    try:
        ladder.submit(predictions)
    except BadData:
        assert len(predictions) < N
    assert Lock(store).holder() is None


@pytest.mark.parametrize("before", [[], [BASE]], ids=["at first", "later"])
def test_ladder_does_not_count_what_cannot_be_written(store, monkeypatch, before):
    def full(number):
        raise OSError(errno.ENOSPC, "No space left on device")

    ladder = tr.Ladder(Y, store=store)
    for predictions in before:
        ladder.submit(predictions)
    numbers = numbers_of(ladder)
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(NotWritten, match="No space left"):
            ladder.submit(Y)
    assert numbers_of(ladder) == numbers
    assert Lock(store).holder() is None
    assert ladder.submit(Y).number == len(before) + 1


# ---------------- refusals


def share_of_errors(y, predictions):
    return np.mean(y != predictions)


HOLDOUTS = {
    "one row": ([1], {}, BadData, r"y has shape \(1,\)"),
    "table": (np.zeros((3, 2)), {}, BadData, r"y has shape \(3, 2\)"),
    "missing": ([0.5, np.nan, 1], {}, BadData, "missing values"),
    "one class": ([1] * 9, {}, BadData, "only one class.* graded already, give y"),
    "scorer": (Y, {"scoring": "jaccard"}, Refusal, "scorer of fitted models"),
    "no noise": (Y, {"scoring": share_of_errors}, Refusal, "influence of a single row"),
    "unknown score": (Y, {"scoring": "acuracy"}, UnknownName, "acuracy"),
    "unknown class": (Y, {"scoring": "f1", "positive": 3}, UnknownName, "no class of y"),
    "short groups": (Y, {"groups": [1, 2]}, BadData, r"groups has shape \(2,\).* 210 rows"),
    "wide groups": (Y, {"groups": np.zeros((N, 1))}, BadData, r"groups has shape \(210, 1\)"),
    "one group": (Y, {"groups": np.zeros(N)}, BadData, "one group"),
    "number for a store": (Y, {"store": 3}, BadArgument, "store=3"),
    "folder for a store": (Y, {"store": "."}, BadArgument, "name a file"),
}


@pytest.mark.parametrize("case", HOLDOUTS)
def test_ladder_refuses(case):
    y, options, error, message = HOLDOUTS[case]
    with pytest.raises(error, match=message):
        tr.Ladder(y, **options)


SUBMISSIONS = {
    "short": ("accuracy", Y[1:], BadData, r"shape \(209,\): the holdout has 210 rows of 2 classes"),
    "column": ("accuracy", Y[:, None], BadData, r"shape \(210, 1\)"),
    "three classes": ("log", np.full((N, 3), 1 / 3), BadData, r"shape \(210, 3\)"),
    "unknown label": ("accuracy", Y + 1, BadData, "a prediction is '2', which is no class of y"),
    "chances": (
        "accuracy",
        SHARES[:, 1],
        BadData,
        "or a scoring that rates prob.* such as 'brier'",
    ),
    "text": ("roc_auc", LABELS[Y], BadData, "text where numbers are needed"),
    "text in columns": ("log", LABELS[[Y, Y]].T, BadData, "text where numbers are needed"),
    "missing": ("roc_auc", np.where(ROWS == 3, np.nan, Y), BadData, "no finite number on line 4"),
    "labels for probabilities": ("log", LABELS[Y], BadData, "the probability of each class"),
    "no probabilities": ("log", 2 * SHARES, BadData, "sum to 1"),
    "infinite": ("squared", Y + 1e200, BadData, "no finite loss"),
}


@pytest.mark.parametrize("case", SUBMISSIONS)
def test_submit_refuses_and_does_not_count(case):
    scoring, predictions, error, message = SUBMISSIONS[case]
    ladder = tr.Ladder(Y, scoring=scoring)
    with np.errstate(over="ignore"), pytest.raises(error, match=message):
        ladder.submit(predictions)
    assert ladder.n_submissions == 0


@pytest.mark.parametrize("name", [3, b"base", ["base"]])
def test_submit_refuses_a_name_that_is_no_text(name):
    with pytest.raises(BadArgument, match="a name is a text"):
        tr.Ladder(Y).submit(Y, name=name)


@pytest.mark.parametrize("scoring", [None, "roc_auc", "f1", "brier"])
def test_submit_does_not_accept_the_same_predictions_twice(scoring):
    predictions = SHARES if scoring in ("roc_auc", "brier") else BASE
    ladder = tr.Ladder(Y, scoring=scoring)
    assert [ladder.submit(predictions).accepted for _ in range(3)] == [True, False, False]


@pytest.mark.parametrize(
    ("scoring", "damaged"),
    [
        ("accuracy", [1]),
        ("accuracy", [0.5] * N),
        ("accuracy", None),
        ("log", [1, 2]),
        ("log", [[0.2, 0.3]] * N),
        ("roc_auc", [None] * N),
    ],
)
def test_ladder_refuses_damaged_predictions(store, scoring, damaged):
    tr.Ladder(Y, scoring=scoring, store=store).submit(BASE if scoring == "accuracy" else SHARES)
    header, line = store.read_text("utf-8").splitlines()
    changed = json.dumps(json.loads(line) | {"predictions": damaged})
    store.write_text(f"{header}\n{changed}\n", "utf-8")
    with pytest.raises(BadStore, match="line 2"):
        tr.Ladder(Y, scoring=scoring, store=store)


def test_ladder_does_not_tell_outcomes_by_the_digits_of_a_loss():
    """Probabilities with powers of two as log odds would tell a row in each binary digit."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 200)
    ladder, known = tr.Ladder(y, scoring="log"), np.full(200, 0.5)
    for start in range(0, 200, 32):
        rows = np.arange(start, min(start + 32, 200))
        asked = known.copy()
        asked[rows] = 1 / (1 + np.exp(-(2.0 ** -np.arange(1, len(rows) + 1))))
        told = ladder.submit(np.column_stack([1 - asked, asked])).value * 200
        base = -np.log(np.where(known > 0.5, known, 1 - known)).sum() + 0 * told
        digits = np.round((told - base) * 2.0**33).astype(np.int64) % 2**33
        guess = (digits >> np.arange(len(rows))) % 2
        known[rows] = np.where(guess == 1, 0.99, 0.01)
    assert np.mean((known > 0.5) == y) < 0.65
    assert len(f"{ladder.best.value:.12g}") <= 6


def test_ladder_waits_for_another_submission(store):
    with ThreadPoolExecutor(6) as pool:
        submitted = list(pool.map(lambda _: tr.Ladder(Y, store=store).submit(BASE), range(6)))
    assert sorted(one.number for one in submitted) == [1, 2, 3, 4, 5, 6]


def test_ladder_leaves_a_file_that_is_no_ladder(store):
    store.write_text("y,prediction", "utf-8")
    with pytest.raises(BadStore, match="no ladder of this version"):
        tr.Ladder(Y, store=store)
    assert store.read_text("utf-8") == "y,prediction"
