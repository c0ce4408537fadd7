"""Sentences judged by tests: three answers, printed with what they rest on."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.experiments.statements import FEWEST, LEVEL, Claim, Quantity, Statement

MANY = 10_000  # Student's t is normal there: 2.576 standard errors at 99 per cent


def of(value, error=1.0, *claim, n=MANY):
    """A sentence about one number."""
    return Statement("s", (Quantity("q", value, error, n, *claim),))


@pytest.mark.parametrize(
    ("value", "claim", "verdict"),
    [
        (2.6, Claim("above"), "holds"),
        (2.5, Claim("above"), "undecided"),
        (-2.5, Claim("above"), "undecided"),
        (-2.6, Claim("above"), "does not hold"),
        (3.5, Claim("above", 1.0), "undecided"),
        (-2.6, Claim("below"), "holds"),
        (2.6, Claim("below"), "does not hold"),
        (0.3, Claim("near", 0.0, 3.0), "holds"),
        (0.5, Claim("near", 0.0, 3.0), "undecided"),
        (5.5, Claim("near", 0.0, 3.0), "undecided"),
        (5.6, Claim("near", 0.0, 3.0), "does not hold"),
        (-5.6, Claim("near", 0.0, 3.0), "does not hold"),
        (0.0, Claim("near", 0.0, 0.0), "undecided"),
    ],
)
def test_one_number_decides_at_99_per_cent(value, claim, verdict):
    """Its interval lies where it is claimed, elsewhere, or on both sides."""
    assert of(value, 1.0, claim).verdict == verdict


def test_few_replicates_need_more():
    """Student's t with 9 degrees of freedom: 3.2498; with fewer than ten nothing is decided."""
    assert of(3.24, n=FEWEST).verdict == "undecided"
    assert of(3.26, n=FEWEST).verdict == "holds"
    assert of(1e6, n=FEWEST - 1).verdict == "undecided"
    assert of(1e6, 0.0, n=2).verdict == "undecided"


def test_no_standard_error_decides_nothing():
    """One replicate, or a statistic that its bootstrap cannot compute."""
    assert of(5.0, np.inf).verdict == "undecided"
    assert of(np.nan, 0.1).verdict == "undecided"


def test_numbers_without_chance_decide_as_they_stand():
    """Equal to the null is not above it."""
    for value, claim, verdict in (
        (1.0, Claim("above"), "holds"),
        (0.0, Claim("above"), "does not hold"),
        (0.1, Claim("near", 0.0, 0.1), "holds"),
        (0.2, Claim("near", 0.0, 0.1), "does not hold"),
    ):
        assert Statement("s", (Quantity.exact("q", value, claim),)).verdict == verdict


def test_one_number_refutes_and_all_confirm():
    """Two at 99.5 per cent each (2.807 standard errors), so that both together have 99."""

    def both(first, second):
        pair = (Quantity("a", first, 1.0, MANY), Quantity("b", second, 1.0, MANY))
        return Statement("s", pair)

    assert both(3, 3).verdict == "holds"
    assert both(3, 2.7).verdict == "undecided"
    assert both(3, -2.7).verdict == "undecided"
    assert both(3, -3).verdict == "does not hold"
    assert both(1, -3).verdict == "does not hold"
    assert both(1, 1).level == LEVEL


def test_a_fair_sentence_is_seldom_refuted():
    """Where the truth lies on the null, one direction is decided in half of one per cent each."""
    rng = np.random.default_rng(0)
    found = [
        Statement("s", (Quantity.mean("q", rng.normal(size=12)),)).verdict for _ in range(4000)
    ]
    assert found.count("holds") / 4000 == pytest.approx(0.005, abs=0.004)
    assert found.count("does not hold") / 4000 == pytest.approx(0.005, abs=0.004)


def test_a_mean_has_the_error_of_its_replicates():
    """The standard deviation over the square root of their number."""
    found = Quantity.mean("q", np.array([1.0, 2.0, 3.0]), Claim("above", 1.0))
    assert (found.value, found.replicates, found.claim.null) == (2.0, 3, 1.0)
    assert found.std_error == pytest.approx(1 / np.sqrt(3))


def test_a_share_of_all_has_an_error():
    """20 of 20 do not show that all do: the limit of Agresti and Coull."""
    every = Quantity.share("q", np.ones(20, dtype=bool), Claim("above", 95))
    assert every.value == 100
    assert every.std_error == pytest.approx(100 * np.sqrt(22 / 24 * 2 / 24 / 20))
    assert Statement("s", (every,)).verdict == "undecided"


def test_a_statistic_has_the_error_of_its_bootstrap():
    """For a mean it is the known one; for a median of normals √(π/2) times that."""
    values = np.random.default_rng(0).normal(size=2000)
    mean, median = (Quantity.of("q", f, values) for f in (np.mean, np.median))
    assert mean.value == values.mean()
    assert mean.std_error == pytest.approx(values.std() / np.sqrt(2000), rel=0.1)
    assert median.std_error == pytest.approx(np.sqrt(np.pi / 2) / np.sqrt(2000), rel=0.2)


def test_what_is_claimed_is_printed_beside_the_number():
    """Null, tolerance and standard error; of many numbers those that hold are counted."""
    one = of(0.5, 0.25, Claim("near", 0.0, 3.0))
    assert str(one).splitlines() == ["HOLDS: s", "    q: 0.5000 ± 0.2500, claimed within 3 of 0"]
    assert "claimed from 20 to 80" in str(of(50.0, 1.0, Claim("near", 50.0, 30.0)))
    two = Statement("s", tuple(Quantity(n, v, 1.0, MANY) for n, v in (("a", 9), ("b", 1))), "so.")
    assert str(two).splitlines() == [
        "UNDECIDED: s",
        "    a: 9.0000 ± 1.0000, claimed above 0: holds",
        "    b: 1.0000 ± 1.0000, claimed above 0: undecided",
        "    so.",
    ]
    six = Statement("s", tuple(Quantity("q", v, 1.0, MANY) for v in (9, 9, 9, 9, 9, -9)))
    assert str(six).splitlines() == [
        "DOES NOT HOLD: s",
        "    q: -9.0000 ± 1.0000, claimed above 0: does not hold",
        "    5 of 6 numbers lie where they are claimed (above 0, …)",
    ]


def test_a_claim_is_kept_in_plain_values():
    """Side, null and tolerance stand beside the numbers of `--json`, as they always did."""
    (told,) = of(2.0, 0.5, Claim("near", 1.0, 3.0), n=20).tests
    assert told == {
        "name": "q",
        "value": 2.0,
        "std_error": 0.5,
        "replicates": 20,
        "claimed": "near",
        "null": 1.0,
        "tolerance": 3.0,
        "verdict": "holds",
    }


@pytest.mark.parametrize(
    ("word", "verdicts"),
    [
        ("wallman-table-1", "hold undecided hold"),
        ("wallman-posterior", "not not hold"),
        ("wallman-bias", "hold undecided undecided hold undecided"),
        ("kearns-figure-1", "hold not hold hold undecided undecided"),
        ("kearns-figure-2", "hold hold hold"),
        ("mehta-three-way", "hold undecided hold hold undecided undecided undecided undecided"),
        ("mehta-rules", "undecided hold not hold hold hold hold hold"),
        ("insa-polynomial", "hold undecided hold hold undecided"),
        ("insa-bootstrap", "hold hold hold undecided undecided"),
        ("insa-optimism", "hold hold undecided undecided"),
        ("insa-decomposition", "hold hold hold undecided hold hold"),
        (
            "insa-folds",
            (
                "hold undecided hold undecided undecided undecided "
                "hold undecided undecided hold undecided hold"
            ),
        ),
        ("aicc-simulation", "hold not hold"),
    ],
)
def test_what_few_replicates_know_already(word, verdicts, findings_of):
    """Theses of the documents hold, or do not, in a test's few replicates; the rest takes more."""
    words = {"hold": "holds", "not": "does not hold", "undecided": "undecided"}
    claims = findings_of(word).claims
    assert [claim.verdict for claim in claims] == [words[v] for v in verdicts.split()]
