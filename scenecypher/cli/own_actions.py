"""`scenecypher domain`: a scene's own actions, from a PDDL domain; and `scenecypher import pddl`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scenecypher.cli.context import open_store, output, print_json
from scenecypher.cli.importing import Source, import_and_print
from scenecypher.cli.options import AsJson, AsTheyAre, with_options
from scenecypher.cli.scenes import Name
from scenecypher.errors import InputError

if TYPE_CHECKING:
    from scenecypher.planner.vocabularies.own_actions import AddedActions

domain_app = typer.Typer(name="domain", help="A scene's own actions, from a PDDL domain.", no_args_is_help=True)

DomainFile = Annotated[Path, typer.Argument(metavar="DOMAIN", help="A PDDL domain, such as kitchen.pddl.")]
MappingOption = Annotated[
    Path | None,
    typer.Option("--mapping", metavar="FILE", help="TOML that says how predicates and types are stored."),
]


@domain_app.command()
def add(scene: Name, domain: DomainFile, *, mapping: MappingOption = None, as_json: AsJson = False) -> None:
    """Give a scene the actions of a PDDL domain in place of its vocabulary's; its graph and history stay.

    Several domains add up; one of a name that the scene has replaces that one.

    Predicates become states, relations, classes and kinds by their names, or as a mapping file says. What can't be
    mapped is named with its line (exit code 2).
    """
    from scenecypher.planner.vocabularies.own_actions import add_actions

    with open_store() as store:
        added = add_actions(store, scene, domain, mapping=mapping)
    if as_json:
        print_json(
            {"scene": scene, "domain": added.domain.name, "actions": _names(added), "stored_as": {**added.forms}}
        )
        return
    out = output()
    instead = " in place of its earlier ones" if added.replaced else ""
    also = f", besides those of {', '.join(added.besides)}" if added.besides else ""
    head = f"{scene} has {len(_names(added))} actions of the domain {added.domain.name}{instead}{also}:"
    out.print(head, markup=False)
    out.print(f"  {', '.join(_names(added))}", markup=False)
    out.print("predicates are stored as:", markup=False)
    for name, form in added.forms.items():
        out.print(f"  {name}: {form}", markup=False)
    for note in added.domain.notes:
        out.print(note, markup=False)


@domain_app.command()
def remove(scene: Name) -> None:
    """Take a scene's own actions away: it has those of its vocabulary again. Its graph and history stay."""
    from scenecypher.planner.vocabularies.own_actions import remove_actions

    with open_store() as store:
        info = remove_actions(store, scene)
    output().print(f"{scene} has the actions of the vocabulary {info.vocabulary}", markup=False)


@domain_app.command()
def show(scene: Name) -> None:
    """Print the PDDL domain of a scene's own actions."""
    with open_store() as store:
        declared = store.find(scene).declared
    if not declared.domain:
        raise InputError(f"{scene} has no actions of its own; `scenecypher act {scene} --list` shows those that it has")
    typer.echo(declared.domain, nl=False)


@with_options
def import_pddl(
    problem: Annotated[Path, typer.Argument(metavar="PROBLEM", help="A PDDL problem.")],
    *,
    domain: Annotated[Path, typer.Option("--domain", metavar="DOMAIN", help="The PDDL domain of the problem.")],
    mapping: MappingOption = None,
    name: Annotated[str | None, typer.Option("--name", help="The scene's name; else pddl/ and the problem's.")] = None,
    how: AsTheyAre,
) -> None:
    """Import a PDDL problem: its objects and initial facts as a scene, its domain's actions, its goal for `plan`."""
    from scenecypher.planner.vocabularies.own_actions import NAME_PREFIX, read_pddl_scene

    named = name or NAME_PREFIX + problem.stem
    read = partial(read_pddl_scene, problem, domain, mapping=mapping, name=named)
    import_and_print([Source(str(problem), named, read)], how)


def _names(added: AddedActions) -> list[str]:
    return [action.name for action in added.domain.actions]
