"""Migrate an empty database to the last release by the files that the squashed migrations replace.

A process of its own, because migrations find their database as the product does: `python -m <this module>` with
DATABASE_URL naming it.
"""

from __future__ import annotations

import os

import django


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "golem_project.settings.test")
    django.setup()
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor
    from django.db.migrations.loader import MigrationLoader

    from golem_project.upgrades.columns import load_last_release

    executor = MigrationExecutor(connection)
    executor.loader = MigrationLoader(connection, replace_migrations=False)
    executor.migrate(list(load_last_release().migrations.items()))


if __name__ == "__main__":
    main()
