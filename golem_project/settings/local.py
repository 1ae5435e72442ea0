"""One machine, loopback only: what `make run` and every manage.py command use by default."""

from __future__ import annotations

from golem_project.settings.base import *  # noqa: F403
