"""Defines why a subscription is refused."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class SubscriptionLimit(
    GolemError, status=429, recovery=Recovery.FIX_PARAMS, title="This golem has as many subscriptions as it may"
):
    """The golem follows as much as it may."""


class SubscriptionNotFound(GolemError, status=404, recovery=Recovery.FIX_PARAMS, title="There is no such subscription"):
    """The golem has no living subscription of this id."""
