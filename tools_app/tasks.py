"""Celery entry points of the bottom layer."""

from __future__ import annotations

from celery import shared_task

from tools_app.core import audit_checkpoints, clock, event_publisher, liveness
from tools_app.history import chain_following, followed_contracts, gap_filling, log_expiry
from tools_app.subsystems.stream import serve_subscriptions


@shared_task(ignore_result=True)
def publish_events_task() -> int:
    """Publish events of processes that died before they did."""
    return event_publisher.publish_pending(now=clock.now())


@shared_task(ignore_result=True)
def sign_audit_checkpoints_task() -> int:
    """Sign the audit chains that grew enough since their last checkpoint."""
    return audit_checkpoints.sign_due_checkpoints(now=clock.now())


@shared_task(ignore_result=True)
def note_pulse_task(*, queue: str) -> None:
    """A worker of `queue` is alive and takes what is sent there."""
    liveness.beat(f"queue {queue}", now=clock.now())


@shared_task(ignore_result=True)
def poll_subscriptions_task() -> int:
    """Serve the golems' subscriptions whose time has come; two of these share the work."""
    return serve_subscriptions.poll_due(now=clock.now())


@shared_task(ignore_result=True)
def follow_history_task() -> int:
    """Read what is new on every chain of which something is followed; two of these write it once."""
    return chain_following.follow_all(now=clock.now())


@shared_task(ignore_result=True)
def fill_history_task() -> int:
    """Read more of the past of what is followed, within the questions a minute that its nodes may be asked."""
    return gap_filling.fill_all(now=clock.now())


@shared_task(ignore_result=True)
def renew_history_task() -> int:
    """Follow what golems watch or hold now."""
    return followed_contracts.renew_all(now=clock.now())


@shared_task(ignore_result=True)
def clean_history_task() -> int:
    """Let go of logs, bars and contracts whose time is over."""
    return log_expiry.clean(now=clock.now())
