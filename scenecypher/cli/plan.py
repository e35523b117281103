"""`scenecypher plan`: a task in words, carried out step by step; and `scenecypher methods`, the ways to plan."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from scenecypher.cli import INTERRUPTED
from scenecypher.cli.context import open_database, say, show, warn
from scenecypher.cli.history import show_events
from scenecypher.cli.options import LIMITS, AsJson, Name, PlanTimeouts, argument, method_names, option, with_options
from scenecypher.cli.worlds import (
    OBSERVER_HELP,
    ROBOT_HELP,
    SCENE,
    TRUTH,
    WORLD_HELP,
    WorldOptions,
    person_there,
    world_behind,
    world_options,
)
from scenecypher.errors import InputError, ServiceError
from scenecypher.files import log_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scenecypher.planner.sessions.events import Event
    from scenecypher.planner.sessions.method import Recipe
    from scenecypher.planner.sessions.recording import RunRecorder
    from scenecypher.planner.sessions.setup import SessionSetting

METHOD: Final = "stepwise"
NOT_RESUMED: Final = "stopped; a session with --log FILE can be resumed"
SWITCHES: Final = "Switches, by default as the method has them"


def methods(
    name: Annotated[str | None, argument("NAME", "One method; else all.", autocompletion=method_names)] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """List the methods that `plan --method` takes, or show one: its paper, its ablations, its data sets."""
    from scenecypher.planner.methods import METHODS, recipe_named

    chosen = METHODS if name is None else {name: recipe_named(name)}
    if name is None and not as_json:
        list_methods(wanted=True)  # which ends the command
    documents = [_method_document(each, recipe) for each, recipe in chosen.items()]
    of = documents[0]
    lines = [f"{of['method']}: {of['words']}", f"  from: {of['paper'] or 'ours'}"]
    lines += [f"  --ablation {ablation}: {words}" for ablation, words in of["ablations"].items()]
    show(documents, *lines, as_json=as_json)
    for data_set, cell in of["data_sets"].items() if not as_json else ():
        say(f"  {data_set}: {cell}", style="dim")


def list_methods(wanted: bool) -> None:  # noqa: FBT001 - the form of Typer's callbacks
    """Print the methods and end the command, if that is wanted."""
    from scenecypher.planner.methods import METHODS

    if wanted:
        width = max(map(len, METHODS)) + 2
        say("\n".join(f"{each:<{width}}{recipe.words}" for each, recipe in METHODS.items()))
        raise typer.Exit


def _method_document(name: str, recipe: Recipe) -> dict[str, Any]:
    from scenecypher.importers.datasets import DATASETS
    from scenecypher.planner.methods import matrix_cell

    return {
        "method": name,
        "words": recipe.words,
        "paper": recipe.paper or None,
        "ablations": {ablation.name: ablation.words for ablation in recipe.ablations},
        "data_sets": {data_set: matrix_cell(name, data_set) for data_set in DATASETS},
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options:
    """Options that a run keeps: None for what was not given, which a resumed run takes from its beginning."""

    method: Annotated[
        str | None,
        option(
            "--method",
            "-m",
            "NAME",
            f"How decisions are made, by default {METHOD}; `--list-methods` shows the ways.",
            autocompletion=method_names,
        ),
    ] = None
    ablations: Annotated[
        list[str] | None, option("--ablation", "NAME", "Leave a part of the method out; may be given several times.")
    ] = None
    steps: Annotated[
        int | None,
        option(
            "--max-steps",
            "N",
            "Decisions, a plan's actions among them; else what a task grants, or 30; without a model 1,000.",
            min=1,
            rich_help_panel=LIMITS,
        ),
    ] = None
    tokens: Annotated[int | None, option("--max-tokens", "N", "Tokens at most.", min=1, rich_help_panel=LIMITS)] = None
    seconds: Annotated[
        float | None, option("--max-seconds", "SECONDS", "Seconds at most.", min=0, rich_help_panel=LIMITS)
    ] = None
    fix: Annotated[
        bool | None,
        option("--fix/--no-fix", "First do what stands in the way, by rule; else by method.", rich_help_panel=SWITCHES),
    ] = None
    reprompt: Annotated[
        bool | None,
        option("--reprompt/--no-reprompt", "Tell the model why an action is infeasible.", rich_help_panel=SWITCHES),
    ] = None
    belief: Annotated[
        bool | None,
        option(
            "--belief/--no-belief",
            "Decide by SCENE@belief, made where absent: what was seen, and what may be; else by method.",
            rich_help_panel=SWITCHES,
        ),
    ] = None
    schema: Annotated[
        Literal["environment", "scene"] | None,
        option(
            "--schema",
            "FORM",
            "`environment` or `scene`: show the schema of any such scene, or this one's; else by method.",
        ),
    ] = None
    world: Annotated[str | None, option("--world", "WORLD", WORLD_HELP)] = None
    robot: Annotated[str | None, option("--robot", "URL", ROBOT_HELP)] = None
    observer: Annotated[str | None, option("--observer", "LOOK", OBSERVER_HELP)] = None

    @property
    def place(self) -> dict[str, str]:
        """The options that choose another world than the scene, and another observer than the truth."""
        named = {"world": self.world, "robot": self.robot, "observer": self.observer}
        return {name: value for name, value in named.items() if value is not None and value not in {SCENE, TRUTH}}

    def or_then(self, then: Mapping[str, Any]) -> _Options:
        """Return these options, and those that were not given as a run began with them."""
        known = {**then.get("place", {}), **then}
        missing = {it.name: known.get(it.name) for it in fields(self) if getattr(self, it.name) is None}
        return replace(self, **missing)

    def checked(self, *, is_resumed: bool = False) -> tuple[Recipe, WorldOptions, bool | None, str]:
        """Return the recipe, the world, whether to decide by a belief, and the method's name. Raises InputError."""
        from scenecypher.planner.methods import recipe_named

        method = self.method or METHOD
        recipe, of = recipe_named(method), world_options(self.world or SCENE, self.observer or TRUTH, self.robot)
        if is_resumed and of.world == "minigrid":
            raise InputError("a MiniGrid level restarts with each process, so it can't be resumed; leave out --resume")
        return recipe, of, _belief(recipe, of, wanted=self.belief, method=method), method


@with_options
def plan(
    scene: Name,
    instruction: Annotated[
        str | None, argument("INSTRUCTION", "The task in words; else a --goal, a --task, or the scene's own goal.")
    ] = None,
    *,
    task: Annotated[
        str | None, option("--task", "ID", "A task of a data set, as `tasks list` shows it, or FOLDER/ID.")
    ] = None,
    goal: Annotated[
        str | None, option("--goal", "FACTS", "What shall hold, such as 'mug ON shelf; fridge is closed'.")
    ] = None,
    how: _Options,
    _listed: Annotated[
        bool, option("--list-methods", "List the methods, and end.", is_eager=True, callback=list_methods)
    ] = False,
    timeouts: PlanTimeouts,
    ask_back: Annotated[
        Literal["never", "unclear", "always"] | None,
        option(
            "--ask-back",
            "WHEN",
            "Ask which thing is meant: `never`, where it is `unclear`, or `always` where several fit; by default "
            "`unclear` at a terminal, else `never`.",
            rich_help_panel=SWITCHES,
        ),
    ] = None,
    log: Annotated[Path | None, option("--log", "FILE", "Write each event as a JSON line, in a new file.")] = None,
    resume: Annotated[
        str | None, option("--resume", "RUN|LOG", "Go on with a run, or the session that wrote LOG, as it was begun.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Carry out a task: a model decides each step, each action is checked and committed (exit code 1: not reached)."""
    from scenecypher.home import PlanOptions, session_setting
    from scenecypher.planner.sessions.budget import Budget, UsageMeter
    from scenecypher.planner.sessions.recording import RunRecorder
    from scenecypher.planner.sessions.resuming import settings_then

    _check(instruction, task, goal, log=log, resume=resume)
    how.checked(is_resumed=resume is not None)
    is_said = instruction is not None or goal is not None or task is not None
    image_meter = UsageMeter()
    with open_database(timeouts) as db:
        info = db.store.find(scene)
        then = {} if resume is None else settings_then(db.store.database, resume)
        given = how.or_then(then)
        recipe, of, belief, method = given.checked(is_resumed=resume is not None)
        options = PlanOptions(method=method, ablations=given.ablations or (), belief=belief, fix=given.fix)
        asked = then.get("instruction") if not is_said else instruction
        setting = session_setting(db, info, asked, options | PlanOptions(task=task, goal=goal))
        if not is_said and "instruction" in then:
            setting = _wanted_then(setting, then)
        behind = world_behind(
            *(db, info, of),
            actor=method,
            meter=image_meter,
            tells_earlier=_shows_priors(recipe, method, given.ablations or ()),
        )
        person = None if as_json else person_there(is_piped=ask_back is not None)
        setting = replace(
            setting,
            budget=Budget(given.steps or setting.budget.steps, tokens=given.tokens, seconds=given.seconds),
            reprompt=given.reprompt,
            schema=given.schema,
            world=behind,
            answer=person or getattr(behind, "ask", None),
            asking=ask_back or ("unclear" if person else "never"),
            image_meter=image_meter,
            place=given.place,
        )
        recorder = RunRecorder(db.store.database, info, "plan", is_on=db.settings.record_runs)
        events = _events(setting, recipe, recorder, log=log, resume=resume)
        try:
            end = show_events(recorder.kept(events), as_json=as_json)
        except (KeyboardInterrupt, ServiceError) as stopped:
            begun = None if of.world == "minigrid" else resume or log or recorder.number
            if begun or isinstance(stopped, KeyboardInterrupt):
                warn(f"stopped; the same command with --resume {begun} goes on" if begun else NOT_RESUMED)
            if isinstance(stopped, ServiceError):
                raise
            raise typer.Exit(INTERRUPTED) from None
    if not end.is_done:
        raise typer.Exit(1)


def _check(
    instruction: str | None, task: str | None, goal: str | None, *, log: Path | None, resume: str | None
) -> None:
    """Raise InputError for options that exclude each other."""
    if sum(it is not None for it in (task, instruction if goal is None else goal)) > 1:
        raise InputError("give either an INSTRUCTION in words, or a --goal, or the --task of a data set")
    if log is not None and resume is not None:
        raise InputError("a resumed session writes on in its own log; leave out --log")
    if log is not None and log.exists():
        msg = (
            f"{log}: there is such a file already; give --log another name, or go on with that session: --resume {log}"
        )
        raise InputError(msg)


def _shows_priors(recipe: Recipe, method: str, ablations: Sequence[str]) -> bool:
    """Check if the method is shown what the robot has not seen; a wrong ablation is told where the session begins."""
    try:
        return recipe.without(method, ablations).priors
    except InputError:
        return recipe.priors


def _wanted_then(setting: SessionSetting, then: Mapping[str, Any]) -> SessionSetting:
    """Return the setting with the goal and the required actions with which a run began."""
    from scenecypher.db.condition import condition_from_document

    goal = None if then.get("goal") is None else condition_from_document(then["goal"], file="the run's goal")
    return replace(setting, goal=goal, required_actions=tuple(map(tuple, then.get("required_actions", ()))))


def _events(
    setting: SessionSetting, recipe: Recipe, recorder: RunRecorder, *, log: Path | None, resume: str | None
) -> Iterator[Event]:
    """Yield the events of a new or resumed session, each logged as it happens; `recorder` goes on with a stored run."""
    from scenecypher.db.store.runs import find_run
    from scenecypher.planner.sessions.resuming import resume_session
    from scenecypher.planner.sessions.setup import prepare_session, recipe_in

    if resume is None:
        return _logged(prepare_session(setting, recipe).run(), log)
    if not resume.isdecimal():
        return _logged(resume_session(setting, recipe, Path(resume)), Path(resume), appends=True)
    events = resume_session(setting, recipe, int(resume))
    recorder.resume(find_run(setting.store.database, int(resume)), by_belief=recipe_in(setting, recipe).belief)
    return events


def _belief(recipe: Recipe, of: WorldOptions, *, wanted: bool | None, method: str) -> bool | None:
    """Return True to decide by a belief, False not to, None for the method's default. Raises InputError."""
    if recipe.goal and (wanted or not of.is_plain):
        raise InputError(
            f"the method {method} plans on the world as it is; leave out --belief, --world, --robot and --observer"
        )
    if wanted is False and not of.is_plain:
        raise InputError("--world, --robot and --observer need a belief; leave out --no-belief")
    return wanted if of.is_plain else True


def _logged(events: Iterable[Event], file: Path | None, *, appends: bool = False) -> Iterator[Event]:
    """Yield the events, each written to `file` as it happens: a new file, unless it `appends`."""
    from scenecypher.planner.sessions.events import event_document

    with log_file(file, is_new=not appends) if file else nullcontext() as append:
        for event in events:
            if append is not None:
                append(json.dumps(event_document(event), ensure_ascii=False) + "\n")
            yield event
