"""Words of a question, each with what a scene calls it: classes, states, affordances, values, names and labels."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final, TypeAlias

from scenecypher.db.store.enumerations import ByIdentity, ClassUse, Enumerations, literal
from scenecypher.meaning import Meaning
from scenecypher.retriever.mentions import stems

LinkedWords: TypeAlias = tuple[tuple[str, str], ...]
"""Words or phrases of a question, each with what it may be in the scene."""

KEPT: Final = 32
"""Questions and scenes whose words are kept; each keeps the counts of its scene in memory."""
SHORTEST: Final = 2
COMPOUND: Final = 4
"""Letters of the shortest word that is looked for at the end of others: lamp in tablelamp."""
LINKS_A_WORD: Final = 6
CLASSES_A_WORD: Final = 2
CLASSES_A_PHRASE: Final = 3
LEAST_OF_A_PHRASE: Final = 0.2
"""Least cosine of all new words together, where none alone is near a class: "drink" and cup have 0.24."""
LABELS: Final[Mapping[str, str]] = {
    **dict.fromkeys(stems("room place"), "Place"),
    **dict.fromkeys(stems("furniture appliance"), "Asset"),
    **dict.fromkeys(stems("object"), "Object"),
    **dict.fromkeys(stems("door"), "Door"),
    **dict.fromkeys(stems("agent robot character person human"), "Agent"),
}
"""Stems of words that stand for all nodes with a label."""
GENERAL: Final = frozenset(
    stems(
        "a about all an and any are as at be been before by can could did do does for from get go had has have he her "
        "here him his how i if in is it its item list many may me more most much must my near nearest no not of off on "
        "one only or other our put she should show some something tell than that the their them there these they thing "
        "this those to two up us want was we were what when where which who why will with you your class kind "
        "sort piece give name hold holds list order so also but both into between"
    )
)
"""Stems of words that say nothing of a thing."""
_WORD: Final = re.compile(r"[^\W\d_]+")
_NAME: Final = re.compile(r"\w[\w-]*")
_ABLE: Final = re.compile(r"\b(?:can|could|able|possible)\b", re.IGNORECASE)
_SWITCHED: Final = re.compile(r"\b(?:switched|turned) (on|off)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Words:
    """What a scene calls its things, by the stems that a question may have of it."""

    classes: Mapping[str, tuple[ClassUse, ...]]
    values: Mapping[str, tuple[str, ...]]

    @staticmethod
    @lru_cache(maxsize=KEPT)
    def of(same: ByIdentity, *, is_about_ability: bool = False) -> _Words:
        """Return the words of a scene; affordances beside a state of the same word only if they are asked for."""
        occurring = same.of
        classes, values = defaultdict[str, list[ClassUse]](list), defaultdict[str, list[str]](list)
        for use in sorted(occurring.classes, key=lambda use: (-use.count, use.name)):
            parts = stems(use.name)
            for key in dict.fromkeys((*parts, "".join(parts)) if parts else ()):
                classes[key].append(use)
        told = [(it.value, f"{literal(it.value)} IN n.states") for it in occurring.states]
        states = {stem for it in occurring.states for stem in stems(it.value)}
        told += [
            (it.value, f"{literal(it.value)} IN n.affordances")
            for it in occurring.affordances
            if is_about_ability or not states.intersection(stems(it.value))
        ]
        told += [
            (value, use.test(value)) for use in occurring.properties for value in use.values if isinstance(value, str)
        ]
        for value, text in told:
            for key in dict.fromkeys(stems(value)):
                values[key].append(text)
        return _Words(
            {key: tuple(uses) for key, uses in classes.items()}, {key: tuple(it) for key, it in values.items()}
        )


def linked_words(question: str, occurring: Enumerations, meaning: Meaning) -> LinkedWords:
    """Return what the words of `question` stand for in the scene; kept for the questions asked last."""
    return _linked_words(question, ByIdentity(occurring), meaning, meaning.state)


@lru_cache(maxsize=KEPT)
def _linked_words(question: str, same: ByIdentity, meaning: Meaning, _state: tuple[int, bool]) -> LinkedWords:
    """Return the words of `question` that stand for something in the scene, each with all that it may stand for.

    Where a question mentions no class, and none of its words is near one, its new words are compared as one phrase.
    """
    occurring = same.of
    known, found = _Words.of(same, is_about_ability=bool(_ABLE.search(question))), dict[str, str]()
    names = frozenset(occurring.names)
    for name in _NAME.findall(question):
        if name in names and not name.isalpha():
            found[name] = f"({':' + kind if (kind := kind_of(name, occurring)) else 'n'} {{name: {literal(name)}}})"
    states = {use.value for use in occurring.states}
    for state in (it.casefold() for it in _SWITCHED.findall(question)):
        if state in states:
            found[state] = f"{literal(state)} IN n.states"
    rest = _NAME.sub(lambda it: "" if it[0] in found else it[0], _SWITCHED.sub("", question))
    words = _words(rest, known)
    for word in words:
        if links := _links(word, occurring, known, meaning):
            found[word] = links
    if words and not found:
        phrase = " ".join(words)
        near = meaning.nearest(phrase, _names(occurring), limit=CLASSES_A_PHRASE, least=LEAST_OF_A_PHRASE)
        found |= {phrase: f"perhaps class {' or '.join(literal(it.word) for it in near)}"} if near else {}
    return tuple(found.items())


def kind_of(name: str, occurring: Enumerations) -> str:
    """Return the kind of the things with a name; empty if there are none, or of several kinds."""
    return next((kind for known, kind in occurring.name_kinds if known == name), "")


def classes_named(word: str, occurring: Enumerations) -> tuple[str, ...]:
    """Return the classes of a scene that a word may name, as `linked_words` finds them, without its own spelling."""
    uses = _classes("".join(stems(word)), _Words.of(ByIdentity(occurring)))
    return tuple(dict.fromkeys(use.name for use in uses if use.name != word))


def _words(question: str, known: _Words) -> list[str]:
    """Return the words that may stand for something; two neighbours are one if a class has both."""
    words = [it for it in _WORD.findall(question.casefold()) if len(it) >= SHORTEST]
    pairs = [(one, other) for one, other in pairwise(words) if "".join(stems(f"{one} {other}")) in known.classes]
    paired = {word for pair in pairs for word in pair}
    alone = (it for it in words if it not in paired and stems(it)[0] not in GENERAL)
    return [*dict.fromkeys((*(f"{one} {other}" for one, other in pairs), *alone))]


def _links(word: str, occurring: Enumerations, known: _Words, meaning: Meaning) -> str:
    """Return all that a word may stand for, as pieces of Cypher; nothing if that is nothing."""
    stem, kinds = _known_stem("".join(stems(word)), known), dict(occurring.kinds)
    classes = _classes(stem, known)
    is_exact = any("".join(stems(use.name)) == stem for use in classes)
    if not is_exact and kinds.get(LABELS.get(stem, "")):
        return f"any (:{LABELS[stem]})"
    values, near = known.values.get(stem, ())[:LINKS_A_WORD], list[ClassUse]()
    if values and not any(stems(use.name)[-1].endswith(stem) for use in classes):
        classes = ()
    if not is_exact and not values:
        words = [it.word for it in meaning.nearest(word, _names(occurring), limit=CLASSES_A_WORD)]
        near = [use for use in occurring.classes if use.name in words and use not in classes]
    told = (f"(:{use.kind} {{class: {literal(use.name)}}}) {use.count:,}" for use in (*classes, *near)[:LINKS_A_WORD])
    return ("" if classes or not near else "perhaps ") + ", ".join((*told, *values))


def _known_stem(stem: str, known: _Words) -> str:
    """Return a stem, without the ending of a past participle if only so it is known: opened, closed."""
    shorter = (stem.removesuffix(ending) for ending in ("", "ed", "d") if stem.endswith(ending))
    return next((it for it in shorter if it in known.values or it in known.classes), stem)


def _names(occurring: Enumerations) -> tuple[str, ...]:
    return tuple(dict.fromkeys(use.name for use in occurring.classes))


def _classes(stem: str, known: _Words) -> tuple[ClassUse, ...]:
    """Return the classes that a word names: those that end with it, as English compounds do, else those that hold it.

    The one that is the word itself stands first.
    """
    ends = [key for key in known.classes if key == stem or (len(stem) >= COMPOUND and key.endswith(stem))]
    named = dict.fromkeys(use for key in ends for use in known.classes[key] if stems(use.name)[-1].endswith(stem))
    found = named or dict.fromkeys(known.classes.get(stem, ()))
    return tuple(sorted(found, key=lambda use: ("".join(stems(use.name)) != stem, -use.count, use.name)))
