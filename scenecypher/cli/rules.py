"""`scenecypher rules`: the rules of a house, which no action breaks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from scenecypher.cli.context import open_store, output, print_json
from scenecypher.cli.options import AsJson
from scenecypher.cli.scenes import Name, ReadName
from scenecypher.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scenecypher.db.rules import BrokenRule

rules_app = typer.Typer(name="rules", help="Rules of the house, which no action breaks.", no_args_is_help=True)

RuleAuthor = Annotated[str, typer.Option("--actor", metavar="NAME", help="Whose rule it is, as the history names it.")]


@rules_app.command()
def add(
    scene: Name,
    words: Annotated[str | None, typer.Argument(metavar="RULE", help='Such as "never knife INSIDE nursery".')] = None,
    *,
    set_name: Annotated[str | None, typer.Option("--set", metavar="NAME", help="Take a set: household-safety.")] = None,
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="The rule's name; else a number.")] = "",
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
        added = (
            add_set(store, scene, set_name, actor=actor)
            if words is None and set_name is not None
            else add_rule(store, scene, words or "", name=name, actor=actor)
        )
    if as_json:
        rules = rule_documents(added.rules)
        found: dict[str, object] = {"left_out": {**added.left_out}, "contradicts": [*added.contradictions.names]}
        checked = added.contradictions.all_checked
        print_json({"scene": scene, "rules": rules, "broken": _broken(added.broken), **found, "checked": checked})
        return
    for rule in added.rules:
        output().print(f"{scene} has the rule {rule.name}: {rule.words}", markup=False)
    if added.left_out:
        output().print(f"left out, since they name what is not here: {', '.join(added.left_out)}", markup=False)
    _print_broken(added.broken)
    if added.contradictions.names:
        output().print(f"no state keeps it together with: {', '.join(added.contradictions.names)}", markup=False)
    if not added.contradictions.all_checked:
        output().print("whether it contradicts every other rule was not checked", markup=False)


@rules_app.command("list")
def list_(scene: ReadName, *, as_json: AsJson = False) -> None:
    """List the rules of a scene, or those of then for SCENE@VERSION: name, words, author, since which version."""
    from scenecypher.db.rules import rule_documents
    from scenecypher.planner.rules.house import rules_at

    with open_store() as store:
        found = rules_at(store, scene)
    if as_json:
        print_json(rule_documents(found))
        return
    for it in found:
        output().print(f"{it.name}: {it.words}  [{it.author}, {it.at[:10]}, version {it.since}]", markup=False)
    if not found:
        output().print(f"{scene} has no rules", markup=False)


@rules_app.command()
def remove(
    scene: Name,
    rule: Annotated[str, typer.Argument(metavar="RULE", help="The rule's name.")],
    *,
    actor: RuleAuthor = "person",
) -> None:
    """End a rule: it binds nobody any more. Earlier versions of the scene still have it."""
    from scenecypher.planner.rules.house import remove_rule

    with open_store() as store:
        ended = remove_rule(store, scene, rule, actor=actor)
    output().print(f"{scene} no longer has the rule {ended.name}: {ended.words}", markup=False)


@rules_app.command()
def check(scene: ReadName, *, as_json: AsJson = False) -> None:
    """Tell which rules a scene breaks now, and by what (exit code 1), or then broke for SCENE@VERSION."""
    from scenecypher.planner.rules.house import check_rules

    with open_store() as store:
        found = check_rules(store, scene)
    if as_json:
        print_json(_broken(found))
    elif found:
        _print_broken(found)
    else:
        output().print(f"{scene} breaks no rule", markup=False)
    if found:
        raise typer.Exit(1)


def _print_broken(found: Sequence[BrokenRule]) -> None:
    for it in found:
        things = f" by {it.things}" if it.things else ""
        output().print(f"broken now{things}: the rule {it.rule.name}: {it.rule.words}", markup=False)


def _broken(found: Sequence[BrokenRule]) -> list[dict[str, str]]:
    return [{"rule": it.rule.name, "words": it.rule.words, "things": it.things} for it in found]
