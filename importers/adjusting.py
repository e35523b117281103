"""Changes to a scene between its file and the database: another vocabulary, and an agent for a home without one."""

from __future__ import annotations

from dataclasses import dataclass, replace

from scenecypher.chat.embeddings import WORDS_MODEL, local_words
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.invariants import check_rules
from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.db.graph.vectors import NodeVectors
from scenecypher.db.vocabulary import current_name
from scenecypher.errors import InputError, did_you_mean
from scenecypher.importers.vectors_file import vectors_of_words


@dataclass(frozen=True, slots=True)
class Adjustment:
    """A scene's vocabulary in place of its file's, the agent to put into a room, and the model of its `vectors`."""

    vocabulary: str | None = None
    agent: str | None = None
    place: str | None = None
    vectors: str | None = None

    def __call__(self, scene: ImportedScene) -> ImportedScene:
        """Return the scene so changed. Raises InputError."""
        if self.agent is None and self.place is not None:
            raise InputError("--in says where the agent is; name the agent too, as in --agent robot")
        if self.vocabulary is not None:
            check_rules(scene.graph, scene.name, self.vocabulary)
            scene = replace(scene, vocabulary=current_name(self.vocabulary))
        if self.vectors is not None:
            scene = replace(scene, vectors=_vectors_by(self.vectors, scene))
        if self.agent is None:
            return scene
        return replace(scene, graph=with_agent(scene.graph, self.agent, place=self.place))


def _vectors_by(model: str, scene: ImportedScene) -> tuple[NodeVectors, ...]:
    """Return a scene's vectors naming their model; without any, those of its nodes' words. Raises InputError."""
    other = next((it.space for it in scene.vectors if it.space.model not in ("", model)), None)
    if other is not None:
        raise InputError(f"{other.name} of the file is by {other.model}, not {model}; leave out --vectors")
    if scene.vectors:
        return tuple(replace(it, space=replace(it.space, model=model)) for it in scene.vectors)
    embed = local_words() if model == WORDS_MODEL else None
    if embed is None:
        hint = f"; `--vectors {WORDS_MODEL}` makes vectors of words"
        raise InputError(f"{scene.name} comes without vectors, so that --vectors {model} names the model of none{hint}")
    return (vectors_of_words([*scene.graph.nodes.values()], model, embed),)


def with_agent(graph: SceneGraph, agent: str, *, place: str | None) -> SceneGraph:
    """Return the graph with a new agent in a place, which is given by id or name. Raises InputError.

    Without a `place` it is in the only one, or in none if there is none.
    """
    present = graph.by_kind.get("Agent", ())
    if present or agent in graph.nodes:
        what = f"the agent {min(present)!r}" if present else f"a node {agent[:60]!r}"
        raise InputError(f"the scene has {what} already; leave out --agent, or choose another name")
    node = Node(agent, "Agent", agent, agent)
    found = _place_of(graph, place)
    inside = {Relation(agent, "INSIDE", found)} if found is not None else set()
    return SceneGraph.of([*graph.nodes.values(), node], {*graph.relations, *inside})


def _place_of(graph: SceneGraph, word: str | None) -> str | None:
    places = sorted(graph.by_kind.get("Place", ()))
    if word is None and len(places) < 2:
        return places[0] if places else None
    if word is None:
        raise InputError(f"the scene has {len(places)} rooms; say where the agent is, as in --in {places[0]}")
    named = [it for it in places if word in (it, graph.nodes[it].name)]
    if len(named) == 1 or word in named:
        return word if word in named else named[0]
    names = tuple(graph.nodes[it].name for it in places)
    hint = did_you_mean(word[:60], (*places, *names))
    raise InputError(f"{word[:60]!r} is {'the name of several rooms' if named else 'no room'}{hint}; give a room's id")
