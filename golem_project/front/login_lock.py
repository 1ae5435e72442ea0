"""Locks an account at an address for five minutes after five wrong passwords.

Whoever tries from many addresses at once meets a second bound, for the account alone. It holds no address from which
the account was signed in to lately, and it ends a minute after they stop: a stranger locks nobody out for long. An
account that is not there is treated the same, so the answer tells nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from axes.handlers.database import AxesDatabaseHandler
from axes.helpers import get_client_username
from axes.models import AccessAttempt, AccessLog
from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.db.models import Sum
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from golem_project.front.addresses import UNKNOWN, read_address_of
from tools_app.core import clock

_STORM: Final = timedelta(minutes=1)
_STORM_FAILURES: Final = 20
_REMEMBERED: Final = timedelta(days=30)


class LoginLock(AxesDatabaseHandler):
    """django-axes' own keeping of failures, with the second bound, and with no row from the future."""

    def get_user_attempts(self, request: object, credentials: object = None) -> list[object]:
        """The rows that count, for each combination that locks."""
        latest = clock.now() + clock.AHEAD
        return [rows.filter(attempt_time__lte=latest) for rows in super().get_user_attempts(request, credentials)]

    def clean_expired_user_attempts(self, request: object = None, credentials: object = None) -> int:
        """Delete what counts no longer, or was written in a future that did not come."""
        AccessAttempt.objects.filter(attempt_time__gt=clock.now() + clock.AHEAD).delete()
        return int(super().clean_expired_user_attempts(request, credentials))

    def is_locked(self, request: object, credentials: object = None) -> bool:
        """Whether nobody may try this account from here now."""
        return bool(super().is_locked(request, credentials)) or self._is_in_a_storm(request, credentials)

    def user_logged_in(self, sender: object, request: object, user: AbstractBaseUser, **kwargs: object) -> None:
        """Note from where the account was signed in to, for a month."""
        super().user_logged_in(sender, request, user, **kwargs)
        AccessLog.objects.filter(username=user.get_username(), attempt_time__lt=clock.now() - _REMEMBERED).delete()

    def _is_in_a_storm(self, request: Any, credentials: object) -> bool:  # Any: with the marks of axes
        username, now = get_client_username(request, credentials), clock.now()
        if username is None:
            return False
        recent = AccessAttempt.objects.filter(
            username=username, attempt_time__gt=now - _STORM, attempt_time__lte=now + clock.AHEAD
        )
        failures = recent.aggregate(all=Sum("failures_since_start"))["all"] or 0
        if failures < _STORM_FAILURES:
            return False
        known = AccessLog.objects.filter(
            username=username, ip_address=request.axes_ip_address, attempt_time__gt=now - _REMEMBERED
        )
        return not known.exists()


def name_client(request: HttpRequest) -> str | None:
    """The address that failures are counted under; of IPv6 the first of its network."""
    address = read_address_of(request.META).partition("/")[0]
    return None if address == UNKNOWN else address


def name_account(request: HttpRequest, credentials: Mapping[str, object] | None) -> str | None:
    """The account that was tried, as long as an account's name may be."""
    given = (credentials or {}).get("username") or request.POST.get("username")
    return str(given)[:150].replace("\0", "") if given else None


def tell_locked(request: HttpRequest, response: HttpResponse, credentials: object) -> HttpResponse:
    """429 in words that are the same for every name, with when to come back."""
    seconds = _count_seconds(request, credentials)
    minutes = -(-seconds // 60)
    context = {"wait": "a minute" if minutes == 1 else f"{minutes} minutes"}
    headers = {"Retry-After": str(seconds), "Cache-Control": "no-store"}
    if "text/html" not in request.headers.get("Accept", "text/html"):
        body = {"code": "LOGINS_LOCKED", "detail": f"too many wrong passwords; try again in {context['wait']}"}
        return JsonResponse(body, status=429, headers=headers)
    page = render(request, "golem_project/people/locked.html", context, status=429)
    for name, value in headers.items():
        page[name] = value
    return page


def _count_seconds(request: HttpRequest, credentials: Any) -> int:  # Any: as axes hands it over
    rows = AccessAttempt.objects.filter(
        username=name_account(request, credentials), ip_address=name_client(request)
    ).order_by("-attempt_time")
    latest: datetime | None = rows.values_list("attempt_time", flat=True).first()
    if latest is None:
        return int(_STORM.total_seconds())
    left = (latest + settings.AXES_COOLOFF_TIME - clock.now()).total_seconds()
    return max(1, min(int(left) + 1, int(settings.AXES_COOLOFF_TIME.total_seconds())))
