"""A walk along the lists answers every k of every fit, and says where it cannot."""

from itertools import combinations

import numpy as np
import pytest

from truerisk.engines.neighbours.distances import find_nearest_euclidean
from truerisk.engines.neighbours.walk import CERTAIN, LIST_TOO_SHORT, TIED, RowTargets, predict_plan
from truerisk.plan import ALL, PlanBuilder

X = np.array([[0.0], [1.0], [3.0], [6.0], [10.0]])
CODES = np.array([0, 1, 1, 0, 1])


def walked(plan, ks, codes=CODES, length=5, **how):
    lists = find_nearest_euclidean(X, X, length)
    return predict_plan(
        lists, np.arange(len(X)), plan, np.array(ks), RowTargets(codes, None, 2), **how
    )


def test_walk_skips_rows_outside_the_train_set():
    """Row 1 asked with itself held out: neighbours 0, 2, 3, 4 in this order."""
    builder = PlanBuilder(5)
    held = builder.block(np.array([1]))
    builder.ask((ALL, (held,)), (held, ()))
    found = walked(builder.build(), [1, 2, 3, 4])
    assert found.labels[:, 0].tolist() == [0, 0, 0, 0]
    assert found.verdicts.max() == CERTAIN


def test_walk_of_fits_that_share_blocks_sees_what_each_lacks():
    """Blocks may overlap; a row comes back only when the last block that held it does."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(30, 1))
    codes = rng.integers(0, 2, 30)
    builder = PlanBuilder(30)
    blocks = [builder.block(np.sort(rng.choice(30, size, replace=False))) for size in (9, 7, 1, 1)]
    asked = (builder.block(np.arange(30)), ())
    lacking = [(0, 1), (0, 2), (0,), (0, 1, 3), (1, 3), (), (1,), (0, 1)]
    sample = builder.block(np.arange(0, 30, 2))
    for lack in lacking:
        builder.ask((ALL, tuple(blocks[b] for b in lack)), asked)
        builder.ask((sample, tuple(blocks[b] for b in lack[:1])), asked)
    plan = builder.build()
    ks = np.array([1, 3, 4, 6])
    lists = find_nearest_euclidean(rows, rows, 30)
    found = predict_plan(lists, np.arange(30), plan, ks, RowTargets(codes, None, 2))
    shares = predict_plan(
        lists, np.arange(30), plan, ks, RowTargets(codes, None, 2), wanted_output="shares"
    )
    for q in range(plan.n_questions):
        trained, _ = plan.train_rows(int(plan.fit[q]))
        order = np.argsort(np.abs(rows[trained] - rows[:, 0]), axis=0, kind="stable").T
        part = slice(*plan.test_offsets[q : q + 2])
        for i, k in enumerate(ks):
            ones = codes[trained[order[:, :k]]].mean(axis=1)
            np.testing.assert_array_equal(found.labels[i, part], ones > 0.5)
            np.testing.assert_allclose(shares.shares[i, part, 1], ones)


def test_walk_meets_copies_as_neighbours_of_their_own():
    """A bootstrap sample holding row 4 three times outvotes the nearer rows at k = 5."""
    builder = PlanBuilder(5)
    sample = builder.block(np.array([0, 3, 4, 4, 4]))
    builder.ask((sample, ()), (builder.block(np.array([1])), ()))
    found = walked(builder.build(), [1, 2, 3, 4, 5], wanted_output="shares")
    ones = found.shares[:, 0, 1]
    np.testing.assert_allclose(ones, [0, 0, 1 / 3, 2 / 4, 3 / 5])


def test_walk_sees_flipped_labels_in_their_fit_only():
    """The label of row 0 is 1 in the first fit and 0 in the second."""
    builder = PlanBuilder(5)
    asked = (builder.block(np.array([0])), ())
    builder.ask((ALL, ()), asked, flips=[(0, 1)])
    builder.ask((ALL, ()), asked)
    assert walked(builder.build(), [1]).labels[0].tolist() == [1, 0]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_walk_reports_a_boundary_only_where_it_changes_the_label(n_classes):
    """Whichever of the rows at equal distances are taken: as enumerating all of them says."""
    rng, n = np.random.default_rng(n_classes), 9
    open_ = 0
    for _ in range(60):
        rows = rng.integers(0, 4, size=(n, 1)).astype(float)
        codes = rng.integers(0, n_classes, n + 1)
        near = find_nearest_euclidean(np.zeros((1, 1)), rows, n)
        builder = PlanBuilder(n + 1)
        builder.ask((builder.block(np.arange(n)), ()), (builder.block(np.array([n])), ()))
        ks, said = np.arange(1, n + 1), RowTargets(codes, None, n_classes)
        found = predict_plan(near, np.append(np.full(n, -1), 0), builder.build(), ks, said)
        for k, label, verdict in zip(ks, found.labels[:, 0], found.verdicts[:, 0], strict=True):
            edge = np.sort(rows[:, 0])[k - 1]
            sure, tied = np.flatnonzero(rows[:, 0] < edge), np.flatnonzero(rows[:, 0] == edge)
            labels = {
                int(np.bincount(codes[[*sure, *some]]).argmax())
                for some in combinations(tied, k - len(sure))
            }
            assert (verdict == CERTAIN) == (len(labels) == 1)
            assert label in labels
            open_ += verdict == TIED
    assert open_ > 20


def test_walk_reports_a_list_that_ends_too_early():
    """With two rows listed, k = 1 is answered and k = 3 is not."""
    builder = PlanBuilder(5)
    held = builder.block(np.array([0]))
    builder.ask((ALL, (held,)), (held, ()))
    verdicts = walked(builder.build(), [1, 3], length=3).verdicts[:, 0]
    assert verdicts.tolist() == [CERTAIN, LIST_TOO_SHORT]


def test_walk_answers_only_the_setting_asked():
    """`only` asks one k per fit, and -1 none."""
    builder = PlanBuilder(5)
    blocks = builder.partition(np.arange(5))
    for block in blocks:
        builder.ask((ALL, (block,)), (block, ()))
    plan = builder.build()
    every = walked(plan, [1, 3])
    some = walked(plan, [1, 3], k_of_fit=np.array([0, 1, -1, 1, 0]))
    expected = [every.labels[0, 0], every.labels[1, 1], -1, every.labels[1, 3], every.labels[0, 4]]
    assert some.labels[0].tolist() == expected


def test_walk_averages_targets():
    """Regression gives means of the nearest targets, one column per target."""
    builder = PlanBuilder(5)
    builder.ask((ALL, ()), (builder.block(np.array([0])), ()))
    targets = np.array([[1.0, 10], [2, 20], [6, 60], [0, 0], [0, 0]])
    lists = find_nearest_euclidean(X, X, 5)
    found = predict_plan(
        lists,
        np.arange(5),
        builder.build(),
        np.array([1, 2, 3]),
        RowTargets(None, targets),
        wanted_output="shares",
    )
    np.testing.assert_allclose(found.shares[:, 0], [[1, 10], [1.5, 15], [3, 30]])
