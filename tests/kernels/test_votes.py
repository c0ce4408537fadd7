"""truerisk.kernels.votes: the votes of the k nearest neighbours for every k at once."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.neighbors import KNeighborsClassifier

from truerisk.kernels import available, why_not
from truerisk.kernels.votes import votes_for_every_k

NEIGHBOURS = np.array([[0, 1, 2, 3], [3, 2, 1, 0]], dtype=np.int32)
CODES = np.array([1, 0, 0, 1], dtype=np.int32)


def brute_force(neighbours, codes, ks, n_classes):
    """One bincount per query and k; argmax takes the first, so the lowest code wins a tie."""
    return np.array(
        [
            [np.bincount(codes[row[:k]], minlength=n_classes).argmax() for row in neighbours]
            for k in ks
        ]
    ).reshape(len(ks), len(neighbours))


@st.composite
def vote_problems(draw):
    """Neighbour lists with repeats, few classes (many ties), and ks in any order with repeats."""
    n_rows = draw(st.integers(1, 30))
    n_classes = draw(st.integers(1, 5))
    n_neighbours = draw(st.integers(1, 20))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    neighbours = rng.integers(n_rows, size=(draw(st.integers(0, 15)), n_neighbours))
    codes = rng.integers(n_classes, size=n_rows)
    ks = draw(st.lists(st.integers(1, n_neighbours), min_size=1, max_size=12))
    dtype = draw(st.sampled_from([np.int32, np.int64, np.uint8, np.intp]))
    return neighbours.astype(dtype), codes.astype(dtype), ks, n_classes


@settings(deadline=None)
@given(vote_problems())
def test_equals_counting_one_k_at_a_time(problem):
    """One pass for every k gives what a bincount per query and k gives."""
    votes = votes_for_every_k(*problem)
    assert votes.dtype == np.int32
    np.testing.assert_array_equal(votes, brute_force(*problem))


@settings(deadline=None, max_examples=40)
@given(
    n_rows=st.integers(2, 25),
    n_classes=st.integers(1, 4),
    n_values=st.integers(2, 6),
    seed=st.integers(0, 2**32 - 1),
    data=st.data(),
)
def test_equals_scikit_learn(n_rows, n_classes, n_values, seed, data):
    """Given scikit-learn's own neighbour list, every k predicts what KNeighborsClassifier predicts.

    The coordinates take few values, so rows repeat and votes tie; k may be even.
    """
    rng = np.random.default_rng(seed)
    X = rng.integers(n_values, size=(n_rows, 2)).astype(float)
    y = rng.integers(n_classes, size=n_rows)
    queries = rng.integers(n_values, size=(8, 2)).astype(float)
    ks = data.draw(st.lists(st.integers(1, n_rows), min_size=1, max_size=5))
    classes, codes = np.unique(y, return_inverse=True)

    # Which of several equally distant rows comes first depends on k: ask for the list of each k.
    for k in ks:
        model = KNeighborsClassifier(n_neighbors=k, algorithm="brute").fit(X, y)
        nearest = model.kneighbors(queries, return_distance=False)
        (votes,) = votes_for_every_k(nearest, codes, [k], len(classes))
        np.testing.assert_array_equal(classes[votes], model.predict(queries))


def test_one_list_serves_every_k_of_scikit_learn():
    """Without tied distances one list of the longest k gives KNeighborsClassifier for every k."""
    rng = np.random.default_rng(0)
    X, queries = rng.normal(size=(60, 3)), rng.normal(size=(40, 3))
    y = rng.integers(3, size=60)
    model = KNeighborsClassifier(n_neighbors=60).fit(X, y)
    votes = votes_for_every_k(
        model.kneighbors(queries, return_distance=False), y, range(1, 61), n_classes=3
    )
    for k, predicted in enumerate(votes, start=1):
        np.testing.assert_array_equal(predicted, model.set_params(n_neighbors=k).predict(queries))


def test_a_tie_goes_to_the_lowest_code():
    """One vote each at k = 2 and two each at k = 4: class 0 wins, whoever came first."""
    assert votes_for_every_k(NEIGHBOURS, CODES, [1, 2, 4], 2).tolist() == [[1, 1], [0, 0], [0, 0]]


def test_the_order_of_ks_is_kept():
    """Row i of the answer belongs to ks[i], also when ks are unsorted or repeat."""
    votes = votes_for_every_k(NEIGHBOURS, CODES, [4, 1, 4], 2)
    assert votes.tolist() == [[0, 0], [1, 1], [0, 0]]


def test_input_is_left_untouched():
    """The kernel reads its arrays in place and writes to none of them, even read-only ones."""
    neighbours, codes = NEIGHBOURS.copy(), CODES.copy()
    neighbours.flags.writeable = codes.flags.writeable = False
    ks = [2, 1]
    votes_for_every_k(neighbours, codes, ks, 2)
    np.testing.assert_array_equal(neighbours, NEIGHBOURS)
    np.testing.assert_array_equal(codes, CODES)
    assert ks == [2, 1]


def test_strided_views_are_read_correctly():
    """A transposed or reversed view gives the votes of its copy."""
    view = NEIGHBOURS[::-1, ::-1].T
    np.testing.assert_array_equal(
        votes_for_every_k(view, CODES[::-1], [1, 2], 2),
        votes_for_every_k(view.copy(), CODES[::-1].copy(), [1, 2], 2),
    )


def test_no_queries_give_an_empty_answer():
    """With no query there is still one (empty) row per k."""
    assert votes_for_every_k(NEIGHBOURS[:0], CODES, [1, 2], 2).shape == (2, 0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"neighbours": [0, 1]}, r"neighbours must have 2 dimension\(s\), got shape \(2,\)"),
        ({"codes": [[0, 1]]}, r"codes must have 1 dimension\(s\), got shape \(1, 2\)"),
        ({"neighbours": [[0.0, 1.0]]}, "neighbours must hold integers, got float64"),
        ({"codes": ["a", "b"]}, "codes must hold integers"),
        ({"ks": [1.5]}, "ks must hold integers, got float64"),
        ({"ks": []}, "ks is empty"),
        ({"ks": [1, 0]}, r"ks\[1\] is 0: it must lie in 1 .. 4"),
        ({"ks": [5]}, r"ks\[0\] is 5: it must lie in 1 .. 4 \(the number of neighbours listed\)"),
        ({"neighbours": [[0, 4]], "ks": [1]}, r"neighbours\[0, 1\] is 4: it must lie in 0 .. 3"),
        ({"neighbours": [[-1, 0]], "ks": [1]}, r"neighbours\[0, 0\] is -1"),
        ({"neighbours": [[2**40]], "ks": [1]}, r"neighbours\[0, 0\] is 1099511627776"),
        ({"codes": [0, 1, 2, 0]}, r"codes\[2\] is 2: it must lie in 0 .. 1 \(n_classes - 1\)"),
        ({"codes": [0, 1, -1, 0]}, r"codes\[2\] is -1"),
        ({"codes": []}, r"neighbours\[0, 0\] is 0"),
        ({"n_classes": 0}, "n_classes must lie in 1 .. "),
    ],
)
def test_bad_input_is_named(change, message):
    """A wrong shape, type or bound is refused before the kernel runs, with its place and value."""
    arguments = {"neighbours": NEIGHBOURS, "codes": CODES, "ks": [1], "n_classes": 2}
    with pytest.raises(ValueError, match=message):
        votes_for_every_k(**(arguments | change))


def test_available_here():
    """In a built package the compiled kernels are available and there is no reason against them."""
    assert available(), why_not()
    assert why_not() is None


def test_without_the_compiled_module_the_package_imports_and_says_why():
    """Without its compiled part the package imports, reports why, and refuses with a remedy."""
    script = """
        import sys

        class Absent:
            def find_spec(self, name, path=None, target=None):
                if name == "truerisk.kernels._native":
                    raise ModuleNotFoundError(f"No module named {name!r}", name=name)

        sys.meta_path.insert(0, Absent())
        import truerisk
        from truerisk.core.errors import Refusal
        from truerisk.kernels import available, why_not
        from truerisk.kernels.votes import votes_for_every_k

        assert not available()
        assert "No module named 'truerisk.kernels._native'" in why_not(), why_not()
        try:
            votes_for_every_k([[0]], [0], [1], 1)
        except Refusal as refusal:
            assert why_not() in str(refusal)
            assert "make setup" in str(refusal)
        else:
            raise AssertionError("the kernel answered without its compiled module")
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
