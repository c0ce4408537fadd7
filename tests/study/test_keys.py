"""Keys and seeds depend on content alone."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.study.keys import canonical, digest_of, key_of, seed_of


def test_the_order_of_names_does_not_matter():
    """Equal contents have equal keys; any change of a value has another."""
    assert key_of({"a": 1, "b": [1, 2]}) == key_of({"b": [1, 2], "a": 1})
    assert key_of({"a": 1}) != key_of({"a": 1.5})
    assert key_of({"a": [1, 2]}) != key_of({"a": [2, 1]})


def test_keys_stay_what_they_are():
    """Stored studies are found again by later versions."""
    assert key_of({"n": 30, "method": "loo"}) == "bcedd2cacb188753d51a1d17c6bb9c43"
    assert seed_of("data", {"n": 30}, 7) == 5524585810055082709


def test_seeds_differ_and_are_seeds():
    """Neighbouring numbers have unrelated seeds of 63 bits."""
    seeds = {seed_of("x", number) for number in range(1000)}
    assert len(seeds) == 1000
    assert all(0 <= seed < 2**63 for seed in seeds)


def test_nan_has_no_key():
    """NaN is no content."""
    with pytest.raises(ValueError, match="JSON"):
        canonical({"x": float("nan")})


def test_an_array_is_its_type_shape_and_content():
    """Also of text, without rows, and in another memory order."""
    X = np.arange(6.0).reshape(2, 3)
    assert digest_of(X) == digest_of(np.asfortranarray(X))
    others = [X.astype("f4"), X.reshape(3, 2), X + 1, np.array(["a"]), np.empty((0, 3))]
    assert len({digest_of(a) for a in [X, *others]}) == 6


def test_a_number_and_an_array_of_it_differ():
    """Their shapes do, and so do their digests."""
    assert digest_of(np.array(1.0)) != digest_of(np.array([1.0]))
