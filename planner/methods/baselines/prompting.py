"""Graph prompting: the whole graph as text, and one reply (SG-RwR, "Baselines", after NLGraph; SG2, "Baselines").

`zero-shot`, `0-cot` (step by step) and `ltm` (least to most) have no examples. `cot` has worked examples; `bag` has
them with the relevant graph built first; `algorithm` has those of `cot` after a description of the method (not in
VirtualHome). Ours: the wording of the prompts, the line ``Solution:`` at the end of a reply, and examples without a
home's graph, which would be longer than all the rest.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from scenecypher.chat.model import Message, Usage
from scenecypher.errors import ReplyRejected
from scenecypher.planner.prompts.texts import (
    SOLUTION_FORM,
    ask_in_text,
    environment_explanation,
    parse_solution,
    prompts_beside,
    required_examples,
    solution_text,
)
from scenecypher.planner.sessions.method import Decision, Memory, MethodContext, Solve

PROMPTS: Final = prompts_beside(__name__)
_SOLUTION: Final = re.compile(r"^\W*Solution\W*?:[ \t]*", re.MULTILINE | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Style:
    """Prompting style in `words`; `examples` and `method` name the worked examples and the description before them."""

    words: str
    how: str
    examples: str = ""
    method: str = ""


STYLES: Final[Mapping[str, Style]] = {name: Style(**style) for name, style in PROMPTS["styles"].items()}


@dataclass(frozen=True, slots=True)
class Prompting:
    """Method that asks once in a style; if not `final`, it is stepwise as in `sg2`."""

    context: MethodContext
    style: Style

    def decide(self, memory: Memory) -> tuple[Decision, Usage]:
        """Return the solution and its tokens. Raises ReplyRejected after three replies without one, and InputError."""
        return ask_in_text(self.context.model, self._prompt(memory), self._read)

    def _prompt(self, memory: Memory) -> tuple[Message, Message]:
        system = PROMPTS["prompting"].format(
            environment=environment_explanation(self.context.vocabulary),
            actions=memory.actions,
            how=self.style.how,
            form=SOLUTION_FORM,
        )
        added = (
            required_examples(name, self.context.vocabulary, memory.instruction, memory.examples)
            for name in (self.style.method, self.style.examples)
            if name
        )
        parts = [f"The scene graph:\n{memory.view}", f"Task: {memory.instruction}"]
        for turn in memory.turns:
            solved = f"The solution {solution_text(it)}" if isinstance(it := turn.decision, Solve) else ""
            parts.append(f"{solved or 'Your last reply'} did not work: {turn.feedback}")
        return Message("system", "\n\n".join(filter(None, (system, *added)))), Message("user", "\n\n".join(parts))

    def _read(self, text: str) -> Decision:
        found = [*_SOLUTION.finditer(text)]
        if not found:
            raise ReplyRejected(f"it has no line that begins with Solution:. {SOLUTION_FORM}")
        reason = text[: found[-1].start()].strip()
        return parse_solution(text[found[-1].end() :], self.context.vocabulary, reason=reason, final=self.context.final)
