"""Rules of a scene in the database: checked in each commit, part of its history, copies, backup, export and beliefs."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from scenecypher.db.archive.backup import back_up
from scenecypher.db.archive.restore import Naming, check_archive, restore_archive
from scenecypher.db.graph.delta import AddRelation, Delta, RemoveRelation
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Relation, SceneGraph
from scenecypher.db.graph.scene_document import scene_document, scene_from_document
from scenecypher.db.rules import rules_of
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import ActionRefused, DocumentError, InputError, RuleBroken, SceneCypherError, UnknownReference
from scenecypher.planner.actions.ruled import AskBack
from scenecypher.planner.actions.simulator import Simulator
from scenecypher.planner.perception.observation import Observation
from scenecypher.planner.rules.house import add_rule, check_rules, remove_rule, rules_at
from scenecypher.planner.worlds.belief import find_or_create_belief
from scenecypher.planner.worlds.belief_simulator import BeliefSimulator, simulator_of
from tests.db.store.test_store import fresh
from tests.planner.rules.homes import HOME, NO_KNIFE, NO_METAL, moved, with_states

OPEN_ON: Final = with_states(HOME, microwave_1="open on")


def stored(store: SceneStore, graph: SceneGraph = HOME) -> str:
    name = fresh("ruled")
    store.put(ImportedScene(name, graph, "household"))
    return name


def act(store: SceneStore, scene: str, *actions: str, **options: object) -> Simulator:
    simulator = Simulator(store, store.find(scene), **options)  # type: ignore[arg-type]
    for action in actions:
        list(simulator.act(action))
    return simulator


def words(store: SceneStore, scene: str) -> list[str]:
    return [it.words for it in rules_at(store, scene)]


def test_an_action_that_would_break_a_rule_is_refused_in_its_commit(store: SceneStore) -> None:
    """Carried out: a model had a fork put into a microwave that runs, or that one switched on."""
    name = stored(store, OPEN_ON)
    added = add_rule(store, name, NO_METAL, name="no-metal", actor="ann")
    assert added.broken == ()
    simulator = act(store, name, "pick_up(fork-1)")
    before = store.find(name).version
    with pytest.raises(RuleBroken, match=r"the rule no-metal forbids it: .* \(fork-1 and microwave-1\); do something"):
        list(simulator.act("put_in(fork-1, microwave-1)"))
    assert store.find(name).version == before
    act(store, name, "switch_off(microwave-1)", "put_in(fork-1, microwave-1)", "close(microwave-1)")
    with pytest.raises(RuleBroken):
        act(store, name, "switch_on(microwave-1)")
    with pytest.raises(RuleBroken):
        act(store, name, "switch_on(microwave-1)", fix=True)


def test_a_rule_counts_at_once_for_who_has_the_scene_in_memory(store: SceneStore) -> None:
    """Stale rules: who had the scene in memory, at the version before, acted by the rules of then."""
    name = stored(store, OPEN_ON)
    other = SceneStore(store.database)
    acting = act(other, name, "pick_up(fork-1)")
    add_rule(store, name, NO_METAL)
    with pytest.raises(RuleBroken):
        list(acting.act("put_in(fork-1, microwave-1)"))
    remove_rule(store, name, "rule-1")
    list(acting.act("put_in(fork-1, microwave-1)"))


def test_a_rule_that_is_added_while_others_act_is_never_passed_by(store: SceneStore) -> None:
    """Raced: an action that was decided before the rule came must not be committed after it."""
    name = stored(store, moved(OPEN_ON, "robot", "HOLDS", "fork-1"))
    other = SceneStore(store.database)
    info = other.find(name)
    other.now(info)
    put = Delta.of(
        [RemoveRelation(Relation("robot", "HOLDS", "fork-1")), AddRelation(Relation("fork-1", "INSIDE", "microwave-1"))]
    )

    def commit() -> bool:
        try:
            other.commit(info, put, actor="robot", action="put")
        except RuleBroken:
            return False
        return True

    with ThreadPoolExecutor(2) as pool:
        added = pool.submit(add_rule, store, name, NO_METAL)
        was_put = pool.submit(commit).result()
    rule = added.result().rules[0]
    log = store.history(store.find(name))
    assert [it.kind for it in log] == (["act", "declare"] if was_put else ["declare"])
    assert rule.since == log[-1].version
    assert bool(check_rules(store, name)) is was_put


def test_rules_that_several_add_at_once_are_all_kept(store: SceneStore) -> None:
    """Lost or refused: of two rules that were decided at one version the second one was told of a conflict."""
    name, names = stored(store), {"one", "two", "three", "four"}
    with ThreadPoolExecutor(len(names)) as pool:
        added = [*pool.map(lambda it: add_rule(store, name, NO_METAL, name=it).rules[0], names)]
    assert {it.name for it in rules_at(store, name)} == names
    assert {it.since for it in added} == {1, 2, 3, 4}


def test_an_action_needs_what_a_rule_demands_before_it(store: SceneStore) -> None:
    name = stored(store, with_states(HOME, stove_1="on"))
    add_rule(store, name, "switch_on(microwave) only when stove is off", name="one-at-a-time")
    with pytest.raises(ActionRefused, match="the rule one-at-a-time forbids it"):
        act(store, name, "switch_on(microwave-1)")
    act(store, name, "switch_off(stove-1)", "switch_on(microwave-1)", "switch_on(stove-1)")


def test_undo_and_redo_break_no_rule_either(store: SceneStore) -> None:
    """Got round: an undo led back to what a rule forbids since."""
    name = stored(store, moved(OPEN_ON, "fork-1", "INSIDE", "microwave-1"))
    act(store, name, "switch_off(microwave-1)", "open(microwave-2)")
    add_rule(store, name, NO_METAL)
    for options in ({"to": 0}, {"version": 1}):
        with pytest.raises(RuleBroken, match="rule-1 forbids it"):
            store.undo(store.find(name), **options)  # type: ignore[arg-type]
    assert store.undo(store.find(name)).version == 4
    assert not check_rules(store, name)


def test_what_a_scene_breaks_is_told_and_may_be_mended(store: SceneStore) -> None:
    name = stored(store, moved(OPEN_ON, "fork-1", "INSIDE", "microwave-1"))
    added = add_rule(store, name, NO_METAL)
    assert [it.things for it in added.broken] == ["fork-1 and microwave-1"]
    act(store, name, "switch_on(stove-1)", "switch_off(microwave-1)")
    assert check_rules(store, name) == ()
    assert len(check_rules(store, f"{name}@1")) == 1


def test_imports_and_people_are_not_bound_but_told(store: SceneStore) -> None:
    name = stored(store, OPEN_ON)
    add_rule(store, name, NO_METAL)
    store.put(ImportedScene(name, moved(OPEN_ON, "fork-1", "INSIDE", "microwave-1"), "household"))
    assert len(check_rules(store, name)) == 1
    assert words(store, name) == [NO_METAL], "an import without rules takes none away"


def test_rules_are_versions_with_an_author_and_the_past_has_its_own(store: SceneStore) -> None:
    name = stored(store)
    add_rule(store, name, NO_METAL, name="metal", actor="ann")
    act(store, name, "pick_up(fork-1)")
    add_rule(store, name, NO_KNIFE, actor="bob")
    remove_rule(store, name, "metal", actor="bob")
    log = [(it.version, it.actor, it.kind, it.action) for it in store.history(store.find(name))]
    assert log == [
        (1, "ann", "declare", f"add the rule metal: {NO_METAL}"),
        (2, "person", "act", "pick_up(fork-1)"),
        (3, "bob", "declare", f"add the rule rule-1: {NO_KNIFE}"),
        (4, "bob", "declare", f"remove the rule metal: {NO_METAL}"),
    ]
    assert [words(store, f"{name}@{it}") for it in range(5)] == [
        [],
        [NO_METAL],
        [NO_METAL],
        [NO_METAL, NO_KNIFE],
        [NO_KNIFE],
    ]
    (rule,) = rules_at(store, name)
    assert (rule.author, rule.since) == ("bob", 3)
    assert store.undo(store.find(name)).version == 5, "what is undone is the action, not the rule"
    assert words(store, name) == [NO_KNIFE]


def test_copies_documents_and_archives_have_the_rules(store: SceneStore, tmp_path: Path) -> None:
    name = stored(store, OPEN_ON)
    add_rule(store, name, NO_METAL)
    add_rule(store, name, "ask before switch_on(stove)")
    act(store, name, "switch_on(stove-1)", ask=lambda _: "do it: ann")
    copied = store.copy(name, fresh("copied"))
    assert rules_of(copied.declared) == rules_of(store.find(name).declared)
    found = store.load(name)
    scene = ImportedScene(name, found.graph, found.info.vocabulary, declared=found.info.declared)
    document = scene_document(scene)
    assert scene_from_document(json.loads(json.dumps(document)), file="it").declared == scene.declared
    path = tmp_path / "it.archive"
    back_up(store.database, path, scenes=[store.find(name)])
    naming = Naming(name=fresh("restored"))
    (again,) = restore_archive(store.database, path, check_archive(store.database, path, naming), naming)
    assert rules_of(store.find(again).declared) == rules_of(found.info.declared)
    assert [it.approved_by for it in store.history(store.find(again))] == ["", "", "ann"]
    document["declared"]["rules"][0]["kind"] = "often"
    with pytest.raises(DocumentError, match=r"declared\.rules.*kind"):
        scene_from_document(document, file="it")


def test_a_belief_has_the_rules_of_its_world(store: SceneStore) -> None:
    name = stored(store, OPEN_ON)
    find_or_create_belief(store, store.find(name))
    add_rule(store, name, NO_METAL)
    belief = f"{name}@belief"
    assert words(store, belief) == [NO_METAL]
    with pytest.raises(InputError, match=f"change those of {name}"):
        add_rule(store, belief, NO_KNIFE)
    simulator = simulator_of(store, store.find(belief))
    list(simulator.act("pick_up(fork-1)"))
    with pytest.raises(RuleBroken, match="rule-1 forbids it"):
        list(simulator.act("put_in(fork-1, microwave-1)"))
    remove_rule(store, name, "rule-1")
    assert words(store, belief) == []


def test_a_person_is_asked_and_stands_in_the_event(store: SceneStore) -> None:
    """Unasked: where nobody is there, what a rule reserves to people is refused."""
    name = stored(store)
    add_rule(store, name, "ask before switch_on(x: stove)", name="stove")
    add_rule(store, name, "ask before switch_on(x: microwave) when x is open", name="open")
    with pytest.raises(ActionRefused, match=r"stove has a person asked: .*, and nobody is here to ask"):
        act(store, name, "switch_on(stove-1)")
    with pytest.raises(ActionRefused, match="it was not approved"):
        act(store, name, "switch_on(stove-1)", ask=lambda _: None)
    for other in ("", "leave it", "no", "ann", "stove-1", "do it not"):
        with pytest.raises(ActionRefused, match="it was not approved"):
            act(store, name, "switch_on(stove-1)", ask=lambda _, said=other: said)
    asked: list[AskBack] = []

    def yes(question: AskBack) -> str:
        asked.append(question)
        return "do it: ann"

    act(store, name, "switch_on(stove-1)", "switch_on(microwave-1)", ask=yes)
    assert [(it.about, it.choices) for it in asked] == [("switch_on(stove-1)", ("do it", "leave it"))]
    assert asked[0].question.startswith("switch_on(stove-1): the rule stove has a person asked: ")
    assert [it.approved_by for it in store.history(store.find(name), after=2)] == ["ann", ""]
    find_or_create_belief(store, store.find(name))
    believing = simulator_of(store, store.find(f"{name}@belief"), ask=yes)
    list(believing.act("switch_off(stove-1)"))
    list(believing.act("switch_on(stove-1)"))
    assert store.history(store.find(name))[-1].approved_by == "ann"


class Elsewhere:
    """A world that is no scene: it does what it is told, and shows nothing."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def execute(self, action: str, *, action_id: str, because: str | None = None) -> None:
        del action_id, because
        self.done.append(action)

    def observe(self, of: str, *, step: int) -> Observation:
        raise UnknownReference(f"{of} was not seen at {step}; look elsewhere")

    def body(self, agent: str) -> None:
        del agent

    def reset(self) -> None:
        self.done.clear()


def test_a_robot_elsewhere_is_bound_by_what_the_belief_says(store: SceneStore) -> None:
    """Unchecked: the world is no scene that could check, so the belief does, before the robot moves."""
    name = stored(store, OPEN_ON)
    belief = find_or_create_belief(store, store.find(name))
    add_rule(store, name, NO_METAL)
    add_rule(store, name, "ask before switch_on(stove)")
    world = Elsewhere()
    simulator = BeliefSimulator(store, store.find(belief.name), world=world, ask=lambda _: "do it: ann")
    list(simulator.act("pick_up(fork-1)"))
    with pytest.raises(RuleBroken, match="rule-1 forbids it"):
        list(simulator.act("put_in(fork-1, microwave-1)"))
    list(simulator.act("put_on(fork-1, table-1)"))
    list(simulator.act("switch_on(stove-1)"))
    assert world.done == ["pick_up(fork-1)", "put_on(fork-1, table-1)", "switch_on(stove-1)"]
    assert store.history(store.find(belief.name))[-1].approved_by == "ann"


def test_a_correction_breaks_no_rule_either(store: SceneStore) -> None:
    """Got round: what a correction inserts is an action like any other."""
    name = stored(store)
    add_rule(store, name, "never microwave is open")
    with pytest.raises(RuleBroken, match="rule-1 forbids it: never microwave is open"):
        act(store, name, "put_in(fork-1, microwave-1)", fix=True)
    assert "open(" not in "".join(it.action for it in store.history(store.find(name)))


def test_bad_input_writes_nothing(store: SceneStore) -> None:
    name = stored(store)
    add_rule(store, name, NO_METAL, name="metal")
    for text, options in ((NO_KNIFE, {"name": "metal"}), ("never unicorn is on", {}), (NO_KNIFE, {"name": " x"})):
        with pytest.raises(InputError):
            add_rule(store, name, text, **options)
    with pytest.raises(InputError, match="did you mean 'metal'"):
        remove_rule(store, name, "metals")
    assert store.find(name).version == 1


def test_too_many_rules_are_refused_with_a_number(store: SceneStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scenecypher.planner.rules.house.MAX_RULES", 2)
    name = stored(store)
    for _ in range(2):
        add_rule(store, name, NO_METAL)
    with pytest.raises(InputError, match="over 2 rules"):
        add_rule(store, name, NO_METAL)
    assert store.find(name).version == 2


def test_leased_copies_are_reset_whatever_the_rules_say(store: SceneStore) -> None:
    name = stored(store, moved(OPEN_ON, "fork-1", "INSIDE", "microwave-1"))
    add_rule(store, name, NO_METAL)
    with store.lease(name) as copy:
        act(store, copy.name, "switch_off(microwave-1)")
        with pytest.raises(SceneCypherError):
            act(store, copy.name, "switch_on(microwave-1)")
    with store.lease(name) as again:
        assert replace(store.load(again.name).info, version=0).name == again.name
        assert store.load(again.name).graph == store.load(name).graph
