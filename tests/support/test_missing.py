"""The clean processes of the tests end by themselves, and say how."""

import os
import signal
import time

import pytest
from tests.support.missing import in_clean_processes, output_without


def test_missing_module_cannot_be_imported():
    code = "import truerisk\nprint(truerisk.__name__)\nimport truerisk.planning"
    with pytest.raises(AssertionError, match=r"No module named 'truerisk\.planning'"):
        output_without("truerisk.planning", code=code)
    assert output_without(code=code) == ["truerisk"]


@pytest.mark.parametrize(
    ("function", "given", "said"),
    [
        (signal.raise_signal, signal.SIGKILL, "the process ended without a word, with code -9"),
        (os._exit, 3, "the process ended without a word, with code 3"),
        (time.sleep, 60, "no end in time"),
    ],
)
def test_process_that_dies_or_hangs_says_so_and_the_next_one_answers(function, given, said):
    assert list(in_clean_processes(_call, [(abs, -2)])) == [(2, None)]  # the server has started
    seconds = 5 if function is time.sleep else 300  # a busy machine starts a process late
    calls = in_clean_processes(_call, [(function, given), (abs, -2)], seconds=seconds)
    assert list(calls) == [(None, said), (2, None)]


def _call(function, given):
    return function(given)
