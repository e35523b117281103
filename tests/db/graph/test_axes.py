"""Axes of Unity and of stored scenes: one is the other with y and z exchanged, and handedness with them."""

from __future__ import annotations

from math import cos, pi, sin

import pytest
from hypothesis import given

from scenecypher.db.graph.axes import exchanged, is_y_up
from scenecypher.db.graph.scene import Node, Point, Properties, SceneGraph
from tests.strategies import scene_graphs

Vector = tuple[float, float, float]


def node(**properties: object) -> Node:
    return Node("cup-1", "Object", "cup-1", "cup", properties=Properties(properties))


def rotated(vector: Vector, quaternion: tuple[float, ...]) -> Vector:
    """Return a vector rotated by a quaternion x, y, z, w: the same formula in axes of either hand."""
    qx, qy, qz, qw = quaternion
    x, y, z = vector
    tx, ty, tz = 2 * (qy * z - qz * y), 2 * (qz * x - qx * z), 2 * (qx * y - qy * x)
    return (
        x + qw * tx + qy * tz - qz * ty,
        y + qw * ty + qz * tx - qx * tz,
        z + qw * tz + qx * ty - qy * tx,
    )


def test_height_is_z() -> None:
    """Unity's second axis is the height: of positions, sizes and scales, and of lists of positions."""
    unity = node(center=Point(1, 0.8, 3), size_x=0.1, size_y=0.2, size_z=0.3, path=(Point(0, 1, 2),), color="red")
    of_ours = {"center": Point(1, 3, 0.8), "size_x": 0.1, "size_y": 0.3, "size_z": 0.2, "path": (Point(0, 2, 1),)}
    assert exchanged(unity) == node(**of_ours, color="red")
    assert exchanged(node(scale=(1.0, 2.0, 3.0), size_y=2)) == node(scale=(1.0, 3.0, 2.0), size_z=2)
    flat = node(center=Point(1, 2))
    assert exchanged(flat) is flat, "a plane has no height"


def test_a_rotation_turns_what_it_turned_before() -> None:
    """A quaternion of left-handed axes would turn the other way round in right-handed ones."""
    half = 0.7
    unity = (sin(half) * 0.6, sin(half) * 0.8, 0.0, cos(half))
    ours = exchanged(node(rotation=unity)).properties["rotation"]
    assert isinstance(ours, tuple)
    x, y, z = rotated((1.0, 2.0, 3.0), unity)
    assert rotated((1.0, 3.0, 2.0), tuple(float(str(it)) for it in ours)) == pytest.approx((x, z, y))
    quarter = exchanged(node(rotation=(0.0, sin(pi / 4), 0.0, cos(pi / 4)))).properties["rotation"]
    assert quarter == pytest.approx((0, 0, -sin(pi / 4), cos(pi / 4))), "a left-handed turn seen from above"


@given(scene_graphs())
def test_twice_is_as_before(graph: SceneGraph) -> None:
    assert all(exchanged(exchanged(node)) == node for node in graph.nodes.values())


@pytest.mark.parametrize(
    ("up", "vocabulary", "is_unity"),
    [
        (None, "virtualhome", True),
        (None, "virtualhome_ext+0123", True),
        (None, "household", False),
        ("z", "virtualhome", False),
        ("y", "household", True),
    ],
)
def test_what_declares_nothing_has_the_axes_of_its_first_source(
    up: str | None, vocabulary: str, *, is_unity: bool
) -> None:
    assert is_y_up(up, vocabulary) == is_unity
