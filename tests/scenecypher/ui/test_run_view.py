"""Frames of a run: one for each event that people want to see, refusals with the state that they were refused in."""

from __future__ import annotations

import json

from scenecypher.chat.model import Usage
from scenecypher.planner.sessions import events as e
from scenecypher.ui.views import Frame, frames_of, words_of

RUN: tuple[e.Event, ...] = (
    e.Asked(1, "Where is the cup?", "I need it."),
    e.Retrieved(1, "Where is the cup?", "on the tray", "MATCH (c) RETURN c", Usage(), ("place",), (("tray",), (None,))),
    e.Proposed(2, "put_in(cup, fridge)", "it is told so", since=4),
    e.Refused(2, "put_in(cup, fridge)", "missing", ("fridge is not open",)),
    e.Corrected(2, "open(fridge)", "fridge is open", 5),
    e.Acted(2, "put_in(cup, fridge)", 6, 3),
    e.Refused(3, "", "reply", ("this is no action",)),
    e.Remembered(3, None, "", (), refused=False, infeasible=0, usage=Usage()),
    e.Finished("done", "all is done", 3, 1, Usage(), 1.5, answer="the cup"),
)


def test_each_event_is_a_frame_but_the_ends_of_turns() -> None:
    frames = [*frames_of(json.dumps(e.event_document(event)) for event in RUN)]
    kinds = ["asked", "retrieved", "proposed", "refused", "corrected", "acted", "refused", "finished"]
    assert [frame.kind for frame in frames] == kinds
    assert [frame.version for frame in frames] == [None, None, None, 4, 5, 6, 6, None]
    refused = frames[3]
    assert (refused.lines, refused.nodes) == (("fridge is not open",), ("cup", "fridge"))
    assert (frames[1].columns, frames[1].rows) == (("place",), (("tray",), ("null",)))
    assert frames[-1] == Frame("finished", 0, "done: all is done", ("answer: the cup",))


def test_words_of_an_action() -> None:
    assert words_of("open(fridge)") == ("fridge",)
    assert words_of("put_in(cup_1, fridge_2)") == ("cup_1", "fridge_2")
    assert words_of("wait") == ()
