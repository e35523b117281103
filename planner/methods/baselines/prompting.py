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

from scenecypher.chat.model import Message, Model, Usage
from scenecypher.errors import ReplyRejected
from scenecypher.planner.prompts.replies import SOLUTION_FORM, ask_in_text, parse_solution, solution_text
from scenecypher.planner.prompts.texts import environment_explanation, required_examples
from scenecypher.planner.sessions.method import Decision, Memory, Solve

SYSTEM: Final = """\
You solve tasks about an environment that is described by a scene graph, which is given whole, as text: a line of JSON \
a node, then a line [source, type, target] a link.

The environment:
{environment}

The actions of the agent, for planning tasks:
{actions}

{how}

End the reply with one line:
Solution: the solution. {form}"""

_SOLUTION: Final = re.compile(r"^\W*Solution\W*?:[ \t]*", re.MULTILINE | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Style:
    """Prompting style; `examples` and `method` name the worked examples and the description before them."""

    how: str
    examples: str = ""
    method: str = ""


STYLES: Final[Mapping[str, Style]] = {
    "zero-shot": Style("Give the solution at once, without an explanation."),
    "0-cot": Style("Think step by step before you give the solution."),
    "ltm": Style(
        "First break the task down into smaller ones, from the simplest on. Then solve them one after the other, each "
        "with the results of those before it, until the task itself is solved."
    ),
    "cot": Style("Explain your steps as the examples do, before you give the solution.", "cot"),
    "bag": Style(
        "First build the graph that the task is about: list the nodes and links that matter. Then explain your steps "
        "as the examples do, before you give the solution.",
        "bag",
    ),
    "algorithm": Style(
        "Follow the method below, and explain its steps as the examples do, before you give the solution.",
        "cot",
        "algorithm",
    ),
}


class Prompting:
    """Method that asks `model` once in a style; `stepwise` as in `scenecypher.planner.methods.sg2.sg2`."""

    def __init__(self, model: Model, vocabulary: str, style: Style, *, stepwise: bool = False) -> None:
        self._model, self._vocabulary, self._style, self._final = model, vocabulary, style, not stepwise

    def decide(self, memory: Memory) -> tuple[Decision, Usage]:
        """Return the solution and its tokens. Raises ReplyRejected after three replies without one, and InputError."""
        return ask_in_text(self._model, self._prompt(memory), self._read)

    def _prompt(self, memory: Memory) -> tuple[Message, Message]:
        system = SYSTEM.format(
            environment=environment_explanation(self._vocabulary),
            actions=memory.actions,
            how=self._style.how,
            form=SOLUTION_FORM,
        )
        added = [
            required_examples(name, self._vocabulary, memory.instruction, memory.examples)
            for name in (self._style.method, self._style.examples)
            if name
        ]
        parts = [f"The scene graph:\n{memory.view}", f"Task: {memory.instruction}"]
        for turn in memory.turns:
            said = (
                f"The solution {solution_text(turn.decision)}"
                if isinstance(turn.decision, Solve)
                else "Your last reply"
            )
            parts.append(f"{said} did not work: {turn.feedback}")
        return Message("system", "\n\n".join(filter(None, (system, *added)))), Message("user", "\n\n".join(parts))

    def _read(self, text: str) -> Decision:
        found = [*_SOLUTION.finditer(text)]
        if not found:
            raise ReplyRejected(f"it has no line that begins with Solution:. {SOLUTION_FORM}")
        reason = text[: found[-1].start()].strip()
        return parse_solution(text[found[-1].end() :], self._vocabulary, reason=reason, final=self._final)
