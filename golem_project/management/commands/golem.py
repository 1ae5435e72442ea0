"""`manage.py golem tail GOLEM`: what a golem does, as it does it. `golem chat GOLEM`: a conversation with it."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from contextlib import nullcontext
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError
from rich.console import Console

from archetypes_app.models import Golem
from golem_project.chat.converse import get_client
from golem_project.chat.terminal import TerminalChat
from golem_project.stream.parameters import read_since, read_types
from golem_project.stream.terminal_feed import TailView, follow_log
from tools_app.core import event_log
from tools_app.core.errors import GolemError
from tools_app.core.event_log import EventFilter


class Command(BaseCommand):
    """Commands about one golem."""

    help = "Follow one golem, `golem tail NAME_OR_ID`, or talk to it, `golem chat NAME_OR_ID [WORDS]`."

    def add_arguments(self, parser: ArgumentParser) -> None:
        commands = parser.add_subparsers(dest="what", required=True)
        tail = commands.add_parser("tail", help="show the golem's events as they come")
        tail.add_argument("golem", help="its name or id")
        tail.add_argument("--json", action="store_true", help="one JSON object a line, as the API gives them")
        tail.add_argument("--since", default="", help="RFC 3339 time to start from; default: only what comes")
        tail.add_argument("--types", default="", help="wire names or families (tool:*), separated by commas")
        tail.add_argument("--no-follow", action="store_true", help="end at the newest event")
        chat = commands.add_parser("chat", help="talk to the golem; it reads and previews, nothing is committed")
        chat.add_argument("golem", help="its name or id")
        chat.add_argument(
            "words", nargs="*", help="say this and end; without it, lines are read until the end of input"
        )

    def handle(self, *args: object, what: str, golem: str, **options: Any) -> None:  # Any: each has a type of its own
        if what == "chat":
            self._chat(find_golem(golem), " ".join(options["words"]))
        else:
            self._tail(golem, **options)

    def _chat(self, golem: Golem, words: str) -> None:
        try:
            talk = TerminalChat(golem, get_client(), self.stdout.write)
            if words:
                talk.say(words)
                return
            self.stdout.write(f"{golem.name} reads and previews here, and commits nothing. Ctrl-C ends an answer.")
            talk.read_lines(sys.stdin)
        except GolemError as error:
            raise CommandError(f"{error.code}: {error.detail}") from None

    def _tail(self, name: str, *, json: bool, since: str, types: str, no_follow: bool, **_: object) -> None:
        try:
            kinds, start = read_types(types), read_since(since)
        except GolemError as error:
            raise CommandError(error.detail) from None
        golem = find_golem(name)
        head = event_log.read_head()
        position = head.position if start is None else event_log.find_position(start, head=head)
        wanted = EventFilter(golem_ids=frozenset({str(golem.pk)}), types=kinds)
        events = follow_log(position, wanted=wanted, is_endless=not no_follow)
        view = TailView(Console(file=self.stdout, highlight=False, markup=False))  # type: ignore[arg-type]
        try:
            with nullcontext() if json else view.progress:
                for event in events:
                    if json:
                        self.stdout.write(event.body)
                        self.stdout.flush()
                    else:
                        view.show(event)
        except KeyboardInterrupt:
            return


def find_golem(text: str) -> Golem:
    """The golem of this id or name. Raises CommandError."""
    try:
        found = list(Golem.objects.filter(pk=UUID(text)))
    except ValueError:
        found = list(Golem.objects.filter(name=text)[:2])
    if len(found) != 1:
        raise CommandError(f"{'several golems are' if found else 'no golem is'} called {text!r}; give its id")
    return found[0]
