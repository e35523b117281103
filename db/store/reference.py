"""What words of people and models mean in a scene: nodes, classes, values of properties, and words of any list."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from scenecypher.db.graph.change import value_of
from scenecypher.db.graph.scene import GraphView, SceneGraph
from scenecypher.db.graph.value import Value
from scenecypher.errors import UnknownReference, did_you_mean
from scenecypher.words import compounds, spelt_as

CANDIDATES_SHOWN: Final = 10
"""Cap on the candidates listed in an error."""


def resolve_reference(graph: GraphView, text: str) -> str:
    """Return the id of the only node that `text` can mean: by id, then unique name, then unique class.

    Raises UnknownReference with the candidates if there are several, with the nearest words if there is none.
    """
    wanted = unicodedata.normalize("NFC", text)
    if not (wanted in graph.nodes or graph.by_name.get(wanted) or graph.by_class.get(wanted)):
        wanted = wanted.strip()
    for found in ([wanted] if wanted in graph.nodes else [], graph.by_name.get(wanted), graph.by_class.get(wanted)):
        if found:
            return single(text, [*found])
    words = list({word for it in graph.nodes.values() for word in (it.id, it.name, it.class_)})
    near = did_you_mean(wanted, words)
    raise UnknownReference(f"there is no {text[:100]!r} in this scene{near}; use the id of a node in it", text, words)


def single(text: str, found: Sequence[str], better: str = "use the id of one of them") -> str:
    """Return the only node that was found for a text. Raises UnknownReference, which says what is `better`."""
    if len(found) == 1:
        return found[0]
    listed = ", ".join(found[:CANDIDATES_SHOWN]) + (", …" if len(found) > CANDIDATES_SHOWN else "")
    raise UnknownReference(f"{text[:60]!r} can mean several things: {listed}; {better}")


def found_in(word: str, here: Sequence[str]) -> str | None:
    """Return the one of the words `here` that is meant, whatever its case; None if none is."""
    return {_folded(it): it for it in reversed(here)}.get(_folded(word))


def one_of(what: str, word: str, here: Sequence[str]) -> str:
    """Return the one of the words `here` that is meant, whatever its case. Raises UnknownReference."""
    found = found_in(word, here)
    if found is None:
        message = f"no {what} {word[:60]!r} occurs in this scene{did_you_mean(word[:60], here)}; use one that does"
        raise UnknownReference(message, word[:60], here)
    return found


def value_words(value: Value) -> list[str]:
    """Return the words by which a property's value is known: each of a list's, and last that of the whole."""
    return [*map(str, value), ", ".join(map(str, value))] if isinstance(value, tuple) else [str(value)]


@dataclass(frozen=True)
class SceneWords:
    """The words of a scene, in any case and number.

    `elsewhere` are classes that may be named though none is known, in a belief that is incomplete. `synonyms` are words
    for a class, by a word that the scene may lack.
    """

    graph: SceneGraph
    elsewhere: frozenset[str] = field(default=frozenset(), kw_only=True)
    synonyms: Mapping[str, Sequence[str]] = field(default_factory=dict, kw_only=True)

    @cached_property
    def classes(self) -> tuple[str, ...]:
        """The classes that may be named."""
        return (*sorted(self.graph.by_class), *sorted(self.elsewhere - self.graph.by_class.keys()))

    def is_node(self, word: str) -> bool:
        """Check if a word is the id of a node, or the name of one alone."""
        return word in self.graph.nodes or len(self.graph.by_name.get(word, ())) == 1

    def class_named(self, word: str) -> str | None:
        """Return the class that a word means, else the only compound that ends with it, such as food_egg for egg."""
        for said in (word, *self.synonyms.get(_folded(word), ())):
            if found := spelt_as(said, self.classes):
                return found
        is_name = word in self.graph.nodes or word in self.graph.by_name
        alike = () if is_name else compounds(word, self.classes)
        return alike[0] if len(alike) == 1 else None

    def class_of_several(self, word: str) -> str | None:
        """Return the class that a word means if it is that of several nodes, and the word no id or name of one."""
        class_ = None if self.is_node(word) else self.class_named(word)
        return class_ if len(self.graph.by_class.get(class_ or "", ())) > 1 else None

    def values(self, key: str) -> dict[Value, list[str]]:
        """Return the values of a property, each with its words."""
        found = dict.fromkeys(it for node in self.graph.nodes.values() if (it := value_of(node, key)) is not None)
        return {it: value_words(it) for it in found}


def _folded(word: str) -> str:
    return word.strip().casefold().replace(" ", "_")
