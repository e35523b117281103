"""A script's rules answer in order; a request without a rule is an error."""

from __future__ import annotations

import pytest

from scenecypher.chat import Message, Reply, Request, Scripted, ScriptedReply, Usage, ask_for
from scenecypher.errors import ModelUnavailable
from tests.chat.test_structured_reply import Action

SCRIPT = Scripted(
    [
        ScriptedReply(when=("soap", "can't be used"), reply='{"name": "grab", "target": "soap"}'),
        ScriptedReply(when=("soap",), reply="{}", system=("You plan.",)),
        ScriptedReply(when=(), reply="verified", system=("You verify.",)),
    ]
)


def asking(text: str, *, system: str = "You plan.") -> Request:
    return Request(
        (Message("system", system), Message("user", "before"), Message("assistant", "soap"), Message("user", text))
    )


def test_the_first_rule_that_fits_answers() -> None:
    assert SCRIPT.session("demo").reply(asking("the soap?")) == Reply("{}", Usage(), "scripted", source="scripted")
    assert SCRIPT.reply(asking("the soap can't be used")).text == '{"name": "grab", "target": "soap"}'
    assert SCRIPT.reply(asking("the soap?", system="You verify.")).text == "verified"


def test_a_request_without_a_rule_is_an_error() -> None:
    with pytest.raises(ModelUnavailable) as caught:
        SCRIPT.reply(asking("the milk? " + "x" * 500))
    assert "none of the 3 scripted replies is for 'the milk? xxx" in str(caught.value)
    assert len(str(caught.value)) < 500
    assert "set OPENAI_API_KEY or OPENAI_BASE_URL" in str(caught.value)


def test_a_form_can_be_scripted() -> None:
    script = Scripted(
        [
            ScriptedReply(
                when=("can't be used", "$.target: Field required"), reply='{"name": "grab", "target": "soap"}'
            ),
            ScriptedReply(when=("wash",), reply='{"name": "grab"}'),
        ]
    )
    assert ask_for(script, (Message("user", "wash me"),), Action) == (Action(name="grab", target="soap"), Usage())
