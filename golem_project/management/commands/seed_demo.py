"""`manage.py seed_demo`: the demo owner, golem and wallet on the local chain; safe to repeat."""

from __future__ import annotations

from django.core.management.base import BaseCommand, CommandError

from golem_project.demo.seed import seed_demo
from tools_app.core import clock
from tools_app.core.errors import GolemError


class Command(BaseCommand):
    help = "Create the demo owner, golem and wallet on the local chain, where they are missing."

    def handle(self, *args: object, **options: object) -> None:
        try:
            seed = seed_demo(now=clock.now(), with_token=False)
        except GolemError as error:
            raise CommandError(error.detail) from None
        self.stdout.write(f"{seed.golem.name}: {seed.golem.address}")
