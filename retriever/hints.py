"""Why a query found nothing: the values and directions in it that this scene does not have, and the nearest it has."""

from __future__ import annotations

from typing import Final

from scenecypher.db.schema import ENTITY, KINDS
from scenecypher.db.store.enumerations import Enumerations, Pattern, literal
from scenecypher.errors import did_you_mean
from scenecypher.retriever.outline import pattern_text
from scenecypher.retriever.reading import Claim, Hop, read

CAUSES: Final = 4
PATTERNS_SHOWN: Final = 5
LISTS: Final = ("states", "affordances")
ELSEWHERE: Final = {"class": "a class", "name": "a name", "states": "a state", "affordances": "an affordance"}
"""Where a value is looked for that stands in the wrong property, and how one is called there."""


def causes(cypher: str, occurring: Enumerations) -> tuple[str, ...]:
    """What in the query can't match anything, a sentence each, at most `CAUSES`; nothing if all of it occurs."""
    reading = read(cypher)
    found = [cause for claim in reading.claims if (cause := _unmatched(claim, occurring))]
    found += [cause for hop in reading.hops if (cause := _unfollowed(hop, occurring))]
    return tuple(dict.fromkeys(found))[:CAUSES]


def _unmatched(claim: Claim, occurring: Enumerations) -> str | None:
    if claim.property in LISTS and claim.test != "IN":
        return f"{claim.property} is a list; test it with {literal(claim.values[0])} IN n.{claim.property}"
    known = _known(claim.property, occurring, label=claim.label)
    anywhere = _known(claim.property, occurring)
    if not anywhere or any(_holds(claim, value, one) for value in claim.values for one in known):
        return None
    node = f"(:{claim.label})" if claim.label else "node"
    near = did_you_mean(claim.values[0], anywhere)
    return f"no {node} has {_words(claim)}" + (
        _other_label(claim, occurring) or _other_property(claim, occurring) or near
    )


def _known(property_: str, occurring: Enumerations, *, label: str = "") -> tuple[str, ...]:
    """The values of a property that occur; none where they are too many to be known."""
    match property_:
        case "class":
            return tuple(dict.fromkeys(use.name for use in occurring.classes if label in {"", use.kind}))
        case "name":
            return occurring.names
        case "id":
            return occurring.ids
        case "states":
            return tuple(use.value for use in occurring.states if not label or label in use.kinds)
        case "affordances":
            return tuple(use.value for use in occurring.affordances if not label or label in use.kinds)
        case _:
            uses = (use for use in occurring.properties if use.name == property_)
            return tuple(value for use in uses for value in use.values if isinstance(value, str))


def _holds(claim: Claim, value: str, one: str) -> bool:
    asked, has = (value.casefold(), one.casefold()) if claim.folded else (value, one)
    match claim.test:
        case "=" | "IN":
            return asked == has
        case "CONTAINS":
            return asked in has
        case "STARTS":
            return has.startswith(asked)
        case "ENDS":
            return has.endswith(asked)


def _words(claim: Claim) -> str:
    """The claim in words: ``class 'cup'``, ``'open' in its states``."""
    values = " or ".join(map(literal, claim.values))
    match claim.test:
        case "=":
            return f"{claim.property} {values}"
        case "IN":
            return f"{values} in its {claim.property}"
        case "CONTAINS":
            return f"a {claim.property} that contains {values}"
        case "STARTS" | "ENDS":
            return f"a {claim.property} that {claim.test.casefold()} with {values}"


def _other_label(claim: Claim, occurring: Enumerations) -> str:
    """` (but (:Asset) does)`, where the value occurs under other labels."""
    others = [
        kind
        for kind in KINDS
        if claim.label
        and any(
            _holds(claim, value, one) for value in claim.values for one in _known(claim.property, occurring, label=kind)
        )
    ]
    is_by_kind = claim.property in {"class", "states", "affordances"}
    return f" (but {' and '.join(f'(:{kind})' for kind in others)} does)" if others and is_by_kind else ""


def _other_property(claim: Claim, occurring: Enumerations) -> str:
    """` (but class 'kitchen' occurs)`, where the value stands in another property."""
    value = claim.values[0].casefold()
    for other, word in ELSEWHERE.items():
        same = [one for one in _known(other, occurring) if one.casefold() == value and other != claim.property]
        if same:
            return f" (but {literal(same[0])} occurs as {word})"
    return ""


def _unfollowed(hop: Hop, occurring: Enumerations) -> str | None:
    here = [pattern for pattern in occurring.patterns if pattern.type in hop.types]
    if not here or any(_follows(hop, pattern) for pattern in here):
        return None
    types = "|".join(hop.types)
    asked = f"({_labelled(hop.source)})-[:{types}]-{'>' * hop.directed}({_labelled(hop.target)})"
    most = sorted(here, key=lambda pattern: (-_likeness(hop, pattern), -pattern.count, pattern_text(pattern)))
    return f"{asked} does not occur; what occurs is {', '.join(map(pattern_text, most[:PATTERNS_SHOWN]))}"


def _likeness(hop: Hop, pattern: Pattern) -> int:
    return len({hop.source, hop.target} & {pattern.source, pattern.target})


def _follows(hop: Hop, pattern: Pattern) -> bool:
    ends = [(hop.source, hop.target)] if hop.directed else [(hop.source, hop.target), (hop.target, hop.source)]
    return any(_fits(source, pattern.source) and _fits(target, pattern.target) for source, target in ends)


def _fits(label: str, kind: str) -> bool:
    return label in {"", kind} or kind == ENTITY


def _labelled(label: str) -> str:
    return f":{label}" if label else ""
