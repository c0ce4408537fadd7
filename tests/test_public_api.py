"""The public face: every name with its signature, as written in `public_api.txt`.

A change of a written name is a change of that file, seen in a diff. To write it anew:

    python -m tests.test_public_api

A new name is seen in a diff of `__all__` or of a registry. A release writes it; until then nobody
relies on it, and it may change.
"""

import ast
import enum
import importlib.util
import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from tests.support.public_names import HIDDEN, names_in, public_names

import truerisk as tr
from truerisk.core.arguments import RenamedAttribute

SNAPSHOT = Path(__file__).with_name("public_api.txt")
DOCS = Path(__file__).parent.parent / "docs"
OF_A_NAME = re.compile(r"(?:class )?(truerisk[\w.]*)")


def signature_of(thing: Any) -> str:
    """Names, kinds and defaults of the parameters; annotations are for type checkers."""
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return ""
    plain = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    return re.sub(r" at 0x\w+", "", str(inspect.Signature(plain)))


def members_of(cls: type) -> Iterator[str]:
    """Public attributes that the package itself gives a class, with signatures of its methods."""
    own = [base for base in cls.__mro__ if base.__module__.startswith("truerisk")]
    fields = {name for base in own for name in getattr(base, "__annotations__", {})}
    given = {name for base in own for name in vars(base)} | fields
    for name in sorted(name for name in given if not HIDDEN.match(name)):
        member = inspect.getattr_static(cls, name, None)
        if isinstance(member, RenamedAttribute):
            continue
        if isinstance(member, staticmethod | classmethod):
            member = getattr(cls, name)
        if inspect.isroutine(member):
            yield f"    {name}{signature_of(member)}"
        else:
            yield f"    {name}"


def lines_of(name: str, thing: Any) -> Iterator[str]:
    """One line, and one for every member of a class."""
    if inspect.isclass(thing):
        yield f"class {name}{signature_of(thing)}"
        if not issubclass(thing, enum.Enum):
            yield from members_of(thing)
    elif callable(thing):
        yield f"{name}{signature_of(thing)}"
    else:
        yield name


def face() -> str:
    """The whole face as text."""
    lines = [line for name, thing in public_names() for line in lines_of(name, thing)]
    return "\n".join(lines) + "\n"


def lines_by_name(text: str) -> dict[str, str]:
    """Return the lines of each name of a face, a class with its members."""
    parts = re.split(r"^(?=\w)", text, flags=re.MULTILINE)
    return {OF_A_NAME.match(part)[1]: part for part in parts if part}


def changed_names(written: str, now: str) -> dict[str, str | None]:
    """Return what the face now says of each written name that changed, None if it is gone."""
    there = lines_by_name(now)
    known = lines_by_name(written).items()
    return {name: there.get(name) for name, lines in known if there.get(name) != lines}


def test_face_is_as_written():
    """No name, parameter or default changes unseen: `python -m tests.test_public_api`."""
    assert changed_names(SNAPSHOT.read_text("utf-8"), face()) == {}


def test_changed_names_are_those_that_are_written():
    """A default, a member and a name that is gone are seen; a new name and annotations are not."""

    def typed(a: int, *, b: int = 1) -> None: ...

    assert signature_of(typed) == "(a, *, b=1)"
    assert "_repr_html_" not in "\n".join(members_of(tr.RiskEstimate))
    written = "class truerisk.A(b=1)\n    b\n    c(self)\ntruerisk.d(e)\ntruerisk.f\n"
    assert changed_names(written, written + "class truerisk.New()\n    b\n") == {}
    assert changed_names(written, written.replace("b=1", "b=2")).keys() == {"truerisk.A"}
    assert changed_names(written, written.replace("    c(self)\n", "")).keys() == {"truerisk.A"}
    more = written.replace("    b\n", "    b\n    bb\n")
    assert changed_names(written, more).keys() == {"truerisk.A"}
    assert changed_names(written, written.replace("truerisk.f\n", "")) == {"truerisk.f": None}


def extension(name: str) -> Any:
    """Import an extension of Sphinx from `docs/_ext`."""
    spec = importlib.util.spec_from_file_location(name, DOCS / "_ext" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


API_NAMES = extension("api_names")


@pytest.mark.parametrize("package", ["", "methods", "engines", "models", "losses", "testing"])
def test_api_pages_list_every_class_and_verb(package):
    """Every public class and function of the face, all methods and engines, has its entry."""
    pages = "\n".join(API_NAMES.full_pages(DOCS).values())
    holder = getattr(tr, package) if package else tr
    names = {name for name in names_in(holder) if callable(getattr(holder, name))}
    assert names - API_NAMES.INSIDE - {*API_NAMES.LISTED.findall(pages)} == set()


def test_api_pages_get_the_names_that_they_do_not_list():
    """Each stands at the end of its page, once."""
    bare = "```{eval-rst}\n.. autosummary::\n```\n"
    texts = {"a": bare.replace("::\n", "::\n\n   ~truerisk.old\n"), "b": bare}
    full = API_NAMES.in_full(texts, {"a": ["truerisk.old", "truerisk.New"], "b": ["truerisk.b"]})
    assert API_NAMES.LISTED.findall(full["a"]) == ["old", "New"]
    assert API_NAMES.LISTED.findall(full["b"]) == ["b"]


LAZY = ("", "datasets", "engines", "methods", "models", "testing")  # they import what is asked for


def blocks_for_type_checkers(source: str) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """What stands at the top of a module, and under its `if TYPE_CHECKING`."""
    top = ast.parse(source).body
    asked = [n for n in top if isinstance(n, ast.If) and ast.unparse(n.test) == "TYPE_CHECKING"]
    return top, [statement for block in asked for statement in block.body]


def seen_by_type_checkers(source: str) -> set[str]:
    """Names that a module imports or defines as it stands, without asking its `__getattr__`."""
    nodes = [node for block in blocks_for_type_checkers(source) for node in block]
    found = {a.asname or a.name for n in nodes if isinstance(n, ast.ImportFrom) for a in n.names}
    found |= {t.id for n in nodes if isinstance(n, ast.Assign) for t in n.targets}
    return found | {n.name for n in nodes if isinstance(n, ast.FunctionDef | ast.ClassDef)}


@pytest.mark.parametrize("package", LAZY)
def test_type_checkers_see_the_face(package):
    """What they are told is what the package gives; a name of `__getattr__` alone is unknown."""
    text = "from a import b\nif TYPE_CHECKING:\n    from c import D as D\ndef __getattr__(n): ..."
    assert seen_by_type_checkers(text) == {"b", "D", "__getattr__"}
    holder = getattr(tr, package) if package else tr
    source = Path(holder.__file__).read_text("utf-8")
    assert set(dir(holder)) - seen_by_type_checkers(source) == set()
    for node in blocks_for_type_checkers(source)[1]:
        for each in node.names:
            if (each.asname or each.name) in dir(holder):
                there = getattr(import_module(node.module), each.name)
                assert getattr(holder, each.asname or each.name) is there


if __name__ == "__main__":
    SNAPSHOT.write_text(face(), "utf-8")
