"""Commands whose stdout takes less than they print: a full or short disk, or nobody who reads."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from tests.adversary.lines import files_for_lines
from tests.adversary.plain import Plain

__all__ = ["OUTPUTS", "PRINTED", "Output", "draw_output", "output_wrong"]

FOLDS = "--dataset simple --cv 2-fold --outer 2-fold"
PRINTED = (
    f"assess {FOLDS} --models lda --json",
    f"assess {FOLDS} --models lda",
    "estimate table.csv --target y --model lda --cv 2-fold --json",
    "validate table.csv --target y --model lda --replicates 2 --json",
    "roc table.csv --target y --score a --json",
    "report results.json -o -",
    "compare one.json two.json",
    "study export --store runs.db --format csv --out -",
    "study status --store runs.db",
    "plan --error 0.2 --rows 50 --width 0.2",
    "posterior --errors 3 --rows 20",
    "methods",
    "datasets",
    "--help",
    "assess --help",
    "study run --help",
    "--version",
)
OUTPUTS = (
    *("full device", "short disk", "closed pipe", "reader of one line"),
    *("closed", "closed later", "read only"),
)
"""What stdout is."""
FULL_SIZE = 0.98  # the seconds that a result took are longer or shorter by some digits
SECONDS = 300.0
LIMITED = (
    "import resource, sys; sys.dont_write_bytecode = True; "
    "resource.setrlimit(resource.RLIMIT_FSIZE, ({0}, {0})); "
    "from truerisk.cli import main; main()"
)
"""Run the command line where files can hold so many bytes.

Python would keep modules that it compiles in files that are cut off, too.
"""


@dataclass(frozen=True)
class Output(Plain):
    """A command, what its stdout is, and which share of its text a short disk takes."""

    words: str
    output: str
    share: float
    script = "from tests.adversary.outputs import output_wrong"

    @property
    def question(self) -> str:
        return f"output_wrong({self.words!r}, {self.output!r}, {self.share!r})"


def draw_output(rng: np.random.Generator, number: int) -> Output:
    """Draw a command, a kind of stdout and a share of the text."""
    words, output = str(rng.choice(PRINTED)), str(rng.choice(OUTPUTS))
    return Output(number, words, output, round(float(rng.choice([0, 1, rng.random()])), 3))


def output_wrong(words: str, output: str, share: float = 0.5) -> str:
    """Return what is wrong: text that is cut off with exit code 0, a traceback, a mute failure."""
    whole = _printed(words)
    with TemporaryDirectory() as name:
        limit = int(share * len(whole))
        code, text, err = _run(words, output, limit, Path(name) / "out")
    found = [f"code {code} after {len(text)} of {len(whole)} bytes: {err[-600:]!r}"]
    if "Traceback" in err or "Exception ignored" in err:
        found.append("a traceback")
    is_cut = len(text) < FULL_SIZE * len(whole)
    if code == 0 and is_cut and output != "reader of one line":
        found.append("text is cut off with exit code 0")
    if code == 0 and "--json" in words and not is_cut and not _is_json(text):
        found.append("what is printed is no JSON")
    if code < 0:
        found.append("a signal ended it")
    if output in ("full device", "short disk", "read only") and code and not _is_worded(err):
        found.append("no sentence says why")
    return "; ".join(found) if len(found) > 1 else ""


def _is_json(text: bytes) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _is_worded(err: str) -> bool:
    return any(line.startswith(("truerisk: ", "Error: ")) for line in err.splitlines())


@cache
def _printed(words: str) -> bytes:
    """Everything that a command prints on a stdout that takes it."""
    done = _started(words, "from truerisk.cli import main; main()", subprocess.PIPE)
    text, err = done.communicate(timeout=SECONDS)
    assert done.returncode == 0, err
    return text


def _run(words: str, output: str, limit: int, place: Path) -> tuple[int, bytes, str]:
    """Exit code, what arrived, and stderr of a command with this stdout."""
    program, reading = "from truerisk.cli import main; main()", -1
    if output == "full device":
        stdout = os.open("/dev/full", os.O_WRONLY)
    elif output == "short disk":
        stdout = os.open(place, os.O_WRONLY | os.O_CREAT)
        program = LIMITED.format(limit)
    elif output == "read only":
        place.touch()
        stdout = os.open(place, os.O_RDONLY)
    elif output in ("closed", "closed later"):
        stdout = os.open(os.devnull, os.O_WRONLY)
        program = f"import os; os.close(1); {program}" if output == "closed later" else program
    else:
        reading, stdout = os.pipe()
        if output == "closed pipe":
            os.close(reading)
    process = _started(words, program, stdout, is_closed=output == "closed")
    os.close(stdout)
    text = b""
    if output == "reader of one line":
        with os.fdopen(reading, "rb") as pipe:
            text = pipe.readline()
    _, err = process.communicate(timeout=SECONDS)
    if output == "short disk":
        text = place.read_bytes()
    return process.returncode, text, err.decode()


def _started(
    words: str, program: str, stdout: int, *, is_closed: bool = False
) -> subprocess.Popen[bytes]:
    """Start a command; the shell closes its stdout where that is asked for."""
    call = (sys.executable, "-c", program, *words.split())
    line = ("sh", "-c", 'exec "$@" >&-', "sh", *call) if is_closed else call
    return subprocess.Popen(line, cwd=files_for_lines(), stdout=stdout, stderr=subprocess.PIPE)
