"""Requests as text files: parts that many prompts share are kept once, ablations as what they change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import unified_diff
from importlib.resources import files
from pathlib import Path
from typing import Final

from scenecypher.chat.model import Message, Request
from scenecypher.db.store.enumerate import Enumerator
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.db.vocabulary import conventions_of
from scenecypher.planner.methods import METHODS
from scenecypher.planner.prompts.texts import functions
from scenecypher.planner.sessions.tools import tools_text
from scenecypher.planner.vocabularies.vocabulary import action_list, vocabulary_named
from scenecypher.retriever.schema_text import schema_text
from tests.planner.actions.test_operators import put
from tests.prompts.episodes import WORLDS, TinyWorld, play, variants

FOLDER: Final = Path(__file__).parent / "rendered"
SHORT: Final = 200
"""Parts of fewer characters are not shared."""


def all_files(store: SceneStore, vocabulary: str) -> Mapping[str, str]:
    """Return the content of each file of a vocabulary by its name."""
    (world,) = (one for one in WORLDS if one.vocabulary == vocabulary)
    parts = shared_parts(store, world)
    texts: dict[str, str] = {}
    bases: dict[str, str] = {}
    for method, ablations in variants():
        text = rendered(play(store, world, method, ablations), parts)
        if not ablations:
            bases[method] = texts[method] = text
        else:
            (switch,) = ablations
            texts[method] += f"\n\n##### --ablation {switch}\n{_changes(bases[method], text)}"
    kept = {name: text for name, text in parts.items() if not name.startswith("examples/")}
    named = {**texts, **{f"part-{name}": text for name, text in kept.items()}}
    return {f"{vocabulary}/{name}.txt": f"{text}\n" for name, text in named.items()}


def shared_parts(store: SceneStore, world: TinyWorld) -> dict[str, str]:
    """Return the parts that prompts share, by name; worked examples are files already."""
    chosen = vocabulary_named(world.vocabulary)
    scene = put(store, world.graph, vocabulary=world.vocabulary)
    known = Enumerator(store.replicas).of(scene)
    listed = chosen.words.listed
    parts = {
        "schema-nameless": schema_text(known, world.instruction, vocabulary=world.vocabulary, names=False),
        "environment": chosen.words.environment,
        "actions": action_list(chosen.operators, chosen.macros),
        "actions-listed": action_list({name: chosen.operators[name] for name in listed or ()}),
        "functions-stepwise": functions(world.vocabulary, "stepwise"),
        "functions-whole": functions(world.vocabulary, "whole"),
        "tools": tools_text(world.vocabulary),
        **{f"examples/{name}": text for name, text in _examples(world.vocabulary)},
    }
    unique: dict[str, str] = {}
    for name, text in parts.items():
        if len(text) >= SHORT and text not in unique.values():
            unique[name] = text
    return unique


def _examples(vocabulary: str) -> Iterator[tuple[str, str]]:
    folder = files(conventions_of(vocabulary).texts) / "examples"
    for file in sorted(folder.iterdir(), key=lambda one: one.name):
        if file.name.endswith(".txt"):
            yield file.name, file.read_text(encoding="utf-8").strip()


def rendered(requests: Sequence[Request] | str, parts: Mapping[str, str]) -> str:
    """Return the requests as text: of each only the messages that no earlier one had."""
    if isinstance(requests, str):
        return f"##### refused\n{requests}"
    shown: list[tuple[Message, ...]] = []
    blocks: list[str] = []
    for number, request in enumerate(requests, 1):
        known, which = max(((_common(request.messages, one), n) for n, one in enumerate(shown, 1)), default=(0, 0))
        after = f", which begins with the first {known} of request {which}" if known else ""
        blocks.append(f"##### request {number}{after}")
        blocks += [f"### {message.role}\n{_with_names(message.text, parts)}" for message in request.messages[known:]]
        shown.append(request.messages)
    return "\n".join(blocks)


def _common(one: Sequence[Message], other: Sequence[Message]) -> int:
    """Return how many messages two requests have in common at their beginning."""
    pairs = zip(one, other, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _with_names(text: str, parts: Mapping[str, str]) -> str:
    """Return a text in which shared parts are named only; the longest first."""
    for name, part in sorted(parts.items(), key=lambda pair: -len(pair[1])):
        text = text.replace(part, f"<<{name}>>")
    return text


def _changes(base: str, text: str) -> str:
    """Return what an ablation changes, line by line."""
    if base == text:
        return "(the same)"
    lines = unified_diff(base.splitlines(), text.splitlines(), lineterm="", n=0)
    return "\n".join(line for line in lines if not line.startswith(("---", "+++", "@@")))


def folder_size() -> int:
    """Return the size of all files in bytes."""
    return sum(file.stat().st_size for file in FOLDER.rglob("*.txt"))


def methods_rendered() -> list[str]:
    """Return the methods that have files."""
    return [name for name, recipe in METHODS.items() if recipe.model]
