"""The views of one scene in Neo4j Browser, its saved queries, and the address that opens one: literal Cypher.

Browser runs them, not SceneCypher: an address carries no parameters, so names are written into the text, by
`name_literal` alone.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, LiteralString, TypeAlias
from urllib.parse import quote, urlencode, urlsplit, urlunsplit

from scenecypher.db.schema import HOLDING, SHELL
from scenecypher.db.store.enumerations import literal

ViewName: TypeAlias = Literal["overview", "room", "robot", "version", "run", "belief"]

# In an address Browser takes the first two for the end of the query, and the third one ends a statement.
_MARKS: Final = {ord(mark): f"\\u{ord(mark):04x}" for mark in "&#;"}
_BEFORE_U: Final = re.compile(r"(?<=\\)(?=u)", re.IGNORECASE)

_HOLDING: Final[LiteralString] = "|".join(HOLDING)
_SHELL: Final[LiteralString] = "['" + "', '".join(SHELL) + "']"
# Furniture before the room: what lies on a table is in the room too. VirtualHome has things inside each other.
_PLACES: Final[LiteralString] = (
    """OPTIONAL MATCH place = (n)-[:INSIDE|ON]->(p)
WHERE NOT toLower(p.class) IN shell AND NOT (p)-[:INSIDE|ON]->(n) AND (NOT p:Place OR NOT EXISTS {
  MATCH (n)-[:INSIDE|ON]->(q:!Place) WHERE NOT toLower(q.class) IN shell AND NOT (q)-[:INSIDE|ON]->(n) })
OPTIONAL MATCH held = (n)-[:"""
    + _HOLDING
    + """]->()
"""
)


@dataclass(frozen=True, slots=True)
class View:
    """A view: the question that it answers, its query after the scene `s`, and the value that it needs, if it does.

    `usual` is the Cypher of the value if nobody chose one: the first robot's room, the last version, the last run.
    """

    question: str
    query: LiteralString
    value: LiteralString = ""
    usual: LiteralString = ""


VIEWS: Final[Mapping[ViewName, View]] = {
    "overview": View(
        "Which rooms are there, what stands in them, and what is on and in it?",
        "WITH s, "
        + _SHELL
        + """ AS shell
MATCH (n:Entity {scene: s.key}) WHERE NOT toLower(n.class) IN shell
"""
        + _PLACES
        + """OPTIONAL MATCH door = (n:Door|Place|Waypoint)-[:BETWEEN|CONNECTS]->(:Place|Waypoint)
RETURN n, place, held, door""",
    ),
    "room": View(
        "What is in this room?",
        "WITH s, id, "
        + _SHELL
        + """ AS shell
MATCH (room:Place {scene: s.key, id: id})
OPTIONAL MATCH (thing)-[:INSIDE|ON]->{1,6}(room) WHERE NOT toLower(thing.class) IN shell
WITH shell, room, collect(DISTINCT thing) AS things
WITH shell, [room] + things AS shown
UNWIND shown AS n
"""
        + _PLACES
        + """RETURN n, CASE WHEN p IN shown THEN place END AS place, held""",
        value="id",
        usual="COLLECT { MATCH (:Agent {scene: s.key})-[:INSIDE]->(room:Place) RETURN room.id ORDER BY room.id }[0]",
    ),
    "robot": View(
        "Where is the robot, and what does it hold?",
        """MATCH (robot:Agent {scene: s.key})
OPTIONAL MATCH place = (robot)-[:INSIDE|ON]->()
OPTIONAL MATCH held = (robot)-[:"""
        + _HOLDING
        + """]->()
RETURN robot, place, held""",
    ),
    "version": View(
        "What changed at this version, who did it, and why?",
        """MATCH (event:PastEvent {scene: s.key, version: version})
OPTIONAL MATCH why = (event)<-[:LED_TO]-(:Step)<-[:HAS_STEP]-(:Run)
OPTIONAL MATCH change = (event)-[:CHANGED|BEGAN|ENDED]->(x)
OPTIONAL MATCH fact = (x)-[:ABOUT|TARGET]->()
RETURN event, why, change, fact""",
        value="version",
        usual="s.version",
    ),
    "run": View(
        "What was asked, decided and refused in this run, and what did it change?",
        """MATCH (run:Run {number: number, scene_name: s.name})
OPTIONAL MATCH step = (run)-[:HAS_STEP]->(x)
OPTIONAL MATCH led = (x)-[:LED_TO]->(event)
OPTIONAL MATCH change = (event)-[:CHANGED]->()
RETURN run, step, led, change ORDER BY x.number""",
        value="number",
        usual="COLLECT { MATCH (run:Run {scene_name: s.name}) RETURN run.number ORDER BY run.number DESC }[0]",
    ),
    "belief": View(
        "What does the robot believe, and what is so?",
        """MATCH (belief:Scene {role: 'belief', status: 'ready', world: s.key})
MATCH (b:Object {scene: belief.key})
OPTIONAL MATCH (w:Entity {scene: s.key, id: b.id})
WITH belief, b, w, COLLECT {
  MATCH (b)-[:INSIDE|ON|UNDER|ATTACHED_TO]->(p)
  WHERE NOT p:Place OR NOT EXISTS { (b)-[:INSIDE|ON|UNDER|ATTACHED_TO]->(:!Place) } RETURN p.name ORDER BY p.name
} AS believed, COLLECT {
  MATCH (w)-[:INSIDE|ON|UNDER|ATTACHED_TO]->(p)
  WHERE NOT p:Place OR NOT EXISTS { (w)-[:INSIDE|ON|UNDER|ATTACHED_TO]->(:!Place) } RETURN p.name ORDER BY p.name
} AS really
RETURN b.name AS thing, CASE WHEN w IS NULL THEN 'gone' WHEN b.seen = false THEN 'unseen'
  WHEN believed <> really THEN 'moved' WHEN b.states <> w.states THEN 'changed' ELSE 'confirmed' END AS is,
  believed, really, b.states AS believed_states, w.states AS states, b.last_seen AS last_seen
ORDER BY is, thing""",
    ),
}
"""The views by name. `version` and `run` read what `scenecypher.db.past` has built."""


def view_query(view: ViewName, scene: str, value: str | int | None = None) -> str:
    """Return the query of a view of one scene, for a person to run; without the value that it needs, the usual one."""
    shown = VIEWS[view]
    match value:
        case None:
            given: str = shown.usual
        case str():
            given = name_literal(value)
        case int():
            given = str(value)
    with_value = f"WITH s, {given} AS {shown.value}\n" if shown.value else ""
    return f"{of_scene(scene)}\n{with_value}{shown.query}"


def of_scene(name: str) -> str:
    """Return the beginning of a query of one scene, which is `s` from there on."""
    return f"MATCH (s:Scene {{name: {name_literal(name)}}})"


def name_literal(name: str) -> str:
    r"""Return a name as a Cypher expression that stays whole in an address of Browser.

    Cypher 5 reads ``\u0027`` before anything else, even after a backslash that is escaped: so a backslash and a `u`
    after it stand in two literals.
    """
    return " + ".join(literal(piece).translate(_MARKS) for piece in _BEFORE_U.split(name))


FOLDER: Final = "SceneCypher"

# Nodes of the past and of the present know their scene by its key, and each other by id: no relation leads from the one
# to the other, nor to the Scene node, which every action locks.
FOLLOWING: Final[Mapping[str, LiteralString]] = {
    "Which scene is a node of? Click the node, copy its property scene into the quotes": """
MATCH (of:Scene {key: 'SCENE'}) RETURN of.name AS scene, of.role AS role, of.version AS version""",
    "Which node of today is it, that an event changed? Put its name into the quotes": """
MATCH (p:PastNode {scene: s.key, name: 'NAME'})
OPTIONAL MATCH (n:Entity {scene: s.key, id: p.id})
RETURN p, n""",
    "What happened to this thing, and who did it? Put its name into the quotes": """
MATCH happened = (event:PastEvent)-[:CHANGED]->(p:PastNode {scene: s.key, name: 'NAME'})
OPTIONAL MATCH why = (event)<-[:LED_TO]-(:Step)<-[:HAS_STEP]-(:Run)
RETURN happened, why""",
    "Where was this thing, from when until when? Put its name into the quotes": """
MATCH (:PastNode {scene: s.key, name: 'NAME'})<-[:ABOUT]-(f:PastFact)-[:TARGET]->(where:PastNode)
RETURN f.relation AS how, where.name AS where, f.since AS since, f.until AS until, f.since_at AS from, f.until_at AS to
ORDER BY since""",
    "What was refused, and why?": """
MATCH (run:Run {scene_name: s.name})-[:HAS_STEP]->(step:Step {kind: 'refused'})
RETURN run.number AS run, run.instruction AS asked, step.action AS action, step.reasons AS why
ORDER BY run DESC, step.number""",
}
"""More queries of one scene `s`, by what they answer."""


def saved_queries(scene: str) -> bytes:
    """Return a zip of all queries of one scene; the first line of each is the name that Browser shows."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, (title, query) in enumerate(titled_queries(scene), start=1):
            archive.writestr(f"{FOLDER}/{number:02}.cypher", f"// {title}\n{query}\n")
    return file.getvalue()


def titled_queries(scene: str) -> Iterator[tuple[str, str]]:
    """Yield all queries of one scene as (title, query)."""
    for name, view in VIEWS.items():
        yield view.question, view_query(name, scene)
    for title, query in FOLLOWING.items():
        yield title, f"{of_scene(scene)}{query}"


HTTP_PORT: Final = 7474
HTTPS_PORT: Final = 7473
DEFAULT_DATABASE: Final = "neo4j"


def browser_of(uri: str) -> str:
    """Return the usual address of the Browser that a server brings, by the address of its Bolt port."""
    parts = urlsplit(uri)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    is_encrypted = parts.scheme.endswith(("+s", "+ssc"))
    return f"https://{host}:{HTTPS_PORT}/browser/" if is_encrypted else f"http://{host}:{HTTP_PORT}/browser/"


def filled_in(browser: str, *, uri: str, username: str, database: str = DEFAULT_DATABASE, text: str = "") -> str:
    """Return Browser's address with server, user and database filled in, and `text` in its editor if there is any."""
    parts = urlsplit(uri)
    server = urlunsplit((parts.scheme, f"{quote(username, safe='')}@{parts.netloc}", "", "", ""))
    given = {"dbms": server}
    if database != DEFAULT_DATABASE:
        given["db"] = database
    if text:
        given |= {"cmd": "edit", "arg": text}
    # urlencode's own quoting writes a blank as +, which Browser reads in some places only.
    return f"{browser}?{urlencode(given, quote_via=quote, safe='')}"
