"""Random problems of the three domains in `data/`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Final

DATA: Final = Path(__file__).parent / "data"


def gripper(random: Random) -> str:
    """Return balls in rooms and a robot with one or two grippers."""
    rooms = _names("room", random.randint(2, 4))
    balls, grippers = _names("ball", random.randint(1, 4)), ["left", "right"][: random.randint(1, 2)]
    init = [f"(robot-at robby {random.choice(rooms)})", *(f"(at {ball} {random.choice(rooms)})" for ball in balls)]
    init += [f"(free {gripper})" for gripper in grippers]
    objects = f"{' '.join(rooms)} - room {' '.join(balls)} - ball {' '.join(grippers)} - gripper robby - robot"
    goal = f"(and {' '.join(f'(at {ball} {rooms[0]})' for ball in balls)})"
    return problem("two-grippers", objects, init, goal)


def blocks(random: Random) -> str:
    """Return towers of blocks."""
    names = _names("block", random.randint(2, 6))
    towers: list[list[str]] = []
    init = ["(hand-empty)"]
    for block in names:
        if towers and random.random() < 0.5:
            tower = random.choice(towers)
            init.append(f"(on {block} {tower[-1]})")
            tower.append(block)
        else:
            towers.append([block])
            init.append(f"(on-table {block})")
    init += [f"(clear {tower[-1]})" for tower in towers]
    return problem("blocks-and-an-arm", " ".join(names), init, "(forall (?x) (on-table ?x))")


def kitchen(random: Random) -> str:
    """Return rooms with cupboards, tables and dishes, some dirty."""
    rooms, cupboards = _names("room", random.randint(2, 3)), _names("cupboard", random.randint(1, 3))
    tables, dishes = _names("table", random.randint(1, 3)), _names("dish", random.randint(1, 4))
    tools = _names("tool", random.randint(1, 2))
    init = ["(= (total-cost) 0)", f"(robot-in {random.choice(rooms)})"]
    init += [f"(stands-in {it} {random.choice(rooms)})" for it in (*cupboards, *tables, "sink")]
    init += [f"(joined {one} {other})" for one, other in pairwise(rooms)]
    for item in (*dishes, *tools):
        on = f"(on {item} {random.choice(tables + cupboards)})"
        init.append(on if random.random() < 0.6 else f"(in {item} {random.choice(cupboards)})")
        init += [f"(wet {item})"] if random.random() < 0.3 else []
    init += [f"(dirty {dish})" for dish in dishes if random.random() < 0.5]
    init += [f"(opened {cupboard})" for cupboard in cupboards if random.random() < 0.5]
    typed = (("room", rooms), ("cupboard", cupboards), ("table", tables), ("dish", dishes), ("tool", tools))
    objects = " ".join(f"{' '.join(names)} - {type_}" for type_, names in typed) + " robby - robot"
    stowed = "(exists (?d - dish ?c - cupboard) (in ?d ?c))"
    return problem("small-kitchen", objects, init, f"(and (forall (?d - dish) (not (dirty ?d))) {stowed})")


def problem(domain: str, objects: str, init: list[str], goal: str) -> str:
    """Return a problem as PDDL."""
    facts = "\n    ".join(init)
    return (
        f"(define (problem random)\n  (:domain {domain})\n  (:objects {objects})\n"
        f"  (:init\n    {facts})\n  (:goal {goal}))\n"
    )


DOMAINS: Final[Mapping[str, Callable[[Random], str]]] = {"gripper": gripper, "blocks": blocks, "kitchen": kitchen}
"""Makers of problems by the name of the domain's file."""


def _names(stem: str, count: int) -> list[str]:
    return [f"{stem}{number}" for number in range(count)]
