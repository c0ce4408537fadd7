"""Methods by sizes, and who errs less than whom."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.papers.bee_choosing import ORACLE
from truerisk.papers.bee_report import (
    beside,
    by_size,
    convergence_note,
    error_panels,
    less,
    mean_grid,
    permutation_p,
    shaded,
    size_tables,
    spread_gaps,
    under,
)

SIZES = (20, 40)
DRAWS = {
    "CV-5": np.array([[0.3, 0.2], [0.3, 0.2], [0.2, 0.3]]),
    "BEEp": np.array([[0.2, 0.2], [0.1, 0.3], [0.1, 0.2]]),
}


def test_the_permutation_test_is_one_sided():
    """Gaps of one sign are rare by chance, their negatives are not; mixed signs are common."""
    gaps = np.full(20, 0.1)
    assert permutation_p(gaps) < 1e-3
    assert permutation_p(-gaps) > 0.99
    assert 0.2 < permutation_p(np.tile([0.1, -0.1], 10)) < 0.8


def test_the_permutation_test_counts_signs():
    """Of 3 gaps the 8 sign patterns are drawn alike: the largest sum has 1 in 8."""
    assert permutation_p(np.array([0.1, 0.2, 0.1])) == pytest.approx(1 / 8, abs=0.015)


def one(draws, *said):
    """The sentence about the choices of one learner at one size."""
    (statement,) = less(draws, SIZES, said)
    return statement


def test_one_errs_less_where_it_does():
    """At the first size in every training set, at the second once more and once less."""
    many = {name: np.tile(errors, (10, 1)) for name, errors in DRAWS.items()}
    assert one(many, "", "BEEp", "CV-5", 0).verdict == "holds"
    assert one(many, "", "CV-5", "BEEp", 0).verdict == "does not hold"
    undecided = one(many, "", "BEEp", "CV-5", 1)
    assert undecided.verdict == "undecided"
    assert undecided.lines[0].startswith("CV-5 − BEEp: 0.0000 ± ")
    assert "permutation" in undecided.lines[1]
    draws = {f"LR {name}": errors for name, errors in many.items()}
    named = less(draws, SIZES, ("LR", "BEEp", "CV-5", 0, -1), foot=" (printed)")
    assert [statement.text for statement in named] == [
        "LR: BEEp lies below CV-5 at n = 20 (printed)",
        "LR: BEEp lies below CV-5 at n = 40 (printed)",
    ]
    assert under(draws, "LR", ["BEEp"]) == {"BEEp": draws["LR BEEp"]}


def test_spreads_are_compared_with_the_smallest_of_others():
    """Standard deviations 1, 2 and 3, to a bootstrap's error; a quantity for each size."""
    draws = {k: k * np.random.default_rng(k).normal(size=(500, 1)) for k in (1, 2, 3)}
    for first, others, verdict in (
        (1, (2, 3), "holds"),
        (2, (1, 3), "does not hold"),
        (1, (1,), "undecided"),
    ):
        (found,) = spread_gaps(draws, (20,), "q", first, *others)
        assert (found.name, found.verdict()) == ("q, n = 20", verdict)
    assert found.value == 0


def test_a_quantity_is_told_by_size():
    """The columns, each with its number of rows."""
    told = by_size("gap", DRAWS["CV-5"], SIZES)
    assert {name: of.tolist() for name, of in told.items()} == {
        "gap, n = 20": [0.3, 0.3, 0.2],
        "gap, n = 40": [0.2, 0.2, 0.3],
    }


def test_few_training_sets_decide_nothing():
    """The same sign in all of three is chance in one of eight, however far apart they are."""
    assert one(DRAWS, "", "BEEp", "CV-5", 0).verdict == "undecided"
    assert one(DRAWS, "", "CV-5", "BEEp", 0).verdict == "undecided"


def test_means_stand_by_size():
    """A row for each choice, a column for each size."""
    grid = mean_grid(DRAWS, SIZES, "errors")
    assert grid.columns == ("n = 20", "n = 40")
    assert [row.means[0] for row in grid.rows] == pytest.approx([0.8 / 3, 0.4 / 3])
    assert "0.2667 ± 0.0333" in str(grid)


def test_what_a_choice_adds_is_paired():
    """Sets that are hard for all widen the band of a mean, and not that of a difference."""
    rng = np.random.default_rng(0)
    oracle = rng.normal(0.2, 0.05, size=(40, 2))
    added = rng.normal(0.01, 0.001, size=(40, 2))
    values = {"CV-5": oracle + added, ORACLE: oracle}
    both, paired = error_panels(values, (10, 20), "toy")
    assert [line.label for line in both.series] == ["CV-5", ORACLE]
    (line,) = paired.series
    assert line.y == pytest.approx(added.mean(axis=0))
    assert (line.error < both.series[0].error / 20).all()


def test_a_printed_row_is_numbers():
    """Without what stands behind ±; what is not legible is not a number."""
    draws = {"CV-5": np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1]]), "CV-10": np.zeros((2, 3))}
    paper = {"CV-5": (".092 ± .025", "", ".064")}
    ours, theirs = shaded(draws, paper, (28, 50, 100), "toy")
    assert ours.series[0].y == pytest.approx([0.2, 0.2, 0.2])
    assert theirs.series[0].y == pytest.approx([0.092, np.nan, 0.064], nan_ok=True)
    assert ours.names == theirs.names == ("n = 28", "n = 50", "n = 100")
    assert [one.label for one in ours.series] == ["CV-5"]


def test_a_reference_of_the_same_recipe_is_compared():
    """Only where it is known; the document's own numbers stand in the names."""
    many = {name: np.tile(errors, (4, 1)) for name, errors in DRAWS.items()}
    _, table = size_tables(many, SIZES, {"BEEp": (0.1, 0.2333)}, 400, ", toys")
    assert table.title == "n = 40, toys"
    assert [row.verdict for row in table.rows] == ["not printed", "agrees"]
    told = beside(DRAWS, SIZES, {"CV-5": (".27", "")})
    assert [row.name for row in told.rows] == ["CV-5, n = 20 (document: .27)"]


def test_what_stopped_short_is_said():
    """With how many training sets it concerns."""
    assert "NOT CONVERGED: in 1 of 4" in convergence_note({"s": np.array([[0, 0], [0, 1.0]])}, "s")
    assert "every path converged" in convergence_note({"s": np.zeros((2, 2))}, "s")
    some = convergence_note({"s": np.array([[0, np.nan], [1, np.nan]])}, "s")
    assert some.startswith("NOT KNOWN of 2 of 4 runs whether a path stopped short")
    assert some.endswith("Of the others 1 have one that did.")
