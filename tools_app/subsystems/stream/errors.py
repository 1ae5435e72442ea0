"""Defines why a subscription is refused."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class SubscriptionLimit(GolemError):
    """The golem follows as much as it may."""

    code = "SUBSCRIPTION_LIMIT"
    http_status = 429
    recovery = Recovery.FIX_PARAMS
    title = "This golem has as many subscriptions as it may"


class SubscriptionNotFound(GolemError):
    """The golem has no living subscription of this id."""

    code = "SUBSCRIPTION_NOT_FOUND"
    http_status = 404
    recovery = Recovery.FIX_PARAMS
    title = "There is no such subscription"
