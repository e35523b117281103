"""`scenecypher rules`: the rules of a house, which no action breaks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from scenecypher.cli.context import open_store, say, show
from scenecypher.cli.options import AsJson, Name, ReadName, argument, option
from scenecypher.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scenecypher.db.rules import BrokenRule

rules_app = typer.Typer(name="rules", help="Rules of the house, which no action breaks.", no_args_is_help=True)

RuleAuthor = Annotated[str, option("--actor", "NAME", "Whose rule it is, as the history names it.")]


@rules_app.command()
def add(
    scene: Name,
    words: Annotated[str | None, argument("RULE", 'Such as "never knife INSIDE nursery".')] = None,
    *,
    set_name: Annotated[str | None, option("--set", "NAME", "Take a set: household-safety.")] = None,
    name: Annotated[str, option("--name", "NAME", "The rule's name; else a number.")] = "",
    actor: RuleAuthor = "person",
    as_json: AsJson = False,
) -> None:
    """Give a scene a rule in the words of goals: a version of the scene, with an event; its beliefs have it as well.

    RULE is `never CONDITION`, `ACTION only when CONDITION [since CONDITION]`, `ACTION only once|before CONDITION`,
    `within N actions|minutes after CONDITION: CONDITION` or `ask before ACTION [when CONDITION]`. What the scene breaks
    already, and which rules contradict it, is told, and stays.
    """
    from scenecypher.db.rules import rule_documents
    from scenecypher.planner.rules.house import add_rule, add_set

    if (words is None) == (set_name is None) or (set_name and name):
        raise InputError('give a rule such as "never knife INSIDE nursery", with a --name or without, or a --set')
    with open_store() as store:
        if set_name is not None:
            added = add_set(store, scene, set_name, actor=actor)
        else:
            added = add_rule(store, scene, words or "", name=name, actor=actor)
    told = {"left_out": {**added.left_out}, "contradicts": [*added.contradictions], "checked": added.all_checked}
    document = {"scene": scene, "rules": rule_documents(added.rules), "broken": _broken(added.broken), **told}
    lines = [f"{scene} has the rule {it.name}: {it.words}" for it in added.rules]
    lines += [f"left out, since they name what is not here: {', '.join(added.left_out)}"] if added.left_out else []
    lines += _broken_lines(added.broken)
    lines += [f"no state keeps it together with: {', '.join(added.contradictions)}"] if added.contradictions else []
    lines += [] if added.all_checked else ["whether it contradicts every other rule was not checked"]
    show(document, *lines, as_json=as_json)


@rules_app.command("list")
def list_(scene: ReadName, *, as_json: AsJson = False) -> None:
    """List the rules of a scene, or those of then for SCENE@VERSION: name, words, author, since which version."""
    from scenecypher.db.rules import rule_documents
    from scenecypher.planner.rules.house import rules_at

    with open_store() as store:
        found = rules_at(store, scene)
    lines = [f"{it.name}: {it.words}  [{it.author}, {it.at[:10]}, version {it.since}]" for it in found]
    show(rule_documents(found), *(lines or [f"{scene} has no rules"]), as_json=as_json)


@rules_app.command()
def remove(
    scene: Name,
    rule: Annotated[str, argument("RULE", "The rule's name.")],
    *,
    actor: RuleAuthor = "person",
) -> None:
    """End a rule: it binds nobody any more. Earlier versions of the scene still have it."""
    from scenecypher.planner.rules.house import remove_rule

    with open_store() as store:
        ended = remove_rule(store, scene, rule, actor=actor)
    say(f"{scene} no longer has the rule {ended.name}: {ended.words}")


@rules_app.command()
def check(scene: ReadName, *, as_json: AsJson = False) -> None:
    """Tell which rules a scene breaks now, and by what (exit code 1), or then broke for SCENE@VERSION."""
    from scenecypher.planner.rules.house import check_rules

    with open_store() as store:
        found = check_rules(store, scene)
    show(_broken(found), *(_broken_lines(found) or [f"{scene} breaks no rule"]), as_json=as_json)
    if found:
        raise typer.Exit(1)


def _broken_lines(found: Sequence[BrokenRule]) -> list[str]:
    words = ((f" by {it.things}" if it.things else "", it.rule) for it in found)
    return [f"broken now{things}: the rule {rule.name}: {rule.words}" for things, rule in words]


def _broken(found: Sequence[BrokenRule]) -> list[dict[str, str]]:
    return [{"rule": it.rule.name, "words": it.rule.words, "things": it.things} for it in found]
