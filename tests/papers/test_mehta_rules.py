"""The constant and the memoriser are what their errors are said to be; rare classes are missed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr

from truerisk.papers import reproduce
from truerisk.papers.mehta_rules import APART, BETAS, RARE, N, mehta_rules


@pytest.fixture(scope="module")
def report():
    return reproduce("mehta-rules", replicates=40, seed=0)


def test_the_memoriser_errs_on_the_positive_share(report):
    """Known by its definition from any number of data sets; the document says the negative one."""
    verdicts = {claim.text: claim.verdict for claim in report.findings.claims}
    assert verdicts["its test error is the fraction of negative examples"] == "does not hold"
    assert verdicts["of the memoriser the training error is 0"] == "holds"
    for row in report.findings.tables[0].rows:
        assert row.std_error == 0 or abs(row.difference) < 3.5, row


def test_errors_of_the_constant_are_the_negative_shares():
    """In every data set, of the rows that are learned as of those that are tested."""
    training, test, learned, tested = mehta_rules.replicate(0, 1)["constant"]
    assert training == pytest.approx(1 - learned)
    assert test == pytest.approx(1 - tested)
    assert learned * N == pytest.approx(round(learned * N))


def test_rates_are_those_of_two_gaussians(report):
    """At every β the mean rates are Φ of where the threshold lies, within 4 standard errors."""
    grid = dict(report.findings.tables[1].rows)
    odds = np.array(BETAS) / (1 - np.array(BETAS)) * (1 - RARE) / RARE
    cut = (np.log(odds) + APART**2 / 2) / APART
    for name, exact in (
        ("true positive rate", ndtr(APART - cut)),
        ("true negative rate", ndtr(cut)),
    ):
        for (mean, error), known in zip(grid[name], exact, strict=True):
            assert abs(mean - known) < 4 * error
