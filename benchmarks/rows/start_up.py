"""W0: whole processes that import truerisk or print its help, beside those that import peers."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.contest import contest
from benchmarks.processes import CommandFailed, imported, python, script, side
from benchmarks.results import Options, Result

__all__ = ["results"]

IMPORT_SECONDS, HELP_SECONDS = 0.15, 0.3
HEAVY = ("sklearn", "scipy.stats")  # may be imported when used, not before


def results(options: Options) -> Iterator[Result]:
    us = ["-c", "import truerisk"]
    yield _light("import truerisk", us)
    for peer in ("numpy", "sklearn"):
        yield contest(
            f"import truerisk, peer: import {peer}",
            side(python("-c", f"import {peer}")),
            side(python(*us)),
            options.repeats,
            seconds=IMPORT_SECONDS,
            tolerance=None,
        )
    yield from _help(options)


def _help(options: Options) -> Iterator[Result]:
    try:
        us = [script("truerisk"), "--help"]
        yield _light("truerisk --help", us)
        yield contest(
            "truerisk --help, peer: import sklearn",
            side(python("-c", "import sklearn")),
            side(python(*us)),
            options.repeats,
            seconds=HELP_SECONDS,
            tolerance=None,
        )
    except CommandFailed as missing:
        yield Result("truerisk --help", f"<= {HELP_SECONDS} s", error=str(missing))


def _light(what: str, arguments: list[str]) -> Result:
    """Neither scikit-learn nor scipy.stats may be among the modules imported."""
    modules = imported(arguments)
    heavy = sorted(m for m in modules if any(m == h or m.startswith(f"{h}.") for h in HEAVY))
    what = f"{what}, modules of {' and '.join(HEAVY)} imported"
    if heavy:
        return Result(what, error=f"it imports {len(heavy)}, such as {', '.join(heavy[:3])}.")
    return Result(what, "none", ours=0.0, unit="", met=True)
