"""The names of BEHAVIOR's synsets in a scene, and the one table of the affordances of each class."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


OPENABLE: Final = _words(
    """
    backpack cabinet car carton cedar_chest clothes_dryer door electric_refrigerator laptop mailbox mason_jar
    recreational_vehicle recycling_bin window
    """
)
"""Classes that open and close, by the package's annotations. Closed at the start unless a definition says otherwise."""

TOGGLEABLE: Final = _words(
    """
    air_conditioner alarm atomizer calculator cigar_lighter clothes_dryer desktop_computer digital_camera facsimile
    flashlight grill hand_blower hot_tub insectifuge_atomizer laptop printer radio_receiver router salt_shaker sink
    space_heater switch table_lamp vacuum
    """
)
"""Classes that turn on and off, by the package's annotations. Off at the start unless a definition says otherwise."""

SURFACES: Final = _words(
    """
    backpack bag bed booth bowl breakfast_table cabinet camera_tripod car carton chair checkout chopping_board
    coffee_table comic_book conference_table console_table cookie_sheet countertop desk driveway fireplace firewood
    floor folder grill lawn log magazine mail mason_jar mattress newspaper notebook packing_box pickup place_mat plate
    platter printer sack shelf shopping_cart sofa table textbook tortilla tray videodisk
    """
)
"""Classes that take objects on top: all that something is on, in the start or goal of any activity."""

CONTAINERS: Final = _words(
    """
    ashcan backpack bag barrow bowl bucket cabinet car carton cash_register cedar_chest chest_of_drawers clothes_dryer
    compost_bin crib cup duffel_bag electric_refrigerator fireplace folder hamper lawn mailbox mason_jar mixing_bowl
    packing_box pencil_box pizza_box pot recreational_vehicle recycling_bin sack shelf shopping_basket shopping_cart
    shoulder_bag sink skiff toolbox toy_box tupperware vase wardrobe wicker_basket
    """
)
"""Classes that take objects in: all that something is inside, in any start or goal. One definition alone has `lawn`."""

HEAVY: Final = _words("booth car crib mailbox pickup recreational_vehicle skiff tree")
"""Objects, since no definition gives their room, that a robot can't pick up; no goal asks for it."""

LIGHT: Final = _words("chair")
"""Objects although definitions give their room, since a goal moves them."""

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
