"""A store whose bits flipped is named, whatever the bit; nobody sees an error of Python."""

from __future__ import annotations

import random
import re
from contextlib import suppress
from functools import partial

import pytest

import truerisk as tr
from truerisk.core.errors import TrueRiskError
from truerisk.study.results import collect, export, rows_of
from truerisk.study.status import status_of
from truerisk.study.store import Store

SPEC = {
    "replicates": 2,
    "sizes": [30],
    "problems": ["simple"],
    "learners": [{"word": "knn", "set": {"n_neighbors": 3}}],
    "methods": ["5-fold", "loo"],
    "n_test": 100,
}
READ = {
    "status": lambda store, _: status_of(store).to_dict(),
    "results": lambda store, _: str(collect(store)),
    "export": lambda store, folder: export(rows_of(store), folder / "a.csv", "csv"),
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """The bytes of a store, and where text stands in it."""
    path = tmp_path_factory.mktemp("sound") / "a.db"
    tr.Study(SPEC, path).run()
    content = path.read_bytes()
    texts = [m.span() for m in re.finditer(rb"[\x20-\x7e]{6,}", content)]
    return content, [place for start, end in texts for place in range(start, end)]


@pytest.mark.parametrize("seed", range(40))
def test_a_flipped_bit_is_no_traceback(sound, tmp_path, seed) -> None:
    """Reading gives what was found, or a sentence; so does going on."""
    content, places = sound
    draw = random.Random(seed)
    spoiled = bytearray(content)
    spoiled[draw.choice(places)] ^= 1 << draw.randrange(8)
    path = tmp_path / "a.db"
    path.write_bytes(spoiled)

    def begin() -> None:
        tr.Study(SPEC, path).run()

    def look(read):
        with Store.read(path) as store:
            read(store, tmp_path)

    for call in (*(partial(look, read) for read in READ.values()), begin):
        with suppress(TrueRiskError):
            call()


@pytest.mark.parametrize("table", ["cell", "run", "result"])
def test_what_was_changed_is_named(sound, tmp_path, table) -> None:
    """The text of a cell, of a run and of a result."""
    old, new = {
        "cell": (b'"size":30', b'"size":31'),
        "run": (b'{"truerisk"', b'["truerisk"'),
        "result": (b'"value": ', b'"valve": '),
    }[table]
    assert old in sound[0]
    path = tmp_path / "a.db"
    path.write_bytes(sound[0].replace(old, new))
    with Store.read(path) as store, pytest.raises(TrueRiskError, match="changed"):
        READ["status" if table != "result" else "export"](store, tmp_path)
