"""Comparisons over many data sets against published tables and numbers of other packages."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from tests.support.demsar import C45, DATA_SETS, METHODS

import truerisk as tr
from truerisk.core.errors import UnknownName


def demsar(**terms):
    """His table of areas under the curve."""
    given = {"better": "higher", "methods": METHODS, "data_sets": DATA_SETS, "quantity": "AUC"}
    return tr.compare_many(C45, **given, **terms)


@pytest.fixture(scope="module")
def found():
    """The table with the usual terms."""
    return demsar()


def test_the_printed_numbers(found):
    """Demšar (2006): ranks, χ², F, CD; no group of methods is apart by ranks alone but one bar."""
    assert dict(zip(found.methods, np.round(found.ranks, 3), strict=True)) == {
        "C4.5": 3.143, "C4.5+m": 2.0, "C4.5+cf": 2.893, "C4.5+m+cf": 1.964,
    }  # fmt: skip
    assert round(found.friedman.chi_square_as_printed, 2) == 9.28
    assert round(found.friedman.f_as_printed, 2) == 3.69
    assert round(found.critical_difference, 2) == 1.25
    assert found.alike == [("C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5")]


def test_a_control_by_ranks():
    """Demšar (2006), section 3.2.4: p = .016, .019 and .607 of three tests against C4.5."""
    found = demsar(control="C4.5", pairwise="ranks")
    assert [(p.a, p.b) for p in found.pairs] == [(m, "C4.5") for m in METHODS[1:]]
    p_values = [round(p.p_value, 3) for p in found.pairs]
    assert p_values == [0.019, 0.608, 0.016]  # .607 from rounded ranks
    assert [p.p_holm for p in found.pairs][2] == pytest.approx(3 * found.pairs[2].p_value)
    assert "C4.5+m is better than C4.5 (p = 0.0472)" in " ".join(found.conclusion)


def test_other_packages_agree(found):
    """χ² with ties and Nemenyi's difference of autorank 1.3.0; SciPy's Wilcoxon with Holm.

    autorank.autorank(table, force_mode="nonparametric"): pvalue 0.016721580328441323,
    cd 1.2535512603486423. scipy.stats.wilcoxon(np.round(a - b, 9), zero_method="pratt",
    method=PermutationMethod(n_resamples=2**15)) of SciPy 1.17 gives the p-values of pairs.
    """
    assert found.friedman.chi_p_value == pytest.approx(0.016721580328441323)
    assert found.critical_difference == pytest.approx(1.2535512603486423, rel=1e-5)
    p_values = {(pair.a, pair.b): pair.p_value for pair in found.pairs}
    assert p_values["C4.5", "C4.5+m"] == pytest.approx(0.0078125)
    assert p_values["C4.5", "C4.5+cf"] == pytest.approx(0.865966796875)


def test_directions_are_mirrored(found):
    """Higher values are better; the same table as risks gives the same but for signs."""
    mirrored = tr.compare_many(-C45, methods=METHODS)
    assert mirrored.ranks == found.ranks
    for one, other in zip(found.pairs, mirrored.pairs, strict=True):
        assert (one.p_holm, one.wins, one.better) == (other.p_holm, other.wins, other.better)
        assert one.difference == -other.difference
        assert one.correlation == other.correlation
        assert (one.interval.low, one.interval.high) == (-other.interval.high, -other.interval.low)


def test_a_pair_says_who_is_better(found):
    """C4.5+m wins on ten data sets, ties on two, loses on two."""
    pair = found.pair("C4.5+m", "C4.5")
    assert (pair.a, pair.b, pair.n) == ("C4.5", "C4.5+m", 14)
    assert (pair.wins, pair.ties, pair.losses) == (2, 2, 10)
    assert pair.difference == pytest.approx(-0.013)
    assert pair.correlation < 0
    assert not pair.favours_a
    assert pair.worse > 0.6
    assert pair.better + pair.equivalent + pair.worse == pytest.approx(1)
    with pytest.raises(UnknownName, match="were not compared"):
        found.pair("C4.5", "C5")


def test_data_sets_and_methods_in_any_order(found):
    """The order of rows changes nothing, that of columns the order of pairs alone."""
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


def test_the_seed_is_of_the_draws_alone(found):
    """Another seed moves the probabilities by their Monte Carlo error, and nothing else."""
    assert demsar() == found
    other = demsar(random_state=1)
    assert other.ranks == found.ranks
    pairs = list(zip(found.pairs, other.pairs, strict=True))
    assert any(a.equivalent != b.equivalent for a, b in pairs)
    assert all(a.equivalent == pytest.approx(b.equivalent, abs=0.015) for a, b in pairs)


def test_it_is_frozen_plain_and_prints_itself(found):
    """JSON and back, frames, text and notebook."""
    plain = json.loads(found.to_json())
    assert plain == found.to_dict()
    assert plain["schema"] == "truerisk.many-comparison/2"
    assert plain["conclusion"] == list(found.conclusion)
    with pytest.raises(FrozenInstanceError):
        found.ranks = ()
    assert found.to_frame().shape == (14, 5)
    assert list(found.pairs_frame()["p_holm"]) == [pair.p_holm for pair in found.pairs]
    text = str(found)
    for said in ("C4.5+m+cf         1.964", "F(3, 39) = 4.19", "critical difference 1.25"):
        assert said in text
    assert "C4.5+m+cf" in found._repr_html_()


def test_the_conclusion_says_what_is_known(found):
    """The best, the test of all, the pairs, what is practically so."""
    first, *others = found.conclusion
    assert first == (
        "Of 4 methods on 14 data sets, C4.5+m+cf has the best average rank, 1.96, before C4.5+m "
        "with 2.00."
    )
    *others, practical = others
    assert practical == (
        "On most data sets these are probably better by more than 0.01: C4.5+m+cf than C4.5 "
        "(probability 0.96)."
    )
    assert others == [
        "The ranks differ by more than chance (Friedman's test, F(3, 39) = 4.19, p = 0.0116).",
        "Holm's correction over 6 pairs finds different: C4.5+m is better than C4.5 (p = 0.0469).",
        "5 of the 6 pairs are undecided.",
    ]


def test_all_alike_has_an_exact_p_value_and_says_so():
    """One order on six data sets: F is infinite, in JSON a word."""
    found = tr.compare_many(np.arange(6.0)[:, None] + [0.0, 1.0, 2.0])
    assert found.friedman.p_value == pytest.approx(6.0**-5)
    assert found.to_dict()["friedman"]["f"] == "inf"
    assert "F(2, 10) = ∞, p = 0.000129" in found.conclusion[1]


def test_ties_everywhere_are_a_sentence():
    """Equal columns: nothing is told apart, the practical equality is."""
    found = tr.compare_many(np.tile(np.arange(8.0)[:, None], 3))
    assert (
        found.conclusion[0] == "Of 3 methods on 8 data sets, all have the same average rank, 2.00."
    )
    assert "finds no two methods different, which does not show that they are alike" in str(found)
    assert "all methods are tied on every data set" in found.notes[0]
    assert "probably differ by no more than 0.01" in found.conclusion[-1]
    assert {pair.p_holm for pair in found.pairs} == {1.0}


def test_two_equal_columns_are_a_note():
    """Two of three methods are the same."""
    values = np.random.default_rng(0).normal(size=(9, 2))
    found = tr.compare_many(values[:, [0, 0, 1]], methods=["a", "b", "c"])
    assert found.notes == ("a and b are equal on every data set",)
    assert found.pair("a", "b").correlation is None


def test_too_few_data_sets_are_said():
    """Five data sets cannot tell six pairs apart, nor keep a level of 95 %."""
    found = tr.compare_many(C45[:5], better="higher")
    assert "smallest p-value that the signed-rank test can have is 0.0625" in found.notes[0]
    assert "Holm multiplies it by 6" in found.notes[0]
    assert "no interval of a difference keeps the level 0.95" in found.notes[1]
    assert {pair.interval for pair in found.pairs} == {None}
