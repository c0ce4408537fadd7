"""`python -m tests.golden` writes the answers that changed; the diff shows what a change does."""

from tests.golden.test_answers import write

if __name__ == "__main__":
    write()
