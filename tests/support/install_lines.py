"""Types the install lines of the pages, each in an environment of its own; `make wheel` runs it.

A line whose packages another installs, too, is typed with it. A line that leaves the compiled loops
out is typed where there is no compiler.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PAGES = ("README.md",)
INSTALL = re.compile(r"\bpip install [^`#\n]+(?=[`#\n])")
EXTRAS = re.compile(r"'\.\[[^]]*\]'")
PURE = "wheel.cmake=false"


def install_lines(text: str) -> list[str]:
    """What a page asks to be typed, each line once."""
    return list(dict.fromkeys(line.strip() for line in INSTALL.findall(text)))


def whole(lines: set[str]) -> list[str]:
    """Without the lines that another contains: `.[io] pandas` installs `.` and more."""
    words = {
        line: set(shlex.split(EXTRAS.sub(r". \g<0>", line))) for line in lines if "-C" not in line
    }
    larger = {line: [other for other in words if words[line] < words[other]] for line in words}
    return sorted(line for line in lines if not larger.get(line))


def typed(line: str, environment: Path) -> None:
    """Install by the line, and see that the command answers, with compiled loops or without."""
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    binaries = environment / ("Scripts" if os.name == "nt" else "bin")
    path = [str(binaries)] if PURE in line else [str(binaries), os.environ["PATH"]]
    dropped = {"PYTHONPATH", *(("CXX", "CC") if PURE in line else ())}
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    env = kept | {"PATH": os.pathsep.join(path)}

    def said(*words: str) -> str:
        command = [str(binaries / "python"), "-m", *words]
        return subprocess.run(
            command, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True, check=True
        ).stdout

    said("pip", "--quiet", "--disable-pip-version-check", *shlex.split(line)[1:])
    said("pip", "check")
    assert ("are off" in said("truerisk.cli", "--version")) == (PURE in line), line
    assert "expect a risk of" in said(
        "truerisk.cli", "assess", "--dataset", "wine", "--models", "lda"
    )


if __name__ == "__main__":
    lines = {line for page in PAGES for line in install_lines((ROOT / page).read_text("utf-8"))}
    for line in whole(lines):
        with tempfile.TemporaryDirectory() as folder:
            typed(line, Path(folder))
        sys.stdout.write(f"{line}: installs\n")
