"""A folder of pictures by task and asset plays LookPlanGraph's row of Table II: a model sees what has moved."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from scenecypher.chat.model import Reply, Request, Usage
from scenecypher.cli.app import run_command_line as command
from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.errors import InputError, UnknownReference
from scenecypher.evaluation.dynamic import dynamic
from scenecypher.evaluation.episodes import success_figure
from scenecypher.evaluation.measures import figures
from scenecypher.evaluation.playing import play
from scenecypher.evaluation.views import FolderCamera, bundled_pictures
from scenecypher.evaluation.world_pool import WorldPool
from scenecypher.planner.perception.picture import encode_png, read_picture
from tests.importers.test_grasif_folder import grasif_folder
from tests.oracle.lookplangraph import reply
from tests.scripted_model import ScriptedModel
from tests.views.describers import form_of
from tests.views.tasks import TASKS, contents, name_of, names, starts

MOST_BYTES: Final = 1_000_000
PLAYED: Final = 2
WORDED: Final = "behavior-1k/buy_dog_food"
"""A task in which a thing has moved, and whose words tell all of its goal."""
PHRASES: Final = {"ON": "on top of", "INSIDE": "inside"}
NOTHING: Final = "Nothing can be made out."


class Viewer:
    """A model that plans as the oracle does, and describes the pictures of tasks, which it knows by their bytes."""

    def __init__(self, tell: Callable[[str], str]) -> None:
        self.looks, self._tell = 0, tell

    def reply(self, request: Request) -> Reply:
        system, message = request.messages[0].text, request.messages[-1]
        urls = [it.data_url for it in message.images]
        return Reply(self.answer(system, message.text, urls), Usage(1, 1), "viewer", source="scripted")

    def answer(self, system: str, text: str, urls: list[str]) -> str:
        if urls:
            self.looks += 1
            return self._tell(known_words()[urls[0]])
        return json.dumps(form_of(text)) if "was described so" in text else reply(system, text)


@cache
def known_words() -> dict[str, str]:
    """Return what each included picture shows, by its bytes."""
    return {
        read_picture(bundled_pictures() / task / f"{name_of(node, is_open=is_open)}.png").data_url: words_of(
            graph, node, is_open=is_open
        )
        for task, graph in starts()
        for node, is_open in names(graph)
    }


def words_of(graph: SceneGraph, of: Node, *, is_open: bool) -> str:
    """Return what a picture shows, each thing by its class."""
    told, todo = ["All of it is in view."], [(of, is_open)]
    for node, opened in todo:
        for type_, thing in contents(graph, node.id, is_open=opened):
            name = thing.id if contents(graph, thing.id) else thing.class_
            told.append(f"1 {name} is {PHRASES[type_]} {node.id}.")
            todo.append((thing, False))
    return " ".join(told)


def careful(words: str) -> str:
    return words


def blind(words: str) -> str:
    del words
    return NOTHING


def careless(words: str) -> str:
    """Tell the first thing of a picture alone, and that all is in view."""
    return ".".join(words.split(".")[:2]) + "."


def test_ten_tasks_have_pictures_of_all_that_can_be_looked_at() -> None:
    """The drawn pictures come along, and are small."""
    files = {str(it.relative_to(bundled_pictures())) for it in bundled_pictures().rglob("*.png")}
    assert files == {
        f"{task}/{name_of(node, is_open=is_open)}.png" for task, graph in starts() for node, is_open in names(graph)
    }
    assert {it.rpartition("/")[0] for it in files} == {*TASKS}
    assert sum((bundled_pictures() / it).stat().st_size for it in files) < MOST_BYTES


@pytest.mark.usefixtures("server_settings")
@pytest.mark.parametrize(("tell", "solved"), [(careful, PLAYED), (blind, 0), (careless, 0)])
def test_who_sees_the_pictures_finds_what_has_moved(tell: Callable[[str], str], solved: int) -> None:
    """Rows of the paper's table that can't be played, though there are pictures."""
    made = dynamic.plan(data="behavior", methods="lookplangraph", wording="goal", pictures="included")
    moved = [row for row in made.episodes() if row.moved][:PLAYED]
    assert {(row.row, row.eyes) for row in made.episodes()} == {("lookplangraph", "pictures")}
    pool, viewer = WorldPool(), Viewer(tell)
    try:
        traces = [play(pool, made.assignments, row, model=viewer) for row in moved]
    finally:
        pool.close()
    assert viewer.looks
    won = [figures(row, trace)[success_figure(row)] for row, trace in zip(moved, traces, strict=True)]
    assert sum(won) == solved, [
        (row.task, trace.outcome, trace.reason) for row, trace in zip(moved, traces, strict=True)
    ]


def test_the_rows_stand_in_table_ii() -> None:
    made = dynamic.plan(methods="paper,ours", pictures="included")
    (table,) = made.tables
    assert (table.published, {*table.tasks}) == (("lookplangraph", "II-behavior"), {*TASKS})
    looking = {row.row for row in made.episodes() if row.eyes == "pictures"}
    assert looking == {"react-alfworld", "lookplangraph", "explore-then-plan-pictures"}
    assert {"react-alfworld-gt", "lookplangraph-gt", "explore-then-plan", "sayplan"} <= {
        row.row for row in made.episodes() if row.eyes == "truth"
    }
    assert [row.label for row in table.rows if row.eyes] == ["ReAct", "LookPlanGraph", ""]
    plain = dynamic.plan(data="behavior", methods="paper,ours")
    assert not any(row.eyes == "pictures" or row.row.endswith("pictures") for row in plain.episodes())


def pictures_of(task: str, folder: Path) -> Path:
    return Path(shutil.copytree(bundled_pictures() / task, folder / task))


FAULTS: Final[dict[str, Callable[[Path], Any]]] = {
    "table-2.png missing; add each, or take": lambda here: (here / "table-2.png").unlink(),
    "floor-1.png: the picture is cut off or damaged": lambda here: (here / "floor-1.png").write_bytes(
        (here / "floor-1.png").read_bytes()[:200]
    ),
    "shelf-7.png: this task has no shelf-7": lambda here: shutil.copy(here / "floor-1.png", here / "shelf-7.png"),
    "baskets: pictures of no task that is played here (did you mean": lambda here: here.rename(
        here.with_name("gift_baskets")
    ),
    "no pictures in it; give a folder of TASK/ASSET.png": shutil.rmtree,
}


@pytest.mark.parametrize("told", FAULTS)
def test_pictures_that_are_missing_unreadable_or_of_another_task_are_told_first(
    told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A fault of a folder that is found after models were asked for the tasks before it."""
    FAULTS[told](pictures_of(TASKS[0], tmp_path))
    asked = ["eval", "dynamic", "--pictures", str(tmp_path), "--method", "lookplangraph", "--model", "openai/eyes"]
    with ScriptedModel([]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "scripted")
        assert command(asked) == 2
    assert not server.requests
    assert told in " ".join(capsys.readouterr().err.split())


def test_what_has_nothing_to_do_with_the_pictures_is_told(tmp_path: Path) -> None:
    pictures_of(TASKS[0], tmp_path)
    for options, told in (
        ({"methods": "symbolic"}, "pictures are for react-alfworld, lookplangraph, explore-then-plan-pictures"),
        ({"methods": "paper", "data": "virtualhome"}, "pictures of none of the chosen tasks"),
    ):
        with pytest.raises(InputError, match=told):
            dynamic.plan(pictures=str(tmp_path), **options)


def test_a_folder_of_released_tasks_is_played_with_its_pictures(tmp_path: Path) -> None:
    folder = grasif_folder(tmp_path / "released")
    shown = tmp_path / "shown" / "released" / "two"
    shown.mkdir(parents=True)
    (task,) = (one for one in dynamic.plan(folder=str(folder), methods="symbolic").episodes())
    graph = dynamic.plan(folder=str(folder), methods="symbolic").assignments.of(task).initial
    for node in graph.nodes.values():
        for end in ("", ".open"):
            (shown / f"{node.id}{end}.png").write_bytes(encode_png(bytes(3), width=1, height=1).data)
    made = dynamic.plan(folder=str(folder), methods="lookplangraph", pictures=str(tmp_path / "shown"))
    assert [(row.task, row.eyes) for row in made.episodes()] == [("released/two", "pictures")]


def test_pictures_are_read_by_a_model_of_their_own(
    server_settings: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A setting that names who reads pictures, and holds everywhere but in experiments."""
    viewer, asked = Viewer(careful), list[tuple[str, bool]]()

    def script(request: dict[str, Any]) -> str:
        first, content = request["messages"][0]["content"], request["messages"][-1]["content"]
        urls = [] if isinstance(content, str) else [it["image_url"]["url"] for it in content[1:]]
        text = content if isinstance(content, str) else content[0]["text"]
        asked.append((request["model"], bool(urls) or "was described so" in text))
        return viewer.answer(first if isinstance(first, str) else "", text, urls)

    pictures_of(WORDED, server_settings / "shown")
    options = ["--pictures", str(server_settings / "shown"), "--method", "lookplangraph", "--wording", "goal"]
    with ScriptedModel(script, models=("plans", "sees")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "scripted")
        monkeypatch.setenv("SCENECYPHER_VISION_MODEL", "sees")
        logs = ["--log-dir", str(server_settings / "logs"), "--json"]
        assert command(["eval", "dynamic", *options, "--model", "openai/plans", *logs]) == 0
    assert {*asked} == {("plans", False), ("sees", True)}
    (row,) = (row for row in json.loads(capsys.readouterr().out)["tables"][0]["rows"] if row["cells"])
    assert row["options"] == {"augmentation": "pictures", "pictures read by": "openai-api/openai/sees"}
    assert row["cells"]["sr"]["value"] == 1


def test_a_picture_shows_the_start(tmp_path: Path) -> None:
    """What was changed since has no picture; what was opened has another one; who stands there changes nothing."""
    shut, opened = (encode_png(bytes(3 * it), width=it, height=1) for it in (1, 2))
    (tmp_path / "box.png").write_bytes(shut.data)
    (tmp_path / "box.open.PNG").write_bytes(opened.data)
    cup, robot = Node("cup", "Object", "cup", "cup"), Node("robot", "Agent", "robot", "robot")

    def box(*states: str) -> Node:
        return Node("box", "Asset", "box", "box", states)

    start = SceneGraph.of([cup, robot, box("closed", "off")], [Relation("cup", "INSIDE", "box")])
    now = start
    camera = FolderCamera(tmp_path, start, lambda: now)
    assert camera.picture("box") == shut
    now = SceneGraph.of(start.nodes.values(), [*start.relations, Relation("robot", "INSIDE", "box")])
    assert camera.picture("box") == shut
    now = SceneGraph.of([cup, robot, box("off", "open")], start.relations)
    assert camera.picture("box") == opened
    for changed in (
        SceneGraph.of([cup, robot, box("off", "open")], []),
        SceneGraph.of([cup, robot, box("closed", "on")], start.relations),
        SceneGraph.of([cup, robot], []),
    ):
        now = changed
        with pytest.raises(UnknownReference, match="there is no picture of box as it is now"):
            camera.picture("box")
    now = start
    with pytest.raises(UnknownReference, match="there is no picture of cup in the folder"):
        camera.picture("cup")
    with pytest.raises(UnknownReference, match="there is no picture of"):
        camera.picture("../box")
