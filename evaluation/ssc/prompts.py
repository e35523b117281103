"""Prompts of a task: EAI's own, and ours with the paper's content.

The prompts of three tasks are read from `eai-eval`; those of goal interpretation from the wheel of the
recordings, which is read as a zip, where they are filled in. Ours (`evaluation/data/ssc/paper-content/`) have all parts
of the paper's appendix A.2 in our words, and include the task-specific parts of EAI's.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final, Literal, TypeAlias
from zipfile import BadZipFile, ZipFile

from pydantic import TypeAdapter, ValidationError

from scenecypher.chat.model import Message
from scenecypher.db.graph.value import digest
from scenecypher.errors import InputError
from scenecypher.evaluation.eai.task_table import EAI_TASKS, EaiTask
from scenecypher.evaluation.eai.transition import domain_head
from scenecypher.evaluation.result import Document
from scenecypher.importers.json_file import read_json
from scenecypher.importers.published_file import PublishedFile
from scenecypher.importers.virtualhome import REPAIR, package_folder

WHEEL: Final = PublishedFile(
    "virtualhome_eval==0.1.1",
    "virtualhome_eval-0.1.1-py3-none-any.whl",
    "a4e244f423edfc0da2ec7b7daf48f2fca8af00afe6f2af07b8f1e53d8c79de37",
    "EAI's prompts of goal interpretation (27 MB)",
    "run `pip download --no-deps virtualhome_eval==0.1.1`, and give the file with --recordings WHEEL",
)

SCENE_PREFIX: Final = "scene_1_"
"""Prefix of a task's id in sub-goal decomposition."""


def fetch_recordings(home: Path, *, tell: Callable[[str], None]) -> Path:
    """Return the wheel in the folder `home`, downloading it with pip if needed. Raises InputError, ServiceError."""
    return WHEEL.fetch(home / "recordings", tell=tell)


PromptForm: TypeAlias = Literal["eai", "paper-content"]
GOAL_PARTS: Final[Mapping[str, tuple[str, str]]] = {
    "objects": ("Relevant objects in the scene are:", "All possible relationships are"),
    "relations": ("corresponding values are their descriptions:", "Symbolic goals format:"),
    "targets": ("possible set of 'to_name' objects:", "Action goals is a list"),
    "actions": ("with keys 'action' and 'description'.", "Goal name and goal description:"),
    "goal": ("Goal name and goal description:", "Now output the symbolic version"),
}
"""Placeholders of goal interpretation's prompt, each with the texts before and after its value in the original one."""
SYSTEM_END: Final = "\n%%\n"
"""Line between the system message and the user's in a prompt of ours that has both."""
MAX_BYTES: Final = 32 * 2**20


class _Prompt(Document):
    identifier: str
    llm_prompt: str


_PROMPTS: Final = TypeAdapter(list[_Prompt])


@dataclass(frozen=True, slots=True)
class Prompts:
    """Prompts of one task in one form, by task id."""

    task: EaiTask
    form: PromptForm
    texts: Mapping[str, str]
    system: str

    def messages(self, task_id: str) -> tuple[Message, ...]:
        """Return the messages to send. Raises InputError for a task without a prompt."""
        if task_id not in self.texts:
            raise InputError(f"there is no prompt of {self.task.name} for task {task_id[:60]!r}; leave it out")
        system, text = self.system, self.texts[task_id]
        if self.form != "eai":
            system, _, text = own_prompt(self.task, text).rpartition(SYSTEM_END)
        return (*((Message("system", system),) if system else ()), Message("user", text))


def load_prompts(task: EaiTask, form: PromptForm, *, wheel: Path | None = None) -> Prompts:
    """Return the prompts of one task; goal interpretation needs the `wheel` of the recordings. Raises InputError."""
    folder = package_folder()
    system = read_json(folder / task.system_file)["system_prompt"] if task.system_file else ""
    where = wheel if task.prompts_in_wheel else folder / task.prompt_file
    if where is None:
        raise InputError("prompts of goal interpretation come with the recordings; give their wheel")
    try:
        if task.prompts_in_wheel:
            with ZipFile(where) as archive, archive.open(task.prompt_file) as member:
                raw = member.read(MAX_BYTES)
        else:
            raw = where.read_bytes()
    except (OSError, EOFError, zlib.error, BadZipFile, KeyError, NotImplementedError, RuntimeError) as error:
        then = "download it again" if task.prompts_in_wheel else REPAIR
        raise InputError(f"{where}: no prompts of {task.title} can be read ({error}); {then}") from error
    try:
        rows = _PROMPTS.validate_json(raw)
    except ValidationError as error:
        raise InputError(f"{where}: is not a list of prompts; reinstall it") from error
    return Prompts(task, form, {row.identifier.removeprefix(SCENE_PREFIX): row.llm_prompt for row in rows}, system)


def own_prompt(task: EaiTask, eai_prompt: str) -> str:
    """Return our prompt with the task-specific parts of the original one. Raises InputError if it lacks them."""
    text = _own_text(task.name)
    if task.name == "goal":
        parts = {name: _cut(eai_prompt, start, end, after=True) for name, (start, end) in GOAL_PARTS.items()}
    else:
        own = "\n\n".join(_cut(eai_prompt, start, end) for start, end in task.prompt_parts)
        parts = {"domain": f"{domain_head().strip()}\n)", "task": own}
    for name, value in parts.items():
        text = text.replace(f"{{{name}}}", value)
    return text.strip()


def own_prompts_version(forms: Collection[PromptForm]) -> str:
    """Return a digest of our prompts, empty if none of the forms is ours; different digests are not comparable."""
    return digest("".join(map(_own_text, sorted(EAI_TASKS))))[:12] if {*forms} - {"eai"} else ""


def _own_text(task: str) -> str:
    folder = files("scenecypher.evaluation") / "data" / "ssc" / "paper-content"
    return (folder / f"{task}.md").read_text(encoding="utf-8")


def _cut(text: str, start: str, end: str, *, after: bool = False) -> str:
    """Return the part from the last `start`, or from behind it, to the next `end`. Raises InputError."""
    at = text.rfind(start)
    if at < 0:
        raise InputError(f"a prompt of eai-eval lacks {start!r}: {REPAIR}")
    return text[at + len(start) * after :].partition(end)[0].strip()
