"""The library of worked examples: questions with their Cypher, written out in the words of the scene that is asked.

The files have an example a line, in which `$object` and the like stand for a class or an affordance (`SLOTS`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import cache, lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import islice, pairwise
from string import Template
from typing import Final, Self, TypeAlias

from pydantic import BaseModel, ConfigDict

from scenecypher.db.store.enumerations import ByIdentity, Enumerations, literal
from scenecypher.db.vocabulary import DEFAULT, conventions_of
from scenecypher.meaning import NO_MEANING, Meaning
from scenecypher.words import SHORT, stems, stems_of


class Mention(IntEnum):
    """The part of a name that a text holds."""

    NONE = 0
    PART = 1
    WHOLE = 2


@dataclass(frozen=True, slots=True)
class Mentions:
    """The stems of a text's words."""

    words: frozenset[str]

    @classmethod
    def of(cls, text: str) -> Self:
        """Return the stems of `text`, and each two neighbours joined (``table lamp``, ``tablelamp``)."""
        words = stems(text)
        return cls(frozenset(words) | {one + other for one, other in pairwise(words)})

    def restricted_to(self, words: frozenset[str]) -> Mentions:
        """Keep these words only. With `words_of` some names, each of them is mentioned as before."""
        return Mentions(self.words & words)

    def mention(self, name: str) -> Mention:
        """Return WHOLE if the text mentions all of `name`, PART for a word of it, else NONE."""
        words = stems_of(name)
        if words and ("".join(words) in self.words or self.words.issuperset(words)):
            return Mention.WHOLE
        return Mention.PART if any(len(word) >= SHORT and word in self.words for word in words) else Mention.NONE


def words_of(names: Iterable[str]) -> frozenset[str]:
    """Return all words by which a text may mention one of `names`."""
    return frozenset(word for words in map(stems_of, names) for word in (*words, "".join(words)))


COMMON: Final = frozenset(
    stems(
        "a an and are be before can do does from has have i in is it many much of or the there to what where which with"
    )
)
SLOTS: Final[Mapping[str, tuple[str, str]]] = {
    "object": ("Object", "cup mug book plate pillow towel key glass phone ball"),
    "object2": ("Object", "bottle bowl spoon notebook knife pen apple box"),
    "asset": ("Asset", "chair couch sofa bed bench shelf sink"),
    "surface": ("Asset", "table desk counter shelf nightstand bed"),
    "container": ("Asset", "cabinet fridge refrigerator cupboard closet drawer dresser locker"),
    "device": ("Asset", "light lamp television tv computer microwave printer"),
    "room": ("Place", "kitchen bedroom office bathroom living hall"),
    "room2": ("Place", "bathroom living dining storage lab office"),
    "switchable": ("affordances", "has_switch turn_on toggle"),
    "openable": ("affordances", "can_open open openable"),
    "portable": ("affordances", "grabbable pick_up pickupable"),
}
"""Where the words for a slot come from, classes of a kind or affordances, and the words to prefer, the best first."""
FORMS: Final = {
    "count": r"how (many|often|much)\b|\bnumber of\b|\bcount\b",
    "negation": r"\b(no|not|nor|none|nothing|nobody|never|neither|nowhere|without|besides|except|empty|lacks?)\b|n't\b",
    "each": r"\b(each|every|per)\b",
    "most": r"\b(most|least|fewest)\b|\b(larg|bigg|small|near|clos|farth|furth|high|long|short|old|new|low)est\b"
    r"(?! (way|path|route))",
    "comparison": r"\b(more|fewer|less|than|as many)\b",
    "path": r"\b(way|path|route|through|reached?|pass(es)?|lead)\b",
    "both": r"\bboth\b(?! included)|\bas well as\b",
    "yes or no": r"^(is|are|does|do|did|has|have|was|were|can|could|may|will)\b",
    "place": r"^(where|in (which|what) rooms?)\b|\b(which|what) rooms? (is|are)\b",
    "state": r"\b(open|closed|locked|dirty|clean)\b|\b(switched|turned) (on|off)\b|(?<!so )\b(on|off)([?.!]|$)",
    "existence": r"^(is|are) there (an?|any)\b",
    "all": r"^\w+ all\b|\bonly\b",
}
"""The forms of questions, each with the words that show it."""
FURTHER_FORM: Final = 0.1
"""What an example loses by each form that the question does not have, where the forms of the question count 1."""
_FORMS: Final = {form: re.compile(words, re.IGNORECASE) for form, words in FORMS.items()}
_SLOT: Final = re.compile(r"\$([a-z_]+?)s?2?\b")
_LAST_LETTER: Final = re.compile(r"([a-z])(?=\d?$)")
_PLAIN: Final = re.compile(r"[\w -]+")
CHAIN: Final = "INSIDE|ON|UNDER|ATTACHED_TO*1..5"
"""What leads from a thing to its room where not each is INSIDE its room."""
Things: TypeAlias = frozenset[tuple[str, str]]
"""Stems of the words for a scene's things and colours, each with the word that stands for all of that kind."""


class Example(BaseModel):
    """One line of a library file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    question: str
    cypher: str

    @property
    def words(self) -> str:
        """The question with the slots' names as words."""
        return self.question.replace("$", "")

    def written_out(self, words: Mapping[str, str]) -> Example | None:
        """Return the example with `words` for its slots, None if one is missing."""
        quoted = {name: word if name in {"in_room", "joins"} else literal(word) for name, word in words.items()}
        try:
            return Example(question=told(self.question, words), cypher=Template(self.cypher).substitute(quoted))
        except KeyError:
            return None


def told(text: str, words: Mapping[str, str]) -> str:
    """Return a sentence with `words` for its slots, in plain English; `$objects` is the plural. Raises KeyError."""
    plain = {name: word.replace("_", " ") for name, word in words.items()}
    plural = {_LAST_LETTER.sub(r"\1s", name): _plural(word) for name, word in plain.items()}
    return Template(text).substitute(plain | plural)


@cache
def library(vocabulary: str) -> tuple[Example, ...]:
    """Return the examples of a vocabulary, or the default's if it has none of its own."""
    own, others = (files(conventions_of(name).texts) / "queries.jsonl" for name in (vocabulary, DEFAULT))
    return read_examples(own if own.is_file() else others)


@cache
def home_library() -> tuple[Example, ...]:
    """Return the examples for scenes with furniture."""
    return read_examples(files("scenecypher.retriever") / "home_queries.jsonl")


@cache
def map_library() -> tuple[Example, ...]:
    """Return the examples for robots' maps."""
    return read_examples(files("scenecypher.retriever") / "map_queries.jsonl")


def examples_for(
    vocabulary: str,
    question: str,
    count: int,
    occurring: Enumerations,
    *,
    is_map: bool = False,
    meaning: Meaning = NO_MEANING,
) -> tuple[Example, ...]:
    """Return the `count` examples of a vocabulary that are nearest to a question, in words of the scene.

    A scene with furniture has those of homes besides, a robot's map those of maps. Kept for the questions asked last.
    """
    return _examples_for((vocabulary, is_map), question, count, ByIdentity(occurring), (meaning, meaning.state))


@lru_cache(maxsize=32)
def _examples_for(
    known: tuple[str, bool], question: str, count: int, same: ByIdentity, by: tuple[Meaning, tuple[int, bool]]
) -> tuple[Example, ...]:
    vocabulary, is_map = known
    homes, maps = home_library() if has_furniture(same.of) else (), map_library() if is_map else ()
    words, things = words_for(same.of, question), _things(same)
    ranked = _by_nearness((*library(vocabulary), *homes, *maps), question, *by, things)
    written = (it for one in ranked if (it := one.written_out(words)))
    return (*islice(written, count),)[::-1]


def has_furniture(occurring: Enumerations) -> bool:
    """Check if a scene has furniture or appliances."""
    return any(kind == "Asset" and number for kind, number in occurring.kinds)


def words_for(occurring: Enumerations, question: str = "") -> Mapping[str, str]:
    """Return words of a scene for the slots: preferred ones that the question does not mention, else frequent ones."""
    return _words_for(ByIdentity(occurring), question)


@lru_cache(maxsize=32)
def _words_for(same: ByIdentity, question: str) -> Mapping[str, str]:
    occurring, mentions, found = same.of, Mentions.of(question), dict[str, str]()
    for name, (source, preferred) in SLOTS.items():
        known = [word for word in _occurring(occurring, source) if _PLAIN.fullmatch(word)]
        others = [it for it in known if it not in found.values() and mentions.mention(it) != Mention.WHOLE]
        free = (others or known) if source != "affordances" else [it for it in known if it in preferred.split()]
        wanted = (it for word in preferred.split() for it in free if word in it.split("_") or it.endswith(word))
        if word := next(wanted, None) or next(iter(free), None):
            found[name] = word
    return found | _relations(occurring)


def nearest_examples(
    examples: tuple[Example, ...], question: str, *, count: int, meaning: Meaning = NO_MEANING
) -> tuple[Example, ...]:
    """Return the `count` examples that are nearest to `question`, the nearest last."""
    return _by_nearness(examples, question, meaning, meaning.state, frozenset())[:count][::-1]


@lru_cache(maxsize=1_024)
def _by_nearness(
    examples: tuple[Example, ...], question: str, meaning: Meaning, _state: tuple[int, bool], things: Things
) -> tuple[Example, ...]:
    """Return all examples, the one that helps most first; ties in file order.

    It has the forms of the question, shares most of its words and, if `meaning` knows vectors, means most nearly the
    same. Each further one is the better the more it has of the words that those before it lack: "the balls in a room
    next to one with 3 keys" needs an example of neighbours and one of numbers.
    """
    asked, forms = _words(question, things), forms_of(question)
    words = {one.question: _words(one.question, things) for one in examples}
    known = {one.question: one.words for one in examples}
    cosines = {it.word: it.cosine for it in meaning.nearest(question, [*known.values()], least=-1, limit=len(known))}
    near = {
        it: _shared(asked, words[it]) + _fit(forms, forms_of(plain)) + cosines.get(plain, 0.0)
        for it, plain in known.items()
    }
    left, ranked, missing = list(examples), list[Example](), asked & frozenset().union(*words.values())
    while missing and left:
        best = max(left, key=lambda one: near[one.question] + len(missing & words[one.question]) / len(asked))
        missing -= words[best.question]
        left.remove(best)
        ranked.append(best)
    return (*ranked, *sorted(left, key=lambda one: -near[one.question]))


@lru_cache(maxsize=1_024)
def forms_of(question: str) -> frozenset[str]:
    """Return the forms of a question, by its words; ``list`` if it has no other than a state."""
    found = frozenset(form for form, words in _FORMS.items() if words.search(question.strip()))
    return found if found - {"state"} else found | {"list"}


def read_examples(file: Traversable) -> tuple[Example, ...]:
    """Return the examples of a file, one a line."""
    return tuple(Example.model_validate_json(line) for line in file.read_text(encoding="utf-8").splitlines())


def _occurring(occurring: Enumerations, source: str) -> list[str]:
    """Return the words of a slot's source, the most frequent first."""
    if source == "affordances":
        return [use.value for use in occurring.affordances]
    uses = sorted((use for use in occurring.classes if use.kind == source), key=lambda use: (-use.count, use.name))
    return [use.name for use in uses]


def _relations(occurring: Enumerations) -> dict[str, str]:
    """Return the relation types that lead from a thing to its room, and those that join rooms and doors, if any."""
    joins = next((it for it in ("CONNECTS", "BETWEEN") if _count(occurring, "Door", it, "Place")), "")
    return {"in_room": chain_to_room(occurring)} | ({"joins": joins} if joins else {})


def chain_to_room(occurring: Enumerations) -> str:
    """Return what leads from a thing to its room: INSIDE where each is INSIDE one, else a chain."""
    things = dict(occurring.kinds).get("Object", 0)
    return "INSIDE" if _count(occurring, "Object", "INSIDE", "Place") >= things else CHAIN


def _count(occurring: Enumerations, *pattern: str) -> int:
    return sum(it.count for it in occurring.patterns if (it.source, it.type, it.target) == pattern)


def _plural(word: str) -> str:
    if word.endswith(("s", "x", "ch", "sh")):
        return f"{word}es"
    return f"{word[:-1]}ies" if word.endswith("y") and word[-2:-1] not in set("aeiou") else f"{word}s"


@lru_cache(maxsize=4_096)
def _words(question: str, things: Things) -> frozenset[str]:
    """Return the words of a question; one word stands for all things of a kind, and for the slots of that kind."""
    kinds = dict(things)
    text = _SLOT.sub(lambda slot: f" any{SLOTS[slot[1]][0]} " if slot[1] in SLOTS else slot[0], question)
    found = (kinds.get(it, it) for it in stems(text) if not it.isdigit())
    return frozenset(it.casefold() for it in found) - COMMON


@lru_cache(maxsize=32)
def _things(same: ByIdentity) -> Things:
    """Return the words for a scene's furniture, objects and colours."""
    colors = (it for use in same.of.properties if use.name == "color" for it in use.values if isinstance(it, str))
    named = dict.fromkeys(words_of(colors), "anycolor")
    for kind in ("Asset", "Object"):
        named |= dict.fromkeys(words_of(use.name for use in same.of.classes if use.kind == kind), f"any{kind}")
    return frozenset(named.items())


def _fit(asked: frozenset[str], forms: frozenset[str]) -> float:
    """Return the part of the question's forms that an example has, less `FURTHER_FORM` for each that it has besides."""
    return len(asked & forms) / len(asked) - FURTHER_FORM * len(forms - asked)


def _shared(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the part of all words of two sets that both have."""
    return len(one & other) / len(one | other) if one & other else 0.0
