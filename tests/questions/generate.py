"""`python -m tests.questions.generate`: generate the question set, 40 questions for each data set."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from scenecypher.evaluation.histories import KINDS, GoldQuestion, load_question_scene
from tests.questions.grids import BABYAI_TEMPLATES
from tests.questions.homes import GRASIF_TEMPLATES, VIRTUALHOME_TEMPLATES
from tests.questions.template import Template, choose_filling

FOLDER: Final = Path(__file__).resolve().parents[2] / "evaluation" / "data" / "questions"
SETS: Final[Mapping[str, tuple[Sequence[str], Sequence[Template]]]] = {
    "virtualhome": (("eai/963_2", "eai/416_2"), VIRTUALHOME_TEMPLATES),
    "babyai": (("numqa/0", "numqa/3", "numqa/4", "numqa/7"), BABYAI_TEMPLATES),
    "grasif": (("our-office", "sayplan-office"), GRASIF_TEMPLATES),
}
"""Scenes and templates by data set; each template is filled once for each scene."""


def make_questions(data: str) -> list[GoldQuestion]:
    """Return the questions of one data set, sorted by kind."""
    return sorted(_questions(data), key=lambda one: (KINDS.index(one.kind), one.id))


def file_text(questions: Sequence[GoldQuestion]) -> str:
    """Return the text of a file of the set."""
    return "".join(json.dumps(one.model_dump(), ensure_ascii=False) + "\n" for one in questions)


def main() -> None:
    """Write all files."""
    for data in SETS:
        (FOLDER / f"{data}.jsonl").write_text(file_text(make_questions(data)), encoding="utf-8")


def _questions(data: str) -> Iterator[GoldQuestion]:
    scenes, templates = SETS[data]
    for turn, scene in enumerate(scenes):
        graph = load_question_scene(scene).graph
        for template in templates:
            draft = choose_filling(template, graph, turn=turn, turns=len(scenes))
            yield GoldQuestion(
                id=f"{template.kind.replace('/', '-')}/{template.fill.__name__}/{scene}",
                data=data,
                scene=scene,
                kind=template.kind,
                question=draft.question,
                rows=draft.rows,
                cypher=draft.cypher,
            )


if __name__ == "__main__":
    main()
