"""Pickles of NetworkX graphs and plain values, read by Python's own reader, which here calls nothing."""

from __future__ import annotations

import pickle
import pickletools
from collections.abc import Callable
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from scenecypher.db.graph.value import shown
from scenecypher.errors import DocumentError, InputError
from scenecypher.importers.bounded import read_bytes

PICKLE_BYTES: Final = 64 * 2**20
OPERATIONS: Final = 1_000_000
"""The most operations, a copied item counting as one: a graph of 30,000 nodes. It bounds time and memory."""
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
BOUNDED: Final = ("TUPLE", "TUPLE1", "TUPLE2", "TUPLE3", "INT", "LONG", "LONG1", "LONG4")
"""Operations whose values, if large, take long or C's stack to be hashed."""
MAX_TUPLE: Final = 16
_SAFE: Final = "nothing was run. Take files from people you trust, and save graphs as node-link JSON instead"
_Base: Any = pickle._Unpickler  # noqa: SLF001 - the reader in Python, whose table is ours to cut
_CODES: Final = {operation.name: ord(operation.code) for operation in pickletools.opcodes}


@dataclass(eq=False, slots=True)
class Instance:
    """An object of a NetworkX class, as the pickled state."""

    name: str
    state: Any = field(default_factory=dict)


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
        reader = _Reader(file)
        reader.check_operations(file.getvalue())
        return reader.load()
    except _Refused as error:
        raise DocumentError(str(path), f"byte {file.tell():,}", str(error)) from error
    except (ValueError, LookupError, ArithmeticError, TypeError, AttributeError, EOFError, pickle.PickleError) as error:
        said = f"{type(error).__name__}: {shown(str(error))}"
        cause = f"no whole pickle ({said}); is the file cut short or of another form?"
        raise DocumentError(str(path), f"byte {file.tell():,}", cause) from error


def _bounded(make: Callable[[Any], None]) -> Callable[[Any], None]:
    def carry_out(reader: Any) -> None:
        make(reader)
        parts = made if isinstance(made := reader.stack[-1], tuple) else (made,)
        if len(parts) > MAX_TUPLE or any(isinstance(it, tuple) or (type(it) is int and abs(it) >> 64) for it in parts):
            raise _Refused(f"{shown(made)} is too large for a key of a graph; write lists, and numbers of 64 bits")

    return carry_out


class _Reader(_Base):  # type: ignore[misc]
    """Python's reader with the operations of OPERATORS alone; what a pickle names stays a name."""

    spent = 0

    def check_operations(self, data: bytes) -> None:
        """Raise _Refused for an operation that is not admitted, or too many."""
        for operation, argument, _ in pickletools.genops(data):
            if operation.name not in OPERATORS:
                named = f" of {shown(str(argument).replace(' ', '.'))}" if operation.name == "INST" else ""
                raise _Refused(f"the operation {operation.name}{named} makes no graph or plain value; {_SAFE}")
            self.spend(1)

    def spend(self, operations: int) -> None:
        self.spent += operations
        if self.spent > OPERATIONS:
            raise _Refused(f"more than {OPERATIONS:,} operations, which no scene needs; split it")

    def find_class(self, module: str, name: str) -> Named:
        """Return the name alone: a call of any but a few is refused."""
        return Named(f"{MODULES.get(module, module)}.{name}")

    def reduce(self) -> None:
        """Push the plain value that stands for a call of a named class, without calling it."""
        arguments, called = self.stack.pop(), self.stack.pop()
        match called, arguments:
            case (Named(it), ()) | (Named("copyreg._reconstructor"), (Named(it), _, None)) if it.startswith(NETWORKX):
                self.stack.append(Instance(it))
            case Named("builtins.set" | "builtins.frozenset"), ([*items],):
                self.spend(len(items))
                self.stack.append(set(items))
            case (Named("collections.OrderedDict"), ()) | (Named("collections.defaultdict"), (Named(),)):
                self.stack.append({})
            case _:
                what = ascii(called.name[:100])[1:-1] if isinstance(called, Named) else f"a {type(called).__name__}"
                raise _Refused(f"it calls {what} with {shown(arguments)}; {_SAFE}")

    def build(self) -> None:
        state, instance = self.stack.pop(), self.stack[-1]
        parts = [it for it in (state if isinstance(state, tuple) else (state,)) if it is not None]
        if not isinstance(instance, Instance) or not all(isinstance(it, dict) for it in parts):
            raise _Refused(f"a {type(instance).__name__} stands where the pickle changes a NetworkX object; {_SAFE}")
        for part in parts:
            self.spend(len(part))
            instance.state.update(part)

    dispatch: Final = (
        {code: _Base.dispatch[code] for name, code in _CODES.items() if name in OPERATORS}
        | {_CODES[name]: _bounded(_Base.dispatch[_CODES[name]]) for name in BOUNDED}
        | {_CODES["REDUCE"]: reduce, _CODES["NEWOBJ"]: reduce, _CODES["BUILD"]: build}
    )
