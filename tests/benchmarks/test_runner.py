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


def test_every_benchmark_finds_what_it_imports():
    """Those that no row and no test runs would keep a name that has moved in the library."""
    names = [m.name for m in walk_packages(benchmarks.__path__, "benchmarks.")]
    modules = [import_module(name) for name in names if not name.endswith("__main__")]
    assert len(modules) > 50


def test_sides_alternate_and_the_peer_is_first():
    """Peer, ours, peer, ours ...; one round more than asked, to warm up."""
    calls = []
    rounds = alternate(lambda: calls.append("peer"), lambda: calls.append("ours"), 3)
    assert calls == ["peer", "ours"] * 4
    assert len(rounds) == 3


def test_the_warm_up_is_not_counted():
    """What the first round took is in no median."""
    clock = clock_of(*[100.0, 100.0], *[4.0, 1.0] * 3)
    assert contest("a row", lambda: 1, lambda: 1, 3, clock=clock).peer_all == [4.0] * 3


def test_no_rounds_are_refused():
    """A median of nothing does not exist."""
    with pytest.raises(ValueError, match="at least one round"):
        alternate(lambda: 1, lambda: 1, 0)


def test_the_ratio_is_ours_over_the_peers_median():
    """An outlier moves the mean and not the median."""
    clock = clock_of(*[1.0, 1.0], *[4.0, 1.0], *[90.0, 60.0], *[4.0, 1.0])
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
def test_a_target_is_met_up_to_its_limit(options, target, met):
    """Every given limit must hold; without one there is nothing to meet."""
    result = agreed(**options)
    assert (result.target, result.met) == (target, met)


def test_sides_that_disagree_are_an_error_and_no_ratio():
    """Fast and wrong has no speed."""
    result = contest("a row", lambda: [1.0, 2.0], lambda: [1.0, 2.5], 1, ratio=1.0)
    assert result.error == (
        "the sides disagree: 1 of 2 numbers differ by more than 1e-10, the first at (1,): "
        "the peer gave 2, ours 2.5."
    )
    assert (result.ratio, result.met, result.ours) == (None, None, None)


def test_a_side_that_changes_its_mind_later_is_caught():
    """Every round is compared, not only the first."""
    answers = chain([1, 1, 1], repeat(2))
    result = contest("a row", lambda: 1, lambda: next(answers), 5)
    assert "the sides disagree" in result.error


def test_sides_may_do_different_things_where_the_row_says_so():
    """Start-up rows compare processes that compute nothing in common."""
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
def test_a_difference_is_named(theirs, own, said):
    """NaN agrees with nothing; shapes are not broadcast."""
    found = difference(theirs, own, 1e-10)
    assert found is None if said is None else said in found


@pytest.mark.parametrize("power", [0.0, 1.0, 2.5])
def test_the_exponent_of_a_power_law_is_its_power(power):
    """3 n^p has exponent p, whatever the factor."""
    sizes = [100, 300, 1000]
    assert exponent(sizes, [3 * n**power for n in sizes]) == pytest.approx(power, abs=1e-6)


@pytest.mark.parametrize(
    ("sizes", "costs"), [([10, 10], [1, 2]), ([10, 20], [1]), ([10, 20], [0, 1])]
)
def test_no_exponent_without_two_sizes_and_positive_costs(sizes, costs):
    """A line through one point, or a logarithm of 0, is no growth."""
    with pytest.raises(ValueError, match="exponent needs"):
        exponent(sizes, costs)


def test_a_limit_holds_up_to_its_value():
    """Memory and exponents are measured against a limit, beside the peer's where there is one."""
    assert limit("a row", 10.0, at_most=10.0, unit="MB").met
    assert not limit("a row", 10.1, at_most=10.0).met
    assert limit("a row", 1.0, peer=4.0).ratio == 0.25


def test_a_row_that_raises_keeps_what_it_found():
    """The other rows go on, and the error is shown."""

    def row(options):
        yield Result("first", ours=1.0)
        raise OSError("no such peer")

    first, last = results_of(row, OPTIONS)
    assert (first.what, last.error) == ("first", "OSError: no such peer")


def test_every_row_has_its_file():
    """The table of rows and the folder of rows list the same."""
    files = {path.stem for path in (ROOT / "benchmarks" / "rows").glob("*.py")}
    assert files - {"__init__"} == {line.module.rpartition(".")[2] for line in registry.values()}
    assert all(callable(registry.load(word)) for word in registry)


def test_the_table_shows_ratio_target_and_verdict():
    """Errors are told in full below the table."""
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


def test_the_json_holds_every_measurement():
    """Medians can be recomputed from the file, and it says on which machine."""
    content = json.loads(as_json([("fast", agreed())], {"python": "3"}, OPTIONS))
    assert content["machine"] == {"python": "3"}
    (result,) = content["results"]
    assert (result["row"], result["ratio"], result["peer_all"]) == ("fast", 0.25, [4.0] * 3)
    assert "python 3" in head({"python": "3"}, OPTIONS)


def test_a_command_that_fails_is_an_error_with_its_last_words():
    """A side that did not run has no time."""
    with pytest.raises(CommandFailed, match="ended with code 1: ModuleNotFoundError"):
        imported(["-c", "import no_such_module_anywhere"])


def test_imports_of_a_process_are_seen():
    """Modules imported by the command, and not those of this process."""
    modules = imported(["-c", "import json"])
    assert "json" in modules
    assert "benchmarks" not in modules


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


def test_an_unknown_row_is_named(capsys):
    """Exit code 2 and the known rows."""
    assert main(["no-such-row"]) == 2
    assert "there is no row no-such-row; the rows are start-up" in capsys.readouterr().err


def test_the_rows_can_be_listed(capsys):
    """The table of rows prints itself."""
    assert main(["--list"]) == 0
    assert capsys.readouterr().out.splitlines()[0].startswith("start-up")
