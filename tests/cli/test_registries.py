"""Each registry prints itself."""

from __future__ import annotations

import pytest

from truerisk.datasets import registry as datasets
from truerisk.engines import registry as engines
from truerisk.methods import registry as methods

REGISTRIES = {"methods": methods, "engines": engines, "datasets": datasets}


@pytest.mark.parametrize("name", REGISTRIES)
def test_a_registry_prints_every_word_with_its_sentence(call, name):
    """One line per word, in the registry's order."""
    said = call(name)
    assert (said.code, said.err) == (0, "")
    lines = said.out.splitlines()
    assert [line.split("  ")[0] for line in lines] == REGISTRIES[name].names()
    for line, (_, entry) in zip(lines, REGISTRIES[name].items(), strict=True):
        assert line.endswith(entry.about)


@pytest.mark.parametrize("name", REGISTRIES)
def test_a_registry_is_json_too(call, name):
    """`--json` gives word and sentence as one object."""
    said = call(name, "--json")
    assert (said.code, said.err) == (0, "")
    assert said.content == {word: line.about for word, line in REGISTRIES[name].items()}
