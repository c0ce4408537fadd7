"""`python -m tests.golden` writes the answers anew; the diff shows what a change does to them."""

from __future__ import annotations

from tests.golden.test_answers import write

if __name__ == "__main__":
    write()
