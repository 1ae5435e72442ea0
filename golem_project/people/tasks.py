"""The Celery entry point of accounts that ended."""

from __future__ import annotations

from celery import shared_task

from golem_project.people.deactivated_accounts import stop_accounts
from tools_app.core import clock


@shared_task(ignore_result=True)
def stop_accounts_task() -> int:
    """Stop what accounts that are not active left running; a second run finds it done."""
    return stop_accounts(now=clock.now())
