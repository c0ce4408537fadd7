"""Which sparse tables are made dense."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from truerisk.engines.preparation.prepared import OwnArithmetic
from truerisk.engines.preparation.zeros import as_dense, is_bearable


def test_what_is_bearable_depends_on_size_and_on_what_is_in_it():
    """A dense table is as it is."""
    dense = np.eye(2)
    assert is_bearable(dense)
    assert as_dense(dense) is dense
    assert is_bearable(sparse.csr_array((1000, 1000)))  # empty, but small
    assert not is_bearable(sparse.csr_array((1000, 10_000)))
    tenth = sparse.random(1000, 10_000, density=0.1, random_state=0)
    assert is_bearable(tenth)
    assert not is_bearable(sparse.hstack([tenth] * 4))  # half a gigabyte of cells
    np.testing.assert_array_equal(as_dense(sparse.csr_array(np.eye(2))), np.eye(2))
    with pytest.raises(OwnArithmetic, match="too empty"):
        as_dense(sparse.csr_array((1000, 10_000)))
