"""An interpreter for pickles of NetworkX graphs and plain values that calls nothing that a pickle names."""

from __future__ import annotations

import pickletools
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

from scenecypher.db.graph.value import shown
from scenecypher.errors import DocumentError, InputError
from scenecypher.importers.bounded import read_bytes

PICKLE_BYTES: Final = 64 * 2**20
OPERATIONS: Final = 1_000_000
"""The most operations, a copied item counting as one: a graph of 30,000 nodes. It bounds time and memory."""
KEY_PARTS: Final = 10

PLAIN: Final = {"object", "dict", "list", "tuple", "set", "frozenset"}
MODULES: Final = {"__builtin__": "builtins", "copy_reg": "copyreg"}
"""New names of modules that Python 2 called otherwise."""
ADMITTED: Final = frozenset(
    {*(f"builtins.{name}" for name in PLAIN), "copyreg._reconstructor", "collections.OrderedDict"}
    | {"collections.defaultdict"}
)
"""The names allowed besides NetworkX's classes; each stands for the plain value that it makes."""
NETWORKX: Final = "networkx.classes."

_NETWORKX_CLASS: Final = re.compile(r"networkx\.classes\.[a-z]+\.[A-Za-z]+")
_MARK: Final = object()


@dataclass(eq=False, slots=True)
class Instance:
    """An object of a NetworkX class, as the pickled state."""

    name: str
    state: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Named:
    """A class or function named by a pickle: its full name, never the object itself."""

    name: str


class _Refused(InputError):
    """The pickle asks for an operation that is not admitted, or is malformed."""


def read_pickle(path: Path) -> Any:
    """Return the value of a pickle: plain values, and an `Instance` for each NetworkX object.

    Nothing is imported, called or changed, whatever the pickle holds. Raises DocumentError if it asks for more.
    """
    data = read_bytes(path, max_bytes=PICKLE_BYTES)
    machine = _Machine()
    position = 0
    try:
        for operation, argument, place in pickletools.genops(data):
            position = place or 0
            machine.carry_out(operation.name, argument)
    except _Refused as error:
        raise DocumentError(str(path), f"byte {position:,}", str(error)) from error
    except (ValueError, IndexError, KeyError, OverflowError) as error:
        cause = (
            f"no whole pickle ({type(error).__name__}: {shown(str(error))}); is the file cut short or of another form?"
        )
        raise DocumentError(str(path), f"byte {position:,}", cause) from error
    return machine.stack[-1]


def _refuse(cause: str) -> None:
    raise _Refused(cause)


class _Machine:
    """The stack and the memo of a pickle; each operation is a row of the table below."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}
        self.spent = 0

    def charge(self, count: int) -> None:
        self.spent += count
        if self.spent > OPERATIONS:
            _refuse(f"more than {OPERATIONS:,} operations, which no scene needs; split it")

    def carry_out(self, name: str, argument: Any) -> None:
        self.charge(1)
        if name in _NUMBERS or name in _TEXTS:
            self.stack.append(argument)
        elif name in _OPERATIONS:
            _OPERATIONS[name](self, argument)
        else:
            named = f" of {shown(str(argument).replace(' ', '.'))}" if name == "INST" else ""
            _refuse(f"the operation {name}{named} makes no graph or plain value; nothing was run. {_SAFE}")

    def since_mark(self) -> list[Any]:
        """Pop the items above the last mark, and the mark."""
        at = len(self.stack) - 1
        while self.stack[at] is not _MARK:
            at -= 1
            if at < 0:
                raise IndexError("no mark")
        items = self.stack[at + 1 :]
        del self.stack[at:]
        return items

    def top(self, kind: type[Any]) -> Any:
        """Return the value on top. Refuses a value of another type."""
        if not isinstance(self.stack[-1], kind):
            _refuse(
                f"a {type(self.stack[-1]).__name__} stands where the pickle changes a {kind.__name__.lower()}. {_SAFE}"
            )
        return self.stack[-1]

    def name(self, module: object, name: object) -> None:
        full = f"{MODULES.get(str(module), module)}.{name}"
        if full not in ADMITTED and not _NETWORKX_CLASS.fullmatch(full):
            asked = full[:100].encode("ascii", "backslashreplace").decode()
            _refuse(f"it asks for {asked}, which is no NetworkX graph or plain value; nothing was run. {_SAFE}")
        self.stack.append(Named(full))


_SAFE: Final = "Take files from people you trust, and save graphs as node-link JSON instead"


def _key(value: Any) -> Any:
    """Return `value` if it may be a key: a scalar or a few of them. Hashing others may call, or nest without end."""
    scalars = value if isinstance(value, tuple) else (value,)
    if len(scalars) > KEY_PARTS or not all(map(_is_scalar, scalars)):
        _refuse(f"{shown(value)} can't be a key or a member of a set; only text and numbers can")
    return value


def _is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, str | float) or (isinstance(value, int) and value.bit_length() <= 64)


def _pairs(items: list[Any]) -> dict[Any, Any]:
    return {_key(key): value for key, value in zip(items[::2], items[1::2], strict=True)}


def _entries(items: Iterable[Any]) -> dict[Any, Any]:
    pairs = [item for item in items if isinstance(item, list | tuple) and len(item) == 2]
    return {_key(key): value for key, value in pairs}


def _members(items: Iterable[Any]) -> set[Any]:
    return {_key(item) for item in items}


def _set_items(machine: _Machine, items: list[Any]) -> None:
    machine.top(dict).update(_pairs(items))


def _pop_two(machine: _Machine, _: Any) -> list[Any]:
    value = machine.stack.pop()
    return [machine.stack.pop(), value]


def _tuple_of(count: int) -> _Operation:
    def make(machine: _Machine, _: Any) -> None:
        if len(machine.stack) < count:
            raise IndexError("too few values")
        machine.stack[len(machine.stack) - count :] = [tuple(machine.stack[len(machine.stack) - count :])]

    return make


def _reduce(machine: _Machine, _: Any) -> None:
    """Push the plain value that stands for a call of a named class, without calling it."""
    called, arguments = _pop_two(machine, _)
    if not isinstance(called, Named) or not isinstance(arguments, tuple):
        _refuse(f"it calls a {type(called).__name__}; nothing was run. {_SAFE}")
    machine.stack.append(_value_of_call(machine, called.name, arguments))


def _value_of_call(machine: _Machine, name: str, arguments: tuple[Any, ...]) -> Any:
    match arguments:
        case (Named(name=inner), Named(name="builtins.object"), None) if name == "copyreg._reconstructor":
            return _value_of_call(machine, inner, ())
        case () if name.startswith(NETWORKX):
            return Instance(name)
        case () if name in _MAKERS:
            return _MAKERS[name](())
        case (list() | tuple() as items,) if name in _MAKERS:
            machine.charge(len(items))
            return _MAKERS[name](items)
        case (Named(),) if name == "collections.defaultdict":
            return {}
    _refuse(f"it calls {name} with {shown(arguments)}; nothing was run. {_SAFE}")
    return None


def _build(machine: _Machine, _: Any) -> None:
    state = machine.stack.pop()
    instance = machine.top(Instance)
    for part in state if isinstance(state, tuple) else (state,):
        if part is not None and not isinstance(part, dict):
            _refuse(f"the state of {instance.name} is no map. {_SAFE}")
        machine.charge(len(part or {}))
        instance.state.update(part or {})


def _memoize(machine: _Machine, number: int | None) -> None:
    machine.memo[len(machine.memo) if number is None else number] = machine.stack[-1]


def _append(machine: _Machine, _: Any) -> None:
    item = machine.stack.pop()
    machine.top(list).append(item)


def _appends(machine: _Machine, _: Any) -> None:
    items = machine.since_mark()
    machine.top(list).extend(items)


def _add_items(machine: _Machine, _: Any) -> None:
    items = _members(machine.since_mark())
    machine.top(set).update(items)


_MAKERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "builtins.list": list,
    "builtins.tuple": tuple,
    "builtins.set": _members,
    "builtins.frozenset": _members,
    "builtins.dict": _entries,
    "collections.OrderedDict": _entries,
}
"""The functions that stand for the call of a plain class on one list."""

_Operation: TypeAlias = Callable[[_Machine, Any], object]

_NUMBERS: Final = frozenset({"INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT"})
_TEXTS: Final = frozenset(
    {"STRING", "BINSTRING", "SHORT_BINSTRING", "UNICODE", "SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8"}
)
"""Operations that push a value of the file."""

_OPERATIONS: Final[Mapping[str, _Operation]] = {
    "PROTO": lambda _m, _a: None,
    "FRAME": lambda _m, _a: None,
    "STOP": lambda m, _: m.stack[-1],
    "NONE": lambda m, _: m.stack.append(None),
    "NEWTRUE": lambda m, _: m.stack.append(True),
    "NEWFALSE": lambda m, _: m.stack.append(False),
    "EMPTY_LIST": lambda m, _: m.stack.append([]),
    "EMPTY_TUPLE": lambda m, _: m.stack.append(()),
    "EMPTY_DICT": lambda m, _: m.stack.append({}),
    "EMPTY_SET": lambda m, _: m.stack.append(set()),
    "LIST": lambda m, _: m.stack.append(m.since_mark()),
    "TUPLE": lambda m, _: m.stack.append(tuple(m.since_mark())),
    "DICT": lambda m, _: m.stack.append(_pairs(m.since_mark())),
    "FROZENSET": lambda m, _: m.stack.append(_members(m.since_mark())),
    "TUPLE1": _tuple_of(1),
    "TUPLE2": _tuple_of(2),
    "TUPLE3": _tuple_of(3),
    "APPEND": _append,
    "APPENDS": _appends,
    "SETITEM": lambda m, a: _set_items(m, _pop_two(m, a)),
    "SETITEMS": lambda m, _: _set_items(m, m.since_mark()),
    "ADDITEMS": _add_items,
    "MARK": lambda m, _: m.stack.append(_MARK),
    "POP": lambda m, _: m.stack.pop(),
    "POP_MARK": lambda m, _: m.since_mark(),
    "DUP": lambda m, _: m.stack.append(m.stack[-1]),
    "PUT": _memoize,
    "BINPUT": _memoize,
    "LONG_BINPUT": _memoize,
    "MEMOIZE": _memoize,
    "GET": lambda m, number: m.stack.append(m.memo[number]),
    "BINGET": lambda m, number: m.stack.append(m.memo[number]),
    "LONG_BINGET": lambda m, number: m.stack.append(m.memo[number]),
    "GLOBAL": lambda m, names: m.name(*names.split(" ", 1)),
    "STACK_GLOBAL": lambda m, a: m.name(*_pop_two(m, a)),
    "REDUCE": _reduce,
    "NEWOBJ": _reduce,
    "BUILD": _build,
}
"""Operations on the stack; all others are refused."""
