"""Worked examples: two each, correct for their instances (Trv-1 only); no test uses those of BabyAI."""

from __future__ import annotations

from scenecypher.evaluation import household as of_homes
from scenecypher.importers import babyai
from scenecypher.planner.methods.sayplan.sayplan import SayPlanReply
from scenecypher.planner.prompts.home_examples import TITLE, action_text, graph_lines, home_examples, relevant_part
from scenecypher.planner.prompts.texts import parse_solution, worked_examples
from scenecypher.planner.sessions.method import Done, Solve
from tests.planner.methods.worked_examples import (
    FOLDER,
    QUESTIONS,
    TRAVERSALS,
    Question,
    Traversal,
    home_tasks,
    texts,
)


def test_the_files_are_what_their_instances_say() -> None:
    written = texts()
    assert {file.relative_to(FOLDER).as_posix() for file in FOLDER.glob("*/examples/*.txt")} == {*written, *BY_HAND}
    for name, text in written.items():
        assert (FOLDER / name).read_text(encoding="utf-8") == text, name


BY_HAND = {
    "babyai/examples/algorithm.txt",
    "babyai/examples/algorithm-questions.txt",
    "grasif/examples/react-alfworld.txt",
}
"""Files with a method in words, and an example that test_react compares with a session."""


def test_they_are_two_each_of_trv1_alone_and_never_tested() -> None:
    assert len(TRAVERSALS) == len(QUESTIONS) == 2
    assert {level for level, _ in TRAVERSALS} == {"trv1"}
    assert all(seed >= 900_000 > 10 * babyai.SEEDS for _, seed in (*TRAVERSALS, *QUESTIONS))
    for name, text in texts().items():
        assert text.count("Task: ") == 2, name
        assert text.startswith((TITLE, "Examples, of tasks in a home:"))


def test_their_solutions_are_right() -> None:
    for instance in TRAVERSALS:
        example = Traversal(*instance)
        program = [f"{step.action}({', '.join(step.arguments)})" for step in babyai.read_task(*instance).program]  # type: ignore[union-attr]
        solved = parse_solution(example.solution, "babyai")
        assert isinstance(solved, Solve)
        assert list(solved.actions) == program
    for instance in QUESTIONS:
        assert isinstance(parse_solution(Question(*instance).solution, "babyai"), Done)


def test_sayplans_replies_are_in_its_own_form() -> None:
    for name in ("babyai/examples/sayplan.txt", "babyai/examples/sayplan-questions.txt"):
        replies = [
            SayPlanReply.model_validate_json(line) for line in texts()[name].splitlines() if line.startswith("{")
        ]
        plans = [reply.plan for reply in replies if reply.plan is not None]
        instances = [Question(*it).solution for it in QUESTIONS] if "questions" in name else []
        assert plans == [[f"answer({it})"] for it in instances] or [f"[{', '.join(plan)}]" for plan in plans] == [
            Traversal(*it).solution for it in TRAVERSALS
        ]
        assert {reply.command.command_name for reply in replies if reply.command} <= {"expand_node", "contract_node"}


def test_graph_prompting_has_examples_of_its_own_form_in_homes() -> None:
    for task, graph in home_tasks():
        part = relevant_part(task, graph)
        solution_line = f"Solution: [{', '.join(map(action_text, task.program))}]"
        for style in ("cot", "bag"):
            text = worked_examples(style, "virtualhome", task.instruction)
            assert f"Task: {task.instruction}" in text
            assert solution_line in text
            assert (graph_lines(part) in text) is (style == "bag")
            assert "closed and must be opened first" in text
        assert {id_ for step in task.program for id_ in step.arguments} <= part.nodes.keys()
        assert len(part.nodes) < 8


def test_examples_are_chosen_by_method_vocabulary_and_sort_of_task() -> None:
    question = "find the color of the ball in a room next to the room with 2 grey keys"
    assert worked_examples("sg2", "babyai", question) != worked_examples("sg2", "babyai", "pick up the box") != ""
    assert worked_examples("sg2", "virtualhome_ext", "Watch TV") == home_examples(home_tasks())["sg2"]
    assert worked_examples("sg2", "grasif", "Put the cup on the table") == ""
    assert worked_examples("algorithm", "virtualhome", "Watch TV") == "", "the papers have no method in words for homes"


def test_examples_of_homes_come_from_another_home_than_the_tested_one() -> None:
    """Worked examples that are of one home for all, the tested one and a folder of one's own included."""
    homes = {home.name: home for home in of_homes.bundled_homes()}
    found = of_homes.examples_by_scene([*homes.values()], "source")
    for name, home in homes.items():
        (other,) = (it for it in homes.values() if it.name != name)
        for text in found[home.scene.name].values():
            assert all(task.instruction in text for task, _ in of_homes.solved_tasks(other))
            assert all(action_text(task.program[-1]) in text for task, _ in of_homes.solved_tasks(other))
            assert not any(action_text(task.program[-1]) in text for task, _ in of_homes.solved_tasks(home))
    states = of_homes.examples_by_scene([*homes.values()], "states")["homes/cottage"]["tasks"]
    assert "Task: milk INSIDE fridge, fridge CLOSED\n" in states, "in the wording of the tested tasks"


def test_a_folder_with_examples_of_its_own_shows_these() -> None:
    """Tasks of a folder that are marked as examples, and never shown."""
    apartment, cottage = of_homes.bundled_homes()
    alone = of_homes.examples_by_scene([cottage], "source")
    own, _ = of_homes.solved_tasks(cottage)[0]
    assert action_text(own.program[-1]) in alone["homes/cottage"]["sg2"], "its own, as no other has any"
    bare = of_homes.TestedHome(apartment.name, apartment.scene, apartment.tasks)
    assert of_homes.examples_by_scene([bare], "source") == {"homes/apartment": {}}, "none: the vocabulary's files"
    assert worked_examples("sg2", "virtualhome_ext", "Watch TV", {"sg2": "Examples: none."}) == "Examples: none."
    pair = of_homes.examples_by_scene([bare, cottage], "source")
    assert pair["homes/apartment"] == pair["homes/cottage"] == alone["homes/cottage"]
