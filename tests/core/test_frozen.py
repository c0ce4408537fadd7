"""`frozen` makes the same classes as `dataclasses.dataclass(frozen=True)`."""

import copy
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace
from functools import cached_property, partial
from inspect import signature
from typing import Any, ClassVar

import pytest

from truerisk.core.frozen import frozen

STANDARD = partial(dataclass, frozen=True)


def classes(decorator: Any, **options: Any) -> tuple[type, type]:
    """Return a class with every kind of field, and one that derives from it."""

    @decorator(**options)
    class Point:
        """A point."""

        x: float
        y: float = field(default=2.0, repr=False, kw_only=True)
        tags: list[str] = field(default_factory=list, compare=False)
        label: str = field(default="p", hash=False)
        number: int = field(default_factory=lambda: 7, init=False)
        dimension: ClassVar[int] = 2

        def __post_init__(self):
            object.__setattr__(self, "x", float(self.x))

        @cached_property
        def norm(self) -> float:
            """Return the distance from 0."""
            return (self.x**2 + self.y**2) ** 0.5

    @decorator(**options)
    class Weighted(Point):
        """A point with a weight."""

        weight: float = 1.0

    return Point, Weighted


@pytest.mark.parametrize("options", [{}, {"eq": False}, {"kw_only": True}])
@pytest.mark.parametrize("which", [0, 1])
def test_frozen_equals_the_standard_decorator(options, which):
    ours, standard = classes(frozen, **options)[which], classes(STANDARD, **options)[which]
    assert str(signature(ours)) == str(signature(standard))
    assert [(f.name, f.type) for f in fields(ours)] == [(f.name, f.type) for f in fields(standard)]
    assert ours.__match_args__ == standard.__match_args__
    a, b, c = ours(x=1), ours(x=1, tags=["t"]), ours(x=1, y=3.0)
    d, e, f = standard(x=1), standard(x=1, tags=["t"]), standard(x=1, y=3.0)
    assert repr(a).replace("<locals>", "") == repr(d).replace("<locals>", "")
    assert (a == b, a == c, a == 1) == (d == e, d == f, d == 1)
    assert (hash(a) == hash(b), hash(a) == hash(c)) == (hash(d) == hash(e), hash(d) == hash(f))
    assert replace(a, x=2).x == 2.0
    assert a.x == 1.0
    assert a.number == 7
    assert copy.deepcopy(c).__dict__ == c.__dict__
    assert a.norm == d.norm
    for one in (a, d):
        with pytest.raises(FrozenInstanceError, match="cannot assign to field 'x'"):
            one.x = 1.0
        with pytest.raises(FrozenInstanceError, match="cannot assign to field 'other'"):
            one.other = 1.0
        with pytest.raises(FrozenInstanceError, match="cannot delete field 'x'"):
            del one.x
        with pytest.raises(TypeError):
            type(one)()


@pytest.mark.parametrize(("base", "derived"), [(frozen, STANDARD), (STANDARD, frozen)])
def test_frozen_mixes_with_the_standard_decorator(base, derived):
    point = classes(base)[0]

    @derived()
    class Named(point):
        """A point with a name."""

        name: str = "n"

    one = Named(1, name="m")
    assert (one.x, one.name) == (1.0, "m")
    assert one == Named(1, name="m") != Named(1)
    for name in ("x", "name", "other"):
        with pytest.raises(FrozenInstanceError):
            setattr(one, name, 2)


@pytest.mark.parametrize("decorator", [frozen, STANDARD])
def test_frozen_keeps_methods_that_a_class_defines(decorator):
    @decorator()
    class Own:  # noqa: PLW1641, its hash is what is tested
        """Equal to everything."""

        x: int

        def __repr__(self) -> str:
            return "own"

        def __eq__(self, other: object) -> bool:
            return True

    assert repr(Own(1)) == "own"
    assert Own(1) == 2
    assert hash(Own(1)) == hash((1,))


def test_frozen_is_pickled_and_lets_an_ordinary_subclass_add_attributes():
    class Free(classes(frozen)[0]):
        """A subclass that is no dataclass."""

    one = Free(1)
    one.other = 3
    del one.other
    with pytest.raises(FrozenInstanceError):
        one.x = 3
    assert pickle.loads(pickle.dumps(Stored(3))) == Stored(3)


@frozen
class Stored:
    """A record at the top of a module, where pickle finds it."""

    x: int
