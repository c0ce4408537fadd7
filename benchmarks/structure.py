"""Measure the power and the false alarms of the checks of structure.

`python -m benchmarks.structure` draws tables in which cases were measured several times, rows
stand in order or a column numbers groups, then tables of independent rows, and shuffles real
tables. It prints the share of tables of which `near-copies`, `rows-in-order` and `group-numbers`
were said, and the mean processor time of the three checks. `--drawings N` (default 200) tables are
drawn for each line, and `--only WORD` takes one part: copies, order, groups, independent, costs
(tables of five sizes) or real. The tables of the documents are read from the folder that
TRUERISK_DATA names. 100 drawings take about five minutes of one core.

`--tables FOLDER` reads every CSV file of 100 to 20,000 rows below a folder instead, shuffles it
once, takes the last column as y, and prints the findings.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import one_blas_thread

__all__ = ["CODES", "Drawing", "find_codes", "situations"]

CODES = ("near-copies", "rows-in-order", "group-numbers")
Drawing = tuple[Any, np.ndarray, str]
Draw = Callable[[np.random.Generator], Drawing]


def find_codes(X: Any, y: np.ndarray, task: str, seed: int = 0) -> set[str]:
    """Return the codes of the findings on one table."""
    from truerisk.checks.rows import structure_findings
    from truerisk.data.data import Data

    data = Data.check(X, y, task=task)  # type: ignore[arg-type]
    return {finding.code for finding in structure_findings(data, seed)}


# ---------------------------------------------------------------- situations


def clusters(
    rng: np.random.Generator,
    k: int = 40,
    size: int = 4,
    noise: float = 0.2,
    p: int = 5,
    *,
    uneven: bool = False,
    outcome: str = "coin",
    shuffled: bool = True,
) -> Drawing:
    """Draw k cases of `size` rows (or 1 to 2 size - 1) with noise; y is a coin for each case."""
    sizes = rng.integers(1, 2 * size, k) if uneven else np.full(k, size)
    X = np.repeat(rng.standard_normal((k, p)), sizes, axis=0)
    X = X + noise * rng.standard_normal(X.shape)
    y = rng.random(k) < 0.5 if outcome == "coin" else rng.standard_normal(k)
    y = np.repeat(y.astype(float), sizes) + (0 if outcome == "coin" else 0.1) * rng.standard_normal(
        len(X)
    )
    order = rng.permutation(len(X)) if shuffled else np.arange(len(X))
    task = "classification" if outcome == "coin" else "regression"
    return X[order], (y.astype(int) if outcome == "coin" else y)[order], task


def mixed_clusters(rng: np.random.Generator, k: int, size: int, noise: float) -> Drawing:
    """Draw cases of 1 to 2 size - 1 rows in three numbers and two categories that a case keeps."""
    import pandas as pd

    sizes = rng.integers(1, 2 * size, k)
    X = np.repeat(rng.standard_normal((k, 3)), sizes, axis=0)
    X = X + noise * rng.standard_normal(X.shape)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["sex"] = np.repeat(rng.choice(["f", "m"], k), sizes)
    frame["type"] = np.repeat(rng.choice(["w", "x", "y"], k), sizes)
    y = np.repeat((rng.random(k) < 0.5).astype(int), sizes)
    order = rng.permutation(len(X))
    return frame.iloc[order].reset_index(drop=True), y[order], "classification"


def walk(rng: np.random.Generator, n: int = 200, noise: float = 1.0, others: int = 2) -> Drawing:
    """Draw a random walk observed with noise; the number of the row is a column."""
    y = np.cumsum(rng.standard_normal(n)) + noise * rng.standard_normal(n)
    return np.column_stack([np.arange(n), rng.standard_normal((n, others))]), y, "regression"


def autoregression(rng: np.random.Generator, a: float = 0.4, n: int = 200) -> Drawing:
    """Draw an autoregressive y; the columns are the number of the row and noise."""
    y = np.zeros(n)
    noise = rng.standard_normal(n)
    for i in range(n):
        y[i] = a * y[i - 1] + noise[i]
    return np.column_stack([np.arange(n), rng.standard_normal((n, 2))]), y, "regression"


def walk_of_classes(
    rng: np.random.Generator, n: int = 200, noise: float = 1.0, *, has_times: bool = False
) -> Drawing:
    """Draw a random walk with noise, whose class says if it is above its median.

    The first column counts the rows, or holds the times of a Poisson process.
    """
    X, y, _ = walk(rng, n, noise)
    if has_times:
        X[:, 0] = np.cumsum(rng.exponential(size=n))
    return X, (y > np.median(y)).astype(int), "classification"


def runs(rng: np.random.Generator, stay: float = 0.8, n: int = 200, n_classes: int = 2) -> Drawing:
    """Draw a class that stays as it is with some probability."""
    moves = (rng.random(n) > stay) * rng.integers(1, n_classes, n)
    return rng.standard_normal((n, 4)), np.cumsum(moves) % n_classes, "classification"


def numbered(
    rng: np.random.Generator,
    k: int = 30,
    size: int = 5,
    flips: float = 0.1,
    *,
    text: bool = False,
    regression: bool = False,
) -> Drawing:
    """Draw groups whose number is a column; y is a coin for each, and some labels are wrong."""
    group = np.repeat(rng.permutation(k), size)
    X = np.column_stack([group, rng.standard_normal((len(group), 4))])
    y: np.ndarray
    if regression:
        y = rng.standard_normal(k)[group] + 0.5 * rng.standard_normal(len(group))
    else:
        y = (rng.random(k) < 0.5)[group] ^ (rng.random(len(group)) < flips)
    order = rng.permutation(len(group))
    X, y = X[order], y[order]
    table: Any = X
    if text:
        import pandas as pd

        table = pd.DataFrame(X[:, 1:], columns=list("abcd"))
        table["code"] = [f"g{int(i):03d}" for i in X[:, 0]]
    return (
        table,
        y if regression else y.astype(int),
        "regression" if regression else "classification",
    )


def independent(rng: np.random.Generator, n: int, p: int, kind: str) -> Drawing:
    """Draw independent rows: normal, with heavy tails, in blobs, of whole numbers, or sorted."""
    X = rng.standard_normal((n, p))
    if kind == "heavy":
        X = rng.standard_t(2, (n, p))
    if kind == "lognormal":
        X = np.exp(1.5 * X)
    if kind == "blobs":
        X += 3 * rng.integers(0, 4, n)[:, None]
    if kind == "whole":
        X = np.round(3 * X)
    f = np.sin(2 * X[:, 0] / max(1.0, X[:, 0].std())) + 0.5 * rng.standard_normal(n)
    if kind in ("sorted by a feature", "numbers sorted by a feature"):
        order = np.argsort(X[:, 0])
        X, f = X[order], f[order]
    if kind == "sorted by y":
        order = np.argsort(f > 0, kind="stable")
        X, f = X[order], f[order]
    if kind in ("numbers sorted by y",):
        order = np.argsort(f)
        X, f = X[order], f[order]
    if kind == "mixed":
        import pandas as pd

        frame = pd.DataFrame(X).rename(columns=str)
        frame["job"] = rng.choice(list("abcdefghij"), n)
        frame["sex"] = rng.choice(["f", "m"], n)
        f = f + (frame["job"] < "d").to_numpy()
        return frame, (f > 0.3).astype(int), "classification"
    if kind.startswith("numbers"):
        return X, f, "regression"
    return X, (f > 0).astype(int), "classification"


KINDS = (
    "normal", "numbers", "heavy", "lognormal", "blobs", "whole", "mixed",
    "sorted by a feature", "numbers sorted by a feature", "sorted by y", "numbers sorted by y",
)  # fmt: skip


PARTS = ("copies", "order", "groups", "independent", "costs")
SIZES = ((150, 4), (569, 30), (5000, 20), (100, 2000), (100_000, 10))  # of tables that cost time


def situations() -> Iterator[tuple[str, str, Draw]]:
    """Yield the part and the name of each situation, and the function that draws it."""
    yield from _situations_of_copies()
    yield from _situations_of_order()
    yield from _situations_of_groups()
    for kind in KINDS:
        for n in (60, 150, 600, 2000):
            for p in (2, 5, 20):
                draw = partial(independent, n=n, p=p, kind=kind)
                yield "independent", f"{kind}, {n} x {p}", draw
    for n, p in SIZES:
        yield "costs", f"normal, {n} x {p}", partial(independent, n=n, p=p, kind="normal")


def _situations_of_copies() -> Iterator[tuple[str, str, Draw]]:
    for p in (2, 3, 5, 20):
        for noise in (0.1, 0.2, 0.3):
            for uneven in (False, True):
                words = f"40 x {'1-7' if uneven else '4'}, noise {noise}, {p} columns"
                yield "copies", words, partial(clusters, noise=noise, p=p, uneven=uneven)
    for k in (25, 100, 500, 1250, 5000):
        uneven_ones = partial(clusters, k=k, noise=0.1, uneven=True)
        words = f"{k} x 1-7, noise 0.1, 5 columns"
        yield "copies", words, uneven_ones
        yield "copies", f"{words}, y a number", partial(uneven_ones, outcome="number")
        mixed = partial(mixed_clusters, k=k, size=4, noise=0.1)
        yield "copies", f"{k} x 1-7, noise 0.1, 3 columns, 2 words", mixed


def _situations_of_order() -> Iterator[tuple[str, str, Draw]]:
    for n in (100, 200, 1000, 5000):
        for noise in (0.0, 1.0, 2.0):
            yield (
                "order",
                f"random walk, noise {noise:g}, {n} rows",
                partial(walk, n=n, noise=noise),
            )
        for a in (0.2, 0.4, 0.6):
            yield "order", f"AR(1) {a:g}, {n} rows", partial(autoregression, a=a, n=n)
        yield "order", f"class stays with .8, {n} rows", partial(runs, n=n)
        five = partial(runs, stay=0.95, n=n, n_classes=5)
        yield "order", f"one of five classes stays with .95, {n} rows", five
        for has_times in (False, True):
            words = f"class of a walk{', random times' if has_times else ''}, {n} rows"
            yield "order", words, partial(walk_of_classes, n=n, has_times=has_times)
    yield "order", "40 x 4 in order, noise .2", partial(clusters, shuffled=False)


def _situations_of_groups() -> Iterator[tuple[str, str, Draw]]:
    for k, size in ((15, 10), (20, 10), (30, 5), (50, 3), (200, 5), (1000, 5), (10_000, 5)):
        for flips in (0.0, 0.1, 0.2):
            draw = partial(numbered, k=k, size=size, flips=flips)
            yield "groups", f"{k} x {size}, {flips:.0%} flipped", draw
        of_text = partial(numbered, k=k, size=size, text=True)
        yield "groups", f"{k} x {size}, 10% flipped, text", of_text
        yield (
            "groups",
            f"{k} x {size}, y a number",
            partial(numbered, k=k, size=size, regression=True),
        )


# ---------------------------------------------------------------- real tables


def real_tables() -> Iterator[tuple[str, Any, np.ndarray, str]]:
    """Yield the name, X, y and task of real tables, and of a draw of truerisk's generators."""
    import sklearn.datasets

    import truerisk as tr
    from truerisk.exceptions import TrueRiskError

    for name in tr.datasets.names():
        try:
            bundle = tr.datasets.load(name)
        except (TrueRiskError, OSError):
            continue
        X = bundle.X.toarray() if hasattr(bundle.X, "toarray") else bundle.X
        yield name, X, np.asarray(bundle.y), bundle.task
    X, y = sklearn.datasets.load_linnerud(return_X_y=True)
    yield "linnerud", X, y[:, 0], "regression"


def generators() -> Iterator[tuple[str, Draw]]:
    """Yield the generators of scikit-learn, with 200 rows each."""
    import sklearn.datasets as sk

    classification = ("make_classification", "make_moons", "make_circles", "make_blobs",
                      "make_gaussian_quantiles", "make_hastie_10_2")  # fmt: skip
    regression = ("make_regression", "make_friedman1", "make_friedman2", "make_friedman3",
                  "make_sparse_uncorrelated", "make_s_curve", "make_swiss_roll")  # fmt: skip

    def drawn(rng: np.random.Generator, name: str) -> Drawing:
        X, y = getattr(sk, name)(n_samples=200, random_state=int(rng.integers(1 << 31)))
        return X, y, "classification" if name in classification else "regression"

    for name in (*classification, *regression):
        yield name, partial(drawn, name=name)


def survey(folder: Path) -> Iterator[str]:
    """Yield the findings on each CSV file below a folder, shuffled, and their numbers."""
    import pandas as pd

    from truerisk.checks.rows import structure_findings
    from truerisk.data.data import Data
    from truerisk.exceptions import TrueRiskError

    counts: Counter[str] = Counter()
    n = 0
    for path in sorted(folder.rglob("*.csv")):
        frame = pd.read_csv(path, low_memory=False)
        frame = frame[frame.iloc[:, -1].notna()]
        if not 100 <= len(frame) <= 20_000 or frame.shape[1] < 3:
            continue
        frame = frame.sample(frac=1, random_state=0).reset_index(drop=True)
        y = frame.iloc[:, -1]
        is_number = pd.api.types.is_numeric_dtype(y) and y.nunique() > 10
        if y.nunique() < 2 or (y.nunique() > 30 and not is_number):
            continue
        task = "regression" if is_number else "classification"
        target = y.to_numpy(float) if is_number else y.astype(str).to_numpy()
        try:
            data = Data.check(frame.iloc[:, :-1], target, task=task)  # type: ignore[arg-type]
        except TrueRiskError:
            continue
        n += 1
        for finding in structure_findings(data):
            counts[finding.code] += 1
            yield f"{path.relative_to(folder)} {frame.shape}: {finding.sentence} [{finding.code}]"
    yield f"of {n} tables: " + ", ".join(f"{code} {counts[code]}" for code in CODES)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print every part."""
    parser = argparse.ArgumentParser("python -m benchmarks.structure", description=__doc__)
    parser.add_argument("--drawings", type=int, default=200)
    parser.add_argument("--only", choices=(*PARTS, "real"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tables", type=Path, metavar="FOLDER")
    asked = parser.parse_args(arguments)
    one_blas_thread()
    warnings.simplefilter("ignore")
    if asked.tables is not None:
        for line in survey(asked.tables):
            print(line, flush=True)
        return 0
    print(f"{'':50}" + "".join(f"{code:>15}" for code in CODES) + f"{'ms':>8}")
    for part, words, draw in situations():
        if asked.only in (None, part):
            _print(f"{part}: {words}", _tables(draw, asked.drawings, [asked.seed]))
    if asked.only in (None, "real"):
        for name, X, y, task in real_tables():
            _print(f"{name} as it stands", iter([(X, y, task)]))
            _print(f"{name} shuffled", _shuffled(X, y, task, asked.drawings))
        for name, draw in generators():
            _print(name, _tables(draw, asked.drawings, [asked.seed]))
    return 0


def _tables(draw: Draw, n: int, seed: list[int]) -> Iterator[Drawing]:
    for b in range(n):
        yield draw(np.random.default_rng([*seed, b]))


def _shuffled(X: Any, y: np.ndarray, task: str, n: int) -> Iterator[Drawing]:
    for b in range(max(1, min(n, 400_000 // np.size(X) + 5))):
        order = np.random.default_rng(b).permutation(len(y))
        yield (X.iloc[order] if hasattr(X, "iloc") else X[order]), y[order], task


def _print(words: str, tables: Iterator[Drawing]) -> None:
    counts: Counter[str] = Counter()
    n, spent = 0, 0.0
    for X, y, task in tables:
        start = time.process_time()
        counts.update(find_codes(X, y, task, n))
        spent += time.process_time() - start
        n += 1
    shares = "".join(f"{counts[code] / n:15.3f}" for code in CODES)
    print(f"{words:50}{shares}{1000 * spent / n:8.1f}", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
