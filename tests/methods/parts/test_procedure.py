"""Choosing: by values, or by ranks where values are too small to differ."""

import numpy as np
import pytest

from truerisk import extend
from truerisk.contracts import by_rule
from truerisk.selection import as_rule


@pytest.mark.parametrize(
    ("ranks", "best"),
    [([None, None], 0), ([-900.0, -1000.0], 1), ([-900.0, None], 0), ([-900.0, np.nan], 0)],
)
def test_choice_by_rule_lets_ranks_decide_where_all_have_one(ranks, best):
    """Values of 0 tie; their ranks do not, and a failed candidate is left out."""
    assert by_rule([extend.Tested(0.0, rank=rank) for rank in ranks], as_rule("min")) == best


def test_choice_by_rule_compares_values_where_standard_errors_count():
    """1-se adds a standard error to a value: ranks are on another scale."""
    tested = [extend.Tested(0.2, 0.05, rank=5.0), extend.Tested(0.18, 0.05, rank=-5.0)]
    assert [by_rule(tested, as_rule(word)) for word in ("1-se", "min")] == [0, 1]
