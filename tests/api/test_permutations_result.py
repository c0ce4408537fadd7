"""A permutation test counts ties, prints itself, and becomes JSON."""

from __future__ import annotations

import json

import numpy as np
import pytest

from truerisk.api.permutations import PermutationTest


def found(null, observed=0.3, **more):
    told = {
        "permuted": "rows", "n_units": 50, "loss": "zero-one", "method": "10-fold",
        "engine": "knn", "seed": 0, "search_seed": 1, "seconds": 2.0, "data_fingerprint": "ab",
    }  # fmt: skip
    return PermutationTest(observed=observed, null=np.array(null), **{**told, **more})


def test_the_p_value_counts_ties_and_the_observed_order():
    """(1 + as small)/(1 + permutations), where sums in another order are as small."""
    one = found([0.1 + 0.2, 0.3, 0.30001, 0.5])
    assert 0.1 + 0.2 > 0.3
    assert (one.n_as_small, one.n_permutations) == (2, 4)
    assert one.p_value == 3 / 5
    assert found([0.5] * 999).p_value == pytest.approx(0.001)
    assert found([0.3] * 9).p_value == 1


def test_it_prints_itself():
    """The p-value first, the risks below, then notes; the same in a notebook."""
    one = found([0.25, 0.5, 0.75], notes=("few <orders>",))
    assert str(one).splitlines() == [
        "p = 0.5: 1 of 3 permutations (rows) have a risk as small",
        "  observed: risk 0.3000 (zero-one, 10-fold)",
        "  permuted: risk 0.5000 on average, 0.2500 to 0.7500",
        "  note: few <orders>",
    ]
    assert "0.2500 to 0.7500" in one._repr_html_()
    assert "few &lt;orders&gt;" in one._repr_html_()


def test_it_is_plain_values():
    """Under a schema name, with the null's distribution and both seeds."""
    content = json.loads(found([0.5, 0.25]).to_json())
    assert content["schema"] == "truerisk.permutation-test/1"
    assert content["p_value"] == 2 / 3
    assert content["null"] == [0.5, 0.25]
    assert (content["n_permutations"], content["seed"], content["search_seed"]) == (2, 0, 1)
