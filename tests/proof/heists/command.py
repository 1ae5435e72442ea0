"""`python -m tests.proof.heists`: the same batches against the cage and two other fences, as a table."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from tests.proof.heist import run_scene
from tests.proof.heists.beside import Besides, render_table
from tests.proof.heists.roles import ANY_SIZE


class Command(BaseCommand):
    help = "Run the same hostile batches against the cage, Zodiac Roles v2 and MetaMask's enforcers; prints Markdown."

    def handle(self, *args: Any, **options: Any) -> None:
        with run_scene(ANY_SIZE) as scene:
            self.stdout.write(render_table(Besides(scene)), ending="")
