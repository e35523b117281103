"""Words of a question, each with what a scene calls it: classes, states, affordances, values, names and labels."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final, TypeAlias

from scenecypher.db.schema import ENTITY
from scenecypher.db.store.enumerations import ByIdentity, ClassUse, Enumerations, literal
from scenecypher.meaning import NO_MEANING, Meaning
from scenecypher.retriever.library import words_of
from scenecypher.words import COMPOUND, named_by, stems

LinkedWords: TypeAlias = tuple[tuple[str, str], ...]
"""Words or phrases of a question, each with what it may be in the scene."""

KEPT: Final = 32
"""Questions and scenes whose words are kept; each keeps the counts of its scene in memory."""
SHORTEST: Final = 2
LINKS_A_WORD: Final = 6
CLASSES_A_WORD: Final = 2
CLASSES_A_PHRASE: Final = 3
LEAST_OF_A_PHRASE: Final = 0.2
"""Least cosine of what a thing is for, where nothing else is known of it: "drink" and cup have 0.24."""
LABELS: Final[Mapping[str, str]] = {
    **dict.fromkeys(stems("room place"), "Place"),
    **dict.fromkeys(stems("furniture appliance"), "Asset"),
    **dict.fromkeys(stems("object"), "Object"),
    "thing": ENTITY,
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
DESCRIBING: Final = frozenset(
    stems(
        "empty full clean dirty open closed new old big small large tall long wide heavy high low hot cold warm wet "
        "dry whole free broken same different first last next left right upper lower usual possible switch lie stand "
        "sit belong need carry keep move break own happen reach use wash see find become still"
    )
)
"""Stems of words for states and deeds: no name of a thing means what they mean."""
BE: Final = frozenset({"is", "are", "was", "were", "be", "been", "being", "am"})
NOT_BEFORE_A_THING: Final = frozenset(
    {"who", "nobody", "anyone", "anybody", "someone", "somebody", "everyone", "it", "they", "he", "she", "we", "i"}
    | {"you", "still", "not", "never", "longer", "ever"}
)
DETERMINERS: Final = frozenset(
    {"the", "a", "an", "any", "my", "your", "his", "her", "our", "their", "this", "these", "it"}
)
SIDES: Final = frozenset({"on", "in", "under", "at", "from", "near", "inside", "behind"})
_WORD: Final = re.compile(r"[^\W\d_]+")
_NAME: Final = re.compile(r"\w[\w-]*")
_ABLE: Final = re.compile(r"\b(?:can|could|able|possible)\b", re.IGNORECASE)
_SWITCHED: Final = re.compile(r"\b(?:switched|turned) (on|off)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Words:
    """What a scene calls its things: classes by name, the most frequent first, values by the stems of their words.

    `stems` are all that a question may have of a class.
    """

    classes: Mapping[str, tuple[ClassUse, ...]]
    stems: frozenset[str]
    values: Mapping[str, tuple[str, ...]]

    @staticmethod
    @lru_cache(maxsize=KEPT)
    def of(same: ByIdentity, *, is_about_ability: bool = False) -> _Words:
        """Return the words of a scene; affordances beside a state of the same word only if they are asked for."""
        occurring = same.of
        classes, values = defaultdict[str, list[ClassUse]](list), defaultdict[str, list[str]](list)
        for use in sorted(occurring.classes, key=lambda use: (-use.count, use.name)):
            classes[use.name].append(use)
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
            {name: tuple(uses) for name, uses in classes.items()},
            words_of(classes),
            {key: tuple(it) for key, it in values.items()},
        )


def linked_words(question: str, occurring: Enumerations, meaning: Meaning) -> LinkedWords:
    """Return what the words of `question` stand for in the scene; kept for the questions asked last."""
    return _linked_words(question, ByIdentity(occurring), meaning, meaning.state)


@lru_cache(maxsize=KEPT)
def _linked_words(question: str, same: ByIdentity, meaning: Meaning, _state: tuple[int, bool]) -> LinkedWords:
    """Return the words of `question` that stand for something in the scene, each with all that it may stand for.

    Where a question mentions no class, and none of its words is near one, what a thing is for is compared: to drink.
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
    words, things = _words(rest, known), _things(question)
    for word in words:
        if links := _links(word, occurring, known, meaning if things.get(word) else NO_MEANING):
            found[word] = links
    if not found and (phrase := " ".join(word for word in words if not things.get(word, True))):
        near = meaning.nearest(phrase, _names(occurring), limit=CLASSES_A_PHRASE, least=LEAST_OF_A_PHRASE)
        found |= {phrase: f"perhaps class {' or '.join(literal(it.word) for it in near)}"} if near else {}
    return tuple(found.items())


def kind_of(name: str, occurring: Enumerations) -> str:
    """Return the kind of the things with a name; empty if there are none, or of several kinds."""
    return next((kind for known, kind in occurring.name_kinds if known == name), "")


def classes_named(word: str, occurring: Enumerations) -> tuple[str, ...]:
    """Return the classes of a scene that a word may name, as `linked_words` finds them, without its own spelling."""
    return tuple(name for name in named_by(word, _Words.of(ByIdentity(occurring)).classes) if name != word)


def _words(question: str, known: _Words) -> list[str]:
    """Return the words that may stand for something; two neighbours are one if a class has both."""
    words = [it for it in _WORD.findall(question.casefold()) if len(it) >= SHORTEST]
    pairs = [(one, other) for one, other in pairwise(words) if "".join(stems(f"{one} {other}")) in known.stems]
    paired = {word for pair in pairs for word in pair}
    alone = (it for it in words if it not in paired and stems(it)[0] not in GENERAL)
    return [*dict.fromkeys((*(f"{one} {other}" for one, other in pairs), *alone))]


def _things(question: str) -> dict[str, bool]:
    """Return the words that may name a thing by where they stand, and with False those for a purpose: to drink.

    Words for deeds and states, and names of people, are left out: no class is near to them but by accident.
    """
    words, found = _WORD.findall(question), dict[str, bool]()
    plain = ["", "", *(word.casefold() for word in words), ""]
    for number, word in enumerate(words):
        _, before, one, _ = around = plain[number : number + 4]
        if before == "to":
            found.setdefault(one, False)
        elif not (_is_deed_or_state(*around) or (before and word.istitle())):
            found[one] = True
    return found


def _is_deed_or_state(earlier: str, before: str, word: str, after: str) -> bool:
    """Check if a word stands for what is done or how something is, between the two words before it and the next."""
    return (
        stems(word)[0] in DESCRIBING
        or (word.endswith("ed") and len(word) > COMPOUND)
        or before in NOT_BEFORE_A_THING
        or (before in BE and earlier not in {"", "where"})
        or after in DETERMINERS
        or (before in {"what", "which", "that"} and after in SIDES)
    )


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
    if not classes and not values:
        words = [it.word for it in meaning.nearest(word, _names(occurring), limit=CLASSES_A_WORD)]
        near = [use for use in occurring.classes if use.name in words]
    told = (f"(:{use.kind} {{class: {literal(use.name)}}}) {use.count:,}" for use in (*classes, *near)[:LINKS_A_WORD])
    return ("perhaps " if near else "") + ", ".join((*told, *values))


def _known_stem(stem: str, known: _Words) -> str:
    """Return a stem, without the ending of a past participle if only so it is known: opened, closed."""
    shorter = (stem.removesuffix(ending) for ending in ("", "ed", "d") if stem.endswith(ending))
    return next((it for it in shorter if it in known.values or it in known.stems), stem)


def _names(occurring: Enumerations) -> tuple[str, ...]:
    return tuple(dict.fromkeys(use.name for use in occurring.classes))


def _classes(stem: str, known: _Words) -> tuple[ClassUse, ...]:
    """Return the classes that a word names, the one that is the word itself first."""
    return tuple(use for name in named_by(stem, known.classes) for use in known.classes[name])
