"""A walk along the lists answers every k of every fit, and says where it cannot."""

from itertools import combinations

import numpy as np
import pytest

from truerisk.engines.neighbours.distances import NearestRows, euclidean
from truerisk.engines.neighbours.walk import SHORT, SURE, TIED, RowTargets, walk_plan
from truerisk.plan.blocks import ALL
from truerisk.plan.builder import PlanBuilder

X = np.array([[0.0], [1.0], [3.0], [6.0], [10.0]])
CODES = np.array([0, 1, 1, 0, 1])


def one_fit(train, test, **how):
    builder = PlanBuilder(len(X))
    builder.ask(train, (builder.block(np.array(test)), ()), **how)
    return builder, builder.build()


def walked(plan, ks, codes=CODES, length=5, **how):
    lists = euclidean(X, X, length)
    return walk_plan(
        lists, np.arange(len(X)), plan, np.array(ks), RowTargets(codes, None, 2), **how
    )


def test_rows_outside_the_train_set_are_skipped():
    """Row 1 asked with itself held out: neighbours 0, 2, 3, 4 in this order."""
    builder = PlanBuilder(5)
    held = builder.block(np.array([1]))
    builder.ask((ALL, (held,)), (held, ()))
    found = walked(builder.build(), [1, 2, 3, 4])
    assert found.labels[:, 0].tolist() == [0, 0, 0, 0]
    assert found.verdicts.max() == SURE


def test_fits_that_share_blocks_see_what_each_lacks():
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
    lists = euclidean(rows, rows, 30)
    found = walk_plan(lists, np.arange(30), plan, ks, RowTargets(codes, None, 2))
    shares = walk_plan(lists, np.arange(30), plan, ks, RowTargets(codes, None, 2), want="shares")
    for q in range(plan.n_questions):
        trained, _ = plan.train_rows(int(plan.fit[q]))
        order = np.argsort(np.abs(rows[trained] - rows[:, 0]), axis=0, kind="stable").T
        part = slice(*plan.test_offsets[q : q + 2])
        for i, k in enumerate(ks):
            ones = codes[trained[order[:, :k]]].mean(axis=1)
            np.testing.assert_array_equal(found.labels[i, part], ones > 0.5)
            np.testing.assert_allclose(shares.shares[i, part, 1], ones)


def test_copies_are_neighbours_of_their_own():
    """A bootstrap sample holding row 4 three times outvotes the nearer rows at k = 5."""
    builder = PlanBuilder(5)
    sample = builder.block(np.array([0, 3, 4, 4, 4]))
    builder.ask((sample, ()), (builder.block(np.array([1])), ()))
    found = walked(builder.build(), [1, 2, 3, 4, 5], want="shares")
    ones = found.shares[:, 0, 1]
    np.testing.assert_allclose(ones, [0, 0, 1 / 3, 2 / 4, 3 / 5])


def test_flipped_labels_are_seen_in_their_fit_only():
    """The label of row 0 is 1 in the first fit and 0 in the second."""
    builder = PlanBuilder(5)
    asked = (builder.block(np.array([0])), ())
    builder.ask((ALL, ()), asked, flips=[(0, 1)])
    builder.ask((ALL, ()), asked)
    assert walked(builder.build(), [1]).labels[0].tolist() == [1, 0]


def test_an_undecided_boundary_is_reported():
    """Rows 0 and 2 are equally far from 1.5 and disagree: k = 1 is up to the searcher."""
    queries = np.array([[1.5]])
    rows = np.array([[0.0], [3.0], [9.0]])
    near = euclidean(queries, rows, 3)
    lists = NearestRows(near.index, near.squared, near.ties, True)
    builder = PlanBuilder(4)
    train, test = builder.block(np.arange(3)), builder.block(np.array([3]))
    builder.ask((train, ()), (test, ()))
    plan, list_of = builder.build(), np.array([-1, -1, -1, 0])
    for codes, verdict in (([0, 1, 1, 0], TIED), ([1, 1, 0, 0], SURE)):
        said = RowTargets(np.array(codes), None, 2)
        found = walk_plan(lists, list_of, plan, np.array([1, 2, 3]), said)
        assert found.verdicts[:, 0].tolist() == [verdict, SURE, SURE]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_boundary_is_open_only_where_it_changes_the_label(n_classes):
    """Whichever of the rows at equal distances are taken: as enumerating all of them says."""
    rng, n = np.random.default_rng(n_classes), 9
    open_ = 0
    for _ in range(60):
        rows = rng.integers(0, 4, size=(n, 1)).astype(float)
        codes = rng.integers(0, n_classes, n + 1)
        near = euclidean(np.zeros((1, 1)), rows, n)
        builder = PlanBuilder(n + 1)
        builder.ask((builder.block(np.arange(n)), ()), (builder.block(np.array([n])), ()))
        ks, said = np.arange(1, n + 1), RowTargets(codes, None, n_classes)
        found = walk_plan(near, np.append(np.full(n, -1), 0), builder.build(), ks, said)
        for k, label, verdict in zip(ks, found.labels[:, 0], found.verdicts[:, 0], strict=True):
            edge = np.sort(rows[:, 0])[k - 1]
            sure, tied = np.flatnonzero(rows[:, 0] < edge), np.flatnonzero(rows[:, 0] == edge)
            labels = {
                int(np.bincount(codes[[*sure, *some]]).argmax())
                for some in combinations(tied, k - len(sure))
            }
            assert (verdict == SURE) == (len(labels) == 1)
            assert label in labels
            open_ += verdict == TIED
    assert open_ > 20


def test_a_list_that_ends_too_early_is_reported():
    """With two rows listed, k = 1 is answered and k = 3 is not."""
    builder = PlanBuilder(5)
    held = builder.block(np.array([0]))
    builder.ask((ALL, (held,)), (held, ()))
    verdicts = walked(builder.build(), [1, 3], length=3).verdicts[:, 0]
    assert verdicts.tolist() == [SURE, SHORT]


def test_only_the_asked_setting_is_answered():
    """`only` asks one k per fit, and -1 none."""
    builder = PlanBuilder(5)
    blocks = builder.partition(np.arange(5))
    for block in blocks:
        builder.ask((ALL, (block,)), (block, ()))
    plan = builder.build()
    every = walked(plan, [1, 3])
    some = walked(plan, [1, 3], only=np.array([0, 1, -1, 1, 0]))
    expected = [every.labels[0, 0], every.labels[1, 1], -1, every.labels[1, 3], every.labels[0, 4]]
    assert some.labels[0].tolist() == expected


def test_targets_are_averaged():
    """Regression gives means of the nearest targets, one column per target."""
    builder = PlanBuilder(5)
    builder.ask((ALL, ()), (builder.block(np.array([0])), ()))
    targets = np.array([[1.0, 10], [2, 20], [6, 60], [0, 0], [0, 0]])
    lists = euclidean(X, X, 5)
    found = walk_plan(
        lists,
        np.arange(5),
        builder.build(),
        np.array([1, 2, 3]),
        RowTargets(None, targets),
        want="shares",
    )
    np.testing.assert_allclose(found.shares[:, 0], [[1, 10], [1.5, 15], [3, 30]])


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"list_of": np.zeros(3, int)}, "each of 5 rows"),
        ({"list_of": np.full(5, 9)}, "one of 5 lists"),
        ({"list_of": np.array([-1, 0, 1, 2, 3])}, "has no list"),
        ({"ks": np.array([0])}, "positive"),
        ({"said": RowTargets(np.array([0, 1, 2, 0, 1]), None, 2)}, "a class below 2"),
        ({"said": RowTargets(None, np.zeros((3, 1)))}, "each of 5 rows a value"),
        (
            {
                "lists": NearestRows(
                    np.full((5, 2), 7, np.int32), np.zeros((5, 2)), np.zeros(5), True
                )
            },
            "0 ... 4",
        ),
        (
            {"lists": NearestRows(np.zeros((5, 2), np.int32), np.zeros((5, 1)), np.zeros(5), True)},
            "shapes",
        ),
    ],
)
def test_what_would_be_read_out_of_bounds_is_refused(change, match):
    """Shapes and bounds are checked before the compiled loop runs."""
    builder = PlanBuilder(5)
    builder.ask((ALL, ()), (ALL, ()))
    given = {
        "lists": euclidean(X, X, 5),
        "list_of": np.arange(5),
        "plan": builder.build(),
        "ks": np.array([1]),
        "said": RowTargets(CODES, None, 2),
    } | change
    with pytest.raises(ValueError, match=match):
        walk_plan(**given)
