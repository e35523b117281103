"""Templates of pages, their addresses and fields, and the home as one file that needs no server."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from urllib.parse import urlencode
from zipfile import ZipFile

from scenecypher.db.browser.style import css_variables
from scenecypher.db.local.jars import Pin, Tell, library_jar
from scenecypher.db.store.enumerations import DENSE
from scenecypher.errors import DatabaseUnavailable, InputError
from scenecypher.floorplan.figure import WIDTH
from scenecypher.floorplan.home_view import changed_nodes, view_of
from scenecypher.floorplan.layout import drawing_of

if TYPE_CHECKING:
    from jinja2 import Environment

    from scenecypher.db.graph.scene import Relation, SceneGraph
    from scenecypher.db.store.history import Event
    from scenecypher.db.store.load import LoadedScene
    from scenecypher.db.store.runs import RunInfo
    from scenecypher.ui.views import Frame

Fields: TypeAlias = Mapping[str, str]
"""The fields of an address or a form."""
CYTOSCAPE: Final = Pin(
    "org.webjars.npm", "cytoscape", "3.33.1", "", "62ca1549b677163bd154184ac3b2d9686b082708d1c3364ca969e18869e107e5"
)
"""Cytoscape.js (MIT); its text begins with its licence."""
SCRIPT: Final = "META-INF/resources/webjars/cytoscape/{version}/dist/cytoscape.min.js"
OPEN_NODES: Final = 1_500
"""Up to this many nodes, all rooms are open at first."""


def cytoscape(tell: Tell, *, cache: Path | None = None, repository: str | None = None) -> str:
    """Return the library's text, fetched on first use; empty where it can't be had, which `tell` is told."""
    try:
        jar = library_jar(CYTOSCAPE, tell=tell, cache=cache, repository=repository)
        with ZipFile(jar) as found:
            return found.read(SCRIPT.format(version=CYTOSCAPE.version)).decode("utf-8")
    except (DatabaseUnavailable, OSError) as error:  # of the system: the folder of the user's caches is read-only
        tell(f"relations are listed, not drawn: {error}")
        return ""


def drawn(graph: SceneGraph, relations: Iterable[Relation]) -> Mapping[str, Any]:
    """Return relations and the nodes at their ends as a document for the drawing script."""
    listed = [*relations]
    ends = {end for it in listed for end in (it.source, it.target)}
    return {
        "nodes": {it: [graph.nodes[it].name, graph.nodes[it].kind] for it in sorted(ends)},
        "relations": [[it.source, it.type, it.target] for it in listed],
    }


@dataclass(frozen=True, slots=True)
class Address:
    """The pages about a scene; `version` is None for the scene as it is now."""

    scene: str
    version: int | None = None

    def to(self, page: str, **fields: object) -> str:
        """Return the address of a page, of a part of one, or of its data, such as ``home``; at this version.

        `fields` are added, and may name another version; None is the scene as it is now.
        """
        given = {"scene": self.scene, "version": self.version, **fields}
        return f"/{page}?{urlencode({name: value for name, value in given.items() if value is not None})}"


def required(fields: Fields, name: str) -> str:
    """Return a field's text. Raises InputError if it is empty."""
    text = fields.get(name, "").strip()
    if not text:
        raise InputError(f"the field {name!r} is empty; fill it in")
    return text


def number(fields: Fields, name: str) -> int | None:
    """Return a whole number, None if the field is not given. Raises InputError."""
    text = fields.get(name, "")
    if text and not (text.isascii() and text.isdigit() and len(text) < 19):
        raise InputError(f"{name} {text[:40]!r} is no whole number")
    return int(text) if text else None


@dataclass(frozen=True, slots=True)
class KeptVersion:
    """A version of a scene that a file brings along, with the event that made it; None for what was imported."""

    version: int
    graph: SceneGraph
    event: Event | None = None

    def document(self) -> dict[str, Any]:
        """Return what the file's script plays."""
        view = view_of(self.graph, changed=changed_nodes(self.event.delta) if self.event else ())
        who = (self.event.actor, self.event.action) if self.event else ("", "")
        drawing = drawing_of(self.graph, view).document() | {"event": f"{who[1]} by {who[0]}" if self.event else ""}
        return {"version": self.version, "actor": who[0], "action": who[1], "drawing": drawing}


def home_file(
    snapshot: LoadedScene,
    title: str,
    events: Sequence[Event] = (),
    *,
    versions: Sequence[KeptVersion] = (),
    library: str = "",
) -> str:
    """Return a scene as one HTML page with all that it needs inside: rooms, map, search, and `events`.

    The map plays the `versions`, oldest first, the last of which is the scene.
    With the text of cytoscape as `library`, up to OPEN_NODES nodes have their relations drawn on a click.
    """
    graph = snapshot.graph
    view = view_of(graph)
    is_drawn = bool(library) and view.nodes <= OPEN_NODES
    scripts = [
        static_text("home.js"),
        static_text("map.js"),
        *([static_text("time.js")] if versions else []),
        *([library, static_text("drawing.js")] if is_drawn else []),
    ]
    return render(
        "file.html",
        title=title,
        view=view,
        open=view.nodes <= OPEN_NODES,
        drawing=drawing_of(graph, view).document(),
        events=events,
        versions=[it.document() for it in versions],
        newest=snapshot.info.version,
        drawn=drawn(graph, (it for it in graph.relations if it.type != DENSE)) if is_drawn else None,
        style=_inline(static_text("home.css")),
        scripts=[*map(_inline, scripts)],
    )


def run_file(run: RunInfo, frames: Sequence[Frame]) -> str:
    """Return a run as one HTML page that needs no server."""
    title = f"Run {run.number} in {run.scene_name}"
    return render("run_file.html", title=title, run=run, frames=frames, style=_inline(static_text("home.css")))


def png_of(figure: str) -> bytes:
    """Return a figure as PNG of twice its size, with this machine's fonts."""
    from resvg_py import svg_to_bytes

    return bytes(svg_to_bytes(svg_string=figure, width=2 * WIDTH))


def render(template: str, **values: Any) -> str:
    """Return a template with its values, which are escaped."""
    return _templates().get_template(template).render(**values)


def static_text(name: str) -> str:
    """Return the text of a style, with the colours of kinds, or of a script."""
    text = (files("scenecypher.ui") / "static" / name).read_text(encoding="utf-8")
    return css_variables() + text if name.endswith(".css") else text


@cache
def _templates() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("scenecypher.ui")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=False)


def _inline(text: str) -> dict[str, str]:
    """Return a script or a style that stands within a page, with its hash for the page's policy."""
    from markupsafe import Markup

    digest = b64encode(sha256(text.encode()).digest()).decode()
    return {"text": Markup(text), "hash": f"'sha256-{digest}'"}  # noqa: S704 - our own files
