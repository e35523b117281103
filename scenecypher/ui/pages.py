"""What each page shows: the list of homes, a home at a version, a node, a belief, an answer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from threading import RLock
from typing import TYPE_CHECKING, Any, Final

from starlette.responses import JSONResponse, Response

from scenecypher.db.graph.change import nodes_of
from scenecypher.db.rules import rules_of
from scenecypher.db.store.catalog import lookup_scene
from scenecypher.db.store.enumerations import DENSE
from scenecypher.db.store.history import last_events
from scenecypher.db.store.rewind import reach, scene_at
from scenecypher.db.store.runs import RunInfo, find_run, latest_runs, read_lines
from scenecypher.errors import InputError, RuleBroken, SceneCypherError, UnknownReference
from scenecypher.floorplan.figure import thumbnail_of
from scenecypher.floorplan.followed import FollowedDrawing, Patch
from scenecypher.floorplan.home_view import Mark, changed_nodes, nodes_with, view_of, viewer_of
from scenecypher.floorplan.layout import drawing_of
from scenecypher.planner.actions.execution import Infeasible
from scenecypher.planner.actions.ruled import ApprovalNeeded
from scenecypher.planner.methods import METHODS
from scenecypher.planner.vocabularies.vocabulary import operators_of
from scenecypher.planner.worlds.belief import belief_name
from scenecypher.retriever.retrieval import NOTICES, cell_text
from scenecypher.tree import SceneTree
from scenecypher.ui.plans import PagePlans
from scenecypher.ui.render import OPEN_NODES, Address, Fields, drawn, number, render, required
from scenecypher.ui.views import Frame, Group, compare, doable, frames_of, timeline_of
from scenecypher.wording import counted

if TYPE_CHECKING:
    from scenecypher.db.graph.delta import Delta
    from scenecypher.db.graph.scene import Node, Relation, SceneGraph
    from scenecypher.db.store.catalog import SceneInfo
    from scenecypher.db.store.history import Event
    from scenecypher.planner.actions.ruled import AskBack
    from scenecypher.scenes import SceneDatabase

HOMES_SHOWN: Final = 200
RUNS_SHOWN: Final = 100
FILMS_SHOWN: Final = 4
EVENTS_SHOWN: Final = 20
EVENTS_SEARCHED: Final = 500
"""The latest events among which those of one node are looked for."""
RELATIONS_SHOWN: Final = 200
FOUND_SHOWN: Final = 100
TYPED: Final = ("text", "fix", "method", "goal", "paused", "name", "revert")
"""The fields of a home's forms, which keep what was typed after a refusal."""


@dataclass(frozen=True, slots=True)
class Film:
    """A run with its frames, and the addresses of its scene's pages.

    `state` is the run's, or ``paused``; `is_ours` says that this page carries it out, `question` what it asks here.
    """

    run: RunInfo
    frames: tuple[Frame, ...]
    address: Address
    state: str
    is_ours: bool
    question: AskBack | None


@dataclass(frozen=True, slots=True)
class Answered:
    """What a question or a query found, beside its Cypher; `refused` and `hints` say what was wrong with it."""

    cypher: str
    summary: str
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    question: str = ""
    answer: str = ""
    notice: str = ""
    refused: str = ""
    hints: tuple[str, ...] = ()

    def cells(self) -> list[list[str]]:
        """Return the rows as text."""
        return [[cell_text(cell) for cell in row] for row in self.rows]


class LoadedHome:
    """A scene at one version, with the event that made it if it is known.

    `drawn` is its drawing if the map has asked for it, `patch` how that differs from the one of version `since`.
    Not safe to share: a drawing goes on to the version that is loaded next.
    """

    def __init__(self, key: str, version: int, graph: SceneGraph, event: Event | None = None) -> None:
        self.key, self.version, self.graph, self.event = key, version, graph, event
        self.drawn: FollowedDrawing | None = None
        self.since = -1
        self.patch: Patch | None = None

    def follow(self, before: LoadedHome, delta: Delta) -> None:
        """Take the drawing of another version over, which `delta` leads from; the other has none from then on."""
        self.drawn, before.drawn, self.since = before.drawn, None, before.version
        self.patch = self.drawn.follow(self.graph, delta) if self.drawn else None

    @property
    def is_large(self) -> bool:
        """Check if the list of rooms is closed at first, and the map sent after the page."""
        return len(self.graph.nodes) > OPEN_NODES

    @property
    def tree(self) -> SceneTree:
        """The containment tree, that of the drawing if there is one."""
        return self.drawn.tree if self.drawn else SceneTree(self.graph)


class Pages:
    """The pages of one database, each as HTML. Safe to share between threads."""

    def __init__(
        self, database: SceneDatabase, plans: PagePlans, *, read_only: bool = False, draws: bool = False
    ) -> None:
        self._database, self._store, self._read_only = database, database.store, read_only
        self._plans, self._draws = plans, draws
        self._shown: LoadedHome | None = None
        self._drawing = RLock()

    def fleet(self, fields: Fields) -> str:
        """Return the list of all scenes, or of those with the text `q` in their name or vocabulary."""
        wanted = fields.get("q", "").strip()
        infos = self._store.scenes()
        found = [it for it in infos if wanted.casefold() in f"{it.name}\n{it.vocabulary}".casefold()]
        shown, more = found[:HOMES_SHOWN], max(0, len(found) - HOMES_SHOWN)
        last = last_events(self._store.database, shown)
        homes = [(it, Address(it.name), last.get(it.key)) for it in shown]
        told = {"total": len(infos), "wanted": wanted, "homes": homes, "more": more}
        return render("fleet.html", title="Homes", can_import=not self._read_only, **told)

    def home(self, fields: Fields, error: SceneCypherError | None = None, answered: Answered | None = None) -> str:
        """Return a home: map, rooms, furniture and things, with what an answer or a version's event is about marked.

        After an `error` or an answer the fields are those of the form that was sent: the home is as it is now, with
        what was typed.
        """
        is_sent = error is not None or answered is not None
        typed = dict.fromkeys(TYPED, "") | (dict(fields) if is_sent else {})
        fields = {"scene": required(fields, "scene")} if is_sent else fields
        wanted = fields.get("text", "").strip()
        with self._drawing:
            info, home = self._at(fields)
            event = self._event(info, home) if "version" in fields else None
            found = [it for it in fields.get("found", "").split(",") if it in home.graph]
            found += _nodes_in(home.graph, answered.rows)[:FOUND_SHOWN] if answered else []
            found += nodes_with(home.graph, wanted)[:FOUND_SHOWN] if wanted else []
            changed = changed_nodes(event.delta) if event else frozenset[str]()
            marks = {"found": found, "changed": changed}
            view = viewer_of(home.tree, everything="all" in fields, is_brief=home.is_large, **marks).view()
        scene, version, newest = info.name, home.version, info.version
        return render(
            "home.html",
            title=scene,
            scene=scene,
            view=view,
            vocabulary=info.vocabulary,
            version=version,
            newest=newest,
            event=event,
            events=[*islice(self._store.latest(info), EVENTS_SHOWN)],
            found=found,
            wanted=wanted,
            refused=self._refused(scene, fields),
            belief=info.role == "world" and lookup_scene(self._store.database, belief_name(scene)) is not None,
            address=Address(scene, None if version == newest else version),
            open=not home.is_large,
            drawing=None if home.is_large else drawing_of(home.graph, view).document(),
            map_address=Address(scene, version).to("map", found=",".join(found)),
            typed=typed,
            error=str(error or ""),
            remedies=_remedies(error),
            asks=error.question.question if isinstance(error, ApprovalNeeded) else "",
            is_broken=isinstance(error, RuleBroken),
            answered=answered,
            read_only=self._read_only,
            methods=METHODS,
            actions=_actions(info.vocabulary),
        )

    def room(self, fields: Fields) -> str:
        """Return the things in one room, as a part of a page."""
        wanted = required(fields, "id")
        with self._drawing:
            info, home = self._at(fields)
            room = viewer_of(home.tree).room(wanted)
        if room is None:
            raise UnknownReference(f"{info.name} has no room {wanted!r}; open its page again, which shows them")
        address = Address(info.name, home.version if "version" in fields else None)
        return render("room.html", room=room, address=address)

    def refused(self, fields: Fields, error: SceneCypherError) -> str:
        """Return the page whose form was refused, with the reason and what was typed: a query's, else the home's."""
        if "cypher" not in fields:
            return self.home(fields, error)
        return self.home(fields, answered=Answered(fields["cypher"], "nothing was run", refused=str(error)))

    def map(self, fields: Fields) -> Response:
        """Return what the map draws of a home at a version, with the robot's belief if it is asked for.

        A page that has the drawing of version `since` gets only what differs, unless all was drawn anew.
        """
        info, since = self._store.find(required(fields, "scene")), number(fields, "since")
        version = number(fields, "version")
        with self._drawing:
            if since is not None:
                self._loaded(info, since)
            home = self._loaded(info, info.version if version is None else version)
            event = self._event(info, home) if "changed" in fields else None
            marks: dict[str, Mark] = dict.fromkeys(changed_nodes(event.delta) if event else (), "changed")
            marks |= dict.fromkeys((it for it in fields.get("found", "").split(",") if it in home.graph), "found")
            home.drawn = home.drawn or FollowedDrawing(home.graph)
            if home.patch and home.since == since:
                drawing = home.patch.document(marks) | {"since": since}
            else:
                drawing = home.drawn.document(marks)
        if "belief" in fields:
            groups = self._compared(info, home)
            drawing["belief"] = [it.document(group.state) for group in groups for it in group.things]
        words = f"{event.action} by {event.actor}" if event else ""
        return JSONResponse(drawing | {"version": home.version, "event": words})

    def timeline(self, fields: Fields) -> Response:
        """Return the versions of a home, its runs and their refusals, for the line below the map."""
        return JSONResponse(timeline_of(self._store, self._store.find(required(fields, "scene"))))

    def live(self, fields: Fields) -> tuple[str, bool]:
        """Return the version of a home as a text, and that it may change."""
        return str(self._store.find(required(fields, "scene")).version), True

    def thumbnail(self, fields: Fields) -> Response:
        """Return a home as a small picture."""
        graph = self._store.now(self._store.find(required(fields, "scene"))).graph
        drawing = drawing_of(graph, view_of(graph))
        return Response(thumbnail_of(drawing), media_type="image/svg+xml")

    def inspect(self, fields: Fields) -> str:
        """Return what a node is, what can be done with it now, and its relations, as a part of a page."""
        info, home = self._at(fields)
        scene, version = info.name, home.version
        node = _node_of(home.graph, scene, version, fields)
        relations, names, _ = _relations(home.graph, node.id)
        is_now = version == info.version and not self._read_only
        found = doable(home.graph, info.vocabulary, node.id, rules_of(info.declared)) if is_now else ()
        return render(
            "inspect.html",
            scene=scene,
            node=node,
            now=[it for it in found if not it.why_not],
            not_now=[it for it in found if it.why_not],
            relations=relations,
            names=names,
            address=Address(scene, version if "version" in fields else None),
        )

    def node(self, fields: Fields) -> str:
        """Return all that is known of a node: its fields, its relations, what happened to it."""
        info, home = self._at(fields)
        scene, version = info.name, home.version
        node = _node_of(home.graph, scene, version, fields)
        telling, names, left_off = _relations(home.graph, node.id)
        events = [*islice(self._store.latest(info), EVENTS_SEARCHED)]
        return render(
            "node.html",
            title=node.name,
            scene=scene,
            node=node.id,
            facts=[*_facts(node)],
            relations=telling,
            drawn=drawn(home.graph, telling) if self._draws and telling else None,
            names=names,
            left_off=left_off,
            events=[it for it in events if any(node.id in nodes_of(change) for change in it.delta.changes)],
            older=EVENTS_SEARCHED if len(events) == EVENTS_SEARCHED else 0,
            version=version,
            newest=info.version,
            address=Address(scene, version if "version" in fields else None),
        )

    def belief(self, fields: Fields) -> str:
        """Return a robot's belief beside its world."""
        info, home = self._at(fields)
        groups = self._compared(info, home)
        return render("belief.html", title="Belief", scene=info.name, groups=groups, address=Address(info.name))

    def runs(self, fields: Fields) -> str:
        """Return the latest runs, all or those of one scene."""
        scene = fields.get("scene", "")
        found = [*islice(latest_runs(self._store.database, scene or None), RUNS_SHOWN)]
        return render("runs.html", title="Runs", scene=scene, runs=found, address=Address(scene))

    def run(self, fields: Fields) -> str:
        """Return runs as films side by side: those of `number`, whole numbers with commas."""
        films = [self._film(it) for it in self._runs(fields)]
        title = "Runs" if len(films) > 1 else f"Run {films[0].run.number}"
        return render("run.html", title=title, films=films, read_only=self._read_only)

    def film(self, fields: Fields) -> str:
        """Return one run's film, as a part of a page."""
        return render("run_part.html", film=self._film(self._runs(fields)[0]))

    def steps(self, fields: Fields) -> tuple[str, bool]:
        """Return how far runs are, a text for each with blanks between, and whether any is running."""
        runs = self._runs(fields)
        asks = {it.number: "?" for it in runs if self._plans.question(it.number)}
        told = (
            f"{it.number}:{it.steps}{asks.get(it.number, '')}:{self._state_of(it)}".replace(" ", "-") for it in runs
        )
        return " ".join(told), any(it.state == "running" for it in runs)

    def _runs(self, fields: Fields) -> list[RunInfo]:
        numbers = required(fields, "number").split(",")[:FILMS_SHOWN]
        return [find_run(self._store.database, number({"number": it}, "number") or 0) for it in numbers]

    def _state_of(self, run: RunInfo) -> str:
        return "paused" if run.state == "running" and self._plans.pace(run.number) == "paused" else run.state

    def _film(self, run: RunInfo) -> Film:
        frames = tuple(frames_of(read_lines(self._store.database, run.number)))
        is_ours = self._plans.pace(run.number) is not None
        question = None if self._read_only else self._plans.question(run.number)
        return Film(run, frames, Address(run.scene_name), self._state_of(run), is_ours, question)

    def ask(self, fields: Fields) -> str:
        """Return the home with the answer to a question, its rows and its Cypher beside the map.

        Raises ModelUnavailable, QueryRefused.
        """
        scene, question = required(fields, "scene"), required(fields, "text")
        found = self._database.home(scene).ask(question)
        is_answered = found.outcome == "answered"
        answered = Answered(
            found.cypher or "",
            f"{counted(len(found.rows), 'row')} at version {found.version}, {found.usage.total_tokens:,} tokens",
            found.columns,
            found.rows,
            question,
            found.answer if is_answered else "",
            NOTICES.get(found.source, ""),
            "" if is_answered else f"{found.outcome}: {found.answer}",
        )
        return self.home(fields, answered=answered)

    def query(self, fields: Fields) -> str:
        """Return the home with the rows of a query, which the gate has let through. Raises QueryRefused."""
        scene = required(fields, "scene")
        cypher = required(fields, "cypher" if "cypher" in fields else "text")
        found = self._database.home(scene).query(cypher)
        more = f", {found.truncated}" if found.truncated else ""
        summary = f"{counted(len(found), 'row')}{more} at version {found.version}, {1_000 * found.seconds:.0f} ms"
        answered = Answered(cypher, summary, found.columns, found.rows, hints=tuple(found.hints))
        return self.home(fields, answered=answered)

    def _at(self, fields: Fields) -> tuple[SceneInfo, LoadedHome]:
        """Return the facts of the scene that a page is about, and the scene at its version.

        Raises SceneNotFound; InputError for a version that it does not have.
        """
        info, version = self._store.find(required(fields, "scene")), number(fields, "version")
        return info, self._loaded(info, info.version if version is None else version)

    def _loaded(self, info: SceneInfo, version: int) -> LoadedHome:
        """Return a scene at a version, from the state that was shown last where the events in between lead there."""
        with self._drawing:
            self._shown = self._moved(info, version, self._shown)
            return self._shown

    def _moved(self, info: SceneInfo, version: int, shown: LoadedHome | None) -> LoadedHome:
        if shown is None or shown.key != info.key:
            now = self._store.now(info)
            shown = LoadedHome(info.key, now.info.version, now.graph)
        if shown.version != version:
            database = self._store.database
            before, moved = shown, reach(database, scene_at(database, info, version), shown.graph, shown.version)
            graph = moved.graph if moved else self._store.as_of(info.name, version)
            shown = LoadedHome(info.key, version, graph, moved.event if moved else None)
            if moved:
                shown.follow(before, moved.delta)
        return shown

    def _compared(self, info: SceneInfo, home: LoadedHome) -> tuple[Group, ...]:
        """Return the belief about a world beside it; the world's past is read if the world lacks what is believed."""
        belief = self._store.now(self._store.find(belief_name(info.name))).graph
        if all(it in home.graph for it, node in belief.nodes.items() if node.kind == "Object"):
            return compare(belief, home.graph)
        latest = islice(self._store.latest(info), EVENTS_SEARCHED)
        touched = {node for event in latest for change in event.delta.changes for node in nodes_of(change)}
        return compare(belief, home.graph, touched | {*self._store.as_of(info.name, 0).nodes})

    def _refused(self, scene: str, fields: Fields) -> Frame | None:
        """Return the refusal that a page is about: the frame of this place in a run of this scene; None without."""
        run, place = number(fields, "run"), number(fields, "frame")
        if run is None or place is None or find_run(self._store.database, run).scene_name != scene:
            return None
        frames = islice(frames_of(read_lines(self._store.database, run)), place, place + 1)
        return next((it for it in frames if it.kind == "refused"), None)

    def _event(self, info: SceneInfo, home: LoadedHome) -> Event | None:
        """Return the event that made a version; None for the first."""
        if home.event is None and home.version:
            home.event = next(iter(self._store.history(info, after=home.version - 1, limit=1)), None)
        return home.event


def _node_of(graph: SceneGraph, scene: str, version: int, fields: Fields) -> Node:
    node = graph.nodes.get(required(fields, "id"))
    if node is None:
        msg = f"{scene} has no node {fields['id']!r} at version {version}; open its page again, which shows them"
        raise UnknownReference(msg)
    return node


def _relations(graph: SceneGraph, node: str) -> tuple[list[Relation], dict[str, str], int]:
    """Return a node's relations but the dense ones, the names of their ends, and how many are left off."""
    around = (*graph.outgoing.get(node, ()), *graph.incoming.get(node, ()))
    telling = [it for it in around if it.type != DENSE][:RELATIONS_SHOWN]
    ends = {end for it in telling for end in (it.source, it.target)}
    return telling, {it: graph.nodes[it].name for it in ends}, len(around) - len(telling)


def _remedies(error: SceneCypherError | None) -> list[str]:
    """Return the actions that would make a refused one possible, the first unmet requirement's."""
    if not isinstance(error, Infeasible):
        return []
    unmet = error.unmet[0]
    return [str(it) for it in ((unmet.remedy,) if unmet.remedy else unmet.choices)]


def _facts(node: Node) -> Iterable[tuple[str, str]]:
    yield from (("id", node.id), ("kind", node.kind), ("class", node.class_), ("name", node.name))
    yield "states", ", ".join(node.states) or "none"
    yield "affordances", ", ".join(node.affordances) or "none"
    yield from ((name, str(value)) for name, value in sorted(node.properties.items()))


def _named(rows: tuple[tuple[Any, ...], ...]) -> Iterable[str]:
    """Yield all text in rows, also within lists."""
    waiting = [cell for row in rows for cell in row][::-1]
    while waiting:
        match waiting.pop():
            case str(text):
                yield text
            case list() | tuple() as inner:
                waiting += inner
            case dict() as inner:
                waiting += inner.values()
            case _:
                pass


def _nodes_in(graph: SceneGraph, rows: tuple[tuple[Any, ...], ...]) -> list[str]:
    """Return the ids of the nodes that rows name by their ids or names."""
    texts = dict.fromkeys(_named(rows))
    return [it for text in texts for it in ([text] if text in graph else graph.by_name.get(text, ()))]


def _actions(vocabulary: str) -> list[str]:
    """Return the actions of a vocabulary by name; none of one that is not installed here."""
    try:
        return [*operators_of(vocabulary)]
    except InputError:
        return []
