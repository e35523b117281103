"""Scenes, actions, history and their undoing, as typed; exit codes 0 done, 1 refused, 2 bad input or set-up."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import typer

from scenecypher.cli.app import PANELS, app
from scenecypher.cli.context import progress_bar
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Node, SceneGraph
from scenecypher.db.store.publish import Header, publish
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.importers.homes import small_home
from tests.scenecypher.cli.conftest import CommandResult, RunCommand
from tests.scenes import delete_scenes

CUP, MICROWAVE = "cup_2004", "microwave_297"


def test_a_scene_is_listed_shown_and_exported(command: RunCommand, home: str, tmp_path: Path) -> None:
    listed = command("scenes", "list", "--json")
    assert home in [row["name"] for row in listed.json]
    assert home in command("scenes", "list").out
    shown = command("scenes", "show", home, "--json").json
    assert shown["version"] == 0
    assert "bathroom_1" in shown["places"]
    assert "bathroom_1" in command("scenes", "show", home).out
    file = tmp_path / "home.json"
    assert command("scenes", "export", home, "--out", str(file)).code == 0
    assert len(json.loads(file.read_text())["nodes"]) == shown["nodes"]


@pytest.mark.parametrize("columns", [None, "60"])
def test_names_are_never_cut_off(
    command: RunCommand, home: str, monkeypatch: pytest.MonkeyPatch, columns: str | None
) -> None:
    copied = f"{home}/{'of-a-long-name' * 8}"
    assert command("scenes", "copy", home, copied).code == 0
    monkeypatch.delenv("COLUMNS") if columns is None else monkeypatch.setenv("COLUMNS", columns)
    out = command("scenes", "list").out
    assert "…" not in out
    assert copied in out, "a name is never broken"
    line = next(line for line in out.splitlines() if copied in line)
    assert (line.split()[1] == "world") == (columns is None), "in a pipe a scene is one line"


def test_classes_that_are_left_off_are_counted(command: RunCommand, home: str) -> None:
    classes = command("scenes", "show", home, "--json").json["classes"]
    line = next(line for line in command("scenes", "show", home).out.splitlines() if line.startswith("  classes: "))
    shown = line.partition(": ")[2].partition(", and ")
    assert len(shown[0].split(", ")) == 30 < len(classes)
    assert shown[2] == f"{len(classes) - 30} more (--json lists all)"


def test_a_name_is_no_markup_in_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    with progress_bar("copying kitchen[/]") as progress:
        progress(1, 2)
    shown = capsys.readouterr().err
    assert "copying kitchen[/]" in shown
    assert "left:" in shown, "how long it will still take"


def test_an_exported_scene_is_imported_exactly(
    command: RunCommand, home: str, store: SceneStore, tmp_path: Path
) -> None:
    before = store.load(home).graph
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    assert command("scenes", "export", home, "--out", str(good)).code == 0
    bad.write_text(good.read_text().replace('"nodes"', '"knots"', 1))
    assert command("scenes", "delete", home, "--yes").code == 0
    ran = command("import", "json", str(tmp_path), "--json")
    assert ran.code == 2, "one of the two files is bad"
    assert [scene["outcome"] for scene in ran.json["scenes"]] == ["created"]
    assert "$.knots" in json.dumps(ran.json["failed"])
    assert store.load(home).graph == before


def test_an_export_in_another_format_is_imported_exactly(
    command: RunCommand, home: str, store: SceneStore, tmp_path: Path
) -> None:
    before = store.load(home).graph
    for form in ("virtualhome", "networkx"):
        file = tmp_path / f"t{uuid4().hex[:10]}.json"
        assert command("scenes", "export", home, "--format", form, "--out", str(file)).code == 0
        (made,) = command("import", form, str(file), "--json").json["scenes"]
        assert made["outcome"] == "created"
        assert store.load(made["name"]).graph == before
        store.delete(made["name"])
    refused = command("scenes", "export", home, "--format", "dsg")
    assert (refused.code, refused.out) == (2, "")
    assert "has no layer of a 3D scene graph" in refused.err
    assert command("scenes", "export", home, "--format", "owl").code == 2


def test_a_copy_is_its_own_and_a_deleted_scene_is_gone(command: RunCommand, home: str) -> None:
    assert command("scenes", "copy", home, f"{home}-copy").code == 0
    assert command("scenes", "diff", home, f"{home}-copy").out.strip() == "no difference"
    assert command("act", home, f"walk({CUP})").code == 0
    changes = command("scenes", "diff", home, f"{home}-copy", "--json").json
    assert changes
    assert changes == _inverse_order(command("scenes", "diff", f"{home}-copy", home, "--json").json)
    assert command("scenes", "delete", f"{home}-copy", "--yes").code == 0
    gone = command("scenes", "show", f"{home}-copy")
    assert (gone.code, gone.out) == (2, "")
    assert "no scene named" in gone.err


def test_versions_and_generations_are_compared(command: RunCommand, home: str, store: SceneStore) -> None:
    assert command("act", home, f"walk({CUP})").code == 0
    forth = command("scenes", "diff", f"{home}@0", "--json").json
    assert forth
    assert forth == command("scenes", "diff", home, "--since", "0", "--json").json
    assert forth == command("scenes", "diff", f"{home}@0", f"{home}@1", "--json").json
    assert forth == _inverse_order(command("scenes", "diff", home, f"{home}@0", "--json").json)
    assert f"{len(forth)} changes" in command("scenes", "diff", f"{home}@0").out

    never = command("scenes", "diff", home, "--replaced")
    assert (never.code, never.out) == (2, "")
    assert "no earlier generation" in never.err
    publish(store.database, small_home().graph, Header(home, "virtualhome_ext"), replaces=store.find(home).key)
    back = command("scenes", "diff", home, "--replaced", "--json").json
    assert back == _inverse_order(forth)


def _inverse_order(changes: list[list[str]]) -> list[list[str]]:
    """A list of relation changes seen from the other side."""
    flipped = [[("+" if tag[0] == "-" else "-") + tag[1:], *rest] for tag, *rest in changes]
    return sorted(flipped, key=lambda change: (change[0] != "-rel", change[1:]))


def test_an_action_is_refused_carried_out_and_undone(command: RunCommand, home: str, store: SceneStore) -> None:
    before = store.load(home).graph
    refused = command("act", home, f"grab({CUP})")
    assert refused.code == 1
    assert f"walk({CUP}) first" in refused.err
    assert store.load(home).graph == before

    assert command("act", home, f"walk({CUP})").code == 0
    assert command("act", home, "grab(cup)").code == 1, "there are two cups"
    grabbed = command("act", home, f"grab({CUP})", "--json")
    assert [step["version"] for step in grabbed.json] == [2]

    log = command("history", home, "--json").json
    assert [event["action"] for event in log] == [f"walk({CUP})", f"grab({CUP})"]
    assert command("undo", home).code == 0
    whole = command("history", home)
    assert ("undone" in whole.out, whole.err) == (True, "")
    assert command("history", home, "--limit", "2").err.startswith(
        f"1 earlier event not shown; `scenecypher history {home}"
    )
    assert command("history", home, MICROWAVE).out == f"no event has changed {MICROWAVE}\n"
    assert command("history", home, CUP, "--limit", "9").err == "", "what is not about the cup is not left off"
    assert "not shown; " in command("history", home, CUP, "--limit", "1").err
    assert command("redo", home).code == 0
    assert command("undo", home, "--to", "0").code == 0
    assert store.load(home).graph == before
    assert command("undo", home, "--to", "0").out.startswith(f"{home} is as it was then; nothing to change")
    assert command("scenes", "diff", home, "--since", "0").out.strip() == "no difference"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("undo", "{home}"), 1, "nothing to undo"),
        (("redo", "{home}"), 1, "nothing to redo"),
        (("undo", "{home}", "--to", "7"), 2, "can't undo to version 7"),
        (("act", "{home}", "fly(cup_2004)"), 1, "there is no action 'fly'"),
        (("act", "{home}", "grab(unicorn)"), 1, "there is no 'unicorn'"),
        (("act", "{home}", "grab(cupp_2004)"), 1, "no 'cupp_2004' in this scene (did you mean 'cup_2004'"),
        (("act", "{home}", "grab"), 1, "that is no action"),
        (("act", "{home}"), 2, "--list"),
        (("act", "nowhere", "grab(cup)"), 2, "no scene named 'nowhere'"),
        (("act", "{home}", "grab(cup)"), 1, "can mean several things"),
        (("query", "{home}", "MATCH (n) DELETE n"), 1, "refused"),
        (("query", "nowhere", "RETURN 1"), 2, "no scene named"),
        (("scenes", "copy", "{home}", "{home}"), 2, "exists"),
        (("scenes", "copy", "{home}", "{home}@belief"), 2, "choose another name"),
        (("scenes", "copy", "{home}", "{home}@7"), 2, "choose another name"),
        (("scenes", "copy", "{home}", "../../x"), 2, "choose another name"),
        (("scenes", "copy", "{home}", "--", "--scene"), 2, "choose another name"),
        (("scenes", "diff", "{home}"), 2, "--since"),
        (("scenes", "diff", "{home}@7"), 2, "has versions 0 to 0, not 7"),
        (("scenes", "diff", "{home}", "{home}@final"), 2, "no scene named"),
        (("scenes", "diff", "{home}", "--since", "0", "--replaced"), 2, "only one of"),
        (("scenes", "show", "half\udcffword"), 2, "not UTF-8 at character 5"),
        (("scenes", "export", "{home}", "--out", "/"), 2, "/: can't be written (Is a directory); choose another file"),
        (("act", "{home}", "grab(\udcff)"), 2, "not UTF-8 at character 6"),
        (("history", "{home}", "--limit", str(10**30)), 2, "Invalid value"),
        (("plan", "{home}", "--resume", str(10**30)), 2, "whole numbers go up to 9223372036854775807"),
        (("plan", "{home}", " "), 2, "INSTRUCTION is empty"),
        (("plan", "{home}", "tidy up"), 2, "OPENAI_API_KEY"),
        (("plan", "{home}", "tidy up"), 2, "OPENAI_BASE_URL"),
        (("plan", "{home}", "tidy up", "--method", "magic"), 2, "there is no method 'magic'"),
        (("plan", "{home}", "--goal", "mug", "--method", "symbolic"), 2, "'mug' is no goal; write parts such as"),
        (
            ("plan", "{home}", "--goal", "unicorn ON cup", "--method", "symbolic"),
            1,
            "there is no 'unicorn' in this scene",
        ),
        (("ask", "{home}", "where is the cup?"), 2, "OPENAI_API_KEY"),
        (("ask", "{home}", " "), 2, "QUESTION is empty"),
        (("sing",), 2, "No such command"),
        (("scenes", "show", "{home}", "--svg", "x.svg", "--png", "x.svg"), 2, "each write a file of its own"),
        (("scenes", "show", "{home}", "--svg", "x.svg", "--json"), 2, "leave --json out"),
        (("scenes", "show", "{home}", "--versions", "3"), 2, "give --html, or leave --versions out"),
        (
            ("act", "{home}", "grab(cup_2004)", "--agent", "nobody"),
            1,
            "no agent 'nobody' here; name one of character_65",
        ),
        (("scenes", "set", "{home}", "--clock", "2026-11-23T08:00", "--in", "kitchen"), 2, "say what to change"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_what_goes_wrong_says_what_and_how(
    command: RunCommand, home: str, arguments: tuple[str, ...], code: int, said: str
) -> None:
    ran = command(*(argument.replace("{home}", home) for argument in arguments))
    assert ran.code == code, ran
    assert said in ran.err
    assert "Traceback" not in ran.err


def test_a_setting_that_is_refused_leaves_no_other_half_done(command: RunCommand, store: SceneStore) -> None:
    name = f"test/bare-{uuid4().hex[:10]}"
    room = SceneGraph.of([Node("hall", "Place", "hall", "hall")], ())
    store.put(ImportedScene(name, room, "household"))
    wanted = ("scenes", "set", name, "--agent", "robot", "--clock", "2026-11-23T08:00", "--vocabulary")
    assert command(*wanted, "magic").code == 2
    assert (store.load(name).graph, store.find(name).version) == (room, 0)
    assert command(*wanted, "grasif").code == 0
    added = next(it for it in store.history(store.find(name)) if it.action == "add the agent robot")
    assert (added.clock is not None, store.find(name).vocabulary) == (True, "grasif")
    delete_scenes(store, name)


def test_an_import_that_would_end_a_history_wants_to_be_told(command: RunCommand, tmp_path: Path) -> None:
    """History lost without a word: one more `--declare` said "replaced"."""
    file = tmp_path / f"{uuid4().hex}.json"
    name = f"networkx/{file.stem}"

    def imports(nodes: int, *options: str, **attributes: str) -> CommandResult:
        cups = [{"id": f"cup-{number}", **attributes} for number in range(nodes)]
        file.write_text(json.dumps({"directed": True, "nodes": cups, "edges": []}))
        return command("import", "networkx", str(file), *options)

    assert "created" in imports(2).out
    assert "updated" in imports(2, "--declare", "serial_number", serial_number="7").out
    assert "updated" in imports(3).out
    assert [event["action"] for event in command("history", name, "--json").json] == ["import", "import"]
    refused = imports(5_010)
    assert (refused.code, refused.out.strip()) == (2, "")
    assert "ends its history of 2 versions; have it replaced (`--replace`)" in refused.err.replace("\n", " ")
    assert "replaced, 5,010 nodes" in imports(5_010, "--replace").out


def test_a_wrong_password_and_a_server_that_is_not_there(
    command: RunCommand, home: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = command("scenes", "list")
    assert right.code == 0
    monkeypatch.setenv("NEO4J_URI", "bolt://127.0.0.1:9")
    nobody = command("scenes", "list")
    assert nobody.code == 2
    assert "NEO4J_URI" in nobody.err


def test_without_arguments_the_help_is_shown_by_what_one_wants_to_do(command: RunCommand) -> None:
    """A command that stands in no panel, or a panel that names none."""
    told = command("--help").out
    assert [it for it in re.findall(r"─ ([A-Z][a-z ]+) ─", told) if it != "Options"] == [*PANELS]
    whole: Any = typer.main.get_command(app)
    assert {*whole.commands} == {name for names in PANELS.values() for name in names}


def test_the_help_of_plan_is_a_screen(command: RunCommand) -> None:
    assert len(command("plan", "--help").out.splitlines()) <= 65
