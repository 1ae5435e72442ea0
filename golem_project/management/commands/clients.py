"""`manage.py clients`: writes the generated part of the clients from the OpenAPI document, or checks it."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from drf_spectacular.generators import SchemaGenerator

from golem_project.pi.python_client import PATH, write_operations


class Command(BaseCommand):
    """Writes or checks clients/python."""

    help = "Write the clients' operations from the OpenAPI document; --check only compares."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--check", action="store_true", help="write nothing, fail when a file is out of date")

    def handle(self, *args: Any, **options: Any) -> None:
        text = write_operations(SchemaGenerator().get_schema(request=None, public=True))
        if not options["check"]:
            PATH.write_text(text, encoding="utf-8")
            self.stdout.write(f"wrote {PATH.name}")
        elif PATH.read_text(encoding="utf-8") != text:
            raise CommandError(f"{PATH.name} is out of date. Fix: manage.py clients")
