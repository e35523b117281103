"""Positions, sizes and boxes of maps, as properties of a node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scenecypher.db.graph.graph_json import value_from
from scenecypher.db.graph.value import InvalidValue, Point, checked, shown

Given = Any
SIZES = ("extent", "size", "dimensions")


def position(given: Given, place: str) -> Mapping[str, object]:
    """Return the `center` of [x, y], [x, y, z], {"x": …, "y": …, "z": …}, or a pose's. Raises InvalidValue."""
    if isinstance(given, dict) and "position" in given:
        given = given["position"]
    if isinstance(given, dict) and "point" in given:
        return {"center": value_from(given, place)}
    given = numbers(_by_axis(given))
    if not isinstance(given, list) or len(given) not in {2, 3}:
        raise InvalidValue(f"{place} should be a position, [x, y] or [x, y, z], not {shown(given)}")
    return {"center": Point(*given)}


def as_value(given: Given) -> Given:
    """Return a map by axis as a position, one with `w` besides as a list; any other value as it is."""
    if isinstance(given, dict) and given.keys() == {"x", "y", "z", "w"}:
        parts: list[Any] = [given[axis] for axis in "xyzw"]
        return [float(it) if _is_length(it) else it for it in parts]
    axes = _by_axis(given)
    return given if axes is given else {"point": axes}


def size(given: Given, place: str) -> Mapping[str, object]:
    """Return `size_x`, `size_y` and `size_z` of two or three lengths, listed or by axis. Raises InvalidValue."""
    given = numbers(_by_axis(given))
    if not isinstance(given, list) or len(given) not in {2, 3} or not all(map(_is_length, given)):
        raise InvalidValue(f"{place} should be a size, [x, y] or [x, y, z], not {shown(given)}")
    return dict(zip(("size_x", "size_y", "size_z"), map(float, given), strict=False))


def box(given: Given, place: str) -> Mapping[str, object]:
    """Return center and size of a box: center with extent, corners by name, or a list of two corners.

    Raises InvalidValue.
    """
    match given:
        case {"center": None} | {"min": None} | {"max": None}:
            return {}
        case {"center": middle} if any(key in given for key in SIZES):
            lengths = next(given[key] for key in SIZES if key in given)
            return {**position(middle, f"{place}.center"), **size(lengths, f"{place} size")}
        case {"min": list() | dict() as low, "max": list() | dict() as high} | [list() as low, list() as high]:
            return _between(_by_axis(low), _by_axis(high), place)
        case [_, _, _, _, _, _]:
            return _between(given[:3], given[3:], place)
        case _:
            forms = "a center with an extent, the corners min and max, or a list of two corners"
            raise InvalidValue(f"{place} should be a box in space: {forms}, not {shown(given)}")


def caption(given: Given, place: str) -> Mapping[str, object]:
    """Return a `caption`. Raises InvalidValue."""
    if not isinstance(given, str):
        raise InvalidValue(f"{place} should be text, not {shown(given)}")
    return {"caption": checked(given, place)}


def _between(low: Sequence[Given], high: Sequence[Given], place: str) -> Mapping[str, object]:
    one, other = (position([*corner], place)["center"] for corner in (low, high))
    assert isinstance(one, Point) and isinstance(other, Point)  # noqa: S101, PT018 - lists give points
    if len(low) != len(high):
        raise InvalidValue(f"{place}: its corners have {len(low)} and {len(high)} numbers; give as many to both")
    ends = [
        (a, b) for a, b in ((one.x, other.x), (one.y, other.y), (one.z, other.z)) if a is not None and b is not None
    ]
    middle = [(a + b) / 2 for a, b in ends]
    return {"center": Point(*middle), **size([abs(b - a) for a, b in ends], place)}


def numbers(given: Given) -> Given:
    """Return numbers that are written as text, one by one or all in one, as numbers; any other value as it is."""
    parts = given.replace(",", " ").split() if isinstance(given, str) else given
    if not isinstance(parts, list) or not parts or not any(isinstance(it, str) for it in parts):
        return given
    try:
        return [float(it) for it in parts]
    except (TypeError, ValueError):
        return given


def _by_axis(given: Given) -> Given:
    """Return {"x": …, "y": …, "z": …} as a list; any other value as it is."""
    if isinstance(given, dict) and {"X", "Y"} <= given.keys() <= {"X", "Y", "Z"}:
        given = {key.lower(): value for key, value in given.items()}
    is_by_axis = isinstance(given, dict) and {"x", "y"} <= given.keys() <= {"x", "y", "z"}
    return [given[axis] for axis in "xyz" if axis in given] if is_by_axis else given


def _is_length(value: Given) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
