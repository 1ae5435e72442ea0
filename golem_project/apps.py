"""Start-up of every process: register the tools, then hand services down."""

from __future__ import annotations

import gc

from django.apps import AppConfig


class GolemConfig(AppConfig):
    """Runs wiring in web, worker and command alike."""

    name = "golem_project"
    verbose_name = "Golem"

    def ready(self) -> None:
        """Load the registry, then configure. Both need every model to be importable, hence not at module level."""
        from golem_project import celery, wiring
        from golem_project.people import deactivated_accounts, sign_ins
        from tools_app.apps import load_registry

        celery.app.finalize()
        # Protocols say at their import what is called there, so places are named before.
        wiring.name_known_places()
        load_registry()
        wiring.configure()
        sign_ins.listen()
        deactivated_accounts.listen()
        # What is loaded now stays for the process's life: looking through all of it for cycles would take longer than a
        # whole preview each time. What one request makes is mostly freed without a search; searches may be rare (see
        # `golem_project/__init__.py`).
        gc.freeze()
