"""Sample of an experiment in which a method plays: its plan, its marks and its trace."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

from scenecypher.evaluation.result import Document
from scenecypher.evaluation.stated_tasks import Player
from scenecypher.planner.sessions.method import AskingBack, Recipe, SchemaScope

Wording: TypeAlias = Literal["source", "goal", "states"]
"""The data set's instruction, the goal in words that a program can parse, or the goal in its source's notation."""
Perception: TypeAlias = Literal["truth", "noise", "pictures", "person"]
"""Source of observations: the simulator (ground truth), the simulator with seeded mistakes, pictures of a folder, or
a person's."""
Marking: TypeAlias = Literal["goal", "minigrid", "answer", "person", "gold"]
"""Criterion of success: the goal on the graph, MiniGrid's own steps, an answer, a person's judgement, or a program."""

SPARE_STEPS: Final = 30
"""Decisions granted beyond three for each action that a task grants (look, question, action); ours."""


class EpisodePlan(BaseModel):
    """Definition of one sample, stored in its metadata.

    `group` is shared by all tables that count the sample, and `row` is the key of its row there. `row`, `method` and
    `task` are empty in the plan that a table's episodes share. `moved` is the number of things moved by `seed` before
    the episode begins and after the belief is made. Without `goal_graph` there is no APP. `belief`, `schema_scope`,
    `ids_only` and `known_places` are as in `SessionSetting`; `steps` is None if the task decides. With `sizes`, the
    tokens of the scene's text are measured. `pictures` is a folder of the tasks' pictures; `vision_model` reads
    pictures (empty: the model that plans). A scripted `player` states goals in place of a model, and a scripted
    `person` is asked what is meant as `asking` says.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")  # logs of earlier versions have other settings

    group: str = ""
    row: str = ""
    method: str = ""
    ablations: tuple[str, ...] = ()
    task: str = ""
    wording: Wording = "source"
    moved: int = 0
    seed: int = 0
    eyes: Perception = "truth"
    pictures: str = ""
    vision_model: str = ""
    belief: bool | None = None
    marking: Marking = "goal"
    steps: int | None = None
    schema_scope: SchemaScope | None = None
    ids_only: bool = False
    known_places: bool = False
    goal_graph: bool = True
    sizes: bool = False
    player: Player = ""
    person: Player = ""
    asking: AskingBack = "never"

    @property
    def id(self) -> str:
        """Sample id: unique in a run, and the name of its session on a cassette."""
        return f"{self.group}/{self.row}/{self.task}"


class Marks(Document):
    """Marks for the final state; without a goal graph, all counts are 0.

    `reached` says that the task is done. `correct` of `differing` nodes match the goal graph, among all that differ
    between initial and goal graph. `correct_needed` of `needed` counts only the nodes whose change the goal depends on.
    `same` says that the task is done and that all nodes but the agent match the goal graph.
    """

    reached: bool
    correct: int = 0
    differing: int = 0
    correct_needed: int = 0
    needed: int = 0
    same: bool = False


class Trace(Document):
    """Trace of an episode, stored in its sample's metadata.

    `executed` are the executed actions, inserted ones included. `infeasible` counts the actions that could not be
    executed, except proposals after which the method was asked again. `rounds` are the tokens (prompt and completion)
    of each reply, `iterations` those of each decision: of all agents, and of the one that decides alone (empty in older
    logs). `fault` is the sub-task whose mistake explains a wrong answer. `sources` and `models` are where the replies
    came from. `graph_tokens` and `cot_tokens` are estimates at four characters a token. `rooms_changed` counts the
    times that the agent entered another room; None if the world was not the
    simulator's, or the log is older than this figure. `questions` counts those to a person.
    """

    outcome: str
    reason: str
    answer: str
    executed: tuple[str, ...]
    infeasible: int
    mistakes: dict[str, int]
    steps: int
    prompt_tokens: int
    completion_tokens: int
    rounds: tuple[int, ...]
    iterations: tuple[tuple[int, int], ...] = ()
    sources: tuple[str, ...]
    models: tuple[str, ...] = ()
    seconds: float
    nodes: int
    moves: tuple[str, ...] = ()
    graph_tokens: int | None = None
    cot_tokens: int | None = None
    rooms_changed: int | None = None
    questions: int = 0
    fault: str = ""
    marks: Marks


def uses_belief(episode: EpisodePlan, recipe: Recipe) -> bool | None:
    """Return the value for `Setting.belief`; a method that plans on the real world has no belief."""
    return False if recipe.goal else episode.belief
