"""An action is one statement at the version that it was decided at: as if it had held the lock, whoever else wrote."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, LiteralString
from uuid import uuid4

import pytest

from scenecypher.db.graph.delta import ChangeList, Delta, RemoveRelation
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.commit import Intent, SceneVersion
from scenecypher.db.store.connection import Address, Database
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import ActionRefused, CommitUnknown, ConflictError, InputError, SceneReplaced
from tests.db.store.test_store import fresh
from tests.proxy import proxied

HELD: Final = Relation("robot", "HOLDS_RH", "cup")
BEHIND_OUR_BACK: Final[LiteralString] = "MATCH (:Agent {scene: $key})-[r:HOLDS_RH]->() DELETE r"


def home() -> SceneGraph:
    nodes = [Node("robot", "Agent", "robot", "robot"), Node("cup", "Object", "cup", "cup", states=("clean",))]
    return SceneGraph.of(nodes, [HELD])


@pytest.fixture(params=["in memory", "not loaded yet"])
def scene(store: SceneStore, request: pytest.FixtureRequest) -> SceneInfo:
    name = fresh("optimistic")
    store.put(ImportedScene(name, home()))
    info = store.find(name)
    if request.param == "in memory":
        store.now(info)
    return info


def meet(ours: SceneStore, scene: SceneInfo) -> None:
    """Have `ours` keep the scene in memory, so that the next that it sends is the change."""
    ours.now(scene)


def refuse(_: SceneVersion) -> Delta:
    raise ActionRefused("nothing", ["it is only a test"])


class Toggling:
    """Soils what is clean and cleans what is not; `before` happens once, when what was read is about to be used."""

    def __init__(self, before: Callable[[], object] = lambda: None) -> None:
        self.seen: list[tuple[int, tuple[str, ...]]] = []
        self._before = before

    def __call__(self, read: SceneVersion) -> Delta:
        states = read.graph.nodes["cup"].states
        self.seen.append((read.version, states))
        if len(self.seen) == 1:
            self._before()
        if "broken" in states:
            raise ActionRefused("toggle", ["the cup is broken"])
        soil = ("dirty",), ("clean",)
        return Delta.of([ChangeList("cup", "states", *(soil if "clean" in states else soil[::-1]))])


def intent() -> Intent:
    return Intent("t", "toggle", uuid4().hex)


def change(store: SceneStore, scene: SceneInfo, state: str) -> Callable[[], object]:
    """Somebody else's commit."""
    delta = Delta.of([ChangeList("cup", "states", (state,), ("clean",))])
    return lambda: store.commit(scene, delta, actor="other", action="change")


def states(store: SceneStore, scene: SceneInfo) -> tuple[str, ...]:
    return store.load(scene.name).graph.nodes["cup"].states


def test_undisturbed_it_reads_once_and_commits(store: SceneStore, scene: SceneInfo) -> None:
    toggling = Toggling()
    done = store.change(scene, toggling, intent=intent())
    assert (done.version, done.repeated, toggling.seen) == (1, False, [(0, ("clean",))])
    assert states(store, scene) == ("dirty",)
    assert [(event.version, event.delta) for event in store.history(scene)] == [(1, done.delta)]


def test_who_commits_in_between_is_seen(store: SceneStore, scene: SceneInfo) -> None:
    toggling = Toggling(change(store, scene, "dirty"))
    done = store.change(scene, toggling, intent=intent())
    assert toggling.seen == [(0, ("clean",)), (1, ("dirty",))]
    assert (done.version, states(store, scene)) == (2, ("clean",))
    assert [event.version for event in store.history(scene)] == [1, 2]


def test_a_refusal_is_final_where_nobody_wrote(store: SceneStore, scene: SceneInfo) -> None:
    change(store, scene, "broken")()
    toggling = Toggling()
    with pytest.raises(ActionRefused, match="broken"):
        store.change(scene, toggling, intent=intent())
    assert toggling.seen[-1] == (1, ("broken",))
    assert store.find(scene.name).version == 1


def test_what_became_impossible_in_between_is_refused(store: SceneStore, scene: SceneInfo) -> None:
    toggling = Toggling(change(store, scene, "broken"))
    with pytest.raises(ActionRefused, match="broken"):
        store.change(scene, toggling, intent=intent())
    assert {*toggling.seen} == {(0, ("clean",)), (1, ("broken",))}, "the refusal is decided at the present version"
    assert store.find(scene.name).version == 1, "a commit that came to nothing leaves the version"


def test_what_another_process_committed_is_not_overlooked(
    store: SceneStore, address: Address, scene: SceneInfo
) -> None:
    with Database(address) as database:
        change(SceneStore(database), scene, "dirty")()
    toggling = Toggling()
    assert store.change(scene, toggling, intent=intent()).version == 2
    assert (toggling.seen[-1], states(store, scene)) == ((1, ("dirty",)), ("clean",))


def test_a_scene_that_is_replaced_in_between_takes_nothing(store: SceneStore, scene: SceneInfo) -> None:
    with pytest.raises(SceneReplaced):
        store.change(scene, Toggling(lambda: store.delete(scene.name)), intent=intent())


def test_what_changed_without_a_version_is_a_conflict_and_writes_nothing(
    store: SceneStore, database: Database, scene: SceneInfo
) -> None:
    def let_go(_: SceneVersion) -> Delta:
        if not happened:
            happened.append(database.execute(BEHIND_OUR_BACK, {"key": scene.key}, timeout_s=10))
        return Delta.of([ChangeList("cup", "states", ("dirty",), ()), RemoveRelation(HELD)])

    happened: list[object] = []
    with pytest.raises(ConflictError):
        store.change(scene, let_go, intent=intent())
    assert store.find(scene.name).version == 0
    assert (states(store, scene), store.history(scene)) == (("clean",), [])


def test_the_same_action_id_is_applied_once(store: SceneStore, scene: SceneInfo) -> None:
    once = intent()
    first = store.change(scene, Toggling(), intent=once)
    again = store.change(scene, Toggling(), intent=once)
    assert (again.version, again.delta, again.repeated) == (first.version, first.delta, True)
    assert store.find(scene.name).version == 1


@pytest.mark.parametrize("lost", ["answer", "request"])
def test_a_lost_answer_leaves_one_commit(store: SceneStore, address: Address, scene: SceneInfo, lost: Any) -> None:
    with proxied(address, b"AS unchanged") as (proxy, through), Database(through) as database:
        shaky = SceneStore(database)
        meet(shaky, scene)
        proxy.lose(lost)
        done = shaky.change(scene, Toggling(), intent=intent())
        assert proxy.lost == 1
    assert (done.version, states(store, scene)) == (1, ("dirty",))
    assert len(store.history(scene)) == 1


def test_a_known_change_is_one_statement_too_and_a_conflict_is_refused(store: SceneStore, scene: SceneInfo) -> None:
    soil = Delta.of([ChangeList("cup", "states", ("dirty",), ("clean",))])
    assert store.commit(scene, soil, actor="t", action="soil", action_id="one").version == 1
    again = store.commit(scene, soil, actor="t", action="soil", action_id="one")
    assert (again.version, again.repeated) == (1, True)
    with pytest.raises(InputError, match="used for another change"):
        store.commit(scene, Delta(), actor="t", action="nothing", action_id="one")
    with pytest.raises(ConflictError, match="lack 'clean'"):
        store.commit(scene, soil, actor="t", action="soil")
    with pytest.raises(ConflictError, match="the scene is at version 1, not 0"):
        store.commit(scene, Delta(), actor="t", action="nothing", expected_version=0)
    assert [event.version for event in store.history(scene)] == [1]


def test_an_edit_is_decided_on_the_whole_scene_at_its_version(store: SceneStore, scene: SceneInfo) -> None:
    def decide(at: SceneVersion) -> Delta:
        assert {*at.graph.nodes} == {"robot", "cup"}
        return toggling(at)

    toggling, once = Toggling(change(SceneStore(store.database), scene, "dirty")), intent()
    done = store.change(scene, decide, intent=once)
    assert (done.version, states(store, scene)) == (2, ("clean",))
    assert toggling.seen == [(0, ("clean",)), (1, ("dirty",))]
    again = store.change(scene, decide, intent=once)
    assert (again.version, again.repeated) == (2, True)


def test_a_change_within_another_is_decided_first(store: SceneStore, scene: SceneInfo) -> None:
    def inner() -> None:
        assert store.change(scene, Toggling(), intent=intent()).version == 1

    outer = Toggling(inner)
    assert store.change(scene, outer, intent=intent()).version == 2
    assert outer.seen == [(0, ("clean",)), (1, ("dirty",))]
    assert states(store, scene) == ("clean",)


def test_a_lost_answer_before_the_server_is_gone_leaves_the_outcome_unknown(
    store: SceneStore, address: Address, scene: SceneInfo
) -> None:
    once = intent()
    with proxied(address, b"AS unchanged") as (proxy, through), Database(through, retry_s=0.1) as database:
        shaky = SceneStore(database)
        meet(shaky, scene)
        proxy.lose("answer")
        proxy.refuse()
        with pytest.raises(CommitUnknown, match="may be done or not"):
            shaky.change(scene, Toggling(), intent=once)
    again = store.change(scene, Toggling(), intent=once)
    assert (again.version, again.repeated, states(store, scene)) == (1, True, ("dirty",))
