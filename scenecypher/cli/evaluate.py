"""`scenecypher eval`: experiments as Inspect tasks, a function a command, their tables, and pages of their results."""

# Annotations are read by Typer: they are values, not texts.
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NoReturn

import typer
from typer.core import TyperGroup

from scenecypher.cli.context import say, warn
from scenecypher.cli.evaluate_run import Choices, Experiment, experiment_command
from scenecypher.cli.options import argument, option
from scenecypher.errors import InputError
from scenecypher.evaluation.experiments import experiment_name, our_parts
from scenecypher.plugins import Plugins
from scenecypher.wording import counted

if TYPE_CHECKING:
    from scenecypher.evaluation.reporting.page import FoundResults
    from scenecypher.evaluation.result import ExperimentResult
    from scenecypher.evaluation.running import EvalLog, Task

Results = Annotated[list[Path] | None, argument("[RESULTS]...", "Results, logs, or folders of them (./logs).")]


class _WithPackages(TyperGroup):
    """The commands of our experiments, and those of installed packages, which are made when they are asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands, those of packages last."""
        return [*dict.fromkeys((*super().list_commands(ctx), *EXPERIMENTS))]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command by its name, None for an unknown one."""
        found = super().get_command(ctx, cmd_name)
        return _command_of_package(cmd_name) if found is None and cmd_name in EXPERIMENTS else found


eval_app = typer.Typer(
    cls=_WithPackages, help="Measure a model: each experiment is an Inspect task, its log beside its table."
)

Attempts = Annotated[int, option("--attempts", "How many queries the model may write.", min=1)]
Examples = Annotated[int, option("--examples", "Worked examples in the prompt.", min=0)]
Wording = Annotated[
    Literal["source", "goal"],
    option("--wording", "Instructions of the data set, or goals in words, where these tell all."),
]
Schema = Annotated[
    Literal["environment", "scene"] | None,
    option("--schema", "Show the schema of any scene of the environment, or of this one, with counts; else by method."),
]
GrasifFolder = Annotated[
    Path | None, argument("[FOLDER]", "GraSIF's own files, named by its tasks.json; default: our data.")
]


def questions(
    choices: Choices,
    *,
    data: Annotated[str, option("--data", "virtualhome, babyai, grasif, all, or memory.")] = "all",
    attempts: Attempts = 4,
    verifier: Annotated[
        Literal["off", "words", "paper", "hints"], option("--verifier", "Whether a model checks the rows.")
    ] = "off",
    schema_form: Annotated[
        Literal["compact", "json", "prose"], option("--schema-form", "How the schema is written for the model.")
    ] = "compact",
    examples: Examples = 4,
    checks: Annotated[bool, option("--checks", "Check the form of answers first, without a model.")] = False,
    retrieval: Annotated[
        Literal["cypher", "text", "text2cypher"],
        option("--retrieval", "Queries, the whole graph as text, or neo4j-graphrag's own retriever."),
    ] = "cypher",
) -> "Task":
    """Answer the question set, and score it by execution. Without a model: its reference queries, or a cassette."""
    from scenecypher.evaluation.questions import questions as task

    return task(
        data=data,
        attempts=attempts,
        verifier=verifier,
        schema_form=schema_form,
        examples=examples,
        checks=checks,
        retrieval=retrieval,
        **choices.asking(without="reference"),
    )


def memory(choices: Choices, *, attempts: Attempts = 4, examples: Examples = 4) -> "Task":
    """Answer questions about what happened in three histories of our homes, as `eval questions` does."""
    from scenecypher.evaluation.questions import memory as task

    return task(attempts=attempts, examples=examples, **choices.asking(without="reference"))


def dynamic(
    choices: Choices,
    folder: GrasifFolder = None,
    *,
    data: Annotated[str, option("--data", "all, or some of virtualhome,behavior.")] = "all",
    simulated: Annotated[
        bool,
        option("--simulated", "Also LookPlanGraph, ReAct and explore-then-plan with an observer that errs, by a seed."),
    ] = False,
    pictures: Annotated[
        str,
        option(
            "--pictures",
            "FOLDER",
            "Play the rows that need pictures, in the tasks that have TASK/ASSET.png in it; 'included' has ten.",
        ),
    ] = "",
    wording: Wording = "source",
) -> "Task":
    """Play tasks in worlds where things were moved since they were seen."""
    from scenecypher.evaluation.dynamic import INCLUDED
    from scenecypher.evaluation.dynamic import dynamic as task

    return task(
        folder=_absolute(folder),
        data=data,
        simulated=simulated,
        wording=wording,
        pictures=pictures if pictures in {"", INCLUDED} else _absolute(Path(pictures)),
        vision_model=_vision_model(choices) if pictures else "",
        **choices.playing(),
    )


def augmentation(
    choices: Choices,
    folder: Annotated[
        Path | None, argument("[FOLDER]", "A folder of views with gold; default: the included rendered views.")
    ] = None,
    *,
    simulated: Annotated[
        int | None, option("--simulated", "SEED", "A simulated observer with seeded mistakes.")
    ] = None,
) -> "Task":
    """Read pictures into subgraphs and compare them with gold. Without a model: the gold, as one would tell it."""
    from scenecypher.evaluation.augmentation import SIMULATED
    from scenecypher.evaluation.augmentation import augmentation as task

    given = {"--model": choices.model, "--replies": choices.replies, "--simulated": simulated}
    named = [name for name, value in given.items() if value is not None]
    if len(named) > 1:
        raise InputError(f"{' and '.join(named)} exclude each other; give one of them")
    asking = choices.asking(without="reference" if simulated is None else SIMULATED)
    return task(folder=_absolute(folder), simulated=simulated or 0, **asking)


def grasif(
    choices: Choices,
    folder: GrasifFolder = None,
    *,
    data: Annotated[str, option("--data", "all, or some of sayplan-office,behavior-1k,robothow,ablations.")] = "all",
    wording: Wording = "source",
) -> "Task":
    """Play GraSIF's tasks by the methods that LookPlanGraph compares, and by its ablations."""
    from scenecypher.evaluation.grasif import grasif as task

    return task(folder=_absolute(folder), data=data, wording=wording, **choices.playing())


def realworld(
    choices: Choices,
    folder: GrasifFolder = None,
    *,
    hands: Annotated[
        Literal["scripted", "person"],
        option("--hands", "Who acts and looks: the simulator, or a person at this terminal, one task at a time."),
    ] = "scripted",
    wording: Wording = "source",
) -> "Task":
    """Play our office's tasks, by a person's hands and eyes or scripted."""
    from scenecypher.evaluation.grasif import realworld as task

    seeing = {"vision_model": _vision_model(choices)} if hands == "person" else {}
    return task(folder=_absolute(folder), hands=hands, wording=wording, **seeing, **choices.playing())


def babyai(
    choices: Choices,
    *,
    data: Annotated[str, option("--data", "all, or some of numqa,trv1,trv2.")] = "all",
    tables: Annotated[str, option("--tables", "all, or some of sg2-1,sg2-3,sg-rwr-1,sg-rwr-3.")] = "all",
    schema: Schema = None,
) -> "Task":
    """Play BabyAI's questions and traversals by the methods of SG2 and SG-RwR."""
    from scenecypher.evaluation.babyai import babyai as task

    return task(data=data, tables=tables, schema=schema, **choices.playing())


def household(
    choices: Choices,
    folder: Annotated[Path | None, argument("[FOLDER]", "A home or a folder of homes; default: our two homes.")] = None,
    *,
    wording: Annotated[
        Literal["states", "source"], option("--wording", "Tasks as desired states, as in the papers, or in words.")
    ] = "states",
    schema: Schema = None,
) -> "Task":
    """Play household tasks in our homes, or in those of a folder in VirtualHome's form."""
    from scenecypher.evaluation.household import household as task

    return task(folder=_absolute(folder), wording=wording, schema=schema, **choices.playing())


def goals(
    choices: Choices,
    *,
    kinds: Annotated[str, option("--kind", "now, quantity, back …; several with commas; default: all.")] = "all",
) -> "Task":
    """Play 40 tasks of ours: what is so now, quantities, alternatives, what is impossible, and what was before."""
    from scenecypher.evaluation.goals import goals as task

    return task(kinds=kinds, **choices.playing())


def unclear(
    choices: Choices,
    *,
    kinds: Annotated[str, option("--kind", "clear, number, place …; several with commas; default: all.")] = "all",
) -> "Task":
    """Play 80 instructions of which most leave open what is meant, with a person to ask; scripted without a model."""
    from scenecypher.evaluation.goals import METHOD
    from scenecypher.evaluation.goals import unclear as task

    scripted = choices.model is None and choices.replies is None
    methods = ",".join(choices.methods or [METHOD])
    return task(kinds=kinds, scripted=scripted, methods=methods, steps=choices.steps, **choices.asking())


def babyai_slm(choices: Choices, *, schema: Schema = None) -> "Task":
    """Play 20 of BabyAI's questions with a small model, as SG2 does."""
    from scenecypher.evaluation.babyai import babyai_slm as task

    return task(schema=schema, **choices.playing())


def rules(choices: Choices) -> "Task":
    """Play hazards and harmless tasks by scripted players, with rules of a house and without; no model is asked."""
    from scenecypher.evaluation.rules import rules as task

    if choices.model or choices.replies:
        raise InputError("the players of this experiment are scripted; leave --model and --replies out")
    return task(limit=choices.limit, seed=choices.seed)


def ssc(
    choices: Choices,
    *,
    task_name: Annotated[str, option("--task", "goal, action-sequencing, subgoal or transition.")] = "goal",
    methods: Annotated[str, option("--method", "greedy, ssc; several with commas.")] = "greedy,ssc",
    prompt_forms: Annotated[str, option("--prompt", "eai, paper-content; several with commas.")] = "eai,paper-content",
    samples: Annotated[
        str, option("--samples", "How many replies are voted on; several numbers with commas, a row each.")
    ] = "5",
    recordings: Annotated[
        Path | None,
        option("--recordings", "WHEEL", "The file with the prompts of goal interpretation; else pip fetches it, once."),
    ] = None,
) -> "Task":
    """Sample, validate and vote (SSC), beside greedy decoding."""
    from scenecypher.evaluation.eai.live import ssc as task

    if (choices.model is None) == (choices.replies is None):
        raise InputError("name a model with --model, or recorded replies with --replies")
    return task(
        task_name=task_name,
        methods=methods,
        prompt_forms=prompt_forms,
        samples=samples,
        recordings=_absolute(recordings),
        **choices.asking(),
    )


def _vision_model(choices: Choices) -> str:
    """Return the model that reads pictures, in Inspect's notation; empty if it is the one that plans."""
    from scenecypher.evaluation.running import vision_model

    return vision_model(is_asked=choices.model is not None)


def _absolute(path: Path | None) -> str:
    """Return the path absolute, since a resumed run may build its task in another folder; empty without one."""
    return "" if path is None else str(path.resolve())


OURS: Final[dict[str, Experiment]] = {
    "questions": Experiment(questions, partial(our_parts, "questions")),
    "memory": Experiment(memory, partial(our_parts, "memory")),
    "dynamic": Experiment(dynamic, partial(our_parts, "dynamic"), plays=True),
    "augmentation": Experiment(augmentation, partial(our_parts, "augmentation"), needs_database=False),
    "grasif": Experiment(grasif, partial(our_parts, "grasif"), plays=True),
    "realworld": Experiment(realworld, partial(our_parts, "realworld"), plays=True),
    "babyai": Experiment(babyai, partial(our_parts, "babyai"), plays=True),
    "household": Experiment(household, partial(our_parts, "household"), plays=True),
    "goals": Experiment(goals, partial(our_parts, "goals"), plays=True),
    "unclear": Experiment(unclear, partial(our_parts, "unclear"), plays=True),
    "babyai-slm": Experiment(babyai_slm, partial(our_parts, "babyai-slm"), plays=True),
    "rules": Experiment(rules, partial(our_parts, "rules"), needs_database=False),
    "ssc": Experiment(ssc, partial(our_parts, "ssc"), needs_database=False),
}
"""Our experiments, in the order of the help; each has the name of its task, with dashes."""
EXPERIMENTS: Final = Plugins("scenecypher.experiments", "experiment", Experiment, OURS)
"""Our experiments, and those that installed packages bring."""

for _name, _experiment in OURS.items():
    eval_app.command(_name, help=_experiment.make.__doc__)(experiment_command(_name, _experiment))


def result_of_log(log: "EvalLog") -> "ExperimentResult":
    """Return the result of a log, by the experiment of its task. Raises InputError for an unknown one."""
    return EXPERIMENTS.named(experiment_name(log.eval.task)).parts().result(log)


def _command_of_package(name: str) -> Any:
    """Return the command of a package's experiment; one that tells the error if that can't be read."""
    alone = typer.Typer(add_completion=False)
    try:
        found = EXPERIMENTS[name]
    except InputError as error:
        told = error

        def tell_error() -> NoReturn:
            raise told

        any_words = {"allow_extra_args": True, "ignore_unknown_options": True}
        alone.command(name, help=str(error), context_settings=any_words)(tell_error)
    else:
        alone.command(name, help=found.make.__doc__)(experiment_command(name, found))
    return typer.main.get_command(alone)


@eval_app.callback()
def _group() -> None:
    """Experiments by name."""


@eval_app.command()
def report(
    results: Results = None, *, out: Annotated[Path, option("--out", "DIR", "Where page, CSV and figures go.")]
) -> None:
    """Write Markdown, CSV and figures of results. Unfinished runs are marked in all of them."""
    from scenecypher.evaluation.reporting.page import write_report

    found = _found(results)
    files = write_report(found, out)
    made, beside = counted(len(found.results), "result"), counted(len(files) - 1, "file")
    say(f"{files[0]}: {made}, {beside} beside it")


@eval_app.command()
def leaderboard(results: Results = None) -> None:
    """Print a page with a table for each experiment: models and methods of all finished runs."""
    from scenecypher.evaluation.reporting.page import leaderboard_markdown

    typer.echo(leaderboard_markdown(_found(results)), nl=False)


def _found(results: list[Path] | None) -> "FoundResults":
    """Return the results, and warn of unfinished ones."""
    from scenecypher.evaluation.reporting.page import find_results, warnings
    from scenecypher.evaluation.running import check_inspect_installed

    check_inspect_installed()
    found = find_results(results or [Path("logs")], result_of_log)
    for warning in warnings(found):
        warn(warning, style="bold red")
    return found
