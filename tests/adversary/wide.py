"""Wide tables on the command line: every word of a learner answers in time, or says why not."""

import contextlib
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from tests.adversary.commands import called
from tests.adversary.plain import Plain

__all__ = ["WIDE_LINES", "WIDE_MODELS", "WIDE_SIZES", "Wide", "draw_wide", "wide_wrong"]

WIDE_MODELS = ("lda", "knn", "logistic", "svm", "tree", "forest")
WIDE_LINES = (
    "estimate wide.csv --target y --model MODEL --cv 3-fold",
    "assess wide.csv --target y --models MODEL --cv 2-fold --outer 2-fold",
    "validate wide.csv --target y --model MODEL --replicates 2",
)
WIDE_SIZES = ((12, 1000), (12, 4000), (40, 2000), (30, 8000))
SECONDS = 90.0  # of the processor
MOST_WORDS = 1000  # columns of text: scikit-learn's encoder takes a second a fit for 4,000
CODES = (0, 1, 2, 3, 4)


@dataclass(frozen=True)
class Wide(Plain):
    """A command line on a table of more columns than rows, drawn from a seed."""

    words: str
    shape: tuple[int, int]
    kind: str
    script = "from tests.adversary.wide import wide_wrong"

    @property
    def question(self) -> str:
        return f"wide_wrong({self.words!r}, {self.shape!r}, {self.kind!r}, {self.number!r})"


def draw_wide(rng: np.random.Generator, number: int) -> Wide:
    """Draw a command, a learner, a shape, and what the cells are."""
    line, model = str(rng.choice(WIDE_LINES)), str(rng.choice(WIDE_MODELS))
    rows, columns = WIDE_SIZES[int(rng.integers(len(WIDE_SIZES)))]
    kind = str(rng.choice(list(CELLS)))
    shape = rows, min(columns, MOST_WORDS) if kind == "words" else columns
    return Wide(number, line.replace("MODEL", model), shape, kind)


CELLS = {
    "numbers": lambda rng, shape: rng.normal(size=shape).round(3),
    "counts": lambda rng, shape: rng.integers(0, 3, size=shape),
    "copies": lambda rng, shape: np.repeat(rng.normal(size=(shape[0], 1)).round(3), shape[1], 1),
    "words": lambda rng, shape: rng.choice(["u", "v", "w"], size=shape),
}


def wide_wrong(words: str, shape: tuple[int, int], kind: str, seed: int) -> str:
    """Return what is wrong: no documented exit code, no sentence, or more than SECONDS of time."""
    rng = np.random.default_rng(seed)
    cells = CELLS[kind](rng, shape).astype(str)
    rows = [",".join([*row, "uv"[i % 2]]) for i, row in enumerate(cells)]
    head = ",".join([*(f"x{j}" for j in range(shape[1])), "y"])
    with TemporaryDirectory() as name, contextlib.chdir(name):
        Path("wide.csv").write_text("\n".join([head, *rows]) + "\n")
        started = time.process_time()
        code, out, err = called(words.split())
        taken = time.process_time() - started
    found = [f"code {code} after {taken:.1f} s: {err[-600:]!r}"]
    if taken > SECONDS:
        found.append("it takes too long")
    if code not in CODES or "Traceback" in out + err:
        found.append("a traceback, or a code that is not documented")
    if code and not any(line.startswith(("truerisk: ", "Error: ")) for line in err.splitlines()):
        found.append("no sentence")
    return "; ".join(found) if len(found) > 1 else ""
