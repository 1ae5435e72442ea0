#!/usr/bin/env python
"""Django's commands. One that needs the database gets one for its own run, if none is up.

`manage.py FIRST ... --then SECOND ...` runs several in one process: loading the product takes longer than most of them.
"""

import os
import sys

FIRST_PYTHON = (3, 11)
# Who runs one of these on a server and forgot its environment would believe that it was done there.
OF_A_DEPLOYMENT = {"migrate", "sync_builtins", "createsuperuser", "doctor", "backup", "restore"}


def main() -> None:
    """Provide the services, then hand over to Django."""
    if sys.version_info < FIRST_PYTHON:
        sys.exit("manage.py needs Python 3.11 or newer. Fix: run .venv/bin/python manage.py, after `make setup`.")
    try:
        from django.core.exceptions import ImproperlyConfigured
        from django.core.management import execute_from_command_line
    except ModuleNotFoundError:
        sys.exit("Django is not installed here. Fix: run `make setup`, then .venv/bin/python manage.py.")
    from golem_project.embedded.autostart import provide_services
    from golem_project.embedded.errors import EmbeddedError

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "golem_project.settings.local")
    if needs_services(sys.argv):
        try:
            has_own_database = provide_services(os.environ)
        except EmbeddedError as error:
            sys.exit(f"manage.py: {error}")
        if has_own_database and sys.argv[1] in OF_A_DEPLOYMENT:
            sys.stderr.write(
                f"manage.py: no DATABASE_URL is set, so {sys.argv[1]} has a database of this checkout's own. "
                "On a server read its environment first: set -a; . /etc/golem/environment; set +a\n"
            )
    from tools_app.core import clock
    from tools_app.core.blocked_flows import audited

    try:
        for command in split_commands(sys.argv[1:]):
            with audited(actor="system:command", now=clock.now):
                execute_from_command_line([sys.argv[0], *command])
    except ImproperlyConfigured as error:
        sys.exit(f"manage.py: {error}")


def split_commands(arguments: list[str]) -> list[list[str]]:
    """The commands between the `--then`s; at least one, which may be empty."""
    commands: list[list[str]] = [[]]
    for argument in arguments:
        if argument == "--then":
            commands.append([])
        else:
            commands[-1].append(argument)
    return commands


def needs_services(argv: list[str]) -> bool:
    """Whether the command line asks for more than help or a version."""
    return len(argv) > 1 and argv[1] not in {"help", "version", "--help", "-h", "--version"} and "--help" not in argv


if __name__ == "__main__":
    main()
