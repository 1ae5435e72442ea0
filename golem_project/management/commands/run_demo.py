"""`manage.py run_demo`: perform the main job once over REST on a running server and report it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from golem_project.demo import report
from golem_project.demo.journey import Journey
from golem_project.demo.seed import CHAIN_ID, seed_demo
from golem_project.runtime.redacted_reports import write_report
from tools_app.core import clock
from tools_app.core.errors import GolemError


class Command(BaseCommand):
    help = "Perform the demo swap over REST and print each step; exits non-zero when a figure differs."
    # The server it speaks with was checked at its start, and its owner waits for the swap.
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", type=Path, default=Path(settings.VAR_DIR) / "demo.json", help="report file")
        parser.add_argument("--serve-report", action="store_true", help="also print address, login, token and curls")
        url = os.environ.get("GOLEM_WEB_URL", "http://127.0.0.1:8000")
        parser.add_argument("--url", default=url, help="the server it speaks with; default: GOLEM_WEB_URL")

    def handle(self, *args: object, url: str, json: Path, serve_report: bool, **options: object) -> None:
        try:
            seed = seed_demo(now=clock.now(), with_token=True)
        except GolemError as error:
            raise CommandError(error.detail) from None
        journey = Journey(
            base_url=url,
            token=seed.token,
            rpc_url=settings.GOLEM_RPC_URLS[CHAIN_ID][0],
            on_step=report.print_step,
        )
        # Who is about to use the server waits for the swap, and for no measurement.
        is_ok = journey.play(measures=not serve_report)
        report.print_table(journey.steps)
        write_report(json, {"steps": [step.to_json() for step in journey.steps]})
        if serve_report:
            report.print_access(base_url=url, login=seed.owner_name, password=seed.password, token=seed.token)
        if not is_ok:
            sys.exit(1)
