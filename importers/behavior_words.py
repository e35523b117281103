"""The names of BEHAVIOR's synsets in a scene, and the one table of the affordances of each class."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Final

_TEXT: Final = (files("scenecypher.importers") / "data" / "behavior_classes.toml").read_text(encoding="utf-8")
_CLASSES: Final = {name: frozenset(words.split()) for name, words in tomllib.loads(_TEXT).items()}
OPENABLE, TOGGLEABLE, SURFACES, CONTAINERS, HEAVY, LIGHT = map(
    _CLASSES.__getitem__, ("openable", "toggleable", "surfaces", "containers", "heavy", "light")
)
"""Classes by what they admit, by the package's annotations and by what is on or in them in any start or goal."""

AFFORDANCES: Final[Mapping[str, tuple[frozenset[str], tuple[str, ...]]]] = {
    "opens": (OPENABLE, ("open", "close")),
    "toggles": (TOGGLEABLE, ("turn_on", "turn_off")),
    "has a top": (SURFACES, ("put_on",)),
    "has an inside": (CONTAINERS, ("put_inside",)),
}
"""Classes and the actions, in GraSIF's words, that they admit; objects that are not heavy admit pick_up too."""

STATES: Final[Mapping[str, tuple[frozenset[str], str, str]]] = {
    "open": (OPENABLE, "open", "closed"),
    "toggled_on": (TOGGLEABLE, "on", "off"),
}
"""The definitions' unary predicates: the classes that have them, and the states if they hold and if not."""

AGENT: Final = "agent"
_SYNSET: Final = re.compile(r"\??(.+)\.n\.\d+")
_INSTANCE: Final = re.compile(r"\??(.+\.n\.\d+)_(\d+)")


def synset_class(synset: str) -> str:
    """Return the class of a synset: ``bottle__of__wine.n.01`` is a bottle_of_wine. Raises ValueError."""
    if not (found := _SYNSET.fullmatch(synset)):
        msg = f"{synset!r} is no synset such as candle.n.01"
        raise ValueError(msg)
    return found[1].replace("__", "_")


def instance_name(instance: str) -> str:
    """Return the name of ``butter_cookie.n.01_2`` or ``?butter_cookie.n.01_2``: butter_cookie-2. Raises ValueError."""
    if not (found := _INSTANCE.fullmatch(instance)):
        msg = f"{instance!r} is no object such as candle.n.01_1"
        raise ValueError(msg)
    return f"{synset_class(found[1])}-{found[2]}"


def class_kind(class_: str, *, has_room: bool) -> str:
    """Return the kind of a class: furniture, which a definition gives a room, is an Asset, all else an Object."""
    if class_ == AGENT:
        return "Agent"
    return "Asset" if has_room and class_ not in LIGHT else "Object"


def affordances_of(class_: str, kind: str) -> tuple[str, ...]:
    """Return the affordances of a node of this class and kind."""
    carried = ("pick_up",) if kind == "Object" and class_ not in HEAVY else ()
    return carried + tuple(word for classes, words in AFFORDANCES.values() if class_ in classes for word in words)
