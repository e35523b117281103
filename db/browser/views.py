"""The views of one scene in Neo4j Browser, its saved queries, and the address that opens one: literal Cypher.

Browser runs them, not SceneCypher: an address carries no parameters, so names are written into the text, by
`name_literal` alone. What a view needs to know is the room, the version or the run that is asked for, or the usual one.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, LiteralString, TypeAlias, assert_never
from urllib.parse import quote, urlencode, urlsplit, urlunsplit

from scenecypher.db.browser.style import CONFIG
from scenecypher.db.past import build_past
from scenecypher.db.schema import HOLDING, SHELL
from scenecypher.db.store.catalog import SceneInfo, find_scene, lookup_scene, scene_of, split_at
from scenecypher.db.store.connection import Database
from scenecypher.db.store.enumerations import literal
from scenecypher.db.store.runs import find_run, latest_runs
from scenecypher.errors import InputError, UnknownReference

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


ROOMS: Final[LiteralString] = """
MATCH (room:Place {scene: $key})
WHERE $room IS NULL OR $room IN [room.id, room.name, room.class]
RETURN room.id AS id
ORDER BY room.id = $room DESC, EXISTS { (:Agent {scene: $key})-[:INSIDE]->(room) } DESC, room.id LIMIT $limit
"""
BELIEFS: Final[LiteralString] = """
MATCH (b:Scene {status: 'ready', role: 'belief', world: $key}) WHERE b.name IS NOT NULL RETURN b.name AS name LIMIT 1
"""
CLIENT_CONFIG: Final[LiteralString] = """
CALL dbms.clientConfig() YIELD name, value WHERE name = 'browser.post_connect_cmd' RETURN value
"""
ROOMS_TOLD: Final = 8


@dataclass(frozen=True, slots=True)
class Wanted:
    """What was asked for: a room by id, name or class, a version, and a run by number; None for the usual one."""

    room: str | None = None
    version: int | None = None
    run: int | None = None


def find_present(database: Database, name: str) -> SceneInfo:
    """Return the scene of this name; of a belief its world. Raises SceneNotFound; InputError for ``NAME@VERSION``."""
    parts = split_at(name)
    if parts is not None and lookup_scene(database, name) is None:
        msg = f"{name!r} is an earlier state; Browser shows a scene as it is now"
        raise InputError(f"{msg}, and what changed at a version with --scene {parts[0]} --version N")
    found = find_scene(database, name)
    return (scene_of(database, found.world) if found.world else None) or found


def tells_style(database: Database) -> bool:
    """Return True if the server tells Browser to use our style (`browser.post_connect_cmd`)."""
    record = database.row(CLIENT_CONFIG)
    return record is not None and CONFIG in (record["value"] or "")


def chosen_value(database: Database, scene: SceneInfo, view: ViewName, wanted: Wanted) -> str | int | None:
    """Return the value that a view of a scene needs, None if it needs none; build the scene's past if it shows it.

    Without a choice, it is the room of the first agent, the latest version, the latest run. Raises InputError for
    something that is not there.
    """
    match view:
        case "room":
            return _room(database, scene, wanted.room)
        case "version":
            return _version(database, scene, wanted.version)
        case "run":
            return _run(database, scene, wanted.run)
        case "belief":
            if database.row(BELIEFS, {"key": scene.key}) is None:
                msg = f"there is no belief about {scene.name!r}; `scenecypher plan {scene.name} ... --belief` makes one"
                raise InputError(msg)
            return None
        case "overview" | "robot":
            return None
        case _:
            assert_never(view)


def _room(database: Database, scene: SceneInfo, room: str | None) -> str:
    found = _rooms(database, scene, room)
    if not found:
        known = _rooms(database, scene, None)
        has = (
            f"it has {', '.join(known)}{', ...' if len(known) == ROOMS_TOLD else ''}" if known else "it has none at all"
        )
        raise UnknownReference(f"{scene.name!r} has no room {room or ''!r}; {has}")
    if room is not None and room != found[0] and len(found) > 1:
        raise InputError(f"{scene.name!r} has several rooms {room!r}; name one by its id: {', '.join(found)}")
    return found[0]


def _rooms(database: Database, scene: SceneInfo, room: str | None) -> list[str]:
    """Return the ids of the rooms of this id, name or class, of all without one, the likeliest first."""
    given = {"key": scene.key, "room": room, "limit": ROOMS_TOLD}
    return [record["id"] for record in database.rows(ROOMS, given)]


def _version(database: Database, scene: SceneInfo, version: int | None) -> int:
    wanted = scene.version if version is None else version
    if not scene.base < wanted <= scene.version:
        msg = f"nothing has changed in {scene.name!r} yet" if not scene.version else f"there is no version {wanted}"
        raise InputError(f"{msg}; `scenecypher history {scene.name}` shows what happened")
    build_past(database, scene)
    return wanted - scene.base


def _run(database: Database, scene: SceneInfo, number: int | None) -> int:
    run = find_run(database, number) if number is not None else next(latest_runs(database, scene.name), None)
    if run is None or run.scene_name != scene.name:
        msg = f"run {number} was not in {scene.name!r}" if number is not None else f"{scene.name!r} has no runs yet"
        raise InputError(f"{msg}; `scenecypher runs list` shows those that are kept")
    build_past(database, scene)
    return run.number
