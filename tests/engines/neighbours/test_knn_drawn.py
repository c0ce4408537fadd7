"""The kNN engine on drawn train sets equals fitting them all, and says where it does not serve."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler

import truerisk as tr
from truerisk.contracts import Request, RunOptions, Streams
from truerisk.core.errors import DuplicateRowsWarning, Refusal
from truerisk.core.family import Family
from truerisk.data.data import Data
from truerisk.engines.generic import Generic
from truerisk.engines.neighbours.knn import NearestNeighbours
from truerisk.losses.row_losses import Brier, Cost, Log, ZeroOne
from truerisk.methods import Complete, ExactOutOfBag, Nested
from truerisk.plan.extras.laws import Laws

RNG = np.random.default_rng(0)
X = RNG.normal(size=(7, 3)) + 2
Y = np.array([0, 1, 1, 0, 1, 0, 0])
DATA = Data.check(X, Y, task="classification")
KS = {"n_neighbors": [1, 2, 3, 4]}


PLAIN, CITY = KNeighborsClassifier(), KNeighborsClassifier(metric="manhattan")


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
    ids=lambda given: getattr(given, "word", type(given).__name__),
)
def test_it_equals_fitting_every_train_set(model, method, loss) -> None:
    """Even and odd k, any distance, any loss of labels or probabilities; with `only` as well."""
    rows = X[:5] if method.word == "exact-oob" else X
    data = Data.check(rows, Y[: len(rows)], task="classification")
    loss.check(data)
    prefix = "kneighborsclassifier__" if hasattr(model, "steps") else ""
    family = Family.of(model, {f"{prefix}n_neighbors": KS["n_neighbors"]})
    plan = method.plan(data, Streams(0))
    request = Request.of(loss, plan)
    assert NearestNeighbours().refuse(family, data, plan, request) is None
    for run in (RunOptions(), RunOptions(only=np.array([2]))):
        ours = NearestNeighbours().run(family, data, plan, request, run)
        theirs = Generic().run(family, data, plan, request, run)
        np.testing.assert_allclose(ours.values, theirs.values, rtol=0, atol=1e-12)
        assert ours.values.shape == (4 if run.only is None else 1, len(rows))
        assert ours.response == theirs.response == "loss"


def test_train_sets_drawn_inside_others() -> None:
    """Each inner law draws from its own outer rows."""
    plan = Nested("3-fold", Complete(4)).plan(
        Data.check(
            np.tile(X, (2, 1)) + np.arange(14)[:, None] / 9, np.tile(Y, 2), task="classification"
        ),
        Streams(0),
    )
    inner = plan.only(plan.questions("inner"))
    laws = Laws.of(inner)
    assert laws is not None
    assert len(laws.fit) == inner.n_fits == 3
    assert plan.only(plan.questions("outer")).extra is None


def test_equal_distances_are_taken_by_row_number_and_noted() -> None:
    """Of rows equally near the lower number is nearer; rows where it matters are counted."""
    x, y = np.array([[0.0], [1], [-1], [2]]), np.array([0, 0, 1, 1])
    found = tr.estimate_risk(KNeighborsClassifier(1), x, y, cv=Complete(3))
    assert found.losses.tolist() == [0, 0, 1, 1]  # row 0 has rows 1 and 2 at distance 1
    assert found.notes[0].startswith("rows with neighbours of both classes at equal distances: 2;")
    turned = tr.estimate_risk(KNeighborsClassifier(1), x[::-1], y[::-1], cv=Complete(3))
    assert turned.losses[::-1].tolist() == [1, 1, 1, 1]
    plain = tr.estimate_risk(KNeighborsClassifier(1), X, Y, cv=Complete(5))
    assert len(plain.notes) == 1


def test_equal_distances_that_cannot_matter_are_not_noted() -> None:
    """Rows of one class at equal distances, or ranks that no k reaches, leave nothing open."""
    x, y = np.array([[0.0], [1], [-1], [2]]), np.array([0, 1, 1, 0])
    found = tr.estimate_risk(KNeighborsClassifier(1), x, y, cv=Complete(3))
    assert len(found.notes) == 1  # row 0 has rows 1 and 2 at distance 1, both of class 1
    far = np.array([[0.0], [1], [50], [-50], [2.1]])  # row 0: rows 2 and 3, never the nearest
    found = tr.estimate_risk(KNeighborsClassifier(1), far, [0, 1, 0, 1, 1], cv=Complete(4))
    assert len(found.notes) == 1


def test_many_copies_of_a_row_do_not_hide_it() -> None:
    """A row may stand behind all its copies in its own list: it is dropped, not one of them."""
    x = np.repeat([0.0, 1.0], 30)[:, None]
    y = np.repeat([0, 1], 30)
    with pytest.warns(DuplicateRowsWarning):
        found = tr.estimate_risk(KNeighborsClassifier(3), x, y, cv=Complete(50))
    assert found.value == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("model", "grid", "options", "reason"),
    [
        (KNeighborsClassifier(weights="distance"), KS, {}, "weights='distance' have no closed"),
        (
            make_pipeline(StandardScaler(), KNeighborsClassifier(1)),
            {},
            {},
            "a step before the neighbours learns",
        ),
        (KNeighborsClassifier(), {"n_neighbors": [6]}, {}, "more than the 5 rows of a train set"),
        (KNeighborsClassifier(1), {}, {"y": np.arange(7) % 3}, "is for two classes"),
        (KNeighborsRegressor(1), {}, {"y": X[:, 0]}, "is for two classes"),
    ],
)
def test_what_has_no_closed_form_is_refused(model, grid, options, reason) -> None:
    """The engine says why; 'auto' lists the train sets instead, where they are few."""
    given = {"X": X, "y": Y} | options
    with pytest.raises(Refusal, match=reason):
        tr.risk_curve(model, grid or None, **given, cv=Complete(5), engine=NearestNeighbours())


def test_counted_neighbours_by_distance_are_left_to_fits() -> None:
    """How many rows a vote by distance rests on depends on the distances."""
    curve = tr.risk_curve(KNeighborsClassifier(weights="distance"), KS, X, Y, cv="swapping")
    assert curve[0].engine == "generic"
    assert "may rest on fewer rows" in curve[0].refusals["knn"]
