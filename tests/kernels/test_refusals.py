"""What a compiled loop would read out of bounds is refused before it runs: one table of calls."""

import numpy as np
import pytest
from scipy import sparse

from truerisk.engines.interval.compiled import labels_after_changes
from truerisk.engines.linear.normal_equations import descend, predict_rows, solve_without_blocks
from truerisk.engines.logistic.stops import logistic_lbfgs
from truerisk.engines.neighbours.distances import (
    NearestRows,
    find_nearest_by_distance,
    find_nearest_euclidean,
)
from truerisk.engines.neighbours.walk import RowTargets, predict_plan
from truerisk.engines.support_vectors.svm_steps import (
    inner_products_between,
    sequential_inner_products,
    solve_binary_problems,
    solver_gaussian_kernel,
    stepped_answers,
)
from truerisk.engines.trees.compiled import GrowthLimits, RowLists, TreeTable, grow_trees
from truerisk.kernels import native_module
from truerisk.kernels.integer_arrays import check_bounds, to_integer_array
from truerisk.kernels.logistic import logistic_path
from truerisk.plan import ALL, PlanBuilder
from truerisk.readers.delimited_text import (
    PADDING,
    divide_into_pieces,
    find_first_row_end,
    pad_bytes,
    read_sheet,
)

ONES, LINE = np.ones(60), np.array([[0.0], [1.0], [3.0], [6.0], [10.0]])
X = np.random.default_rng(2).normal(size=(60, 5))
CODES = np.arange(60) % 2
CONTENT = pad_bytes(b"1,2\na,3\n")


def all_rows(n):
    builder = PlanBuilder(n)
    builder.ask((ALL, ()), (ALL, ()))
    return builder.build()


def sheet():
    return read_sheet(CONTENT, divide_into_pieces(CONTENT, 1), ",", 2)


# Each call with arguments that it takes.
CALLS = {
    "integers": (to_integer_array, {"values": [[0]], "name": "rows", "n_dimensions": 2}),
    "bounds": (
        lambda values: check_bounds(np.array(values), "rows", 0, 3, "the last row"),
        {"values": [[0, 3]]},
    ),
    "labels": (
        labels_after_changes,
        {"counts": np.eye(2, dtype=int)[[0, 1] * 4], "ks": [1], "group": [0], "instead": [[0, 0]]},
    ),
    "lbfgs": (
        logistic_lbfgs,
        {
            "X": X,
            "rows": np.arange(60),
            "codes": CODES,
            "weights": ONES,
            "n_classes": 2,
            "penalties": np.ones(1),
            "tolerance": 1e-4,
            "max_iterations": 10,
        },
    ),
    "path": (
        logistic_path,
        {"X": X, "codes": CODES, "weights": ONES, "n_classes": 2, "lambdas": None},
    ),
    "distances": (
        find_nearest_by_distance,
        {"distances": lambda _: np.zeros((7, 12)), "n_queries": 7, "n_rows": 12, "list_length": 5},
    ),
    "walk": (
        predict_plan,
        {
            "nearest_lists": find_nearest_euclidean(LINE, LINE, 5),
            "list_of_row": np.arange(5),
            "plan": all_rows(5),
            "k_values": np.array([1]),
            "row_targets": RowTargets(CODES[:5], None, 2),
        },
    ),
    "equations": (
        solve_without_blocks,
        {
            "all_products": 8 * np.eye(3, 4),
            "blocks": np.stack(7 * [np.eye(3, 4)]),
            "minus": np.array([0, 1]),
            "offsets": np.array([0, 2]),
            "ridge": np.zeros((1, 3)),
        },
    ),
    "answers": (
        predict_rows,
        {
            "table": np.ones((5, 2)),
            "rows": np.array([0]),
            "coefficients": np.ones((3, 2)),
            "coefficient_rows": np.array([0]),
        },
    ),
    "descent": (
        descend,
        {
            "X": np.eye(2),
            "y": np.ones(2),
            "penalties": np.ones((1, 2)),
            "tolerance": 1e-4,
            "max_passes": 9,
            "screens": True,
        },
    ),
    "steps": (
        solve_binary_problems,
        {
            "gram": np.eye(4, dtype=np.float32),
            "diagonal": np.ones(4),
            "rows": np.arange(4),
            "problem_starts": np.array([0, 4]),
            "signs": np.array([1.0, 1.0, -1.0, -1.0]),
            "weights": (np.ones(4), np.ones(4)),
            "C_values": np.array([1.0]),
            "tolerance": 1e-3,
            "shrinking": True,
        },
    ),
    "stepped": (
        stepped_answers,
        {
            "kernel_values": np.eye(4),
            "rows": np.arange(4),
            "beta": np.ones((1, 4)),
            "intercept": np.ones(1),
        },
    ),
    "between": (inner_products_between, {"rows": np.eye(3), "other_rows": np.eye(3)}),
    "in order": (sequential_inner_products, {"rows": np.eye(3), "other_rows": np.eye(3)}),
    "gaussian": (solver_gaussian_kernel, {"inner_products": np.ones((4, 4)), "gamma": 1.0}),
    "trees": (
        grow_trees,
        {
            "table": TreeTable.from_rows(np.array([[1.0], [2.0], [3.0]])),
            "y": np.array([0, 1, 1]),
            "n_classes": 2,
            "samples": RowLists.from_lists([np.arange(3)]),
            "times_in_sample": np.ones(3, dtype=int),
            "rows_to_predict": RowLists.from_lists([np.arange(3)]),
            "seeds": np.array([1]),
            "limits": [GrowthLimits()],
            "n_tried": 1,
            "criterion": "gini",
        },
    ),
    "tree table": (TreeTable.from_rows, {"X": np.ones((1, 1))}),
    "survey": (
        lambda content, start, stop: native_module().survey_of(content, start, stop),
        {"content": CONTENT, "start": 0, "stop": 4},
    ),
    "first row": (
        find_first_row_end,
        {"padded_bytes": CONTENT, "delimiter": ",", "max_cell_bytes": 9},
    ),
    "floats": (lambda values: sheet().floats(0, values), {"values": np.zeros(1)}),
    "recode": (lambda values: sheet().recode({0: values}), {"values": np.zeros(1)}),
    "read": (
        lambda lines: sheet().chunks[0].read(0, 8, ord(","), 9, 1, 2, 1, lines),
        {"lines": np.zeros(9, dtype=np.uint64)},
    ),
    "copy": (
        lambda table, aside: sheet().chunks[0].copy(0, table, aside),
        {"table": np.zeros((2, 2)), "aside": np.zeros((2, 0))},
    ),
}
SQUARES = {"criterion": "squared_error", "n_classes": 1}
SHORT_LISTS = NearestRows(np.zeros((5, 2), np.int32), np.zeros((5, 1)), np.zeros(5), True)
FAR_LISTS = NearestRows(np.full((5, 2), 7, np.int32), np.zeros((5, 2)), np.zeros(5), True)
REFUSED = [
    ("integers", {"values": [0, 1]}, "rows must have 2 dimension(s), got shape (2,)"),
    ("integers", {"values": [[0.0, 1.0]]}, "rows must hold integers, got float64"),
    ("integers", {"values": [["a", "b"]]}, "rows must hold integers"),
    ("bounds", {"values": [[0, 1], [4, 5]]}, "rows[1, 0] is 4: it must lie in 0 .. 3 (the last"),
    ("bounds", {"values": [[-1, 0]]}, "rows[0, 0] is -1"),
    ("bounds", {"values": [[2**40]]}, "rows[0, 0] is 1099511627776"),
    ("labels", {"counts": [1, 2]}, "counts must have 2 dimension(s), got shape (2,)"),
    ("labels", {"counts": [[1, 2, 3]]}, "counts must have 2 columns, one per class, got shape (1,"),
    ("labels", {"counts": np.empty((0, 2), int)}, "counts has no groups"),
    ("labels", {"counts": [[0.5, 1.0]]}, "counts must hold integers, got float64"),
    ("labels", {"counts": [[0, -1]]}, "counts[0, 1] is -1"),
    ("labels", {"ks": []}, "ks is empty"),
    ("labels", {"ks": [0]}, "ks[0] is 0: it must lie in 1 .. "),
    ("labels", {"ks": [1.5]}, "ks must hold integers"),
    ("labels", {"group": [8]}, "group[0] is 8: it must lie in 0 .. 7 (the last group)"),
    ("labels", {"instead": [[0, 0], [0, 0]]}, "must be equally long, got 1, 2 and 1"),
    ("labels", {"instead": [[0, -2]]}, "instead[0, 1] is -2"),
    ("labels", {"group": [7], "asks_next": [True]}, "asks_next is true for the last group"),
    ("lbfgs", {"rows": np.array([60])}, "below 60"),
    ("lbfgs", {"rows": np.arange(0)}, "at least one"),
    ("lbfgs", {"codes": np.full(60, 2)}, "a class below 2"),
    ("lbfgs", {"codes": 0 * CODES}, "a class has no weight"),
    ("lbfgs", {"weights": np.nan * ONES}, "finite and not negative"),
    ("lbfgs", {"weights": np.ones(59)}, "60 rows have"),
    ("lbfgs", {"directions": np.zeros((9, 5))}, "do not turn 5 columns"),
    ("lbfgs", {"directions": np.zeros(4)}, "do not turn 5 columns"),
    ("path", {"codes": CODES[:-1]}, "60 rows, with"),
    ("path", {"weights": -ONES}, "not negative"),
    ("path", {"weights": ONES * np.nan}, "finite"),
    ("path", {"codes": CODES + 1}, "a class below 2"),
    ("path", {"codes": 0 * CODES}, "a class has no weight"),
    ("path", {"lambdas": [np.inf]}, "penalties must be finite"),
    ("path", {"l1_ratio": 1.5}, "no number from 0 to 1"),
    ("path", {"rows": np.arange(1, 61)}, "outside 0 ... 59"),
    ("path", {"X": sparse.csc_matrix(X), "rows": np.arange(60)}, "out of a dense X"),
    ("distances", {"distances": lambda _: np.zeros((7, 3))}, "shape (7, 3) for 12 rows"),
    ("walk", {"list_of_row": np.zeros(3, int)}, "each of 5 rows"),
    ("walk", {"list_of_row": np.full(5, 9)}, "one of 5 lists"),
    ("walk", {"list_of_row": np.array([-1, 0, 1, 2, 3])}, "has no list"),
    ("walk", {"k_values": np.array([0])}, "positive"),
    ("walk", {"row_targets": RowTargets(np.array([0, 1, 2, 0, 1]), None, 2)}, "a class below 2"),
    ("walk", {"row_targets": RowTargets(None, np.zeros((3, 1)))}, "each of 5 rows a value"),
    ("walk", {"nearest_lists": FAR_LISTS}, "0 ... 4"),
    ("walk", {"nearest_lists": SHORT_LISTS}, "shapes"),
    ("equations", {"all_products": np.ones((3, 3))}, "shapes"),
    ("equations", {"blocks": np.ones((7, 4, 5))}, "shapes"),
    ("equations", {"minus": np.array([0, 7])}, "minus"),
    ("equations", {"minus": np.array([-1, 0])}, "minus"),
    ("equations", {"offsets": np.array([0, 3])}, "offsets"),
    ("equations", {"offsets": np.array([0, 2, 1])}, "ascend"),
    ("equations", {"offsets": np.array([], dtype=int)}, "ascend"),
    ("equations", {"ridge": np.ones((1, 2))}, "ridge"),
    ("answers", {"rows": np.array([5])}, ""),
    ("answers", {"rows": np.array([-1])}, ""),
    ("answers", {"coefficient_rows": np.array([3])}, ""),
    ("answers", {"rows": np.array([0, 1])}, ""),
    ("descent", {"y": np.ones(3)}, "differ"),
    ("descent", {"penalties": np.zeros((1, 2))}, "positive"),
    ("steps", {"rows": np.array([0, 1, 2, 4])}, "outside"),
    ("steps", {"signs": np.ones(4)}, "both occur"),
    ("steps", {"weights": (np.ones(4), np.zeros(4))}, "finite and positive"),
    ("steps", {"weights": (np.ones(4), np.ones(3))}, "of their numbers"),
    ("steps", {"problem_starts": np.array([0, 3])}, "do not cover"),
    ("steps", {"C_values": np.array([0.0])}, "must be positive"),
    ("steps", {"gram": np.eye(4, dtype=np.float32)[:3]}, "square"),
    ("stepped", {"rows": np.array([4])}, "outside"),
    ("stepped", {"beta": np.ones((1, 3))}, "weights for"),
    ("between", {"other_rows": np.eye(4)}, "columns and"),
    ("in order", {"other_rows": np.eye(4)}, "columns and"),
    ("gaussian", {"inner_products": np.ones((3, 4))}, "with each other"),
    ("trees", {"y": np.array([0, 1, 2])}, "numbers from 0 to 1"),
    ("trees", {"y": np.array([0, 1])}, "must be 3 numbers"),
    ("trees", {"times_in_sample": np.array([1, 0, 1])}, "once or more"),
    ("trees", {"times_in_sample": np.array([1, 1])}, "once or more"),
    ("trees", {"times_in_sample": np.array([2**26, 1, 1])}, "67,108,864 rows or more"),
    ("trees", {"samples": RowLists.from_lists([np.array([0, 2, 1])])}, "distinct and ascending"),
    ("trees", {"samples": RowLists.from_lists([np.array([0, 1, 1])])}, "distinct and ascending"),
    ("trees", {"samples": RowLists.from_lists([np.array([0, 1, 3])])}, "outside 0 ... 2"),
    (
        "trees",
        {"samples": RowLists(np.arange(3, dtype=np.int32), np.array([0, 2]))},
        "laid end to end",
    ),
    (
        "trees",
        {"samples": RowLists.from_lists([np.array([], int)]), "times_in_sample": np.array([])},
        "one without rows",
    ),
    (
        "trees",
        {"rows_to_predict": RowLists.from_lists([np.array([-1])])},
        "requested name rows outside",
    ),
    ("trees", {"rows_to_predict": RowLists.from_lists([])}, "requested are not 1 lists"),
    ("trees", {"seeds": np.array([1, 2])}, "2 seeds for 1 samples"),
    ("trees", {"n_tried": 0}, "grow no tree"),
    ("trees", {"criterion": "mse"}, "grow no tree"),
    ("trees", {"close": -1e-7}, "grow no tree"),
    ("trees", {"limits": []}, "samples are not 0 lists"),
    ("trees", SQUARES | {"y": np.array([0, 0.5, 1])}, "3 whole numbers"),
    ("trees", SQUARES | {"y": np.array([0, np.nan, 1])}, "3 whole numbers"),
    ("trees", SQUARES | {"y": np.array([0, 1])}, "3 whole numbers"),
    ("trees", SQUARES | {"y": np.array([0, 1, 2**26])}, "too large to square"),
    ("tree table", {"X": np.array([[np.nan]])}, "table of finite numbers"),
    ("tree table", {"X": np.array([[1.0, np.inf]])}, "table of finite numbers"),
    ("tree table", {"X": np.empty((0, 2))}, "table of finite numbers"),
    ("tree table", {"X": np.empty((2, 0))}, "table of finite numbers"),
    ("survey", {"start": 3, "stop": 2}, "within the text"),
    ("survey", {"stop": 9}, "within the text"),
    ("survey", {"start": 9, "stop": 9}, "within the text"),
    ("survey", {"content": np.ones(PADDING + 4, dtype=np.uint8)}, "zeros follow"),
    ("first row", {"padded_bytes": np.zeros(3)}, "bytes are cut"),
    ("floats", {"values": np.zeros(0)}, "every word has a value"),
    ("floats", {"values": np.zeros(2)}, "every word has a value"),
    ("recode", {"values": np.zeros(0)}, "every word has a value"),
    ("recode", {"values": np.zeros(2)}, "every word has a value"),
    ("read", {"lines": np.zeros(9, dtype=np.uint32)}, "its place and its line"),
    ("copy", {"table": np.zeros(1), "aside": np.zeros(1)}, "array of all rows"),
]


@pytest.mark.parametrize("name", [name for name in CALLS if name not in ("read", "copy")])
def test_kernel_takes_what_lies_within_bounds(name):
    call, given = CALLS[name]
    call(**given)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    REFUSED,
    ids=[f"{number}-{row[0]}-{row[2]}" for number, row in enumerate(REFUSED)],
)
def test_kernel_refuses_what_lies_out_of_bounds(name, change, message):
    """Shapes, types and numbers are named before the loop trusts them."""
    call, given = CALLS[name]
    with pytest.raises(ValueError) as refused:  # noqa: PT011  each has its own sentence
        call(**given | change)
    assert message in str(refused.value)
