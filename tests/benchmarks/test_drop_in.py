"""scikit-learn's tests of GridSearchCV can be run on HonestSearchCV, and are counted rightly."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_drop_in_counts_what_passes_and_fails():
    pytest.importorskip("sklearn.callback")  # these tests are of 1.9
    command = [sys.executable, "-m", "benchmarks.drop_in", "callbacks_receive_s or kernel"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "3 of 4 pass" in found  # cases of other searches are not counted
    assert "test_grid_search_precomputed_kernel: Failed: DID NOT RAISE" in found
