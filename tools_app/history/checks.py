"""System check at start-up: settings of the index of logs that contradict one another."""

from __future__ import annotations

from collections.abc import Sequence

from django.conf import settings
from django.core.checks import CheckMessage, Error, register
from django.core.checks import Warning as CheckWarning

from tools_app.history.gap_filling import BESIDES_HEADERS


@register()
def check_history_settings(app_configs: object, **kwargs: object) -> Sequence[CheckMessage]:
    """What is read back is kept, hours outlive their logs, and a minute's questions are enough for one block."""
    found: list[CheckMessage] = []
    if not settings.GOLEM_HISTORY_IS_ON:
        return found
    if settings.GOLEM_HISTORY_BACK_DAYS > settings.GOLEM_HISTORY_LOG_DAYS:
        found.append(
            Error(
                f"the index reads {settings.GOLEM_HISTORY_BACK_DAYS} days back and lets logs go after"
                f" {settings.GOLEM_HISTORY_LOG_DAYS}",
                hint="set GOLEM_HISTORY_BACK_DAYS to at most GOLEM_HISTORY_LOG_DAYS",
                id="golem.E201",
            )
        )
    if settings.GOLEM_HISTORY_HOUR_DAYS < settings.GOLEM_HISTORY_LOG_DAYS:
        found.append(
            Error(
                f"bars of hours go after {settings.GOLEM_HISTORY_HOUR_DAYS} days, before the logs they are made of",
                hint="set GOLEM_HISTORY_HOUR_DAYS to at least GOLEM_HISTORY_LOG_DAYS",
                id="golem.E202",
            )
        )
    if settings.GOLEM_HISTORY_QUESTIONS_PER_MINUTE <= BESIDES_HEADERS:
        found.append(
            CheckWarning(
                f"{settings.GOLEM_HISTORY_QUESTIONS_PER_MINUTE} questions a minute fill no gap of the index",
                hint=f"set GOLEM_HISTORY_QUESTIONS_PER_MINUTE above {BESIDES_HEADERS}",
                id="golem.W201",
            )
        )
    return found
