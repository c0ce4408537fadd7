"""A thousand fits that warn alike warn once, with how many they were."""

from __future__ import annotations

import threading
import warnings

import pytest

from truerisk.engines.running.fit_warnings import (
    Tally,
    alike,
    apart,
    counted,
    kept_warnings,
)


def said(warned, n_fits):
    """What is repeated of these warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Tally(warned).say(n_fits)
    return [(w.category, str(w.message)) for w in caught]


def test_equal_warnings_are_said_once_with_their_count():
    """One line per kind and text."""
    warned = [(UserWarning, "slow"), (UserWarning, "slow"), (RuntimeWarning, "slow")]
    assert said(warned, 9) == [
        (UserWarning, "slow [2 times in 9 fits]"),
        (RuntimeWarning, "slow [1 times in 9 fits]"),
    ]


def test_texts_that_differ_in_numbers_are_one():
    """A duality gap that is different in each fit does not make a hundred warnings."""
    warned = [(UserWarning, f"gap {0.1 / k:.2e}, tolerance 1e-4") for k in range(1, 8)]
    assert said(warned, 7) == [(UserWarning, "gap 1.00e-01, tolerance 1e-4 [7 times in 7 fits]")]


def test_signs_belong_to_numbers():
    """Boosters tell of each step by how much it gained, and gains are negative, too."""
    texts = ["best gain: 0", "best gain: -0.5", "best gain: 1e-05"]
    assert len(said([(UserWarning, text) for text in texts], 3)) == 1
    assert alike("scikit-learn 1-2") == "scikit-learn #-#"


def test_thousands_of_warnings_are_held_once():
    """What a fit warns of is counted as it comes in."""
    tally = Tally()
    for fit in range(10):
        tally.add((UserWarning, f"step {fit} {step}: no gain") for step in range(1000))
    with pytest.warns(UserWarning, match=r"step 0 0: no gain \[10000 times in 10 fits\]") as told:
        tally.say(10)
    assert len(told) == 1
    assert len(vars(tally)["_texts"]) == 1


def test_a_single_fit_needs_no_count():
    """The text alone."""
    assert said([(UserWarning, "slow")], 1) == [(UserWarning, "slow")]


@pytest.mark.parametrize(("text", "times", "fits"), [("a [b]", 3, 10), ("two\nlines", 1, 2)])
def test_counted_and_apart_are_inverse(text, times, fits):
    """What was joined comes apart; other text is a single telling."""
    assert apart(counted(text, times, fits)) == (text, times, fits)
    assert apart(text) == (text, 1, 0)


def test_alike_hides_numbers_only():
    """Words still tell warnings apart."""
    assert alike("gap 1.5e-3 of 7") == alike("gap 2.5E+10 of 12") != alike("gap of 7")


def test_warnings_are_kept_in_the_main_thread_alone():
    """Inside, nothing is shown; in other threads warnings go their usual way."""
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        with kept_warnings() as kept:
            warnings.warn("heard", UserWarning, stacklevel=1)
        assert kept == [(UserWarning, "heard")]

        def elsewhere():
            with kept_warnings() as mine:
                found.append(mine)

        found = []
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        assert found == [[]]
