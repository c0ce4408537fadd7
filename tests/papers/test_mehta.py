"""Mehta: the validation error flatters, the memoriser errs on positives, the rare are missed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr

from truerisk.papers.mehta import APART, BETAS, RARE, N, mehta_rules


def test_validation_flatters_and_the_test_does_not(findings_of):
    """By .03 or more, with 25 rows to validate; 60 sets cannot tell whether the test does."""
    rows = {row.name: row for row in findings_of("mehta-three-way").tables[0].rows}
    true = rows["true risk of the refitted"].ours
    assert true - rows["validation error of the selected"].ours > 0.03
    verdicts = [claim.verdict for claim in findings_of("mehta-three-way").claims]
    assert verdicts[:2] == ["holds", "undecided"]


def test_the_picture_of_three_parts_has_the_numbers_of_the_table(findings_of):
    """A box for each error and each risk, and of each difference from its own rule's risk."""
    found = findings_of("mehta-three-way")
    rows = {row.name: row.ours for row in found.tables[0].rows}
    errors, away = found.figures[0].panels
    means = {one.label: one.y.mean() for one in errors.series}
    assert means["validation error"] == pytest.approx(rows["validation error of the selected"])
    assert means["true risk, 10-fold"] == pytest.approx(rows["10-fold: its true risk, all rows"])
    gaps = {one.label: one.y.mean() for one in away.series}
    for way in ("10-fold", "leave-one-out"):
        error, risk = f"{way}: error of the selected", f"{way}: its true risk, all rows"
        assert gaps[f"{way} error"] == pytest.approx(rows[error] - rows[risk])
    true = rows["true risk of the refitted"]
    assert gaps["test error"] == pytest.approx(rows["test error of the refitted"] - true)


def test_ten_fold_is_judged_against_the_truth(findings_of):
    """Not against leave-one-out, which errs itself."""
    (gap,) = findings_of("mehta-three-way").claims[4].quantities
    rows = {row.name: row.ours for row in findings_of("mehta-three-way").tables[1].rows}
    assert gap.value == pytest.approx(rows["10-fold: mean"] - rows["true risk"])


def test_true_risks_are_above_the_best_one(findings_of):
    """No rule is better than the Bayes risk of the problem, .159, by more than the noise."""
    for row in findings_of("mehta-three-way").tables[0].rows:
        if "true risk" in row.name:
            assert 0.155 < row.ours < 0.25


def test_the_memoriser_errs_on_the_positive_share(findings_of):
    """Known by its definition from any number of data sets; the document says the negative one."""
    verdicts = {claim.text: claim.verdict for claim in findings_of("mehta-rules").claims}
    assert verdicts["its test error is the fraction of negative examples"] == "does not hold"
    assert verdicts["of the memoriser the training error is 0"] == "holds"
    for row in findings_of("mehta-rules").tables[0].rows:
        assert row.std_error == 0 or abs(row.difference) < 3.5, row


def test_errors_of_the_constant_are_the_negative_shares():
    """In every data set, of the rows that are learned as of those that are tested."""
    training, test, learned, tested = mehta_rules.replicate(0, 1)["constant"]
    assert training == pytest.approx(1 - learned)
    assert test == pytest.approx(1 - tested)
    assert learned * N == pytest.approx(round(learned * N))


def test_rates_are_those_of_two_gaussians(findings_of):
    """At every β the mean rates are Φ of where the threshold lies, within 4 standard errors."""
    grid = {row.name: row for row in findings_of("mehta-rules").tables[1].rows}
    odds = np.array(BETAS) / (1 - np.array(BETAS)) * (1 - RARE) / RARE
    cut = (np.log(odds) + APART**2 / 2) / APART
    for name, exact in (
        ("true positive rate", ndtr(APART - cut)),
        ("true negative rate", ndtr(cut)),
    ):
        for mean, error, known in zip(grid[name].means, grid[name].std_errors, exact, strict=True):
            assert abs(mean - known) < 4 * error
