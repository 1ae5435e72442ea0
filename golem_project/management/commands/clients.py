"""`manage.py clients`: writes the generated part of the clients from the OpenAPI document, or checks it."""

from __future__ import annotations

from argparse import ArgumentParser

from django.core.management.base import BaseCommand, CommandError
from drf_spectacular.generators import SchemaGenerator

from golem_project.embedded.errors import EmbeddedError
from golem_project.pi import python_client, typescript_client


class Command(BaseCommand):
    """Writes or checks clients/python and clients/typescript."""

    help = "Write the clients' operations from the OpenAPI document; --check only compares."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--check", action="store_true", help="write nothing, fail when a file is out of date")

    def handle(self, *args: object, **options: object) -> None:
        document = SchemaGenerator().get_schema(request=None, public=True)
        try:
            texts = {
                python_client.PATH: python_client.write_operations(document),
                typescript_client.PATH: typescript_client.write_schema(document),
            }
        except EmbeddedError as error:
            raise CommandError(str(error)) from None
        for path, text in texts.items():
            if not options["check"]:
                path.write_text(text, encoding="utf-8")
                self.stdout.write(f"wrote {path.name}")
            elif not path.exists() or path.read_text(encoding="utf-8") != text:
                raise CommandError(f"{path.name} is out of date. Fix: manage.py clients")
