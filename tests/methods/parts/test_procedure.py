"""Choosing: by values, or by ranks where values are too small to differ."""

import numpy as np
import pytest

from truerisk import extend
from truerisk.contracts import choose_by_rule
from truerisk.selection import as_rule


def of_ranks(*ranks):
    """Return candidates whose risks are all 0, with these ranks."""
    return [extend.Tested(0.0, rank=rank) for rank in ranks]


FAR = [extend.Tested(0.2, 0.05, rank=5.0), extend.Tested(0.18, 0.05, rank=-5.0)]


@pytest.mark.parametrize(
    ("tested", "word", "best"),
    [
        pytest.param(of_ranks(None, None), "min", 0, id="no ranks"),
        pytest.param(of_ranks(-900.0, -1000.0), "min", 1, id="ranks"),
        pytest.param(of_ranks(-900.0, None), "min", 0, id="one rank"),
        pytest.param(of_ranks(-900.0, np.nan), "min", 0, id="failed"),
        pytest.param(FAR, "1-se", 0, id="standard errors"),
        pytest.param(FAR, "min", 1, id="no standard errors"),
    ],
)
def test_choice_by_rule_lets_ranks_decide_where_all_have_one_and_no_error_counts(
    tested, word, best
):
    """Candidates whose risks tie at 0 are told apart by their ranks; a failed one is left out.

    The rule 1-se adds a standard error to a risk, so it does not use ranks, whose scale differs.
    """
    assert choose_by_rule(tested, as_rule(word)) == best
