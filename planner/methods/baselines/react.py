"""ReAct as SG2, SG-RwR and LookPlanGraph compare with it: one thought, call or action a reply, with what came of it.

`react-sg2` has ``expand``, `react-limit` ``get_neighbors`` and ``get_attrs`` (SG2, "Baselines", "SG2 v.s. ReAct"); both
have SG2's reasoning tools, as the second differs in the graph calls only. `react-rwr` has the four calls of SG-RwR's
appendix (G.1) and no tools. The agent sees neither graph nor schema (it is "conditioned on API annotations"), but its
whole history at every step. Ours: the wording of the annotations, ``finish(...)`` as the call with the solution, and
``stepwise`` as in `sg2`.

`react-alfworld` (LookPlanGraph, appendices D and F-5) acts step by step, with feedback worded like ALFWorld's. A reply
is one action, one of which is ``think``; the feedback is a line or two of text, and the prompt has the whole history.
Going to a room shows its furniture. Going to anything else observes it: it is executed as the action that reveals the
place (``discover_objects`` in GraSIF, ``find`` in VirtualHome), which is not offered under its own name. Nothing unseen
is shown. The paper's prompt has one worked task; the prompt for GraSIF has one of ours. Ours: actions are written as in
all our methods, ``pick_up(cup-1)`` for the paper's ``pick up cup-1``; a refusal gives its reason; and in BabyAI, where
the whole room is in view, its contents are shown after each action.
"""

from __future__ import annotations

import re
from typing import Final

from scenecypher.chat.model import Message, Usage
from scenecypher.errors import ReplyRejected
from scenecypher.planner.prompts import texts
from scenecypher.planner.sessions.method import Act, CallTool, Decision, Done, Memory, MethodContext, Solve, Think, Turn
from scenecypher.planner.sessions.tools import tools_of
from scenecypher.planner.vocabularies.vocabulary import DONE, vocabulary_named
from scenecypher.retriever.graph_api import CALL_SETS, CALLS

PROMPTS: Final = texts.prompts_beside(__name__)
FINISH: Final = "finish"


class React:
    """Method that asks for a thought and a call; `name` is that of the set of its graph calls."""

    def __init__(self, context: MethodContext, name: str) -> None:
        self._context, self._name, self._graph_calls = context, name, CALL_SETS[name]
        self._tools = dict(tools_of(context.vocabulary)) if name != "react-rwr" else {}

    def decide(self, memory: Memory) -> tuple[Decision, Usage]:
        """Return the next decision and its tokens. Raises ReplyRejected after three unusable replies."""
        return texts.ask_in_text(self._context.model, texts.chat(self._system(memory), memory, TURNS), self._read)

    def _system(self, memory: Memory) -> str:
        text = PROMPTS["react"].format(
            environment=texts.environment_explanation(self._context.vocabulary),
            actions=memory.actions,
            calls=self._annotations(),
            solution=texts.SOLUTION_FORM,
            form=texts.STEP_FORM.format(example=self._example),
        )
        return "\n\n".join(filter(None, (text, texts.shown_examples(self._name, self._context, memory))))

    @property
    def _example(self) -> str:
        name = self._graph_calls[0]
        return f"{name}(node_id)" if CALLS[name].takes_node else f"{name}()"

    def _annotations(self) -> str:
        graph_calls = [
            f"{name}({'node_id' if CALLS[name].takes_node else ''}): {CALLS[name].description}"
            for name in self._graph_calls
        ]
        return "\n".join([*graph_calls, *(tool.annotation for tool in self._tools.values())])

    def _read(self, text: str) -> Decision:
        step = texts.parse_step(text, self._example)
        if step.name == FINISH:
            return texts.parse_solution(
                step.written, self._context.vocabulary, reason=step.thought, final=self._context.final
            )
        texts.check_known_call(step.name, (*self._graph_calls, *self._tools, FINISH))
        if step.name in self._tools:
            return CallTool(step.name, texts.parse_arguments(step, self._tools[step.name].arguments), step.thought)
        names = ("node_id",) if CALLS[step.name].takes_node else ()
        return CallTool(step.name, texts.parse_arguments(step, names), step.thought)


def _observation(_: Decision, turn: Turn) -> str:
    return f"Observation: {turn.feedback}"


def _call_text(call: CallTool) -> str:
    written = ", ".join(map(texts.written_argument, call.arguments.values()))
    return str(texts.ReActStep(call.reason, call.tool, written))


TURNS: Final = (
    texts.TurnForm(CallTool, _call_text, _observation),
    texts.TurnForm(Solve, lambda it: str(texts.ReActStep(it.reason, FINISH, texts.solution_text(it))), _observation),
)


NAME: Final = "react-alfworld"


_THINKS: Final = re.compile(r"think\s*(?::(.*)|\((.*)\))", re.DOTALL | re.IGNORECASE)
_CALL: Final = re.compile(r"([A-Za-z_]\w*)\s*\((.*)\)\.?")


class ReactAlfworld:
    """Method that asks for a thought or an action."""

    def __init__(self, context: MethodContext) -> None:
        self._context = context
        chosen = vocabulary_named(context.vocabulary)
        self._approach = chosen.words.approach
        left_out = {DONE, *([self._approach.look] if self._approach else [])}
        known = (*chosen.operators, *chosen.macros)
        self._names = (*(name for name in known if name not in left_out), DONE)

    def decide(self, memory: Memory) -> tuple[Decision, Usage]:
        """Return the next action and its tokens. Raises ReplyRejected after three unusable replies."""
        reason = _last_thought(memory)
        return texts.ask_in_text(self._context.model, self._prompt(memory), lambda text: self._read(text, reason))

    def _prompt(self, memory: Memory) -> tuple[Message, ...]:
        text = PROMPTS["react_alfworld"].format(
            environment=texts.environment_explanation(self._context.vocabulary),
            actions=self._annotations(),
            form=PROMPTS["react_alfworld_form"].format(example=self._example),
        )
        # The first view only: later observations are in the history.
        opening = f"{memory.opening}\nYour task is to: {memory.instruction}"
        forms = (
            texts.TurnForm(Act, self._written, self._turn_feedback),
            texts.TurnForm(Think, lambda it: f"> think: {it.thought}"),
        )
        system = "\n\n".join(filter(None, (text, texts.shown_examples(NAME, self._context, memory))))
        return Message("system", system), Message("user", opening), *texts.turn_messages(memory.turns, forms)

    @property
    def _example(self) -> str:
        return f"{self._names[0]}(node_id)"

    def _read(self, text: str, reason: str) -> Decision:
        """Parse the first action of a reply; ignore observations that the model invents after it."""
        first = _first_action(text)
        thinks, called = _THINKS.fullmatch(first), _CALL.fullmatch(first.partition("\n")[0].strip())
        thought = (thinks[1] or thinks[2] or "").strip() if thinks else ""
        if thought:
            return Think(thought)
        if called is None:
            raise ReplyRejected(
                f"it is no action; reply in this form:\n{PROMPTS['react_alfworld_form'].format(example=self._example)}"
            )
        texts.check_known_call(called[1], self._names)
        return self._action(called[1], called[2].strip(), reason)

    def _action(self, name: str, written: str, reason: str) -> Decision:
        if name == DONE:
            return Done(reason)
        approach = self._approach
        if approach and name in approach.go and written.strip("\"'") not in self._context.occurring().places:
            return Act(f"{approach.look}({written})", reason)
        return Act(f"{name}({written})", reason)

    def _annotations(self) -> str:
        """Return the annotations of the actions, without the revealing action."""
        lines = texts.functions(self._context.vocabulary, "whole")
        if self._approach is None:
            return lines
        offered = [line for line in lines.splitlines() if not line.startswith(f"{self._approach.look}(")]
        return "\n".join([*offered, self._approach.words])

    def _written(self, action: Act) -> str:
        """Return an action as a reply; a revealing action appears as a walk."""
        name, _, written = action.action.partition("(")
        went = self._approach.go[0] if self._approach and name == self._approach.look else name
        return f"> {went}({written}"

    def _turn_feedback(self, _: Act, turn: Turn) -> str:
        """Return the feedback in ALFWorld's words; a revealing action appears as a walk."""
        if not turn.refused:
            return turn.feedback
        why = turn.feedback
        if self._approach:
            why = why.replace(f"{self._approach.look}(", f"{self._approach.go[0]}(")
        return f"Nothing happens: {why}."


def _last_thought(memory: Memory) -> str:
    """Return the thought of the turn before, if any."""
    last = memory.turns[-1].decision if memory.turns else None
    return last.thought if isinstance(last, Think) else ""


def _first_action(text: str) -> str:
    """Return the first action of a reply, without its prefix ``>``."""
    before, *parts = re.split(r"^[ \t]*>", text, flags=re.MULTILINE)
    return (parts or [before])[0].strip()
