"""Pickles of NetworkX graphs and plain values, read by Python's own reader, which here calls nothing."""

from __future__ import annotations

import pickle
import pickletools
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any, Final, TypeAlias

from scenecypher.db.graph.value import shown
from scenecypher.errors import DocumentError, InputError
from scenecypher.importers.bounded import read_bytes

PICKLE_BYTES: Final = 64 * 2**20
OPERATIONS: Final = 1_000_000
"""The most operations, a copied item counting as one: a graph of 30,000 nodes. It bounds time and memory."""
KEY_PARTS: Final = 10
NETWORKX: Final = "networkx.classes."
MODULES: Final = {"__builtin__": "builtins", "copy_reg": "copyreg"}
"""New names of modules that Python 2 called otherwise."""
OPERATORS: Final = frozenset(
    """PROTO FRAME STOP MARK POP POP_MARK DUP PUT BINPUT LONG_BINPUT MEMOIZE GET BINGET LONG_BINGET
    NONE NEWTRUE NEWFALSE INT BININT BININT1 BININT2 LONG LONG1 LONG4 FLOAT BINFLOAT
    STRING BINSTRING SHORT_BINSTRING UNICODE SHORT_BINUNICODE BINUNICODE BINUNICODE8
    EMPTY_LIST LIST APPEND APPENDS EMPTY_TUPLE TUPLE TUPLE1 TUPLE2 TUPLE3
    EMPTY_DICT DICT SETITEM SETITEMS EMPTY_SET FROZENSET ADDITEMS
    GLOBAL STACK_GLOBAL REDUCE NEWOBJ BUILD""".split()  # noqa: SIM905 - in groups
)
"""The operations that make plain values and graphs; all others are refused."""
KEYS: Final[Mapping[str, Callable[[list[Any]], list[Any]]]] = {
    "SETITEM": lambda stack: stack[-2:-1],
    **dict.fromkeys(("SETITEMS", "DICT"), lambda stack: stack[::2]),
    **dict.fromkeys(("ADDITEMS", "FROZENSET"), lambda stack: stack),
}
"""Operations that hash, and what of the stack they do."""

_NETWORKX_CLASS: Final = re.compile(r"networkx\.classes\.[a-z]+\.[A-Za-z]+")
_SAFE: Final = "Take files from people you trust, and save graphs as node-link JSON instead"


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
    """The pickle asks for what is not admitted, or is malformed."""


def read_pickle(path: Path) -> Any:
    """Return the value of a pickle: plain values, and an `Instance` for each NetworkX object.

    Nothing is imported, called or changed, whatever the pickle holds. Raises DocumentError if it asks for more.
    """
    file = BytesIO(read_bytes(path, max_bytes=PICKLE_BYTES))
    try:
        spent = _checked_operations(file.getvalue())
        return _Reader(file, spent).load()
    except _Refused as error:
        raise DocumentError(str(path), f"byte {file.tell():,}", str(error)) from error
    except (ValueError, LookupError, ArithmeticError, TypeError, AttributeError, EOFError, pickle.PickleError) as error:
        said = f"{type(error).__name__}: {shown(str(error))}"
        cause = f"no whole pickle ({said}); is the file cut short or of another form?"
        raise DocumentError(str(path), f"byte {file.tell():,}", cause) from error


def _checked_operations(data: bytes) -> int:
    """Return the number of operations. Raises _Refused if there are too many, or one that is not admitted."""
    count = 0
    for count, (operation, argument, _) in enumerate(pickletools.genops(data), 1):
        if operation.name not in OPERATORS:
            named = f" of {shown(str(argument).replace(' ', '.'))}" if operation.name == "INST" else ""
            raise _Refused(
                f"the operation {operation.name}{named} makes no graph or plain value; nothing was run. {_SAFE}"
            )
        _check_count(count)
    return count


def _check_count(count: int) -> None:
    if count > OPERATIONS:
        raise _Refused(f"more than {OPERATIONS:,} operations, which no scene needs; split it")


_Base: Any = pickle._Unpickler  # noqa: SLF001 - the reader in Python, whose table is ours to cut
_CODES: Final = {operation.name: ord(operation.code) for operation in pickletools.opcodes}


class _Reader(_Base):  # type: ignore[misc]
    """Python's reader with the operations of OPERATORS alone; what a pickle names stays a name."""

    def __init__(self, file: BytesIO, spent: int) -> None:
        super().__init__(file)
        self.spent = spent

    def find_class(self, module: str, name: str) -> Named:
        full = f"{MODULES.get(module, module)}.{name}"
        if full not in (*_MAKERS, *_ADMITTED) and not _NETWORKX_CLASS.fullmatch(full):
            asked = full[:100].encode("ascii", "backslashreplace").decode()
            raise _Refused(f"it asks for {asked}, which is no NetworkX graph or plain value; nothing was run. {_SAFE}")
        return Named(full)

    def reduce(self) -> None:
        """Push the plain value that stands for a call of a named class, without calling it."""
        arguments, called = self.stack.pop(), self.stack.pop()
        if not isinstance(called, Named) or not isinstance(arguments, tuple):
            raise _Refused(f"it calls a {type(called).__name__}; nothing was run. {_SAFE}")
        self.stack.append(self.value_of_call(called.name, arguments))

    def value_of_call(self, name: str, arguments: tuple[Any, ...]) -> Any:
        match arguments:
            case (Named(name=inner), Named(name="builtins.object"), None) if name == "copyreg._reconstructor":
                return self.value_of_call(inner, ())
            case () if name.startswith(NETWORKX):
                return Instance(name)
            case () if name in _MAKERS:
                return _MAKERS[name](())
            case (list() | tuple() as items,) if name in _MAKERS:
                self.spent += len(items)
                _check_count(self.spent)
                return _MAKERS[name](items)
            case (Named(),) if name == "collections.defaultdict":
                return {}
        raise _Refused(f"it calls {name} with {shown(arguments)}; nothing was run. {_SAFE}")

    def build(self) -> None:
        state, instance = self.stack.pop(), self.stack[-1]
        if not isinstance(instance, Instance):
            what = type(instance).__name__
            raise _Refused(f"a {what} stands where the pickle changes an object of NetworkX. {_SAFE}")
        for part in state if isinstance(state, tuple) else (state,):
            if part is not None and not isinstance(part, dict):
                raise _Refused(f"the state of {instance.name} is no map. {_SAFE}")
            self.spent += len(part or {})
            _check_count(self.spent)
            instance.state.update(part or {})

    dispatch: Final = {code: _Base.dispatch[code] for name, code in _CODES.items() if name in OPERATORS} | {
        _CODES["REDUCE"]: reduce,
        _CODES["NEWOBJ"]: reduce,
        _CODES["BUILD"]: build,
    }


def _with_checked_keys(name: str, carry_out: Callable[[Any], None]) -> Callable[[Any], None]:
    def checked(reader: Any) -> None:
        for key in KEYS[name](reader.stack):
            _key(key)
        carry_out(reader)

    return checked


_Reader.dispatch.update({_CODES[name]: _with_checked_keys(name, _Base.dispatch[_CODES[name]]) for name in KEYS})


def _key(value: Any) -> Any:
    """Return `value` if it may be a key: a scalar or a few of them. Hashing others may call, or nest without end."""
    scalars = value if isinstance(value, tuple) else (value,)
    if len(scalars) > KEY_PARTS or not all(map(_is_scalar, scalars)):
        raise _Refused(f"{shown(value)} can't be a key or a member of a set; only text and numbers can")
    return value


def _is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, str | float) or (isinstance(value, int) and value.bit_length() <= 64)


def _entries(items: Iterable[Any]) -> dict[Any, Any]:
    pairs = [item for item in items if isinstance(item, list | tuple) and len(item) == 2]
    return {_key(key): value for key, value in pairs}


def _members(items: Iterable[Any]) -> set[Any]:
    return {_key(item) for item in items}


_Maker: TypeAlias = Callable[[Any], Any]
_MAKERS: Final[Mapping[str, _Maker]] = {
    "builtins.list": list,
    "builtins.tuple": tuple,
    **dict.fromkeys(("builtins.set", "builtins.frozenset"), _members),
    **dict.fromkeys(("builtins.dict", "collections.OrderedDict"), _entries),
}
"""The functions that stand for the call of a plain class on one list."""
_ADMITTED: Final = ("builtins.object", "copyreg._reconstructor", "collections.defaultdict")
