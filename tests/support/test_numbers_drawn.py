"""A test draws the same numbers whichever others ran before it."""

from __future__ import annotations

import numpy as np
import pytest

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("turn", range(2))
def test_the_generator_of_a_module_begins_anew(turn):
    """Each test finds it where the import left it."""
    assert RNG.random() == np.random.default_rng(0).random()
