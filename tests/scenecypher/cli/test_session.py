"""`scenecypher session`: lines from a file, as a person would type them, on a real server with a scripted model."""

from __future__ import annotations

import gc
import subprocess
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path

import pytest

from scenecypher.chat import OpenAIModel
from scenecypher.cli.session import _editing, completer
from scenecypher.cli.session_commands import SessionState, run_line, setting_of
from scenecypher.db.graph.delta import diff
from scenecypher.db.graph.scene import Relation
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import InputError, ModelUnavailable
from scenecypher.planner.sessions.events import Event, Thought
from scenecypher.planner.sessions.setup import NoModel
from scenecypher.scenes import SceneDatabase
from scenecypher.settings import Settings
from tests.planner.actions.grasif_worlds import home as kitchen
from tests.planner.actions.test_operators import put
from tests.planner.actions.worlds import HOME
from tests.planner.test_belief_simulator import moved
from tests.planner.test_session import says
from tests.scenecypher.cli.conftest import CommandResult, RunCommand, Serve

Typed = Callable[..., CommandResult]


@pytest.fixture
def typed(command: RunCommand, monkeypatch: pytest.MonkeyPatch) -> Typed:
    """Return a function that runs a session with its lines."""

    def ran(scene: str, *lines: str, options: tuple[str, ...] = ()) -> CommandResult:
        monkeypatch.setattr("sys.stdin", StringIO("\n".join(lines) + "\n"))
        return command("session", scene, *options)

    return ran


@pytest.fixture
def home(store: SceneStore) -> SceneInfo:
    return put(store, HOME)


def database_of(store: SceneStore) -> SceneDatabase:
    return SceneDatabase(store.database, Settings(), model=NoModel())


def test_acting_why_and_undoing(home: SceneInfo, store: SceneStore, typed: Typed) -> None:
    ran = typed(
        home.name,
        "put_in(cup_30, fridge_21)",
        "why",
        "act grab(cup)",
        "undo",
        "redo",
        "undo",
        "",
        "help",
        "quit",
        "grab(cup)",
    )
    assert ran.code == 1, "a line was refused"
    lines = ran.out.splitlines()
    assert lines[0] == f"{home.name}, version 0; `help` lists the commands"
    assert lines[1] == "put_in(cup_30, fridge_21) was refused"
    assert "does not hold cup_30" in lines[2]
    assert "grab(cup_30): done, version 1" in lines
    assert [line for line in lines if line.startswith(("undone", home.name))][1:] == [
        "undone: 7 changes, version 2",
        f"{home.name}: 7 changes done again, version 3",
        "undone: 7 changes, version 4",
    ]
    assert any(line.startswith("step [N]") for line in lines)
    assert ran.err.startswith("refused: put_in(cup_30, fridge_21): ")
    assert store.find(home.name).version == 4, "nothing is done after quit"


def test_a_plan_step_by_step(home: SceneInfo, store: SceneStore, typed: Typed, model: Serve) -> None:
    replies = [
        says("act", "grab(cup_30)", reason="it is to go there"),
        says("act", "put_in(cup_30, fridge_21)"),
        says("done", reason="the cup is in"),
    ]
    model(replies)
    ran = typed(
        home.name,
        "why",
        "plan Put the cup into the fridge.",
        "step",
        "why",
        "act open(fridge_21)",
        "go",
        "go",
    )
    assert ran.code == 1
    lines = [line.strip() for line in ran.out.splitlines()]
    assert "nothing was planned or done yet" in lines
    assert "1  grab(cup_30)  (it is to go there)" in lines
    assert "grab(cup_30): it is to go there" in lines
    assert any(line.startswith("done: the cup is in (3 steps, 2 actions") for line in lines)
    assert "no plan is under way" in ran.err
    assert [event.actor for event in store.history(home)] == ["stepwise", "person", "stepwise"]


def test_a_goal_is_planned_for_and_a_bad_one_told(home: SceneInfo, store: SceneStore, typed: Typed) -> None:
    pytest.importorskip("up_fast_downward", reason="needs `pip install 'scenecypher[pddl]'`")
    lines = ("plan --goal 'cup_30 IN fridge_21'", "go", "plan --goal cup is", "plan")
    ran = typed(home.name, *lines, options=("--method", "symbolic"))
    assert "symbolic: cup_30 IN fridge_21" in ran.out
    assert Relation("cup_30", "INSIDE", "fridge_21") in store.load(home.name).graph.relations
    assert "'cup is' is no goal" in ran.err
    assert "a goal (--goal FACTS)" in ran.err


def test_a_history_that_can_not_be_kept_is_said(tmp_path: Path) -> None:
    pytest.importorskip("readline", reason="Python has no line editor here")
    folder = tmp_path / "session_history"
    folder.mkdir()
    with pytest.raises(InputError, match="history can't be kept"), _editing({}, [], folder):
        pass


def test_what_can_not_be_done_is_said_and_the_session_goes_on(home: SceneInfo, typed: Typed) -> None:
    lines = ("hlep", "where is the cup?", "plan", "plan Find it.", "step", "MATCH (n) DELETE n", "actions")
    ran = typed(home.name, *lines, "grab(\udcff)", "undo 3")
    assert ran.code == 1
    for words in (
        "did you mean 'help'",
        "no model is set up",
        "give either an instruction in words",
        "no plan is under way",
        "questions: `scenecypher ask`, Cypher: `scenecypher query`",
        "not UTF-8 at character 6",
        "`undo` takes no number",
    ):
        assert words in ran.err
    assert "grab(x)" in ran.out


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("exti", "did you mean 'exit'"),
        ("quit now", "`quit` takes nothing"),
        ("go to the kitchen", "`go` takes nothing"),
        ("pln Put the cup into the fridge.", "did you mean 'plan'"),
        ("undoo", "did you mean 'undo'"),
        ("stpe 3", "'step'"),
        ("redoo please", "did you mean 'redo'"),
        ("grab(cup_30", "an action is written grab(x)"),
        ("Grab (cup_30", "an action is written grab(x)"),
        ("grab cup_30)", "an action is written grab(x)"),
        ("grab cup_30", "an action is written grab(x)"),
        ("grab", "an action is written grab(x)"),
        ("put_in(cup_30, fridge_21", "an action is written put_in(x, y)"),
        ("grba(cup_30", "an action is written grab(x)"),
        ("acr grab(cup_30)", "did you mean 'act'"),
        ("fly(cup_30", "`actions` lists all"),
        ("Grba(cup_30)", "there is no action 'grba'"),
        ("where is the cup?", "questions: `scenecypher ask`"),
    ],
)
def test_a_slip_of_the_keyboard_never_goes_to_a_model(
    home: SceneInfo, typed: Typed, model: Serve, line: str, hint: str
) -> None:
    server = model([])
    ran = typed(home.name, line)
    assert server.requests == []
    assert hint in ran.err
    assert ran.code == 1


@pytest.mark.parametrize("line", ["exit", "quit", "Exit", "quit;", "exit()", "quit.", "q", ":q", "/quit", "bye!"])
def test_a_session_is_left_by_either_word(home: SceneInfo, typed: Typed, model: Serve, line: str) -> None:
    server = model([])
    ran = typed(home.name, line, "grab(cup)")
    assert (ran.code, ran.err, server.requests) == (0, "", [])
    assert "done, version" not in ran.out


@pytest.mark.parametrize("line", ["?", "h", ":help", "Help!"])
def test_help_is_found_by_any_usual_word(home: SceneInfo, typed: Typed, model: Serve, line: str) -> None:
    server = model([])
    ran = typed(home.name, line)
    assert (ran.code, ran.err, server.requests) == (0, "", [])
    assert "step [N]" in ran.out


def test_refusals_stand_in_order_where_both_streams_are_one_pipe(
    home: SceneInfo, user_env: dict[str, str], forks: Path
) -> None:
    lines = "grab(cup)\nput_in(cup_30, fridge_21)\nwhy\nundo\nput_in(cup_30, fridge_21)\nactions\n"
    command = [str(forks / "scenecypher"), "session", home.name]
    ran = subprocess.run(
        command,
        input=lines,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
        env=user_env,
    )
    assert ran.returncode == 1
    marks = ("grab(cup_30): done", "refused: put_in", "put_in(cup_30, fridge_21) was refused", "undone: ")
    places = [ran.stdout.index(mark) for mark in (*marks, "refused: ", "grab(x)")]
    assert places[:4] == sorted(places[:4])
    assert places[3] < ran.stdout.rindex("refused: ") < places[5]


def test_by_a_belief_both_are_undone(store: SceneStore, typed: Typed) -> None:
    world = put(store, kitchen(), vocabulary="grasif")
    ran = typed(
        world.name, "undo", "go_to(kitchen)", "discover_objects(table-1)", "undo", "undo", options=("--belief",)
    )
    assert ran.code == 1
    assert "saw: cup-1 is confirmed" in ran.out
    assert "nothing was done in this session yet" in ran.err
    for name in (world.name, f"{world.name}@belief"):
        assert store.load(name).graph == store.as_of(name, 0)


def test_what_changed_nothing_is_not_what_undo_takes_back(store: SceneStore, typed: Typed, model: Serve) -> None:
    world = put(store, kitchen(), vocabulary="grasif")
    replies = [says("ask", "What is there?"), "MATCH (o:Object) RETURN o.name AS name", says("done")]
    lines = ("go_to(kitchen)", "put_on(table-1)", "plan Look around.", "step", "go", "undo")
    model(replies)
    ran = typed(world.name, *lines, options=("--belief",))
    assert "refused: put_on(table-1)" in ran.err
    for name in (world.name, f"{world.name}@belief"):
        assert f"{name}: " in ran.out
        assert store.load(name).graph == store.as_of(name, 0)


def test_what_was_done_again_is_undone_alone(store: SceneStore, typed: Typed) -> None:
    world = put(store, kitchen(), vocabulary="grasif")
    lines = ("go_to(kitchen)", "pick_up(cup-1)", "undo", "redo", "undo")
    ran = typed(world.name, *lines, options=("--belief",))
    assert ran.err == ""
    for name in (world.name, f"{world.name}@belief"):
        assert store.load(name).graph == store.as_of(name, 1)
        assert store.find(name).version == 5


def test_a_redo_that_only_one_of_the_two_has_is_none(store: SceneStore, typed: Typed) -> None:
    world = put(store, kitchen(), vocabulary="grasif")
    typed(world.name, "go_to(kitchen)", options=("--belief",))
    store.undo(store.find(world.name))
    before = {name: store.find(name).version for name in (world.name, f"{world.name}@belief")}
    ran = typed(world.name, "redo", options=("--belief",))
    assert "nothing to redo" in ran.err
    assert {name: store.find(name).version for name in before} == before


def test_redo_does_what_undo_took_back_and_no_more(store: SceneStore, typed: Typed) -> None:
    world = put(store, kitchen(), vocabulary="grasif")
    typed(world.name, options=("--belief",))
    elsewhere = moved(kitchen(), "pen-1", "ON", "table-1")
    store.commit(world, diff(kitchen(), elsewhere), actor="somebody", action="move the pen")
    lines = ("go_to(kitchen)", "undo", "pick_up(pen-1)", "undo", "redo")
    ran = typed(world.name, *lines, options=("--belief",))
    assert "pen-1 is absent" in ran.err
    assert store.load(world.name).graph == elsewhere, "that the pen is missed is news to the belief alone"
    assert store.load(f"{world.name}@belief").graph.targets("pen-1") == ()


def test_a_plan_that_broke_off_is_no_plan(home: SceneInfo, store: SceneStore) -> None:
    def broken() -> Iterator[Event]:
        yield Thought(1, "where is it?")
        raise ModelUnavailable("the model service is gone; start it again")

    state = SessionState(database_of(store), home, "stepwise", plan=broken())
    with pytest.raises(ModelUnavailable):
        run_line(state, "go")
    for line in ("step", "go"):
        with pytest.raises(InputError, match="no plan is under way"):
            run_line(state, line)


@pytest.mark.parametrize("number", ["0", "-1"])
def test_less_than_one_step_is_refused(home: SceneInfo, typed: Typed, number: str) -> None:
    ran = typed(home.name, f"step {number}")
    assert "`step` takes a number from 1" in ran.err


def test_a_task_asks_for_its_actions_too(home: SceneInfo, store: SceneStore) -> None:
    asked = setting_of(SessionState(database_of(store), home, "symbolic"), "--task eai/231_2")
    assert asked.required_actions == (("grab",), ("wash", "rinse", "scrub", "wipe"))


def test_a_person_does_it(store: SceneStore, typed: Typed, model: Serve) -> None:
    world = put(store, kitchen(), vocabulary="grasif")
    model([])
    lines = ("go_to(kitchen)", "", "pick_up(cup-1)", "too hot", "", "", "undo")
    ran = typed(world.name, *lines, options=("--world", "human"))
    assert "please do go_to(kitchen)" in ran.out
    assert "too hot" in ran.err
    assert "can't be undone here" in ran.err
    assert store.find(world.name).version == 0
    assert store.find(f"{world.name}@belief").version == 1


def test_a_minigrid_level_is_the_world(store: SceneStore, typed: Typed, level: tuple[str, tuple[str, ...]]) -> None:
    name, program = level
    ran = typed(name, *program, program[0], options=("--world", "minigrid"))
    done = [line.partition(":")[0] for line in ran.out.splitlines() if ": done" in line]
    assert done == [*program]
    assert "the episode ended" in ran.err, "as MiniGrid says, for its mission is done"
    assert (store.find(name).version, store.find(f"{name}@belief").version) == (0, len(program))


def test_a_noisy_observer_errs_as_its_seed_says(store: SceneStore, typed: Typed) -> None:
    def seen(*options: str) -> list[str]:
        world = put(store, kitchen(), vocabulary="grasif")
        ran = typed(world.name, "go_to(kitchen)", "discover_objects(table-1)", options=options)
        return [line.strip() for line in ran.out.splitlines() if "saw:" in line]

    truth, first, again = seen("--belief"), seen("--observer", "noisy:3"), seen("--observer", "noisy:3")
    world = put(store, kitchen(), vocabulary="grasif")
    undone = typed(world.name, "go_to(kitchen)", "undo", options=("--observer", "noisy:3"))
    assert undone.err == ""
    assert store.load(world.name).graph == store.as_of(world.name, 0)
    assert truth == ["saw: cup-1 is confirmed: seen on table-1, as believed"]
    assert first == again
    assert first == ["saw: cup-1 is absent: believed on table-1, not seen there"]


def test_a_session_leaves_no_connection_of_its_model_open(home: SceneInfo, typed: Typed, model: Serve) -> None:
    server = model([says("done"), says("done")])
    typed(home.name, "plan Look.", "go", "plan Look again.", "go")
    assert len(server.requests) == 2
    assert [it for it in gc.get_objects() if isinstance(it, OpenAIModel) and it._client is not None] == []


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--world", "minigird"), "did you mean 'minigrid'"),
        (("--world", "minigrid"), "is no level of MiniGrid"),
        (("--observer", "blind"), "noisy:7"),
        (("--world", "human", "--observer", "noisy:1"), "leave out --observer"),
    ],
)
def test_a_world_that_there_is_not_is_told(home: SceneInfo, typed: Typed, options: tuple[str, ...], told: str) -> None:
    ran = typed(home.name, options=options)
    assert (ran.code, told in ran.err) == (2, True)


@pytest.mark.parametrize(
    ("before", "text", "completed"),
    [
        ("", "gr", ["grab(", "grid_1"]),
        ("", "st", ["step", "standup()"]),
        ("act ", "gra", ["grab("]),
        ("where is the ", "cu", ["cup_1", "cup_30"]),
        ("grab(", "cup_3", ["cup_30)"]),
        ("act put_in(", "cup_1", ["cup_1, "]),
        ("put_in(cup_1, ", "gr", ["grid_1)"]),
        ("put_in(cup_1, ", "un", []),
        ("grab(cup_1) ", "und", ["undo"]),
        ("count (", "cup_3", ["cup_30"]),
    ],
)
def test_words_are_completed_with_what_follows_them(before: str, text: str, completed: list[str]) -> None:
    signatures = {"grab": "grab(x)", "put_in": "put_in(x, y)", "standup": "standup()"}
    complete = completer(signatures, ["cup_1", "cup_30", "grid_1"], lambda: before)
    words = [complete(text, number) for number in range(len(completed) + 1)]
    assert words == [*completed, None]
