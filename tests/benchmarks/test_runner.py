"""The runner of benchmarks: order, arithmetic, disagreement, growth, table; never a time."""

import json
import os
from importlib import import_module
from itertools import chain, count, repeat
from pathlib import Path
from pkgutil import walk_packages

import pytest
from benchmarks.__main__ import main
from benchmarks.contest import alternate, contest, difference
from benchmarks.growth import exponent
from benchmarks.limits import limit
from benchmarks.processes import CommandFailed, imported, peak_memory
from benchmarks.report import as_json, head, table
from benchmarks.results import Options, Result
from benchmarks.rows import registry, results_of

import benchmarks

ROOT = Path(__file__).parents[2]
OPTIONS = Options(repeats=2)


@pytest.fixture(autouse=True)
def _no_garbage(monkeypatch):
    """What the clock of these tests does not show need not be collected before each call."""
    monkeypatch.setattr("benchmarks.contest.gc.collect", lambda: None)


def clock_of(*seconds):
    """A clock under which the timed calls take these seconds in turn, over and over."""
    now = 0.0
    steps = chain.from_iterable((0.0, each) for _ in count() for each in seconds)

    def clock():
        nonlocal now
        now += next(steps)
        return now

    return clock


def agreed(**options):
    """A contest of two sides that agree, the peer taking 4 s and ours 1 s by the clock."""
    return contest("a row", lambda: 7, lambda: 7, 3, clock=clock_of(4.0, 1.0), **options)


def test_alternate_begins_with_the_peer_and_warms_up_in_one_round_more():
    calls = []
    rounds = alternate(lambda: calls.append("peer"), lambda: calls.append("ours"), 3)
    assert calls == ["peer", "ours"] * 4
    assert len(rounds) == 3
    with pytest.raises(ValueError, match="at least one round"):
        alternate(lambda: 1, lambda: 1, 0)


def test_contest_has_the_ratio_of_medians_without_the_warm_up():
    """An outlier moves the mean and not the median."""
    clock = clock_of(*[100.0, 100.0], *[4.0, 1.0], *[90.0, 60.0], *[4.0, 1.0])
    result = contest("a row", lambda: 1, lambda: 1, 3, clock=clock)
    assert (result.peer, result.ours, result.ratio) == (4.0, 1.0, 0.25)
    assert result.ours_all == [1.0, 60.0, 1.0]


@pytest.mark.parametrize(
    ("options", "target", "met"),
    [
        ({}, "", None),
        ({"ratio": 0.25}, "ratio <= 0.25", True),
        ({"ratio": 0.2}, "ratio <= 0.2", False),
        ({"seconds": 1.0}, "<= 1 s", True),
        ({"seconds": 0.9}, "<= 0.9 s", False),
        ({"ratio": 0.5, "seconds": 0.9}, "ratio <= 0.5 and <= 0.9 s", False),
    ],
)
def test_target_is_met_up_to_its_limit(options, target, met):
    """Every given limit must hold; memory and exponents have one, too."""
    result = agreed(**options)
    assert (result.target, result.met) == (target, met)
    assert limit("a row", 10.0, at_most=10.0, unit="MB").met
    assert not limit("a row", 10.1, at_most=10.0).met
    assert limit("a row", 1.0, peer=4.0).ratio == 0.25


def test_contest_of_sides_that_disagree_is_an_error_and_has_no_ratio():
    """Every round is compared, unless the row compares processes with nothing in common."""
    result = contest("a row", lambda: [1.0, 2.0], lambda: [1.0, 2.5], 1, ratio=1.0)
    assert result.error == (
        "the sides disagree: 1 of 2 numbers differ by more than 1e-10, the first at (1,): "
        "the peer gave 2, ours 2.5."
    )
    assert (result.ratio, result.met, result.ours) == (None, None, None)
    answers = chain([1, 1, 1], repeat(2))
    assert "the sides disagree" in contest("a row", lambda: 1, lambda: next(answers), 5).error
    assert contest("a row", lambda: 1, lambda: 2, 1, tolerance=None).error is None


@pytest.mark.parametrize(
    ("theirs", "own", "said"),
    [
        ([1.0, 2.0], [1.0, 2.0 + 1e-12], None),
        ([1.0], [float("nan")], "1 of 1 numbers differ"),
        ([float("nan")], [float("nan")], "1 of 1 numbers differ"),
        ([1.0, 2.0], [1.0], "shape (2,), ours (1,)"),
        (3.0, 4.0, "the first at (): the peer gave 3, ours 4"),
    ],
)
def test_difference_is_named(theirs, own, said):
    """NaN agrees with nothing; shapes are not broadcast."""
    found = difference(theirs, own, 1e-10)
    assert found is None if said is None else said in found


def test_exponent_is_the_power_of_a_power_law():
    """A line through one point, or a logarithm of 0, is no growth."""
    sizes = [100, 300, 1000]
    for power in (0.0, 1.0, 2.5):
        found = exponent(sizes, [3 * n**power for n in sizes])
        assert found == pytest.approx(power, abs=1e-6)
    for sizes, costs in (([10, 10], [1, 2]), ([10, 20], [1]), ([10, 20], [0, 1])):
        with pytest.raises(ValueError, match="exponent needs"):
            exponent(sizes, costs)


def test_results_of_a_row_that_raises_keep_what_it_found():
    def row(options):
        yield Result("first", ours=1.0)
        raise OSError("no such peer")

    first, last = results_of(row, OPTIONS)
    assert (first.what, last.error) == ("first", "OSError: no such peer")


def test_benchmarks_find_what_they_import_and_every_row_has_its_file():
    """Those that no row and no test runs would keep a name that has moved in the library."""
    names = [m.name for m in walk_packages(benchmarks.__path__, "benchmarks.")]
    modules = [import_module(name) for name in names if not name.endswith("__main__")]
    assert len(modules) > 50
    files = {path.stem for path in (ROOT / "benchmarks" / "rows").glob("*.py")}
    assert files - {"__init__"} == {line.module.rpartition(".")[2] for line in registry.values()}
    assert all(callable(registry.load(word)) for word in registry)


def test_table_and_json_show_ratio_target_and_verdict():
    """Errors are told in full below the table; medians can be recomputed from the JSON."""
    results = [
        ("fast", agreed(ratio=1.0)),
        ("slow", agreed(ratio=0.1)),
        ("wrong", Result("a row", "ratio <= 1", error="the sides disagree.")),
    ]
    lines = [" ".join(line.split()) for line in table(results).splitlines()]
    assert lines[2] == "fast a row 4 s 1 s 0.25 ratio <= 1 yes"
    assert lines[3] == "slow a row 4 s 1 s 0.25 ratio <= 0.1 NO"
    assert lines[4] == "wrong a row ratio <= 1 ERROR"
    assert lines[6] == "wrong, a row: the sides disagree."
    content = json.loads(as_json([("fast", agreed())], {"python": "3"}, OPTIONS))
    assert content["machine"] == {"python": "3"}
    (result,) = content["results"]
    assert (result["row"], result["ratio"], result["peer_all"]) == ("fast", 0.25, [4.0] * 3)
    assert "python 3" in head({"python": "3"}, OPTIONS)


def test_imported_sees_modules_of_a_process_and_its_last_words():
    modules = imported(["-c", "import json"])
    assert "json" in modules
    assert "benchmarks" not in modules
    with pytest.raises(CommandFailed, match="ended with code 1: ModuleNotFoundError"):
        imported(["-c", "import no_such_module_anywhere"])


def test_peak_memory_is_that_of_the_work(tmp_path, monkeypatch):
    """Eight million bytes that are freed at once count; what was there before does not."""
    (tmp_path / "a_work.py").write_text(
        "import numpy as np\n"
        "def zeros(n):\n    kept = np.ones(n)\n    return lambda: np.zeros(n).size + kept.sum()\n"
    )
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), str(ROOT)]))
    peak = peak_memory("a_work:zeros", 10**6)
    assert peak.value == 2e6
    assert 8.0 <= peak.megabytes < 9.0


def test_main_lists_rows_and_names_an_unknown_one(capsys):
    assert main(["--list"]) == 0
    assert capsys.readouterr().out.splitlines()[0].startswith("start-up")
    assert main(["no-such-row"]) == 2
    assert "there is no row no-such-row; the rows are start-up" in capsys.readouterr().err
