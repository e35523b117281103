"""`scenecypher scenes`: list, show, set, export, copy, delete and compare scenes."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from scenecypher.cli.context import delta_document, open_store, print_json, progress_bar, say, show, tell
from scenecypher.cli.options import AsJson, Name, ReadName, argument, option, scene_names, vocabularies
from scenecypher.cli.scene_files import export_archive, export_vectors, write_pages
from scenecypher.cli.table import Column, print_table
from scenecypher.errors import InputError
from scenecypher.files import write_file
from scenecypher.wording import change_line

if TYPE_CHECKING:
    from scenecypher.db.graph.delta import Delta
    from scenecypher.db.store.catalog import SceneInfo
    from scenecypher.db.store.load import LoadedScene

scenes_app = typer.Typer(name="scenes", help="The scenes in the database.", no_args_is_help=True)

COUNTS_SHOWN: Final = 30
"""Names in a line of counts."""


@scenes_app.command("list")
def list_scenes(*, as_json: AsJson = False) -> None:
    """List all scenes."""
    with open_store() as store:
        infos = store.scenes()
    if as_json or not infos:
        said = "no scenes yet; `scenecypher import virtualhome --only 963_2` brings one"
        show([summary(info) for info in infos], said, as_json=as_json)
        return
    headings = ("scene", "role", "vocabulary", "version", "nodes", "relations")
    columns = [Column(it, may_go=it in {"vocabulary", "nodes", "relations"}) for it in headings]
    rows = [(it.name, it.role, it.vocabulary, str(it.version), f"{it.nodes:,}", f"{it.relations:,}") for it in infos]
    print_table(columns, rows)


@scenes_app.command("show")
def show_scene(
    scene: ReadName,
    *,
    as_json: AsJson = False,
    html: Annotated[Path | None, option("--html", "FILE", "Write it as one page that needs no server.")] = None,
    svg: Annotated[Path | None, option("--svg", "FILE", "Write the home as a figure.")] = None,
    png: Annotated[Path | None, option("--png", "FILE", "Write the figure as pixels.")] = None,
    versions: Annotated[int, option("--versions", "N", "Let the page play the last N versions.", min=0, max=200)] = 0,
) -> None:
    """Show a scene's contents: its places, and counts of nodes and relations by kind."""
    wanted = {name: file for name, file in (("html", html), ("svg", svg), ("png", png)) if file}
    if wanted and (as_json or len({*wanted.values()}) < len(wanted)):
        raise InputError("--html, --svg and --png each write a file of its own and print nothing; leave --json out")
    if versions and html is None:
        raise InputError("--versions are those that the page of --html plays; give --html, or leave --versions out")
    with open_store() as store:
        snapshot = store.load_at(scene)
        if wanted:
            write_pages(store, snapshot, wanted, versions)
            return
    document = contents(snapshot)
    if not as_json:
        say(scene, style="bold", end="  ")
    listed = (f"  {title}: {', '.join(document[title]) or 'none'}" for title in ("places", "agents"))
    counts = ("kinds", "relation_types", "classes")
    numbers = (f"  {title.replace('_', ' ')}: {_counts(document[title])}" for title in counts)
    head = f"{snapshot.info.vocabulary}, {snapshot.info.role}, version {snapshot.info.version}"
    show(document, head, *listed, *numbers, as_json=as_json)


@scenes_app.command("tree")
def show_tree(
    scene: ReadName,
    of: Annotated[str | None, argument("NODE", "A room or thing: its id, name or class; else the whole scene.")] = None,
    *,
    everything: Annotated[bool, option("--all", "Walls and floors too.")] = False,
) -> None:
    """Show rooms, furniture and things as a tree: what is where, what is held, and states in brackets."""
    from scenecypher.db.browser.style import line_colour
    from scenecypher.db.store.reference import resolve_reference
    from scenecypher.tree import SceneTree

    with open_store() as store:
        graph = store.load_at(scene).graph
    node = None if of is None else resolve_reference(graph, of)
    tree = SceneTree(graph, shell=everything)
    for line, of_line in tree.entries(node):
        say(line, style=line_colour(of_line.kind), is_whole=True)
    if tree.left_off and node is None:
        tell(f"left off: {tree.left_off_text()}; --all shows them")


def _counts(counts: dict[str, int]) -> str:
    """Return the first COUNTS_SHOWN names with their counts, and how many are left off."""
    shown = [f"{name} {count:,}" for name, count in list(counts.items())[:COUNTS_SHOWN]]
    left_off = len(counts) - len(shown)
    return (", ".join(shown) or "none") + (f", and {left_off:,} more (--json lists all)" if left_off else "")


@scenes_app.command()
def export(
    scene: ReadName,
    file: Annotated[Path | None, option("--out", "-o", "The file to write; standard output if none.")] = None,
    *,
    form: Annotated[str, option("--format", "FORMAT", "json, grasif, virtualhome, networkx or dsg.")] = "json",
    with_history: Annotated[
        bool, option("--with-history", "Write an archive of the scene and its history to the file of --out.")
    ] = False,
) -> None:
    """Write a scene as SceneCypher's own JSON document, or in another format that can hold all of it.

    `import` takes either back as the same scene, and `db restore` an archive with the scene's history.
    """
    if with_history:
        export_archive(scene, file, form)
        return
    from scenecypher.db.graph.imported import ImportedScene
    from scenecypher.importers.export import export_document, format_of

    chosen = format_of(form)
    with open_store() as store:
        snapshot = store.load_at(scene)
        info = snapshot.info
        imported = ImportedScene(
            info.name, snapshot.graph, info.vocabulary, role=info.role, declared=info.declared, source=info.source
        )
        document = export_document(imported, chosen)
        if info.declared.vectors and file is not None and chosen == "json":
            document["vectors"] = export_vectors(store, snapshot, file.with_suffix(".npz"))
        elif info.declared.vectors:
            tell("its vectors are left out: --out FILE.json writes them to FILE.npz beside it")
    text = json.dumps(document, ensure_ascii=False, indent=1)
    if file is None:
        typer.echo(text)
    else:
        write_file(file, text + "\n")
        tell(f"wrote {file}")


@scenes_app.command("set")
def set_scene(
    scene: Name,
    *,
    vocabulary: Annotated[
        str | None, option("--vocabulary", "NAME", "The actions that it allows.", autocompletion=vocabularies)
    ] = None,
    agent: Annotated[str | None, option("--agent", "NAME", "Add an agent of this name.")] = None,
    place: Annotated[str | None, option("--in", "ROOM", "The room of the added agent.")] = None,
    clock: Annotated[
        str | None, option("--clock", "TIME", "The time of what happens from now on, simulated or recorded.")
    ] = None,
) -> None:
    """Give a scene another vocabulary, an agent if it has none, or a clock of its own. Its history goes on."""
    from scenecypher.db.graph.delta import diff
    from scenecypher.db.graph.invariants import check_rules
    from scenecypher.db.store.history import declare_time, parse_time
    from scenecypher.importers.adjusting import with_agent

    if (vocabulary is None and agent is None and clock is None) or (place is not None and agent is None):
        raise InputError("say what to change: --vocabulary NAME, --clock TIME, or --agent NAME with --in ROOM")
    time = None if clock is None else parse_time(clock)
    with open_store() as store:
        now = store.load(scene)
        graph = now.graph if agent is None else with_agent(now.graph, agent, place=place)
        if vocabulary is not None:
            check_rules(graph, scene, vocabulary)
        if time is not None:
            declare_time(store.database, now.info, time)
            say(f"{scene}: its clock says {time.isoformat()}")
        if agent is not None:
            done = store.commit(now.info, diff(now.graph, graph), actor="person", action=f"add the agent {agent}")
            say(f"{scene}: {agent} added, version {done.version}")
        if vocabulary is not None:
            store.set_vocabulary(scene, vocabulary)
            say(f"{scene}: vocabulary {vocabulary}")


@scenes_app.command()
def copy(scene: ReadName, to: Annotated[str, argument("NEW", "The copy's name.")]) -> None:
    """Copy a scene, or an earlier state of it, SCENE@VERSION or SCENE@TIME; the copy's history starts empty."""
    with open_store() as store, progress_bar(f"copying {scene}") as progress:
        info = store.copy(scene, to, progress=progress)
    say(f"{info.name}: {info.nodes:,} nodes, {info.relations:,} relations")


@scenes_app.command()
def delete(scene: Name, *, yes: Annotated[bool, option("--yes", "-y", "Do not ask.")] = False) -> None:
    """Delete a scene with its history. `db clean` frees the space."""
    with open_store() as store:
        info = store.find(scene)
        if not yes:
            typer.confirm(
                f"Delete {info.name} ({info.nodes:,} nodes, version {info.version}) and its history?", abort=True
            )
        store.delete(scene)
    say(f"deleted {scene}")


@scenes_app.command("diff")
def diff_scenes(
    scene: ReadName,
    other: Annotated[
        str | None, argument("[OTHER]", "The scene, or the earlier state, to compare with.", autocompletion=scene_names)
    ] = None,
    *,
    since: Annotated[int | None, option("--since", "Compare with an earlier version of SCENE.")] = None,
    replaced: Annotated[
        bool, option("--replaced", "Compare with the generation that an import replaced last.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show the changes from SCENE to OTHER, from an earlier version, or from the generation that an import replaced."""
    from scenecypher.db.graph.delta import diff
    from scenecypher.db.store.catalog import split_at
    from scenecypher.db.store.load import load_replaced

    then = split_at(scene)
    if (other is not None) + (since is not None) + replaced > 1:
        raise typer.BadParameter("give only one of a second scene, --since VERSION and --replaced")
    if other is None and since is None and not replaced and then is None:
        raise typer.BadParameter("give a second scene, SCENE@VERSION, SCENE@TIME, --since VERSION, or --replaced")
    with open_store() as store:
        if replaced:
            before, after = load_replaced(store.database, scene).graph, store.load(scene).graph
        elif since is not None:
            before, after = store.as_of(scene, since), store.load(scene).graph
        else:
            before, after = store.load_at(scene).graph, store.load_at(other or (then or [scene])[0]).graph
    print_delta(diff(before, after), as_json=as_json)


def print_delta(delta: Delta, *, as_json: bool) -> None:
    """Print a Delta as JSON, or one line a change."""
    if as_json:
        print_json(delta_document(delta))
        return
    say("\n".join(map(change_line, delta.changes)) or "no difference")
    if len(delta) > 1:
        say(f"{len(delta):,} changes", style="dim")


def summary(info: SceneInfo) -> dict[str, Any]:
    """Return a scene's facts as a JSON document."""
    told = ("name", "role", "vocabulary", "version", "nodes", "relations", "source")
    return {name: getattr(info, name) for name in told}


def contents(snapshot: LoadedScene) -> dict[str, Any]:
    """Return a scene's contents with counts as a JSON document; largest counts first."""
    nodes = snapshot.graph.nodes.values()
    document = summary(snapshot.info) | {"nodes": len(nodes), "relations": len(snapshot.graph.relations)}
    document["places"] = sorted(node.id for node in nodes if node.kind == "Place")
    document["agents"] = sorted(node.id for node in nodes if node.kind == "Agent")
    document["kinds"] = _counted(node.kind for node in nodes)
    document["relation_types"] = _counted(relation.type for relation in snapshot.graph.relations)
    document["classes"] = _counted(node.class_ for node in nodes)
    return document


def _counted(items: Any) -> dict[str, int]:
    counts: Counter[str] = Counter(items)
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))
