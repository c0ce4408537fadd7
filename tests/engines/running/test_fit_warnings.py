"""A thousand fits that warn alike warn once, with how many they were."""

import threading
import warnings

import pytest

from truerisk.engines.running.fit_warnings import (
    WarningCounts,
    append_count,
    collect_warnings,
    mask_numbers,
    split_count,
)


@pytest.mark.parametrize(
    ("warned", "n_fits", "said"),
    [
        (
            [(UserWarning, "slow"), (UserWarning, "slow"), (RuntimeWarning, "slow")],
            9,
            [
                (UserWarning, "slow [2 times in 9 fits]"),
                (RuntimeWarning, "slow [1 times in 9 fits]"),
            ],
        ),
        (  # a duality gap that is different in each fit does not make a hundred warnings
            [(UserWarning, f"gap {0.1 / k:.2e}, tolerance 1e-4") for k in range(1, 8)],
            7,
            [(UserWarning, "gap 1.00e-01, tolerance 1e-4 [7 times in 7 fits]")],
        ),
        (  # boosters tell of each step by how much it gained, and gains are negative, too
            [(UserWarning, f"best gain: {gain}") for gain in ("0", "-0.5", "1e-05")],
            3,
            [(UserWarning, "best gain: 0 [3 times in 3 fits]")],
        ),
        ([(UserWarning, "slow")], 1, [(UserWarning, "slow")]),
    ],
    ids=["equal", "numbers", "signs", "a single fit"],
)
def test_tally_says_equal_warnings_once_with_their_count(warned, n_fits, said):
    tally = WarningCounts(())
    for one in warned:
        tally.add([one])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        WarningCounts(warned).issue_all(n_fits)
        tally.issue_all(n_fits)
    assert [(w.category, str(w.message)) for w in caught] == 2 * said


def test_alike_hides_numbers_only():
    assert (
        mask_numbers("gap 1.5e-3 of 7")
        == mask_numbers("gap 2.5E+10 of 12")
        != mask_numbers("gap of 7")
    )
    assert mask_numbers("scikit-learn 1-2") == "scikit-learn #-#"


@pytest.mark.parametrize(("text", "times", "fits"), [("a [b]", 3, 10), ("two\nlines", 1, 2)])
def test_counted_and_apart_are_inverse(text, times, fits):
    assert split_count(append_count(text, times, fits)) == (text, times, fits)
    assert split_count(text) == (text, 1, 0)


def test_kept_warnings_are_those_of_the_main_thread():
    """Inside, nothing is shown; in other threads warnings go their usual way."""
    found = []

    def elsewhere():
        with collect_warnings() as mine:
            found.append(mine)

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        with collect_warnings() as kept:
            warnings.warn("heard", UserWarning, stacklevel=1)
        assert kept == [(UserWarning, "heard")]
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
    assert found == [[]]
