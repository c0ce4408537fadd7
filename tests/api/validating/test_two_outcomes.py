"""The numbers of `validate` are those of rms, sample by sample, and of formulas written out."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from tests.support.rms_data import RMS, drawn

import truerisk as tr

X, Y, SAMPLES = drawn()
WORDS = {"R2": "r2", "Intercept": "intercept", "Slope": "slope", "D": "d", "U": "u", "Q": "q"}


@pytest.fixture(scope="module")
def found():
    """A logistic regression without penalty, on the samples that R was given."""
    model = LogisticRegression(C=np.inf, tol=1e-12, max_iter=500)
    return tr.validate(model, X, Y, samples=SAMPLES)


@pytest.mark.parametrize("name", ["Dxy", *WORDS, "B"])
def test_it_is_validate_of_rms(found, name):
    """index.orig, training, test, optimism, index.corrected and n on the same samples."""
    if name == "Dxy":
        one, scale, shift = found.discrimination["auc"], 2, 1
    elif name in ("R2", "D"):
        one, scale, shift = found.discrimination[WORDS[name]], 1, 0
    else:
        one, scale, shift = found.calibration[WORDS.get(name, "brier")], 1, 0
    values = [scale * v - shift for v in (one.apparent, one.training, one.test)]
    values += [scale * one.optimism, scale * one.corrected - shift, one.n]
    assert values == pytest.approx(RMS["validate"][name], abs=2e-6)
