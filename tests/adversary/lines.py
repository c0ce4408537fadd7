"""Command lines that nobody meant: an exit code of those that are documented, and a sentence."""

import contextlib
import shutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

import click
import numpy as np
from tests.adversary.commands import SPEC, called
from tests.adversary.plain import Plain

from truerisk.cli.app import cli

__all__ = ["LINES", "ODD_WORDS", "Line", "draw_line", "files_for_lines", "line_wrong"]

TABLE = "table.csv --target y"
LINES = (
    f"assess {TABLE} --models lda --cv 2-fold --outer 2-fold",
    f"estimate {TABLE} --model lda --cv 2-fold",
    f"validate {TABLE} --model lda --replicates 2",
    f"audit search.py:make {TABLE} --allow-import --level scores",
    f"permute {TABLE} --model lda --permutations 2 --cv 2-fold",
    f"roc {TABLE} --score a",
    f"plan {TABLE} --error 0.2 --width 0.1",
    "plan --error 0.2 --rows 50",
    "compare one.json two.json",
    "posterior --errors 3 --rows 20",
    "report results.json -o page.html",
    "reproduce",
    "study run spec.toml --store new.db",
    "study resume --store runs.db",
    "study retry --store runs.db --failed",
    "study status --store runs.db",
    "study export --store runs.db --format csv --out rows.csv",
    "study compare --store runs.db --of method",
    "methods",
    "engines",
    "datasets",
)
"""Lines that work."""
ODD_WORDS = (
    "", " ", "-", "--", "-1", "0", "1", "2", "3", "0.5", "1.5", "nan", "inf", "-inf", "1e400",
    "1e-320", "1" * 400, "-"+"9" * 30, "0x10", "1_0", "٣", "x", "a", "b", "y", "u", "a,b", ",",
    "a=1", "=", "k=[1", "n_neighbors=0", "[]", "{}", "null", "None", "true", "\x1b[2J", "a\nb",
    "\udcff", "a:0.5", "30:0.2", "60:0.1", "0.1:0.9", "x" * 3000, "../..", ".", "/", "/dev/null",
    "table.csv", "results.json", "runs.db", "spec.toml", "search.py", "search.py:make",
    "search.py:", ":make", "os:system", "none.csv", "one.json", "lda", "knn,tree", "knn",
    "2-fold", "loo", "holdout", "99999-fold", "0-fold", "nested", "forward-5", "auc", "log", "f1",
    "squared", "min", "1-se", "tab", ";", "dask://", "--json", "--help", "--target", "y",
    "--no-such", "-o", "classification", "regression",
)  # fmt: skip
NUMBERS = {
    "integer": ("0", "1", "2", "3", "17", "1" * 20),
    "float": ("0", "1", "0.5", "0.9", "1e-320", "nan", "inf", "-1", "1e308", "2"),
}
"""Of options of these types."""
SEARCH = """from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier

def make():
    return GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3]}, cv=2)
"""
CODES = (0, 1, 2, 3, 4, 5, 130)


@dataclass(frozen=True)
class Line(Plain):
    """One command line."""

    words: tuple[str, ...]
    script = "import numpy as np\n\nfrom tests.adversary.lines import line_wrong"

    @property
    def question(self) -> str:
        return f"line_wrong({self.words!r})"


def draw_line(rng: np.random.Generator, number: int) -> Line:
    """A line that works, changed at one to three places."""
    words = str(rng.choice(LINES)).split()
    options = _options(words)
    for _ in range(int(rng.integers(1, 4))):
        place, turn = int(rng.integers(0, len(words) + 1)), rng.random()
        if turn < 0.8:
            words += _given(rng, options[int(rng.integers(len(options)))])
        elif turn < 0.85:
            words[place:place] = [str(rng.choice(ODD_WORDS))]
        elif turn < 0.95:
            words[place : place + 1] = [str(rng.choice(ODD_WORDS))]
        else:
            words[place : place + 1] = []
    return Line(number, tuple(words))


def _options(words: list[str]) -> list[click.Option]:
    """Those of the command that a line begins with."""
    command: click.Command = cli
    for word in words:
        if not isinstance(command, click.Group):
            break
        command = command.get_command(click.Context(command), word) or command
    return [one for one in command.params if isinstance(one, click.Option)]


def _given(rng: np.random.Generator, option: click.Option) -> list[str]:
    """An option with its value, which may be a good one, none, or anything."""
    kind = option.type
    fitting = getattr(kind, "choices", ()) or NUMBERS.get(kind.name.split()[0], ())
    words = fitting if fitting and rng.random() < 0.8 else ODD_WORDS
    n = 0 if option.is_flag or rng.random() < 0.03 else option.nargs
    return [str(rng.choice(option.opts)), *(str(rng.choice(words)) for _ in range(n))]


@cache
def files_for_lines() -> Path:
    """A folder of what the lines read."""
    folder = Path(mkdtemp())
    rows = [f"{i * 7 % 5 + i % 2 * 3},{i * 3 % 11},{'uv'[i % 2]}" for i in range(30)]
    (folder / "table.csv").write_text("a,b,y\n" + "\n".join(rows) + "\n")
    (folder / "spec.toml").write_text(SPEC)
    (folder / "search.py").write_text(SEARCH)
    with contextlib.chdir(folder):
        called(["study", "run", "spec.toml", "--store", "runs.db"])
        for name in ("one", "two"):
            line = f"{LINES[1]} --json --seed {len(name)}"
            Path(f"{name}.json").write_text(called(line.split())[1])
        Path("results.json").write_text(called(f"{LINES[0]} --json".split())[1])
    return folder


def line_wrong(words: tuple[str, ...]) -> str:
    """What is wrong with how it ended."""
    with TemporaryDirectory() as name:
        folder = Path(name) / "in"
        shutil.copytree(files_for_lines(), folder)
        with contextlib.chdir(folder):
            code, out, err = called(list(words))
    found = [f"code {code}: {err[-600:]!r}"]
    if code not in CODES:
        found.append("the code is not documented")
    if "Traceback" in out + err:
        found.append("a traceback")
    if code not in (0, 4) and not any(
        line.startswith(("truerisk", "Error: ")) for line in err.splitlines()
    ):
        found.append("no sentence")
    if not all(line.isprintable() for line in (out + err).splitlines()):
        found.append("what is printed cannot be")
    return "; ".join(found) if len(found) > 1 else ""
