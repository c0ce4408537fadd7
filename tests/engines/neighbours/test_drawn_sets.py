"""The kNN engine on drawn train sets: its closed forms equal fitting them all."""

from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from tests.engines.closed_forms import both, plan_of
from tests.support.data import checked, normal_rows

import truerisk as tr
from truerisk.engines import NearestNeighbours
from truerisk.engines.neighbours.laws import count_ranks_needed, expected_costs
from truerisk.exceptions import DuplicateRowsWarning
from truerisk.extend import Family, Request
from truerisk.losses import Brier, Cost, Log, ZeroOne
from truerisk.methods import Complete, ExactOutOfBag, Nested
from truerisk.plan.extras.laws import Laws, SampleDistribution

KS = np.array([1, 2, 3, 4])
X = normal_rows(7, 3)[0] + 2
Y = np.array([0, 1, 1, 0, 1, 0, 0])
PLAIN, CITY = KNeighborsClassifier(), KNeighborsClassifier(metric="manhattan")


def draws(law, n):
    """Every draw as ranks with copies, ascending."""
    if law.kind == "subsets":
        return list(combinations(range(n), law.size))
    return [tuple(sorted(draw)) for draw in product(range(n), repeat=law.size)]


@settings(max_examples=14, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    law=st.one_of(
        st.builds(SampleDistribution, st.just("subsets"), st.integers(4, 6)),
        st.builds(SampleDistribution, st.just("bootstraps"), st.integers(4, 5)),
    ),
)
def test_expected_costs_are_means_over_all_draws(seed, law):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(law.size, 9) if law.kind == "subsets" else rng.integers(2, 6))
    ones = rng.integers(2, size=(3, n))
    costs = [rng.random((k + 1, 3)) for k in KS]
    found = expected_costs(ones[:, : count_ranks_needed(law, n, KS)], n, law, KS, costs)
    for j, k in enumerate(KS):
        for i in range(3):
            each = [costs[j][ones[i, list(draw[:k])].sum(), i] for draw in draws(law, n)]
            assert found[j, i] == pytest.approx(np.mean(each), abs=1e-12)


@pytest.mark.parametrize(
    ("kind", "size", "most"),
    [
        ("subsets", 1800, 90),
        ("subsets", 40, 1999),
        ("bootstraps", 2000, 200),
        ("bootstraps", 40, 1999),
    ],
)
def test_expected_costs_of_thousands_of_rows_leave_out_far_ranks_alone(kind, size, most):
    """A cost of 1 is expected to be 1: the chances of all ranks add up to one."""
    n, ks = 2000, np.array([1, 13, 31])
    law = SampleDistribution(kind, size)
    length = count_ranks_needed(law, n, ks)
    assert length <= most
    ones = np.random.default_rng(0).integers(2, size=(4, length))
    found = expected_costs(ones, n, law, ks, [np.ones((k + 1, 4)) for k in ks])
    assert found == pytest.approx(np.ones((3, 4)), abs=1e-11)


def test_expected_costs_are_the_closed_form_as_it_is_printed():
    """METHODS §2, Mullin and Sukthankar: the double sum over ranks and votes, odd k."""
    n, m, k = 40, 31, 5
    wrong = np.random.default_rng(3).integers(2, size=n - 1)  # of the ranks 1 … n − 1
    expected = 0.0
    for r in range(k, n):
        B, bad = int(wrong[: r - 1].sum()), int(wrong[r - 1])
        votes = sum(comb(B, s) * comb(r - 1 - B, k - 1 - s) for s in range(k) if 2 * (s + bad) > k)
        expected += comb(n - 1 - r, m - k) / comb(n - 1, m) * votes
    cost = (2 * np.arange(k + 1) > k)[:, None].astype(float)
    found = expected_costs(
        wrong[None], n - 1, SampleDistribution("subsets", m), np.array([k]), [cost]
    )
    assert found[0, 0] == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize(
    ("model", "method", "loss"),
    [
        (PLAIN, Complete(5), ZeroOne()),
        (PLAIN, Complete(5), Cost([[0, 1], [5, 0]])),
        (PLAIN, Complete(5), Brier()),
        (PLAIN, Complete(5), Log()),
        (PLAIN, ExactOutOfBag(), ZeroOne()),
        (PLAIN, ExactOutOfBag(), Log()),
        (CITY, Complete(4), ZeroOne()),
        (make_pipeline(Normalizer(), PLAIN), Complete(5), ZeroOne()),
    ],
    ids=lambda given: getattr(given, "name", type(given).__name__),
)
def test_knn_on_drawn_sets_equals_fitting_every_one(model, method, loss):
    rows = 5 if method.name == "exact-oob" else 7
    data = checked(X[:rows], Y[:rows])
    loss.check(data)
    prefix = "kneighborsclassifier__" if hasattr(model, "steps") else ""
    family = Family.from_grid(model, {f"{prefix}n_neighbors": KS})
    plan = plan_of(method, data)
    for only in (None, np.array([2])):
        ours, theirs = both(
            NearestNeighbours(), family, data, plan, Request.from_plan(loss, plan), only
        )
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)
        assert ours.shape == (4 if only is None else 1, rows)


def test_laws_of_inner_sets_draw_from_their_own_outer_rows():
    data = checked(np.tile(X, (2, 1)) + np.arange(14)[:, None] / 9, np.tile(Y, 2))
    plan = plan_of(Nested("3-fold", Complete(4)), data)
    inner = plan.select(plan.questions("inner"))
    assert len(Laws.from_holder(inner).fit) == inner.n_fits == 3
    assert plan.select(plan.questions("outer")).extra is None


LINE = [0.0, 1, -1, 2]


@pytest.mark.parametrize(
    ("x", "y", "size", "losses", "n_noted"),
    [
        (LINE, [0, 0, 1, 1], 3, [0, 0, 1, 1], 2),  # row 0 has rows 1 and 2 at distance 1
        (LINE[::-1], [1, 1, 0, 0], 3, [1, 1, 1, 1], 2),  # the lower number is the nearer row
        (LINE, [0, 1, 1, 0], 3, [1, 1, 1, 1], None),  # whichever it is, its class is 1
        ([0.0, 1, 50, -50, 2.1], [0, 1, 0, 1, 1], 4, [1, 1, 1, 1, 0], None),  # far from row 0
    ],
)
def test_knn_on_drawn_sets_notes_equal_distances_that_matter(x, y, size, losses, n_noted):
    found = tr.estimate_risk(KNeighborsClassifier(1), np.c_[x], y, cv=Complete(size))
    assert found.losses.tolist() == losses
    noted = f"rows with neighbours of both classes at equal distances: {n_noted};"
    assert found.notes[0].startswith(noted) == (n_noted is not None)
    assert len(found.notes) == 1 + (n_noted is not None)


def test_knn_on_drawn_sets_drops_the_row_itself_behind_many_copies():
    x, y = np.repeat([0.0, 1.0], 30)[:, None], np.repeat([0, 1], 30)
    with pytest.warns(DuplicateRowsWarning):
        found = tr.estimate_risk(KNeighborsClassifier(3), x, y, cv=Complete(50))
    assert found.value == pytest.approx(0, abs=1e-12)
