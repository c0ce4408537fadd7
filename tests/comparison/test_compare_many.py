"""Methods over many data sets: published numbers, tables, missing cells, single splits."""

import json
from dataclasses import FrozenInstanceError, astuple

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.support.demsar import C45, DATA_SETS, METHODS

import truerisk as tr
from truerisk.comparison.hierarchical import hierarchical_test
from truerisk.exceptions import UnknownName
from truerisk.extend import BadData, Refusal


def demsar(**terms):
    """His table of areas under the curve."""
    given = {"better": "higher", "methods": METHODS, "data_sets": DATA_SETS, "quantity": "AUC"}
    return tr.compare_many(C45, **given, **terms)


@pytest.fixture(scope="module")
def found():
    """The table with the usual terms."""
    return demsar()


def test_compare_many_has_the_numbers_of_demsar(found):
    """Demšar (2006): ranks, χ², F, CD; section 3.2.4: p = .016, .019 and .607 against C4.5."""
    assert np.round(found.ranks, 3).tolist() == [3.143, 2.0, 2.893, 1.964]
    assert round(found.friedman.chi_square_as_printed, 2) == 9.28
    assert round(found.friedman.f_as_printed, 2) == 3.69
    assert round(found.critical_difference, 2) == 1.25
    assert found.alike == [("C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5")]
    by_ranks = demsar(control="C4.5", pairwise="ranks")
    assert [(p.a, p.b) for p in by_ranks.pairs] == [(m, "C4.5") for m in METHODS[1:]]
    p_values = [round(p.p_value, 3) for p in by_ranks.pairs]
    assert p_values == [0.019, 0.608, 0.016]  # .607 from rounded ranks
    assert by_ranks.pairs[2].p_holm == pytest.approx(3 * by_ranks.pairs[2].p_value)
    assert "C4.5+m is better than C4.5 (p = 0.0472)" in " ".join(by_ranks.conclusion)


def test_compare_many_agrees_with_other_packages(found):
    """χ² with ties and Nemenyi's difference of autorank 1.3.0; SciPy's Wilcoxon with Holm.

    autorank.autorank(table, force_mode="nonparametric"): pvalue 0.016721580328441323,
    cd 1.2535512603486423. scipy.stats.wilcoxon(np.round(a - b, 9), zero_method="pratt",
    method=PermutationMethod(n_resamples=2**15)) of SciPy 1.17 gives the p-values of pairs.
    """
    assert found.friedman.chi_p_value == pytest.approx(0.016721580328441323)
    assert found.critical_difference == pytest.approx(1.2535512603486423, rel=1e-5)
    assert found.pair("C4.5", "C4.5+m").p_value == pytest.approx(0.0078125)
    assert found.pair("C4.5", "C4.5+cf").p_value == pytest.approx(0.865966796875)


def test_method_pair_says_who_is_better(found):
    """C4.5+m wins on ten data sets, ties on two, loses on two."""
    pair = found.pair("C4.5+m", "C4.5")
    assert (pair.a, pair.b, pair.n) == ("C4.5", "C4.5+m", 14)
    assert (pair.wins, pair.ties, pair.losses) == (2, 2, 10)
    assert pair.difference == pytest.approx(-0.013)
    assert (pair.correlation < 0, pair.favours_a, pair.worse > 0.6) == (True, False, True)
    assert pair.better + pair.equivalent + pair.worse == pytest.approx(1)
    with pytest.raises(UnknownName, match="were not compared"):
        found.pair("C4.5", "C5")
    # Five small gains and four large losses: by ranks a is better, by signed ranks b is.
    table = np.column_stack([np.repeat([-1e-3, 1.0], [5, 4]), np.zeros(9)])
    for pairwise in ("wilcoxon", "ranks"):
        (pair,) = tr.compare_many(table, pairwise=pairwise).pairs
        assert pair.favours_a == (pairwise == "ranks")


def test_compare_many_ignores_order_seed_and_direction(found):
    """Rows in any order; columns order the pairs alone; the seed moves probabilities a little.

    The same table as risks gives the same but for signs.
    """
    rows, columns = np.random.default_rng(0).permutation(14), [2, 0, 3, 1]
    moved = tr.compare_many(
        C45[rows][:, columns], better="higher", methods=[METHODS[j] for j in columns]
    )
    assert dict(moved.ordered) == pytest.approx(dict(found.ordered))
    for pair in moved.pairs:
        other = found.pair(pair.a, pair.b)
        assert pair.p_holm == pytest.approx(other.p_holm)
        same = (pair.a, pair.b) == (other.a, other.b)
        assert (pair.better if same else pair.worse) == pytest.approx(other.better, abs=0.01)
    assert demsar() == found
    chances, others = ([p.equivalent for p in f.pairs] for f in (found, demsar(random_state=1)))
    assert chances != others
    assert chances == pytest.approx(others, abs=0.015)
    mirrored = tr.compare_many(-C45, methods=METHODS)
    assert mirrored.ranks == found.ranks
    for one, other in zip(found.pairs, mirrored.pairs, strict=True):
        assert (one.p_holm, one.wins, one.better) == (other.p_holm, other.wins, other.better)
        assert (one.difference, one.correlation) == (-other.difference, other.correlation)
        assert (one.interval.low, one.interval.high) == (-other.interval.high, -other.interval.low)


def test_many_comparison_is_frozen_and_prints_itself(found):
    plain = json.loads(found.to_json())
    assert plain == found.to_dict()
    assert plain["schema"] == "truerisk.many-comparison/2"
    with pytest.raises(FrozenInstanceError):
        found.ranks = ()
    assert found.to_frame().shape == (14, 5)
    assert list(found.pairs_frame()["p_holm"]) == [pair.p_holm for pair in found.pairs]
    text = str(found)
    for said in ("C4.5+m+cf         1.964", "F(3, 39) = 4.19", "critical difference 1.25"):
        assert said in text
    assert "C4.5+m+cf" in found._repr_html_()


def test_many_comparison_concludes_in_sentences(found):
    assert list(found.conclusion) == [
        (
            "Of 4 methods on 14 data sets, C4.5+m+cf has the best average rank, 1.96, before "
            "C4.5+m with 2.00."
        ),
        "The ranks differ by more than chance (Friedman's test, F(3, 39) = 4.19, p = 0.0116).",
        "Holm's correction over 6 pairs finds different: C4.5+m is better than C4.5 (p = 0.0469).",
        "5 of the 6 pairs are undecided.",
        (
            "On most data sets these are probably better by more than 0.01: C4.5+m+cf than C4.5 "
            "(probability 0.96)."
        ),
    ]


def test_many_comparison_concludes_of_ties_and_of_one_order():
    """F is infinite where all rank alike; equal columns are told, and so are too few rows."""
    ordered = tr.compare_many(np.arange(6.0)[:, None] + [0.0, 1.0, 2.0])
    assert ordered.friedman.p_value == pytest.approx(6.0**-5)
    assert ordered.to_dict()["friedman"]["f"] == "inf"
    assert "F(2, 10) = ∞, p = 0.000129" in ordered.conclusion[1]
    tied = tr.compare_many(np.tile(np.arange(8.0)[:, None], 3))
    assert "all have the same average rank, 2.00." in tied.conclusion[0]
    assert "finds no two methods different, which does not show" in str(tied)
    assert "all methods are tied on every data set" in tied.notes[0]
    assert "probably differ by no more than 0.01" in tied.conclusion[-1]
    assert {pair.p_holm for pair in tied.pairs} == {1.0}
    values = np.random.default_rng(0).normal(size=(9, 2))
    twins = tr.compare_many(values[:, [0, 0, 1]], methods=["a", "b", "c"])
    assert twins.notes == ("a and b are equal on every data set",)
    assert twins.pair("a", "b").correlation is None
    few = tr.compare_many(C45[:5], better="higher")
    assert "smallest p-value that the signed-rank test can have is 0.0625" in few.notes[0]
    assert "Holm multiplies it by 6" in few.notes[0]
    assert "no interval of a difference keeps the level 0.95" in few.notes[1]
    assert {pair.interval for pair in few.pairs} == {None}


# ---------------- Tables of scores


FRAME = pd.DataFrame(C45, columns=METHODS, index=DATA_SETS)


@pytest.mark.parametrize(
    "given",
    [
        FRAME,
        FRAME.rename_axis("data set").reset_index(),
        pl.DataFrame({"name": DATA_SETS, **{m: C45[:, j] for j, m in enumerate(METHODS)}}),
        {m: dict(zip(DATA_SETS, C45[:, j], strict=True)) for j, m in enumerate(METHODS)},
    ],
    ids=["index", "column", "polars", "mapping"],
)
def test_compare_many_reads_every_kind_of_table(given, found):
    read = tr.compare_many(given, better="higher", quantity="AUC")
    assert read == found


def test_compare_many_takes_means_of_splits(found):
    array = C45[:, :, None] + np.linspace(-0.01, 0.01, 5)
    assert np.allclose(tr.compare_many(array).values, C45)
    lists = {"a": [[1.0, 3.0], [2.0, 4.0], 1.0], "b": [[0.0, 1.0], [np.nan, 1.0], 0.0]}
    assert tr.compare_many(lists).values == ((2.0, 0.5), (3.0, None), (1.0, 0.0))
    # What has no name is counted.
    assert tr.compare_many(C45).methods == ("1", "2", "3", "4")
    assert tr.compare_many({"a": [1, 2], "b": [2, 3]}).data_sets == ("1", "2")


TWICE = pd.DataFrame({"n": ["x", "x"], "a": [1, 2], "b": [1, 3]})
TEXTS = pd.DataFrame({"a": ["x", "y"], "b": ["u", "v"], "c": [1, 2]})


@pytest.mark.parametrize(
    ("given", "terms", "error", "sentence"),
    [
        ([[0.1, 0.2]], {}, Refusal, "1 data set: what holds on one says nothing of others"),
        ([[0.1], [0.2]], {}, Refusal, "1 method: a comparison needs at least two"),
        ({}, {}, Refusal, "no methods: a comparison needs at least two"),
        ({"a": [1, 2, 3], "b": [None] * 3}, {}, Refusal, "'b' has no value on any data set"),
        ({"a": [1, None], "b": [None, 2]}, {}, Refusal, "only 0 of 2 data sets have .*; 'a' lacks"),
        ({"a": [1, 2], "b": [1]}, {}, BadData, "unlike length or kind"),
        ({"a": "12", "b": "34"}, {}, BadData, "unlike length or kind"),
        ({"a": [1, "x"], "b": [1, 2]}, {}, BadData, "value of 'a' on '2' is 'x', no finite number"),
        ({"a": [1, np.inf], "b": [1, 2]}, {}, BadData, "what is missing is None"),
        ({"a": [[1, 2], 3], "b": [[1, 2, 3], 3]}, {}, BadData, "on '1' methods have 2 to 3"),
        ([["x", "y"]], {}, BadData, "is no table of numbers"),
        (np.ones(4), {}, BadData, r"scores has shape \(4,\)"),
        (np.ones((3, 51)), {}, Refusal, "51 methods: at most"),
        (TEXTS, {}, BadData, "columns 'a' and 'b' hold text"),
        (TWICE, {}, BadData, "called 'x'"),
        (C45, {"better": "high"}, UnknownName, "better='high'; did you mean 'higher'"),
        (C45, {"missing": None}, UnknownName, "missing=None. Known: 'leave-out'"),
        (C45, {"control": "C4"}, UnknownName, "control=: the table has no method 'C4'"),
        (C45, {"rope": -1}, BadData, "rope=-1"),
        (C45, {"confidence_level": 95}, BadData, "confidence_level=95"),
        (C45, {"random_state": "x"}, BadData, "random_state='x'"),
        (C45, {"methods": ["a"]}, BadData, "give 4 names, one for each method"),
        (C45, {"data_sets": "abc"}, BadData, "give 14 names, one for each data set"),
        (C45, {"correlation": 0.1}, BadData, "one number on each data set"),
        *[(np.ones((7, 2, 3)), {"correlation": c}, BadData, "give n_test / ")
          for c in (1.0, -0.1, "x", [0.1, 0.2])],
    ],
)  # fmt: skip
def test_compare_many_refuses(given, terms, error, sentence):
    with pytest.raises(error, match=sentence):
        tr.compare_many(given, **terms)


# ---------------- Missing cells: left out or ranked last, as asked, and always said


WHOLE = np.random.default_rng(0).normal(size=(9, 3))
HOLES = WHOLE.copy()
HOLES[2, 0] = HOLES[5, 0] = HOLES[5, 2] = np.nan


def compared(values, **terms):
    """Methods a, b and c."""
    return tr.compare_many(values, methods=["a", "b", "c"], **terms)


def test_compare_many_leaves_out_data_sets_with_a_hole():
    """By default: everything is that of the other data sets, and the note names what is gone."""
    found, kept = compared(HOLES), compared(WHOLE[[0, 1, 3, 4, 6, 7, 8]])
    assert (found.ranks, found.pairs, found.friedman) == (kept.ranks, kept.pairs, kept.friedman)
    assert found.left_out == ("3", "6")
    assert (found.n_compared, len(found.data_sets)) == (7, 9)
    assert found.values[5] == (None, WHOLE[5, 1], None)
    assert found.notes[0] == (
        "2 of 9 data sets take no part, as a method has no value there (a on 2, c on 1): 3, 6"
    )
    assert found.conclusion[-1] == "All of this rests on 7 of 9 data sets: see the notes."
    # Two data sets on which both methods have values are the least.
    values = WHOLE.copy()
    values[:4, 0] = np.nan
    values[5:, 1] = np.nan
    with pytest.raises(Refusal, match="'a' and 'b' have values on 1 common data set: leave one"):
        compared(values, missing="last")


@pytest.mark.parametrize(("better", "worst"), [("lower", 100.0), ("higher", -100.0)])
def test_compare_many_ranks_missing_last(better, worst):
    """Tied where several have none; two methods differ on the data sets of both."""
    found = compared(HOLES, missing="last", better=better)
    assert found.ranks == compared(np.where(np.isnan(HOLES), worst, HOLES), better=better).ranks
    assert (found.left_out, found.n_compared) == ((), 9)
    assert [pair.n for pair in found.pairs] == [7, 7, 8]
    kept = compared(np.delete(WHOLE, 5, 0), better=better)
    assert found.pair("b", "c").difference == kept.pair("b", "c").difference
    assert found.notes[0].startswith("3 of 27 cells are missing and rank last (those of one data")
    assert "a on 3, a on 6, c on 6" in found.notes[0]


# ---------------- Single splits reach the hierarchical test, or a note says why they do not


RNG = np.random.default_rng(0)
SPLITS = RNG.normal(0.3, 0.02, (7, 1, 10)) + RNG.normal(0, 0.02, (7, 2, 10))
SPLITS[:, 1] -= 0.05


def test_compare_many_tests_the_differences_of_splits():
    """Those of a − b of every split, the other way round where higher is better."""
    found = tr.compare_many(SPLITS, correlation=0.1, methods=["a", "b"])
    apart = list(SPLITS[:, 0] - SPLITS[:, 1])
    told = found.pairs[0].hierarchical
    assert told == hierarchical_test(apart, [0.1] * 7, 0.01)
    assert (
        "By their single splits, for another data set these are likeliest better by more than "
        "0.01: b than a (probability above 0.99)."
    ) in found.conclusion
    turned = tr.compare_many(-SPLITS, correlation=0.1, methods=["a", "b"], better="higher")
    assert turned.pairs[0].hierarchical == told
    shares = 0.1 + 0.02 * np.arange(7)
    other = tr.compare_many(SPLITS, correlation=shares)
    assert other.pairs[0].hierarchical == hierarchical_test(apart, shares.tolist(), 0.01)
    assert "by single splits (hierarchical)" in str(found)
    assert json.loads(found.to_json())["pairs"][0]["hierarchical"]["next_worse"] == told.next_worse
    assert found.pairs_frame()["hierarchical_better"][0] == told.better
    page = found.to_html()
    assert "From single splits (hierarchical correlated t test)" in page
    assert all(f"<bdi>{value:.3f}</bdi>" in page for value in astuple(told))


@pytest.mark.parametrize(
    ("given", "options", "notes"),
    [
        (SPLITS, {}, ["how splits correlate on '1' is not known (correlation=)"]),
        (SPLITS[:, :, :2], {"correlation": 0.1}, ["it needs 3 results of every method on '1'"]),
        (SPLITS[:2], {"correlation": 0.1}, ["it needs 3 data sets"]),
        (SPLITS.mean(2), {}, []),  # nothing was asked for
    ],
)
def test_compare_many_notes_why_splits_are_not_tested(given, options, notes):
    found = tr.compare_many(given, **options)
    assert found.pairs[0].hierarchical is None
    assert found.pairs_frame()["hierarchical_better"][0] is None
    told = [note for note in found.notes if "hierarchical" in note]
    assert told == [f"the hierarchical test is left out: {note}" for note in notes]
    assert "From single splits" not in found.to_html()


def test_compare_many_takes_no_splits_of_data_sets_left_out():
    holes = SPLITS.copy()
    holes[3, 0, 2] = np.nan
    found = tr.compare_many(holes, correlation=0.1)
    kept = tr.compare_many(np.delete(SPLITS, 3, 0), correlation=0.1)
    assert found.pairs[0].hierarchical == kept.pairs[0].hierarchical
    last = tr.compare_many(holes, correlation=0.1, missing="last")
    assert "it needs 3 results of every method on '4'" in last.notes[1]
