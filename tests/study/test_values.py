"""Results as JSON and .npy bytes: what goes in comes out, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.core.errors import BadStore
from truerisk.study.results import _summed
from truerisk.study.values import canonical, digest_of, key_of, pack, seed_of, unpack


def test_everything_comes_back():
    """Texts, numbers, lists; arrays with their type, shape and every bit, NaN too."""
    content = {
        "a": 0.1 + 0.2,
        "b": None,
        "c": ["x", {"d": True}],
        "e": np.array([[1.5, np.nan], [-0.0, np.inf]]),
        "f": np.float32(0.1),
        "g": np.array(["ä", "bcd"]),
    }
    packed = pack(content)
    back = unpack(packed.text, packed.npy)
    assert {k: back[k] for k in "abc"} == {k: content[k] for k in "abc"}
    for name in "efg":
        want = np.asarray(content[name])
        assert back[name].dtype == want.dtype
        assert back[name].tobytes() == want.tobytes()


@pytest.mark.parametrize(
    "value", [object(), float("nan"), np.array([object()], dtype=object), {1, 2}]
)
def test_what_cannot_be_said_is_an_error(value):
    """Nothing is turned into text or pickled in silence."""
    with pytest.raises((ValueError, TypeError)):
        pack({"x": value})


@pytest.mark.parametrize(
    ("text", "npy"),
    [("{", None), ("[]", None), ('{"arrays": ["x"]}', None), ('{"arrays": ["x"]}', b"\x93NUMPY")],
)
def test_a_changed_result_is_refused(text, npy):
    """Cut JSON, another kind of JSON, bytes that lack."""
    with pytest.raises(BadStore, match="cannot be read"):
        unpack(text, npy)


def test_a_reserved_name_is_refused():
    """It would hide the arrays."""
    with pytest.raises(ValueError, match="arrays"):
        pack({"arrays": 1})


# ---------------- Keys and seeds depend on content alone


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


def test_losses_whose_squares_overflow_are_summed_without_a_warning():
    cell = {"problem": "p", "size": 30, "learner": "l", "method": "m", "target": "Err"}
    found = {"low": None, "high": None, "n_fits": 1, "seconds": 1e205}
    rows = [{**cell, **found, "value": value, "truth": 1.0} for value in (1e200, 3e200)]
    summed = _summed(rows)
    assert summed["value"] == 2e200
    assert summed["rmse"] == np.inf
