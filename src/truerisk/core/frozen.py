"""Frozen dataclasses whose classes are created in a third of the time of the standard decorator.

`dataclasses.dataclass(frozen=True)` compiles six methods for each class. The first call of the
package creates about ninety classes, which took a quarter of its time. Here only `__init__` is
compiled; all other methods are shared.

"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError, dataclass, field, fields
from reprlib import recursive_repr
from typing import Any, TypeVar, dataclass_transform, overload

T = TypeVar("T")


class _Factory:
    """Default of an `__init__` argument whose value is created anew for each instance."""

    def __repr__(self) -> str:
        return "<factory>"


_FACTORY = _Factory()


@overload
def frozen(cls: type[T], /) -> type[T]: ...
@overload
def frozen(*, eq: bool = True, kw_only: bool = False) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: Any = None, /, *, eq: bool = True, kw_only: bool = False) -> Any:
    """Make `cls` a dataclass whose fields are read-only, as `dataclass(frozen=True)` does.

    Fields, `replace`, equality, hash, repr and errors are those of the standard decorator, and a
    class of either may derive from a class of the other. `InitVar`, `order` and `slots` are not
    supported.
    """

    def make(decorated_class: Any) -> Any:
        if any(
            hasattr(base_class, "__dataclass_params__")
            for base_class in decorated_class.__mro__[1:]
        ):
            return dataclass(frozen=True, eq=eq, kw_only=kw_only)(decorated_class)
        methods = {"__repr__": _repr, "__setattr__": _refuse_to_set, "__delattr__": _refuse_to_del}
        if eq:
            methods |= {"__eq__": _are_equal, "__hash__": _hash}
        # A class with its own `__eq__` and no `__hash__` has `__hash__ = None`, set by Python.
        # Such a None does not count as a method that the class defines.
        defined_names = {
            method_name
            for method_name, class_member in vars(decorated_class).items()
            if class_member is not None
        }
        decorated_class = dataclass(init=False, repr=False, eq=False, kw_only=kw_only)(
            decorated_class
        )
        # Standard frozen dataclasses may then derive from this class.
        decorated_class.__dataclass_params__.frozen = True
        for method_name, method in methods.items():
            if method_name not in defined_names:
                setattr(decorated_class, method_name, method)
        decorated_class.__init__ = _compile_init(decorated_class)
        return decorated_class

    return make if cls is None else make(cls)


def _compile_init(cls: Any) -> Any:
    """Compile the `__init__` method of a class from its fields."""
    namespace: dict[str, Any] = {"_set": object.__setattr__, "_FACTORY": _FACTORY}
    positional_arguments: list[str] = []
    keyword_only_arguments: list[str] = []
    statements: list[str] = []
    for dataclass_field in fields(cls):
        value_code = field_name = dataclass_field.name
        if dataclass_field.default_factory is not MISSING:
            namespace[f"_make_{field_name}"] = dataclass_field.default_factory
            factory_call = f"_make_{field_name}()"
            value_code = (
                f"{factory_call} if {field_name} is _FACTORY else {field_name}"
                if dataclass_field.init
                else factory_call
            )
        if dataclass_field.init:
            argument_code = field_name
            if dataclass_field.default is not MISSING:
                namespace[f"_default_{field_name}"] = dataclass_field.default
                argument_code = f"{field_name}=_default_{field_name}"
            elif dataclass_field.default_factory is not MISSING:
                argument_code = f"{field_name}=_FACTORY"
            (keyword_only_arguments if dataclass_field.kw_only else positional_arguments).append(
                argument_code
            )
        if dataclass_field.init or dataclass_field.default_factory is not MISSING:
            statements.append(f"_set(self, {field_name!r}, {value_code})")
    if hasattr(cls, "__post_init__"):
        statements.append("self.__post_init__()")
    arguments_code = ", ".join(
        [
            "self",
            *positional_arguments,
            *(["*", *keyword_only_arguments] if keyword_only_arguments else []),
        ]
    )
    exec(f"def __init__({arguments_code}):\n " + "\n ".join(statements or ["pass"]), namespace)
    init = namespace["__init__"]
    init.__qualname__, init.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    init.__annotations__ = {
        dataclass_field.name: dataclass_field.type
        for dataclass_field in fields(cls)
        if dataclass_field.init
    }
    init.__annotations__["return"] = None
    return init


def _compared_values(instance: Any, for_hash: bool = False) -> tuple[Any, ...]:
    """Return the values of the fields that are compared to test two instances for equality.

    With `for_hash`, return the values of the fields that the hash is computed from.
    """
    return tuple(
        getattr(instance, dataclass_field.name)
        for dataclass_field in fields(instance)
        if (
            dataclass_field.compare
            if dataclass_field.hash is None or not for_hash
            else dataclass_field.hash
        )
    )


def _are_equal(self: Any, compared_object: Any) -> Any:
    return (
        _compared_values(self) == _compared_values(compared_object)
        if compared_object.__class__ is self.__class__
        else NotImplemented
    )


def _hash(self: Any) -> int:
    return hash(_compared_values(self, for_hash=True))


@recursive_repr()
def _repr(self: Any) -> str:
    values = ", ".join(
        f"{dataclass_field.name}={getattr(self, dataclass_field.name)!r}"
        for dataclass_field in fields(self)
        if dataclass_field.repr
    )
    return f"{self.__class__.__qualname__}({values})"


def _is_frozen(instance: Any, attribute_name: str) -> bool:
    """Return True if this attribute of the instance can be neither set nor deleted.

    In an instance of the frozen class itself this holds for every attribute, and in an instance of
    an ordinary subclass for the fields. An ordinary subclass of a frozen class may have further
    attributes, which can be set.
    """
    cls = type(instance)
    return "__dataclass_fields__" in vars(cls) or attribute_name in cls.__dataclass_fields__


def _refuse_to_set(self: Any, attribute_name: str, value: Any) -> None:
    if _is_frozen(self, attribute_name):
        raise FrozenInstanceError(f"cannot assign to field {attribute_name!r}")
    object.__setattr__(self, attribute_name, value)


def _refuse_to_del(self: Any, attribute_name: str) -> None:
    if _is_frozen(self, attribute_name):
        raise FrozenInstanceError(f"cannot delete field {attribute_name!r}")
    object.__delattr__(self, attribute_name)
