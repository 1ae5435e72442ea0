"""Loads what all processes of the product use, before one process forks into each of them.

It opens no connection and starts no thread: a fork would lose both.
"""

from __future__ import annotations

import golem_project.asgi as _web_server  # noqa: F401  (loaded, not used)
from golem_project.celery import app
from tools_app.simulation.select import warm_up
from tools_app.toolkit.registry import REGISTRY

app.loader.import_default_modules()
warm_up()
# Each of them compares these before it serves (`golem_project.runtime.start_conditions`); they are worked out once.
DEFINITIONS = {tool.name: tool.definition_hash for tool in REGISTRY}
