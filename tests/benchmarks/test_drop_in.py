"""scikit-learn's tests of GridSearchCV can be run on HonestSearchCV, and are counted rightly."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("test_search_callbacks_receive_sample_weight", "0 of 1 pass"),
        ("test_search_default_iid", "1 of 1 pass"),  # its other case is of another search
    ],
)
def test_it_counts(name, said) -> None:
    """What passes, what fails and why, and only what is about GridSearchCV."""
    pytest.importorskip("sklearn.callback")  # these tests are of 1.9
    command = [sys.executable, "-m", "benchmarks.drop_in", name]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert said in found
    assert ("set_callbacks" in found) == ("callbacks" in name)
