"""One sample of the experiments in which a method plays: which task, by which method, in what sort of world."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

from scenecypher.planner.recipe import Recipe

Wording: TypeAlias = Literal["source", "goal", "states"]
"""The data set's own instruction; the goal in words, as a program can read it; or the goal as its source writes it."""
Perception: TypeAlias = Literal["truth", "noise", "person"]
"""Who sees what a look shows: the simulator (ground truth), the same with seeded mistakes, or a person's pictures."""
Marking: TypeAlias = Literal["goal", "minigrid", "answer", "person"]
"""How one tells that the outcome is reached: by the graph, by MiniGrid's own steps, by an answer, or by a person."""

SPARE_STEPS: Final = 30
"""Decisions beyond three for each action that a task grants: a look, a question and the action itself. Ours."""


class EpisodePlan(BaseModel):
    """What a sample is made of; it stands in the sample's metadata.

    `group` is what all tables that count it have as theirs, `row` the key of its row there. In what a table's episodes
    have in common, `row`, `method` and `task` are empty. `moved` things are moved by
    `seed` before it begins, after the belief was made. With `outcome_only` infeasible actions do not spoil a success
    (SG2, SG-RwR). Without a `goal_graph` it has no APP. `belief` is as in `planner.staging.Setting`; `steps` is None
    where the task decides. With `sizes` it is told what the scene's text costs.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    group: str = ""
    row: str = ""
    method: str = ""
    ablations: tuple[str, ...] = ()
    task: str = ""
    wording: Wording = "source"
    moved: int = 0
    seed: int = 0
    eyes: Perception = "truth"
    belief: bool | None = None
    marking: Marking = "goal"
    steps: int | None = None
    outcome_only: bool = False
    goal_graph: bool = True
    sizes: bool = False

    @property
    def id(self) -> str:
        """The sample's id: unique in a run, and the name of its session on a cassette."""
        return f"{self.group}/{self.row}/{self.task}"


class Marks(BaseModel):
    """How far the world is as it should be; where no goal graph is known, there are no nodes to count.

    `reached` is whether the task is done. `correct` of `differing` nodes, of all that differ between the initial and
    the goal graph, are as there; `correct_needed` of `needed` likewise, of those without whose change the goal would
    not hold. `same` is whether it is, and all nodes but the agent are as in the goal graph.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    reached: bool
    correct: int = 0
    differing: int = 0
    correct_needed: int = 0
    needed: int = 0
    same: bool = False


class Trace(BaseModel):
    """What came of an episode, as its sample's metadata has it.

    `executed` are the actions that were carried out, inserted ones too; `infeasible` counts what was to be carried out
    and could not be, without the proposals after which the method was asked again. `rounds` are the tokens of each of
    the model's replies, prompt and completion; `sources` and `models` tell where these are from. `graph_tokens` and
    `cot_tokens` are estimates, four characters each.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

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
    sources: tuple[str, ...]
    models: tuple[str, ...] = ()
    seconds: float
    nodes: int
    moves: tuple[str, ...] = ()
    graph_tokens: int | None = None
    cot_tokens: int | None = None
    marks: Marks


def uses_belief(episode: EpisodePlan, recipe: Recipe) -> bool | None:
    """What `Setting.belief` is to be: a method that plans on the world as it is has none."""
    return False if recipe.goal else episode.belief
