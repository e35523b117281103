"""Differences of our prompts from those that the papers print, with the reasons, for the page of methods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_CYPHER: Final = (
    "queries are Cypher, not Python over NetworkX, with guidance on it and on the number of rows that are shown",
    "the graph is in Neo4j, and untrusted code gets no graph object",
)
_SOLUTION: Final = (
    "a solution with actions is a plan, any other an answer",
    "the papers give both under one name",
)
_ACTIONS: Final = (
    "the household's actions are those of the paper's action space, in our names; `all-actions` lists the others",
    "simulated homes need more than the paper's tasks",
)
_NEEDS: Final = (
    "each action is told with the affordances that it needs",
    "graphs state affordances, and models asked for actions that no node afforded",
)
_EXAMPLES: Final = (
    "worked examples are of our own worlds",
    "the papers' are not published; in `eval household` the homes' are of another home than the tested one",
)

_PICTURES: Final = (
    (
        "pictures: the description begins with how much of the asset is shown, and why not all; the form repeats it",
        "a blurred picture, one of a garden, and one of half a table made the things of the asset absent",
    ),
    (
        "pictures: what was seen there earlier, and what is expected there but was never seen, are two lists",
        "the paper calls all of it spotted; what the map says nobody has seen",
    ),
    (
        "pictures: the description is asked for how many there are of things alike, and for what is open or on",
        "the paper reports undercounting; its text names states, its descriptor prompt does not",
    ),
    (
        "pictures: of a room, furniture and doors are named, and things are on or in them",
        "the paper looks at assets only",
    ),
    (
        "pictures: the form is sent as a schema, without an example; it has counts, several states, and a confidence",
        "services hold replies to a schema; the paper's example takes a form for each of two apples",
    ),
    (
        "pictures: the asset itself may be in the form, for its own state; things of another place may not",
        "the state of a container decides what a look at it covers; the paper says 'related only to' the asset",
    ),
    (
        "pictures: places that are unclear are asked for once more, with the candidates",
        "the paper leaves null relations unplaced",
    ),
    (
        "pictures: if most of what is believed there is missing, the picture is described again with that fact",
        "a single description that sees nothing would erase the place",
    ),
    (
        "pictures: several of one look go together; with a camera file, boxes are asked for; notes explain drawn ones",
        "the paper's looks are single pictures without positions; a plain picture's prompts have none of it",
    ),
)
"""Differences of the two prompts for pictures (appendix G), whose other sentences say what the paper's say."""

_BRIEF: Final = (
    "but in grids the graph has no walls, FACING or positions; like things are one node, like links one link",
    "of a home with all rooms shown they were over three quarters of the text, and no plan needs them",
)

DIFFERENCES: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    "lookplangraph": (
        ("objects of the classes that the instruction names are told in all rooms", "the prompt says to go there"),
        (
            "walls, and furniture that no action can touch, are left out where nothing is or can be put on them",
            "they were a quarter of a view, and no task is about them",
        ),
        (
            "what is corrected is named; without corrections the prompt says that nothing is",
            "the paper says that some functions work from any room, which is true with corrections only",
        ),
        (
            "what a look shows, and what is merely remembered, is said for the session's own world",
            "beliefs are optional",
        ),
        ("`under` and `attached_to` are relations too", "GraSIF has them, and the baselines' prompts do"),
        (
            "a second look at an inspected node is refused, unless a picture showed only a part of it",
            "the paper's prompt forbids it",
        ),
        ("the prompt's two examples are in our words, one of a search, one of a move", "the paper prints one trace"),
        *_PICTURES,
        _NEEDS,
    ),
    "sayplan": (
        ("reply fields are those that LookPlanGraph prints for its revision", "SayPlan's own are not printed there"),
        ("at most 5 plans are verified", "no paper gives the number"),
        _BRIEF,
    ),
    "sayplan-lite": (
        ("relations are told by the types of the graph's links", "the graph is nodes and links"),
        ("the search's example names a place that is not shown yet", "the paper's example is about its own rooms"),
        ("the search is told that the plan is made later", "it has no function for planning"),
        _BRIEF,
        _NEEDS,
    ),
    "llm-as-p": (
        ("the example's plan is feasible", "the paper's goes to the kitchen with what belongs into the garden"),
        ("empty lists are left out of the graph", "they cost tokens and say nothing"),
        _NEEDS,
    ),
    "llm+p": (
        (
            "the prompt has the domain",
            "the paper's prompt shows only an example problem, of another domain",
        ),
        (
            "the domain is the paper's, corrected",
            "it uses `or` and `not` without declaring them, and keeps what is carried in its room",
        ),
        ("a reply that is no PDDL is asked again", "it is a mistake of form"),
    ),
    "sg2": (
        _CYPHER,
        _SOLUTION,
        _ACTIONS,
        _NEEDS,
        ("the TOOL mode is left out where there is no tool", "VirtualHome has none in the paper"),
        ("the tool executor imports nothing", "its functions are there already, in a sandbox"),
        _EXAMPLES,
    ),
    "sg2-limit": (
        ("the Retriever ends by `answer(text)`, after at most 30 calls", "the paper prints no prompt of it"),
        _SOLUTION,
    ),
    "sg-rwr": (
        _CYPHER,
        _SOLUTION,
        _ACTIONS,
        ("a question has [Answer] in place of [Actions]", "the template is of plans only"),
        ("code imports nothing", "its functions are there already, in a sandbox"),
    ),
    "single-coder": (_CYPHER, ("the output's last line is the solution", "the paper does not say how it is read")),
    "rwr-text": (("the translator is asked once, after the Reasoner has ended", "the paper prints no prompt of it"),),
    **dict.fromkeys(
        ("react-sg2", "react-limit", "react-rwr"),
        (
            ("`finish(...)` gives the solution", "the papers print the calls alone"),
            ("nodes are compact: no empty lists, points as lists of coordinates", "they were a seventh of a prompt"),
            _EXAMPLES,
        ),
    ),
    "react-alfworld": (
        ("actions are written `pick_up(cup-1)`", "all our methods write them so"),
        ("a refusal gives its reason", "`Nothing happens` alone tells a model nothing"),
        ("in BabyAI what is in the room is told after each action", "there the whole room is in view"),
    ),
    **dict.fromkeys(
        ("zero-shot", "0-cot", "ltm", "cot", "bag", "algorithm"),
        (
            ("the reply ends with a line `Solution:`", "the papers do not say how a solution is read"),
            ("nodes are compact: no empty lists, points as lists of coordinates", "they cost tokens and say nothing"),
        ),
    ),
}
"""Differences by method, each with its reason; those with worked tasks or an algorithm differ as the method before."""
