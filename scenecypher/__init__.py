"""SceneCypher: household robots' scene graphs in Neo4j, read through scoped Cypher, changed by checked actions.

    import scenecypher as sc

    with sc.connect() as db:
        home = db.import_virtualhome("963_2")
        print(home.query("MATCH (c:Object {class: 'cup'}) RETURN c.name").rows)
        home.act("walk(cup_2004)")
        home.undo()

Each name is loaded when it is first used: importing the package loads neither the driver nor a model client.
"""

from typing import TYPE_CHECKING

from scenecypher.errors import (
    ActionRefused,
    CommitUnknown,
    ConflictError,
    ConstraintViolated,
    DatabaseUnavailable,
    DocumentError,
    InputError,
    MemoryExceeded,
    ModelUnavailable,
    NothingToRedo,
    NothingToUndo,
    QueryFailed,
    QueryRefused,
    QueryTimeout,
    RejectedError,
    ReplyRejected,
    SceneCypherError,
    SceneNotFound,
    SceneReplaced,
    ServiceError,
    UnknownReference,
)

if TYPE_CHECKING:
    from scenecypher.chat.cassette import Recording, Replaying
    from scenecypher.chat.live import OpenAIModel
    from scenecypher.chat.model import Model
    from scenecypher.chat.scripted import Scripted, ScriptedReply
    from scenecypher.db.graph.delta import Delta
    from scenecypher.db.graph.imported import ImportedScene
    from scenecypher.db.graph.scene import Node, Relation, SceneGraph
    from scenecypher.db.store.catalog import SceneInfo
    from scenecypher.db.store.commit import Committed
    from scenecypher.db.store.history import Event
    from scenecypher.home import Home, PastHome, PlanOutcome, QueryResult
    from scenecypher.planner.actions.simulator import CommittedAction
    from scenecypher.planner.sessions.budget import Budget
    from scenecypher.planner.sessions.events import Event as PlanEvent
    from scenecypher.planner.vocabularies.own_actions import AddedActions
    from scenecypher.retriever.retrieval import Retrieval
    from scenecypher.retriever.retriever import Options as AskOptions
    from scenecypher.scenes import SceneDatabase, connect
    from scenecypher.settings import Settings
else:
    _LAZY = {
        "AskOptions": ("scenecypher.retriever.retriever", "Options"),
        "Budget": ("scenecypher.planner.sessions.budget", "Budget"),
        "Committed": ("scenecypher.db.store.commit", "Committed"),
        "CommittedAction": ("scenecypher.planner.actions.simulator", "CommittedAction"),
        "Delta": ("scenecypher.db.graph.delta", "Delta"),
        "Event": ("scenecypher.db.store.history", "Event"),
        "AddedActions": ("scenecypher.planner.vocabularies.own_actions", "AddedActions"),
        "Home": ("scenecypher.home", "Home"),
        "ImportedScene": ("scenecypher.db.graph.imported", "ImportedScene"),
        "Model": ("scenecypher.chat.model", "Model"),
        "Node": ("scenecypher.db.graph.scene", "Node"),
        "OpenAIModel": ("scenecypher.chat.live", "OpenAIModel"),
        "PastHome": ("scenecypher.home", "PastHome"),
        "PlanEvent": ("scenecypher.planner.sessions.events", "Event"),
        "PlanOutcome": ("scenecypher.home", "PlanOutcome"),
        "QueryResult": ("scenecypher.home", "QueryResult"),
        "Recording": ("scenecypher.chat.cassette", "Recording"),
        "Relation": ("scenecypher.db.graph.scene", "Relation"),
        "Replaying": ("scenecypher.chat.cassette", "Replaying"),
        "Retrieval": ("scenecypher.retriever.retrieval", "Retrieval"),
        "SceneDatabase": ("scenecypher.scenes", "SceneDatabase"),
        "SceneGraph": ("scenecypher.db.graph.scene", "SceneGraph"),
        "SceneInfo": ("scenecypher.db.store.catalog", "SceneInfo"),
        "Scripted": ("scenecypher.chat.scripted", "Scripted"),
        "ScriptedReply": ("scenecypher.chat.scripted", "ScriptedReply"),
        "Settings": ("scenecypher.settings", "Settings"),
        "connect": ("scenecypher.scenes", "connect"),
    }

    def __getattr__(name: str) -> object:
        """Load a public name when it is first used."""
        from importlib import import_module

        if name not in _LAZY:
            msg = f"module 'scenecypher' has no attribute {name!r}"
            raise AttributeError(msg)
        module, attribute = _LAZY[name]
        value = getattr(import_module(module), attribute)
        globals()[name] = value
        return value


__all__ = [
    "ActionRefused",
    "AddedActions",
    "AskOptions",
    "Budget",
    "CommitUnknown",
    "Committed",
    "CommittedAction",
    "ConflictError",
    "ConstraintViolated",
    "DatabaseUnavailable",
    "Delta",
    "DocumentError",
    "Event",
    "Home",
    "ImportedScene",
    "InputError",
    "MemoryExceeded",
    "Model",
    "ModelUnavailable",
    "Node",
    "NothingToRedo",
    "NothingToUndo",
    "OpenAIModel",
    "PastHome",
    "PlanEvent",
    "PlanOutcome",
    "QueryFailed",
    "QueryRefused",
    "QueryResult",
    "QueryTimeout",
    "Recording",
    "RejectedError",
    "Relation",
    "Replaying",
    "ReplyRejected",
    "Retrieval",
    "SceneCypherError",
    "SceneDatabase",
    "SceneGraph",
    "SceneInfo",
    "SceneNotFound",
    "SceneReplaced",
    "Scripted",
    "ScriptedReply",
    "ServiceError",
    "Settings",
    "UnknownReference",
    "connect",
]


def __dir__() -> list[str]:
    return __all__
