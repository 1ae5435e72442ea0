"""`manage.py compare_fences`: the same hostile batches against the cage and Zodiac Roles v2; the table of the docs."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from golem_project.proof.heist import run_scene
from golem_project.proof.heists.beside import Besides, render_table
from golem_project.proof.heists.roles import ANY_SIZE


class Command(BaseCommand):
    help = "Run the same hostile batches against the cage and Zodiac Roles v2 on a node of their own; prints Markdown."

    def handle(self, *args: Any, **options: Any) -> None:
        with run_scene(ANY_SIZE) as scene:
            self.stdout.write(render_table(Besides(scene)), ending="")
