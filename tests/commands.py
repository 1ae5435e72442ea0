"""Runs a command that measures or proves: Django's kind, kept out of the product."""

from __future__ import annotations

import os
import sys
from importlib import import_module


def run_command(module: str) -> None:
    """Run `module`.Command with the words of the command line; without a server that is up it gets its own."""
    import django

    from golem_project.embedded.autostart import provide_services
    from golem_project.embedded.errors import EmbeddedError

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "golem_project.settings.local")
    if "--help" not in sys.argv:
        try:
            provide_services(os.environ)
        except EmbeddedError as error:
            sys.exit(str(error))
    django.setup()
    package = module.rpartition(".")[0]
    import_module(module).Command().run_from_argv(["python -m", package, *sys.argv[1:]])
