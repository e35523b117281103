"""Role and link say which scene is the belief about a world; its name alone does not."""

from __future__ import annotations

from uuid import uuid4

import pytest

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.publish import Header, publish
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import InputError, SceneNotFound
from scenecypher.planner.worlds.belief import belief_name, belief_scene, find_or_create_belief, world_of
from tests.db.store.test_names import rename
from tests.db.store.test_store import small


def world(store: SceneStore) -> SceneInfo:
    name = f"test/{uuid4().hex}"
    store.put(ImportedScene(name, small()))
    return store.find(name)


def test_a_belief_is_linked_to_its_world(store: SceneStore) -> None:
    about = world(store)
    belief = find_or_create_belief(store, about)
    assert (belief.role, belief.world) == ("belief", about.key)
    assert find_or_create_belief(store, about) == belief
    assert world_of(store, belief) == about


def test_a_world_named_so_is_not_taken_for_the_belief(store: SceneStore) -> None:
    """From before such names were refused."""
    about = world(store)
    rename(store, world(store).key, belief_name(about.name))
    with pytest.raises(InputError, match="a world of its own, not the belief about"):
        find_or_create_belief(store, about)


def test_another_worlds_belief_is_not_taken_for_this_ones(store: SceneStore) -> None:
    one, other = world(store), world(store)
    store.copy(find_or_create_belief(store, one).name, belief_name(other.name))
    with pytest.raises(InputError, match=f"the belief about '{one.name}', not the belief about"):
        find_or_create_belief(store, other)
    assert world_of(store, store.find(belief_name(other.name))) == one, "by its link, not by its name"


def test_a_belief_outlives_its_worlds_generation(store: SceneStore) -> None:
    """A world imported anew keeps its belief, linked to the generation that was."""
    about = world(store)
    belief = find_or_create_belief(store, about)
    publish(store.database, small(), Header(about.name, "virtualhome"), replaces=about.key)
    anew = store.find(about.name)
    assert anew.key != about.key
    assert find_or_create_belief(store, anew) == belief
    assert world_of(store, belief) == anew
    store.delete_leftovers(grace_s=0)
    assert find_or_create_belief(store, anew) == belief, "and where that is collected"
    assert world_of(store, belief) == anew


def test_a_belief_without_a_link_is_about_the_world_that_its_name_says(store: SceneStore) -> None:
    about = world(store)
    store.put(belief_scene(ImportedScene(about.name, small())))
    belief = find_or_create_belief(store, about)
    assert belief.world is None
    assert world_of(store, belief) == about
    store.delete(about.name)
    with pytest.raises(SceneNotFound):
        world_of(store, belief)
