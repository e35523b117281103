"""Prompts of a task: the Embodied Agent Interface's own, or ours with the paper's rules.

The prompts of three tasks are read from the installed `eai-eval`; those of goal interpretation from the wheel of the
recordings, where they are filled in. Ours (`evaluation/data/ssc/`) are in our words and include the task-specific part
of these.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias
from zipfile import BadZipFile, ZipFile

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from scenecypher.chat.model import Message
from scenecypher.errors import InputError
from scenecypher.evaluation.eai.recordings import SCENE_PREFIX, TaskName
from scenecypher.evaluation.eai.transition_gold import domain_head
from scenecypher.importers.eai import package_folder
from scenecypher.importers.json_file import read_json

PromptForm: TypeAlias = Literal["eai", "structured"]
IN_WHEEL: Final = "virtualhome_eval/evaluation/goal_interpretation/prompts/helm_prompts.json"
INSTALLED: Final[Mapping[TaskName, str]] = {
    "action-sequencing": "evaluation/action_sequencing/prompts/helm_prompts.json",
    "subgoal": "evaluation/subgoal_decomposition/prompts/helm_prompts.json",
    "transition": "evaluation/transition_modeling/prompts/helm_prompts.json",
}
SYSTEM: Final = "evaluation/subgoal_decomposition/prompts/system_setup.json"
"""System message before each prompt of sub-goal decomposition."""
TASK_PARTS: Final[Mapping[TaskName, tuple[tuple[str, str], ...]]] = {
    "goal": (
        ("Relevant objects in the scene are:", "All possible relationships are"),
        ("Goal name:", "Now output the symbolic version"),
    ),
    "action-sequencing": (("The relevant objects in the scene are:", "Please output the list of action commands"),),
    "subgoal": (("# Target Task:", "## Output:"),),
    "transition": (("(define (problem", "\n>"),),
}
"""Task-specific parts of a prompt: from the last occurrence of the first text to the next of the second."""
MAX_BYTES: Final = 32 * 2**20


class _Prompt(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    identifier: str
    llm_prompt: str


_PROMPTS: Final = TypeAdapter(list[_Prompt])


@dataclass(frozen=True, slots=True)
class Prompts:
    """Prompts of one task in one form, by task id."""

    task: TaskName
    form: PromptForm
    texts: Mapping[str, str]
    system: str

    def messages(self, task_id: str) -> tuple[Message, ...]:
        """Return the messages to send. Raises InputError for a task without a prompt."""
        if task_id not in self.texts:
            raise InputError(f"there is no prompt of {self.task} for task {task_id[:60]!r}; leave it out")
        if self.form == "structured":
            return (Message("user", structured_prompt(self.task, self.texts[task_id])),)
        system = (Message("system", self.system),) if self.system else ()
        return (*system, Message("user", self.texts[task_id]))


def load_prompts(task: TaskName, form: PromptForm, *, wheel: Path | None = None) -> Prompts:
    """Return the prompts of one task; goal interpretation needs the `wheel` of the recordings. Raises InputError."""
    texts = _read_wheel(wheel) if task == "goal" else _read_installed(package_folder() / INSTALLED[task])
    system = read_json(package_folder() / SYSTEM)["system_prompt"] if task == "subgoal" else ""
    return Prompts(task, form, texts, system)


def structured_prompt(task: TaskName, eai_prompt: str) -> str:
    """Return our prompt with the task-specific part of the original one."""
    own = "\n\n".join(_cut(eai_prompt, start, end) for start, end in TASK_PARTS[task])
    text = _own_text(task)
    return text.replace("{domain}", f"{domain_head().strip()}\n)").replace("{task}", own).strip()


def structured_prompt_version() -> str:
    """Return a digest of our prompts; results of different digests are not comparable."""
    digest = sha256()
    for task in sorted(TASK_PARTS):
        digest.update(_own_text(task).encode())
    return digest.hexdigest()[:12]


def _own_text(task: TaskName) -> str:
    return (files("scenecypher.evaluation") / "data" / "ssc" / f"{task}.md").read_text(encoding="utf-8")


def _cut(text: str, start: str, end: str) -> str:
    at = text.rfind(start)
    if at < 0:
        raise InputError(
            f"a prompt of eai-eval lacks {start!r}: reinstall it (`pip install --no-deps eai-eval==1.0.5`)"
        )
    return text[at:].partition(end)[0].strip()


def _read_wheel(wheel: Path | None) -> Mapping[str, str]:
    if wheel is None:
        raise InputError("prompts of goal interpretation come with the recordings; give their wheel")
    try:
        with ZipFile(wheel) as archive, archive.open(IN_WHEEL) as member:
            raw = member.read(MAX_BYTES)
    except (OSError, EOFError, zlib.error, BadZipFile, KeyError, NotImplementedError, RuntimeError) as error:
        raise InputError(f"{wheel} has no prompts of goal interpretation ({error}); download it again") from error
    return _by_id(raw, wheel)


def _read_installed(path: Path) -> Mapping[str, str]:
    try:
        return _by_id(path.read_bytes(), path)
    except OSError as error:
        raise InputError(f"{path.name} can't be read ({error}): run `pip install --no-deps eai-eval==1.0.5`") from error


def _by_id(raw: bytes, where: Any) -> Mapping[str, str]:
    try:
        rows = _PROMPTS.validate_json(raw)
    except ValidationError as error:
        raise InputError(f"{where}: is not a list of prompts; reinstall it") from error
    return {row.identifier.removeprefix(SCENE_PREFIX): row.llm_prompt for row in rows}
