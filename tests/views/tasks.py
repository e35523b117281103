"""`python -m tests.views.tasks`: draw the pictures of ten tasks of `eval dynamic`: places, assets and containers.

A picture shows a thing from the front, with its name, and the things on it and in it as boxes with the names of their
classes; of what is closed it shows nothing inside, and a second picture shows it open.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

import numpy as np

from scenecypher.chat import Image
from scenecypher.db.graph.scene import Node, SceneGraph
from scenecypher.evaluation.dynamic import dynamic
from scenecypher.evaluation.views import CLOSED, CONTAINMENT, OPEN, OPENED, bundled_pictures
from scenecypher.planner.perception.picture import encode_png

TASKS: Final = tuple(
    f"behavior-1k/{name}"
    for name in (
        *("assembling_gift_baskets", "buy_dog_food", "clearing_the_table_after_dinner", "loading_the_car"),
        *("organizing_art_supplies", "boxing_books_up_for_storage", "donating_toys", "moving_stuff_to_storage"),
        *("organizing_office_documents", "packing_books_into_car"),
    )
)
"""Five in which a thing has moved, and five in which none has."""
WIDTH, LINE, STEP = 300, 20, 24
COLORS: Final = ((250, 250, 245), (222, 232, 245), (240, 226, 210), (224, 240, 222))


def starts() -> Iterator[tuple[str, SceneGraph]]:
    """Yield the tasks with the graphs in which their episodes begin."""
    made = dynamic.plan(data="behavior", methods="lookplangraph-gt")
    yield from ((it.task, made.assignments.of(it).initial) for it in made.episodes() if it.task in TASKS)


def names(graph: SceneGraph) -> Iterator[tuple[Node, bool]]:
    """Yield what a task has pictures of, and if it is opened in them."""
    for node in graph.nodes.values():
        if node.kind in {"Place", "Asset"} or contents(graph, node.id):
            yield node, False
            if CLOSED in node.states and contents(graph, node.id, is_open=True):
                yield node, True


def contents(graph: SceneGraph, of: str, *, is_open: bool = False) -> list[tuple[str, Node]]:
    """Return the objects that can be seen in and on a node, with their relation to it."""
    hidden = {"INSIDE"} if CLOSED in graph.nodes[of].states and not is_open else set[str]()
    found = [
        (type_, graph.nodes[it]) for type_ in CONTAINMENT if type_ not in hidden for it in graph.sources(of, type_)
    ]
    return sorted(((type_, it) for type_, it in found if it.kind == "Object"), key=lambda it: (it[0], it[1].id))


def drawn(graph: SceneGraph, node: Node, *, is_open: bool = False) -> Image:
    """Return the picture of a node, as it is or opened."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    import pygame

    pygame.font.init()
    font = pygame.font.Font(None, 18)
    states = (OPEN,) if is_open else node.states
    lines = [(0, _label(node.class_, states)), *_lines(graph, node, 1, is_open=is_open)]
    surface = pygame.Surface((WIDTH, len(lines) * STEP + 8))
    surface.fill((255, 255, 255))
    for number, (depth, words) in enumerate(lines):
        box = pygame.Rect(6 + depth * 18, 4 + number * STEP, WIDTH - 12 - depth * 18, LINE)
        pygame.draw.rect(surface, COLORS[depth % len(COLORS)], box)
        pygame.draw.rect(surface, (90, 90, 90), box, 1)
        surface.blit(font.render(words, True, (20, 20, 20)), (box.x + 5, box.y + 4))  # noqa: FBT003 - pygame's
    pixels = np.ascontiguousarray(np.transpose(pygame.surfarray.array3d(surface), (1, 0, 2)))
    return encode_png(pixels.tobytes(), width=WIDTH, height=pixels.shape[0])


def _lines(graph: SceneGraph, node: Node, depth: int, *, is_open: bool = False) -> Iterator[tuple[int, str]]:
    for type_, thing in contents(graph, node.id, is_open=is_open):
        yield depth, f"{'on it' if type_ == 'ON' else 'in it'}: {_label(thing.class_, thing.states)}"
        yield from _lines(graph, thing, depth + 1)


def _label(class_: str, states: tuple[str, ...]) -> str:
    told = [it for it in states if it in {OPEN, CLOSED, "on", "off"}]
    return class_.replace("_", " ") + (f" ({', '.join(told)})" if told else "")


def name_of(node: Node, *, is_open: bool) -> str:
    """Return the name of a picture's file, without its ending."""
    return f"{node.id}{OPENED}" if is_open else node.id


def main() -> None:
    """Write all files."""
    for task, graph in starts():
        for node, is_open in names(graph):
            file = bundled_pictures() / task / f"{name_of(node, is_open=is_open)}.png"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(drawn(graph, node, is_open=is_open).data)


if __name__ == "__main__":
    main()
