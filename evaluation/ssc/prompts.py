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
from scenecypher.evaluation.eai.recordings import SCENE_PREFIX
from scenecypher.evaluation.eai.task_table import EAI_TASKS, EaiTask
from scenecypher.evaluation.eai.transition_gold import domain_head
from scenecypher.importers.eai import package_folder
from scenecypher.importers.json_file import read_json

PromptForm: TypeAlias = Literal["eai", "structured"]
MAX_BYTES: Final = 32 * 2**20


class _Prompt(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

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
        if self.form == "structured":
            return (Message("user", structured_prompt(self.task, self.texts[task_id])),)
        system = (Message("system", self.system),) if self.system else ()
        return (*system, Message("user", self.texts[task_id]))


def load_prompts(task: EaiTask, form: PromptForm, *, wheel: Path | None = None) -> Prompts:
    """Return the prompts of one task; goal interpretation needs the `wheel` of the recordings. Raises InputError."""
    in_wheel, folder = task.prompts_in_wheel, package_folder()
    texts = _read_wheel(wheel, task.prompt_file) if in_wheel else _read_installed(folder / task.prompt_file)
    system = read_json(folder / task.system_file)["system_prompt"] if task.system_file else ""
    return Prompts(task, form, texts, system)


def structured_prompt(task: EaiTask, eai_prompt: str) -> str:
    """Return our prompt with the task-specific part of the original one."""
    own = "\n\n".join(_cut(eai_prompt, start, end) for start, end in task.prompt_parts)
    text = _own_text(task)
    return text.replace("{domain}", f"{domain_head().strip()}\n)").replace("{task}", own).strip()


def structured_prompt_version() -> str:
    """Return a digest of our prompts; results of different digests are not comparable."""
    digest = sha256()
    for name in sorted(EAI_TASKS):
        digest.update(_own_text(EAI_TASKS[name]).encode())
    return digest.hexdigest()[:12]


def _own_text(task: EaiTask) -> str:
    return (files("scenecypher.evaluation") / "data" / "ssc" / f"{task.name}.md").read_text(encoding="utf-8")


def _cut(text: str, start: str, end: str) -> str:
    at = text.rfind(start)
    if at < 0:
        raise InputError(
            f"a prompt of eai-eval lacks {start!r}: reinstall it (`pip install --no-deps eai-eval==1.0.5`)"
        )
    return text[at:].partition(end)[0].strip()


def _read_wheel(wheel: Path | None, name: str) -> Mapping[str, str]:
    if wheel is None:
        raise InputError("prompts of goal interpretation come with the recordings; give their wheel")
    try:
        with ZipFile(wheel) as archive, archive.open(name) as member:
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
