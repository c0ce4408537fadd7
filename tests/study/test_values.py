"""Results as JSON and .npy bytes: what goes in comes out, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.core.errors import BadStore
from truerisk.study.values import pack, unpack


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
