"""Outcomes in time: what R says, brute force over pairs, derivatives, and what is refused."""

import json
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truerisk.data.survival import uncensored_probability
from truerisk.extend import BadArgument, BadData, Data, Refusal
from truerisk.losses.loss_words import as_loss
from truerisk.losses.survival_losses import AUCAt, BrierAt, Concordance, IntegratedBrier, Uno

ORACLES = json.loads((Path(__file__).parents[1] / "support/survival_oracles.json").read_text())
"""survival::concordance and riskRegression::Score (`survival_oracles.R`)."""
PAIRS = [("event", bool), ("time", float)]


def rows_of(event, time, horizons=(5.0, 10.0), **rows):
    """Checked data, asked at these horizons."""
    y = np.array(list(zip(event, time, strict=True)), dtype=PAIRS)
    data = Data.check(np.zeros((len(y), 1)), y, task="survival", **rows)
    return replace(data, horizons=horizons)


def of_intervals(*by_then):
    """Answers of one model, from the chances of the event by each horizon."""
    edges = np.column_stack([np.zeros(len(by_then[0])), *by_then, np.ones(len(by_then[0]))])
    return np.diff(edges)[None, :, ::-1]


@pytest.mark.parametrize("word", ORACLES["numbers"])
def test_survival_losses_have_values_and_errors_of_r(word):
    """C by Harrell and Uno, Brier's score and AUC; the errors of influences of n rows."""
    rows = {name: np.array(values) for name, values in ORACLES["rows"].items()}
    data, n = rows_of(rows["event"] == 1, rows["time"]), len(rows["time"])
    loss = as_loss(word, data)
    in_order = loss.response == "value"
    answers = rows["risk"][None] if in_order else of_intervals(rows["p5"], rows["p10"])
    risk = loss.of_set(data, np.arange(n), answers, None)
    value, error = ORACLES["numbers"][word]
    assert (1 - risk[0] if loss.is_score else risk[0]) == pytest.approx(value, abs=1e-11)
    if in_order:
        influences = loss.influences(data, np.arange(n), answers, None, risk)
        assert np.sqrt((influences**2).sum()) / n == pytest.approx(error, abs=1e-11)
    elif error is not None:
        losses = loss.of_rows(data, np.arange(n), answers)[0]
        assert losses.std(ddof=1) / np.sqrt(n) == pytest.approx(error, abs=1e-11)


@st.composite
def outcomes(draw):
    """Few whole times, so that many are tied; events among them; weights."""
    n = draw(st.integers(4, 14))
    of = st.lists(st.integers(1, 6), min_size=n, max_size=n)
    time, risk, weight = (np.array(draw(of), dtype=float) for _ in range(3))
    event = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    event[0] = True
    return event, time, risk, weight


def brute(event, time, risk, weight, of_first):
    """Pairs of known order, one by one: what each weighs, and 1 where it is in the wrong order."""
    pairs = []
    for i, j in product(range(len(time)), repeat=2):
        if event[i] and (time[i] < time[j] or (time[i] == time[j] and not event[j])):
            wrong = 1.0 if risk[i] < risk[j] else 0.5 if risk[i] == risk[j] else 0.0
            pairs.append((weight[i] * weight[j] * of_first[i], wrong))
    return np.array(pairs).reshape(-1, 2).T


def chance(event, time, weight, at):
    """Of being followed up to this time: Kaplan and Meier's for those who were lost."""
    stays = 1.0
    for when in sorted(set(time[~event & (time < at)])):
        here = (time == when) & ~event
        stays *= 1 - weight[here].sum() / weight[(time > when) | here].sum()
    return stays


@settings(max_examples=60, deadline=None)
@given(outcomes())
def test_concordance_is_that_of_all_pairs(drawn):
    """With ties of times and of predictions, and weights; each pair is counted twice in a sum."""
    event, time, risk, weight = drawn
    data = rows_of(event, time, sample_weight=weight)
    followed = np.array([chance(event, time, weight, t) for t in time])
    assert uncensored_probability(data.y, weight, time, past=False) == pytest.approx(followed)
    for loss, counts in ((Concordance(), np.ones(len(time))), (Uno(), followed**-2.0)):
        pairs, wrong = brute(event, time, risk, weight, counts)
        set_ = data, np.arange(len(time)), risk[None], weight
        if not len(pairs):
            with pytest.raises(Refusal, match="two rows of known order"):
                loss.of_set(*set_)
        else:
            assert loss.of_set(*set_)[0] == pytest.approx(pairs @ wrong / pairs.sum())
            twice = ((pairs * (wrong - 0.3)) ** 2).sum() / pairs.sum() ** 2
            assert loss.counted_twice(*set_, np.array([0.3]))[0] == pytest.approx(twice)


def drawn_rows(n=60, seed=0):
    """Rows with censoring, risks and chances by 5 and 10."""
    rng = np.random.default_rng(seed)
    risk = rng.standard_normal(n)
    time = rng.exponential(8 * np.exp(-risk))
    lost = rng.exponential(12, n)
    by_5 = 1 / (1 + np.exp(1 - risk))
    told = of_intervals(by_5, by_5 + 0.5 * (1 - by_5))
    return time <= lost, np.minimum(time, lost), risk, told, 0.5 + rng.random(n)


@pytest.mark.parametrize("loss", [Concordance(), Uno(), AUCAt(10)], ids=lambda one: one.name)
def test_influences_of_survival_losses_are_derivatives(loss):
    """By the weight of a row, times the weight of all; what rows count for is held."""
    event, time, risk, told, weight = drawn_rows()
    data = rows_of(event, time)
    answers, rows = risk[None] if loss.response == "value" else told, np.arange(60)
    about = loss.of_set(data, rows, answers, weight)
    influences = loss.influences(data, rows, answers, weight, about)[0]
    for i in range(0, 60, 7):
        more = weight + 1e-6 * (rows == i)
        moved = (loss.of_set(data, rows, answers, more) - about)[0] / 1e-6 * weight.sum()
        assert influences[i] == pytest.approx(moved, abs=1e-4)


def test_enlargement_of_survival_losses_removes_the_bias_of_few_rows():
    """Of 12 rows without bias (it is a third too small), with as many degrees as events but one."""
    rng, rows, loss = np.random.default_rng(2), np.arange(12), Concordance()
    values, once = [], []
    for _ in range(3000):
        risk = rng.standard_normal(12)
        data = rows_of(np.ones(12, dtype=bool), rng.exponential(np.exp(-0.5 * risk)))
        asked = data, rows, risk[None], None
        values.append(value := loss.of_set(*asked))
        squares = ((loss.influences(*asked, value) / 12) ** 2).sum(axis=1)
        once.append((squares - loss.counted_twice(*asked, value)) * 12 / 11)
    more, degrees = loss.enlargement(data, rows)
    assert (more, degrees) == (pytest.approx(121 / 90), 11)
    assert np.mean(once) * more == pytest.approx(np.var(values), rel=0.06)
    lost = rows_of(rows < 5, data.y[:, 1])
    assert Uno().enlargement(lost, rows) == (pytest.approx(121 / 90), 4)
    event, time, *_ = drawn_rows()
    at_10 = rows_of(event, time)
    known = at_10.at_horizon(10).sample_weight > 0
    m, k = (known & (at_10.at_horizon(10).class_codes == c) for c in (0, 1))
    m, k = m.sum(), k.sum()
    assert m + k < 60  # those who were lost count among the rows alone
    factor = m * k / ((m - 1) * (k - 1)) * 59 / 60
    assert AUCAt(10).enlargement(at_10, np.arange(60)) == (pytest.approx(factor), np.inf)


def test_brier_at_carries_lost_rows_over_and_leaves_the_mean():
    """Of weighted rows, in any test set, with ties: a lost row has what others count for it."""
    event, time, _, told, weight = drawn_rows()
    time = np.ceil(time)
    data, rows = rows_of(event, time, sample_weight=weight), np.arange(5, 50)
    loss = as_loss("brier-at-10", data)
    at = data.at_horizon(10.0)
    by_10 = told[0, :, 1:].sum(axis=1)
    plain = at.sample_weight * (by_10 - at.class_codes) ** 2
    found = loss.of_set(data, rows, told[:, rows], weight[rows])
    assert found[0] == pytest.approx(plain[rows].sum() / weight[rows].sum())
    carried = loss.of_rows(data, rows, told[:, rows])[0]
    lost = ~event[rows] & (time[rows] < 10)
    assert (carried[lost] != 0).any()
    assert not plain[rows][lost].any()


def test_survival_losses_without_censoring_are_scores_of_two_classes():
    """Rows count alike, and the integrated score is the mean of Brier's over time."""
    _, time, _, told, _ = drawn_rows()
    data = rows_of(np.ones(60, dtype=bool), time)
    by_10, came = told[0, :, 1:].sum(axis=1), time <= 10
    assert data.at_horizon(10.0).sample_weight == pytest.approx(np.ones(60))
    risk = as_loss("brier-at-10", data).of_set(data, np.arange(60), told, None)[0]
    assert risk == pytest.approx(((by_10 - came) ** 2).mean())
    over_time = IntegratedBrier(10.0)
    over_time.check(data)
    data = replace(data, horizons=over_time.horizons)
    constant = of_intervals(*(np.full(60, 0.3) for _ in over_time.horizons))
    each = [((0.3 - (time <= h)) ** 2).mean() for h in over_time.horizons]
    by_hand = (sum(each) - each[-1] / 2) / len(each)
    assert over_time.of_set(data, np.arange(60), constant, None)[0] == pytest.approx(by_hand)


def test_data_at_a_horizon_weigh_the_rows_that_were_followed():
    """Who was lost weighs nothing, the others for them, and all together as much as all rows."""
    event, time, _, _, weight = drawn_rows()
    at = rows_of(event, time, sample_weight=weight).at_horizon(5.0)
    lost = ~event & (time <= 5)
    assert lost.any()
    assert (at.sample_weight[lost] == 0).all()
    assert at.sample_weight.sum() == pytest.approx(weight.sum())
    assert at.classes.tolist() == ["after 5", "by 5"]
    long = rows_of(event, time * 1e8).at_horizon(730_000_000.0)
    assert long.classes.tolist() == ["after 730000000", "by 730000000"]


GOOD = np.array([(True, 1.0), (False, 2.0), (True, 3.0)], dtype=PAIRS)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1.0, 2.0, 3.0], "y is no outcome in time: give a structured array of a boolean"),
        (GOOD[:2], "X has 3 rows and y has 2"),
        (np.array([(1, 1.0)] * 3, dtype="i8,f8"), "y is no outcome in time"),
        (np.array([(True, 1.0), (True, -1.0), (True, 2.0)], PAIRS), "the time of row 1 is -1"),
        (np.array([(True, np.nan)] * 3, PAIRS), "the time of row 0 is nan"),
        (np.array([(False, 1.0)] * 3, PAIRS), "the event came in no row"),
    ],
)
def test_survival_data_refuse_other_outcomes(y, message):
    with pytest.raises(BadData, match=message):
        Data.check(np.zeros((3, 1)), y, task="survival")


@pytest.mark.parametrize(
    ("loss", "y", "message"),
    [
        ("brier-at", GOOD, "loss 'brier-at' needs its time: such as 'brier-at-5'"),
        ("brier-at-3", GOOD, "no row was followed past the time 3: choose one below 3"),
        ("zero-one", GOOD, "not defined for survival; use concordance"),
        (lambda y, told: 0.0, GOOD, "not defined for outcomes in time"),
        ("concordance", [0, 1, 0], "loss 'concordance' is not defined for classification"),
    ],
)
def test_survival_losses_are_refused_for_other_outcomes(loss, y, message):
    task = "survival" if y is GOOD else "classification"
    with pytest.raises(Refusal, match=message):
        as_loss(loss, Data.check(np.zeros((3, 1)), y, task=task))
    with pytest.raises(BadArgument, match="horizon=-1: give a time of y, such as 5"):
        BrierAt(-1)
