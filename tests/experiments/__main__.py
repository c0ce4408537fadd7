"""Draw every experiment anew, at full size, and compare its verdicts with the stored ones.

`make reproduce-all` before a release; ARGS="kearns-figure-1" for some of them.
"""

import sys

from tests.experiments.test_verdicts import KNOWN, known

from truerisk.experiments import reproduce
from truerisk.extend import BadData


def main(words):
    """Print how the verdicts of each experiment differ from the stored ones; count those."""
    n_different = 0
    for word in words or dict.fromkeys(word for word, *_ in KNOWN):
        try:
            report = reproduce(word.removesuffix("-full"), full=word.endswith("-full"), n_jobs=-1)
        except BadData as missing:  # files that cannot be shipped
            print(f"{word}: not drawn: {missing}")
            continue
        found = {claim.text: claim.verdict for claim in report.claims}
        stored = known(word)
        different = [text for text in found.keys() | stored if found.get(text) != stored.get(text)]
        print(f"{word}: {len(found)} verdicts, {len(different)} of them differ")
        for text in different:
            print(f"  {stored.get(text)} is stored, found was {found.get(text)}: {text}")
        n_different += len(different)
    return n_different


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) > 0)
