"""engines/interval/compiled.py: least errors with at most k intervals, against all functions."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truerisk.engines.interval.compiled import labels_after_changes, labels_for_every_k

GOLDEN = np.eye(2, dtype=int)[[0, 0, 1, 0, 1, 1, 0, 1, 1]]  # x = 1, 2, 4, 8, 13, 21, 31, 45, 66
DELTAS = {
    1: (4, [-2, -2, 0, -2, 0, 0, -2, 0, 0]),
    2: (2, [1, 0, 1, -1, 0, 0, -2, -1, -2]),
    3: (2, [0, 0, 1, -1, 0, 0, -2, 0, 0]),
    4: (1, [1, 0, 1, -1, 0, 0, -1, 0, -1]),
    5: (1, [0, 0, 1, -1, 0, 0, -1, 0, 0]),
}


def functions(n, k):
    """All ways to label n groups with at most k intervals."""
    return [f for f in product((0, 1), repeat=n) if len(ends(f)) < k]


def ends(labels):
    """The groups after which the label changes."""
    return [g for g in range(len(labels) - 1) if labels[g] != labels[g + 1]]


def errors(labels, counts):
    """Rows that the labels get wrong."""
    return sum(counts[g][1 - label] for g, label in enumerate(labels))


def best(counts, k):
    """The function that the tie rule names: few errors, few intervals, late ends, label 0."""

    def order(labels):
        return errors(labels, counts), len(ends(labels)), [-end for end in ends(labels)], labels[0]

    return list(min(functions(len(counts), k), key=order))


@st.composite
def chains(draw):
    """Up to 9 groups of up to 3 rows (empty ones too), and a list of ks in any order."""
    n = draw(st.integers(1, 9))
    most = draw(st.sampled_from([1, 1, 3]))
    single = st.sampled_from([(0, 1), (1, 0)])
    several = st.tuples(st.integers(0, most), st.integers(0, most))
    counts = draw(st.lists(single if draw(st.booleans()) else several, min_size=n, max_size=n))
    ks = draw(st.lists(st.integers(1, n + 2), min_size=1, max_size=4))
    return np.array(counts), ks


@settings(deadline=None)
@given(chains())
def test_labels_are_those_of_the_best_of_all_functions(chain) -> None:
    """Fewest errors, then fewest intervals, then the longest intervals from the left, then 0."""
    counts, ks = chain
    assert labels_for_every_k(counts, ks).tolist() == [best(counts, k) for k in ks]


@settings(deadline=None)
@given(chains(), st.data())
def test_labels_after_a_change_are_those_from_scratch(chain, data) -> None:
    """Whatever the group has instead, also nothing, the label is that of the changed chain."""
    counts, ks = chain
    n = len(counts)
    groups = data.draw(st.lists(st.integers(0, n - 1), max_size=5))
    pairs = st.tuples(st.integers(0, 4), st.integers(0, 4))
    instead = data.draw(st.lists(pairs, min_size=len(groups), max_size=len(groups)))
    following = [g < n - 1 and data.draw(st.booleans()) for g in groups]
    found = labels_after_changes(
        counts, ks, np.array(groups, int), np.array(instead, int).reshape(-1, 2), following
    )
    assert found.shape == (len(ks), len(groups))
    for c, (g, pair) in enumerate(zip(groups, instead, strict=True)):
        changed = counts.copy()
        changed[g] = pair
        for i, k in enumerate(ks):
            assert found[i, c] == best(changed, k)[g + following[c]]


@pytest.mark.parametrize("k", DELTAS)
def test_labels_of_the_nine_points_are_golden(k) -> None:
    """n·EER of METHODS §3, and what the difference decides.

    A row left out is called 1 at δ < 0, 0 at δ > 0; a flip is followed at 0, not at |δ| ≥ 2.
    """
    wrong = labels_for_every_k(GOLDEN, [k])[0] != GOLDEN[:, 1]
    assert wrong.sum() == DELTAS[k][0]
    delta, rows = np.array(DELTAS[k][1]), np.arange(9)
    left_out, as_zero, as_one = (
        labels_after_changes(GOLDEN, [k], rows, np.tile(instead, (9, 1)))[0]
        for instead in ([0, 0], [1, 0], [0, 1])
    )
    assert (left_out[delta != 0] == (delta < 0)[delta != 0]).all()
    assert ((as_one - as_zero)[delta == 0] == 1).all()
    assert ((as_one - as_zero)[abs(delta) >= 2] == 0).all()


def test_labels_of_more_intervals_than_runs_are_those_of_the_runs() -> None:
    """However large k is; read-only and strided input is read correctly."""
    counts = GOLDEN.copy()
    counts.flags.writeable = False
    assert (labels_for_every_k(counts, [6, 2**31, 7]) == GOLDEN[:, 1]).all()
    mirrored = labels_for_every_k(GOLDEN[:, ::-1], [4])
    assert (mirrored == 1 - labels_for_every_k(GOLDEN, [4])).all()


def test_labels_of_long_chains_do_not_lose_count() -> None:
    """Ranks of ways stay small over many groups: 5000 alternating rows, one left out each."""
    counts = np.eye(2, dtype=int)[np.arange(5000) % 2]
    found = labels_after_changes(counts, [1, 3], np.arange(5000), np.zeros((5000, 2), int))
    assert (found[0] == 1 - np.arange(5000) % 2).all()
