"""Sets of rules that a scene can take, each a file of this package."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Final

from scenecypher.errors import InputError, did_you_mean

SETS: Final[Mapping[str, str]] = {"household-safety": "household_safety.toml"}
"""The file of each set: under `rules`, the words of each rule by its name."""

SYNONYMS: Final[Mapping[str, tuple[str, ...]]] = {
    "bathtub": ("bath",),
    "candle": ("candles",),
    "cat": ("dog",),
    "clothes": ("clothesshirt", "clothespants", "shirt", "clothing"),
    "computer": ("laptop", "desktop"),
    "curtain": ("curtains", "blinds"),
    "detergent": ("dishwashingliquid", "washingliquid", "dish_soap", "bleach", "soap"),
    "foil": ("aluminumfoil", "aluminum_foil", "aluminium_foil"),
    "fork": ("cutleryfork", "cutlery_fork"),
    "fridge": ("refrigerator",),
    "hair_dryer": ("hairdryer", "blow_dryer"),
    "heater": ("radiator", "space_heater"),
    "kettle": ("electrickettle", "electric_kettle"),
    "knife": ("cutleryknife", "kitchen_knife", "butterknife"),
    "lamp": ("tablelamp", "floorlamp", "desklamp"),
    "medicine": ("painkillers", "pills", "pill_bottle"),
    "microwave": ("microwave_oven",),
    "nursery": ("kids_bedroom", "kids_room", "childs_room"),
    "oven": ("stove",),
    "pan": ("fryingpan", "frying_pan"),
    "paper": ("newspaper", "magazine", "book"),
    "phone": ("cellphone", "cell_phone", "mobile_phone"),
    "sofa": ("couch",),
    "spoon": ("cutleryspoon", "cutlery_spoon"),
    "stove": ("stovetop", "stoveburner", "cooktop", "hob"),
    "towel": ("bath_towel", "hand_towel", "dish_towel"),
    "washing_machine": ("washingmachine", "washer"),
}
"""Other words for a class that a set names, for scenes that lack it."""


def rule_set(name: str) -> dict[str, str]:
    """Return the words of each rule of a set by its name. Raises InputError for an unknown set."""
    if name not in SETS:
        msg = (
            f"there is no set of rules {name[:60]!r}{did_you_mean(name[:60], [*SETS])}; choose one of {', '.join(SETS)}"
        )
        raise InputError(msg)
    text = files("scenecypher.planner.rules").joinpath(SETS[name]).read_text(encoding="utf-8")
    found: dict[str, str] = tomllib.loads(text)["rules"]
    return found
