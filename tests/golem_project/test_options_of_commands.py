"""What every command of ours takes, with its default and its help, stands in a line of `options_of_commands.txt`.

An option that is lost or renamed, and a default that changed, are found by the lines; GOLEM_WRITE_SNAPSHOTS=1 writes
them anew, for a review to see. A command, a part of one or an option without help is found by itself.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
from django.core.management import get_commands, load_command_class
from django.core.management.base import BaseCommand
from django.core.management.commands.migrate import Command as DjangosMigrate

from golem_project.settings.environment import BASE_DIR, VAR_DIR
from tests.architecture.sources import PACKAGES

LINES = Path(__file__).with_name("options_of_commands.txt")
NO_HELP = "-"
CHECKOUT = "<checkout>"
KEPT = "<var>"
_HOW_MANY: Final[Mapping[str | int | None, str]] = {
    None: "one word",
    0: "no word",
    "?": "one word or none",
    "*": "any number of words",
    "+": "one word or more",
}


@dataclass(frozen=True, slots=True)
class Word:
    """A command, a part of one, or what either takes, as its line says it."""

    path: str
    takes: str
    help: str

    def __str__(self) -> str:
        return " | ".join((self.path, *([self.takes] if self.takes else []), self.help or NO_HELP))


def list_words() -> list[Word]:
    """Every word of every command of ours; what Django gives every command is none of them."""
    found = []
    for name, app in sorted(get_commands().items()):
        if app not in PACKAGES:
            continue
        command = load_command_class(app, name)
        found.append(Word(name, "", command.help))
        known = DjangosMigrate if isinstance(command, DjangosMigrate) else BaseCommand
        given = {_name(action) for action in known().create_parser("manage.py", name)._actions}
        found += _list_words(command.create_parser("manage.py", name), name, given)
    return found


def _list_words(parser: argparse.ArgumentParser, path: str, given: set[str]) -> Iterator[Word]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {choice.dest: choice.help or "" for choice in action._choices_actions}
            for name, part in action.choices.items():
                yield Word(f"{path} {name}", "", helps.get(name, ""))
                yield from _list_words(part, f"{path} {name}", given)
        elif _name(action) not in given:
            yield Word(f"{path} {_name(action)}", _say(action), action.help or "")


def _name(action: argparse.Action) -> str:
    return " ".join(action.option_strings) or action.dest


def _say(action: argparse.Action) -> str:
    """How many words it takes, of what kind, and what holds where nobody says it."""
    kind = getattr(action.type, "__name__", "") if action.type else ""
    said = [
        _HOW_MANY[action.nargs],
        *([kind] if kind else []),
        *([f"one of {', '.join(map(repr, action.choices))}"] if action.choices else []),
        "required" if action.required and action.nargs not in ("?", "*") else f"default {_say_default(action)}",
    ]
    return ", ".join(said)


def _say_default(action: argparse.Action) -> str:
    """The same on every machine: a folder of the checkout, or of what a server keeps, under the name of either."""
    default = str(action.default) if isinstance(action.default, Path) else action.default
    return repr(default).replace(str(VAR_DIR), KEPT).replace(str(BASE_DIR), CHECKOUT)


@pytest.fixture(autouse=True)
def no_server_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """`run_demo` speaks with the server that is up, which is no default of its own."""
    monkeypatch.delenv("GOLEM_WEB_URL", raising=False)


def test_the_commands_take_what_their_lines_say() -> None:
    """A script of an operator names these. GOLEM_WRITE_SNAPSHOTS=1 writes the new lines."""
    found = [str(word) for word in list_words()]
    if os.environ.get("GOLEM_WRITE_SNAPSHOTS") == "1":
        LINES.write_text("".join(f"{line}\n" for line in found), encoding="utf-8")
    stored = LINES.read_text(encoding="utf-8").splitlines()
    assert [line for line in stored if line not in found] == [], "lost or changed"
    assert [line for line in found if line not in stored] == [], "new or changed"
    assert stored == found, "in another order"


def test_every_word_of_every_command_says_what_it_is() -> None:
    words = list_words()
    assert len(words) > 100
    assert [word.path for word in words if not word.help.strip()] == []


def test_no_word_is_said_twice_under_one_name() -> None:
    paths = [word.path for word in list_words()]
    assert sorted({path for path in paths if paths.count(path) > 1}) == []
