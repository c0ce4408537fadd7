"""A specification: what it may say, and that every mistake is named with its line."""

import re
from pathlib import Path

import pytest

from truerisk.extend import BadData
from truerisk.study.spec import find_line, method_options, parse_spec, read_spec

GOOD = """
name = "mine"
replicates = 3
sizes = [30, 50]
methods = ["10-fold", "nested"]
problems = [
  "simple",
  {word = "kearns", noise = 0.3, name = "noisy"},
]

[[learners]]
word = "knn"

[[learners]]
word = "knn"
name = "3nn"
set = {n_neighbors = 3}
"""


def test_spec_is_read_from_file_and_mapping(tmp_path):
    (tmp_path / "bias.toml").write_text(GOOD.replace('name = "mine"', ""))
    found = read_spec(tmp_path / "bias.toml")
    assert found.name == "bias"
    assert found.n_tasks == 2 * 2 * 2 * 2 * 3
    assert [entry.name for entry in found.problems] == ["simple", "noisy"]
    assert found.learners[1].options == {"word": "knn", "set": {"n_neighbors": 3}}
    assert (found.seed, found.rule, found.scoring, found.n_test) == (0, "min", None, 10_000)
    mapping = {
        "replicates": 1,
        "sizes": [9],
        "methods": ["loo"],
        "problems": ["simple"],
        "learners": ["lda"],
    }
    assert [entry.name for entry in read_spec(mapping).methods] == ["loo"]
    assert parse_spec(read_spec(mapping).text) == read_spec(mapping)


MISTAKES = [
    ("replicates", "replicas", 3, "'replicas' is no entry of a study; did you mean"),
    ("replicates = 3", "replicates = 0", 3, "no whole number from 1"),
    ("replicates = 3", "replicates = true", 3, "no whole number"),
    ("sizes = [30, 50]", "sizes = [30, 1]", 4, "size 1 is no number of rows"),
    ("sizes = [30, 50]", "sizes = [30, 30]", 4, "stands twice"),
    ("sizes = [30, 50]", "sizes = []", 4, "at least one entry"),
    ('"nested"]', '"nestd"]', 5, "no method 'nestd'; did you mean 'nested'"),
    ('"nested"]', "3]", 5, "3 is neither a word"),
    ('  "simple",', '  "simpel",', 7, "no data set 'simpel'; did you mean 'simple'"),
    ("{word", "{wrd", 8, "has a word, a file or an import"),
    ('name = "noisy"', 'name = "simple"', 8, "two problems are called 'simple'"),
    ("set = {", "sett = {", 17, "'sett' is no entry here; did you mean 'set'"),
    ("set = {", "grid = {", 17, "grid.n_neighbors is to be a list"),
    ("set = {n_neighbors = 3}", "set = 3", 17, "is to be a table"),
    ('name = "3nn"', 'name = ""', 16, "no text"),
    ('name = "mine"', "name = 1", 2, "no text"),
    ('name = "mine"', "confidence_level = 95", 2, "between 0 and 1"),
    ('name = "mine"', 'scoring = "brierr"', 2, "no scoring 'brierr'; did you mean 'brier'"),
    ('name = "mine"', 'loss = "brier"', 2, "`loss` is now `scoring`"),
    ('name = "mine"', 'rule = "max"', 2, "max"),
    ('name = "mine"', "seed = -1", 2, "no whole number from 0"),
    ('word = "kearns", noise = 0.3', 'file = "a.csv"', 8, "a file needs its target"),
    ('word = "kearns", noise = 0.3', 'import = "os"', 8, 'write "package.module:name"'),
]


def changed(old, new):
    """Return the valid text with one mistake."""
    assert old in GOOD
    return GOOD.replace(old, new, 1)


IMPORTED = '{import = "os:getcwd"}'
NESTED = "nested too deeply|no JSON"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *(
            (changed(old, new), f"in line {line} of the specification: .*{sentence}")
            for old, new, line, sentence in MISTAKES
        ),
        ("a = 1\nb = = 2\n", r"no TOML: .*line 2"),
        ("replicates = 3", "has no 'sizes'"),
        pytest.param("#" * 1_000_001, "characters", id="long"),
        pytest.param("a = " + "[" * 5000 + "]" * 5000, NESTED, id="deep TOML"),
        pytest.param("{" * 5000, NESTED, id="deep JSON"),
        ('{"a": }', NESTED),
        pytest.param(
            changed("[30, 50]", str(list(range(2, 30_000)))), "at most 100000", id="many sizes"
        ),
        (changed('"simple"', IMPORTED), "in line 7 .*give allow_import=True"),
        (changed('"nested"', IMPORTED), "in line 5 .*give allow_import=True"),
    ],
)
def test_parse_spec_names_mistakes_with_their_line(text, message):
    with pytest.raises(BadData, match=message):
        parse_spec(text)


def test_spec_on_the_page_is_valid():
    page = (Path(__file__).parents[2] / "docs" / "studies.md").read_text("utf-8")
    blocks = re.findall(r"^```toml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert [parse_spec(block).n_tasks for block in blocks] == [3 * 3 * 2 * 3 * 1000]


METHODS = [
    {"word": "10-fold", "interval": "wald"},
    {"word": "monte-carlo", "splits_drawn": 5, "name": "few"},
    {"import": "package.module:mine", "interval": "beta", "name": "mine"},
    "loo",
]
LEAST = {"replicates": 1, "sizes": [9], "problems": ["simple"], "learners": ["lda"]}


def test_spec_of_method_has_options_interval_and_name():
    found = read_spec({**LEAST, "methods": METHODS}, allow_import=True).methods
    assert [entry.name for entry in found] == ["10-fold:wald", "few", "mine", "loo"]
    assert method_options(found[1].options) == {"splits_drawn": 5}
    assert method_options(found[0].options) == {}


@pytest.mark.parametrize(
    ("method", "sentence"),
    [
        ({"word": "10-fold", "interval": "walt"}, "no interval 'walt'; did you mean 'wald'"),
        ({"word": "10-fold", "interval": 3}, "is no interval"),
        ({"word": "loo", "intervall": "wald"}, "no option 'intervall'.* It has: none"),
        ({"word": "monte-carlo", "splits": 5}, "no option 'splits'.* It has: splits_drawn"),
        ({"word": "10-fold", "k": 5}, "no option 'k'"),
        ({"word": "monte-carlo", "splits_drawn": 0}, "splits_drawn"),
        ({"word": "monte-carlo", "splits_drawn": "five"}, "splits_drawn"),
        ({"interval": "wald"}, "no word of a method"),
        ({"import": "a.b:c", "splits_drawn": 5}, "'splits_drawn' is no entry here"),
        ("loo", "two methods are called 'loo'"),
    ],
)
def test_spec_of_impossible_method_is_refused(method, sentence):
    with pytest.raises(BadData, match=sentence):
        read_spec({**LEAST, "methods": ["loo", method]}, allow_import=True)


TEXT = """# a comment that says nest
a = 1

list = [
  "one",  # nest
  "nest",
  { x = 1, y = 2 },
]
[table]
b = true
[[many]]
c = "x"
[[many]]
c = "y"
"""


@pytest.mark.parametrize(
    ("place", "line"),
    [
        (("a",), 2),
        (("list", 0), 5),
        (("list", 1), 6),
        (("list", 2, "y"), 7),
        (("table", "b"), 10),
        (("many", 1, "c"), 14),
        (("nowhere",), None),
        (("list", 7), None),
    ],
)
def test_line_of_finds_the_line_of_a_value(place, line):
    assert find_line(TEXT, place) == line


def test_read_spec_names_files_and_mappings_that_cannot_be_read(tmp_path):
    with pytest.raises(BadData, match="No such file"):
        read_spec(tmp_path / "no.toml")
    (tmp_path / "latin.toml").write_bytes(b"name = '\xe4'")
    with pytest.raises(BadData, match=r"latin\.toml"):
        read_spec(tmp_path / "latin.toml")
    with pytest.raises(BadData, match="no plain data"):
        read_spec({"replicates": object()})
    code = GOOD.replace('"simple"', '{import = "os:getcwd"}')
    assert parse_spec(code, allow_import=True).problems[0].name == "getcwd"
