"""Shows the contracts that the index of logs follows for a golem: since when, gaps, and cost."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path
from django.utils.safestring import SafeString
from unfold.widgets import UnfoldAdminTextInputWidget

from archetypes_app.log_retention import find_log_days, set_log_days
from archetypes_app.models import Golem
from archetypes_app.roles import Power
from permits_app.admin.golem_site import Wrap, as_golem_admin
from tools_app.core import audit_log, clock
from tools_app.history.overview import FollowedContract, look_over
from tools_app.models.history import FollowedChain, LogGap
from tools_app.pages.html import show_age
from tools_app.wording.formats import format_chain, group_digits

MOST_GAPS_SHOWN = 3


@dataclass(frozen=True, slots=True)
class ContractLine:
    """One contract as a page shows it. `missing` are its newest gaps in words, `more` how many there are besides."""

    kind: str
    chain: str
    address: str
    because: str
    since: SafeString
    known_since: datetime
    logs: str
    missing: tuple[str, ...]
    more: int
    shared_with: int


@dataclass(frozen=True, slots=True)
class FollowedChainLine:
    """The follower of one chain: how far it is, what it met, and what is spent of this minute's questions."""

    chain: str
    block: str
    read_until: datetime
    looked: SafeString
    problem: str
    lie: str
    rollbacks: int
    spent: int


class KeptDaysForm(forms.Form):
    """How long the owner's golems keep logs."""

    days = forms.IntegerField(
        label="Keep logs for (days)",
        min_value=1,
        required=False,
        widget=UnfoldAdminTextInputWidget(),
        help_text="For all your golems. Empty: as long as this server keeps anybody's. What was let go does not come"
        " back; what somebody else wants too is kept as long as the longest of you keeps it",
    )

    def clean_days(self) -> int | None:
        """At most what this server keeps."""
        days: int | None = self.cleaned_data["days"]
        most = settings.GOLEM_HISTORY_LOG_DAYS
        if days is not None and days > most:
            raise ValidationError(f"This server keeps logs for {most} days at most.")
        return days


class FollowedPages:
    """A page of the golem's admin: whoever sees the golem sees it, and its owner says how long logs are kept."""

    def list_followed_urls(self, wrap: Wrap, name: str) -> list[object]:
        """Its address."""
        return [path("<uuid:golem_id>/followed/", wrap(self.followed_view), name=f"{name}_followed")]

    def followed_view(self, request: HttpRequest, golem_id: UUID) -> HttpResponse:
        """What is followed for this golem, and for how long. Asks no node."""
        # The class it is mixed into is Django's admin, whose attributes nothing here declares.
        admin = as_golem_admin(self)
        golem = admin.find_golem_with(request, golem_id, Power.SEE)
        is_owner = golem.owner_id == request.user.pk
        now = clock.now()
        form = KeptDaysForm(initial={"days": find_log_days(golem.owner)})
        if request.method == "POST":
            if not is_owner:
                raise PermissionDenied("how long logs are kept is said by the golem's owner alone")
            form = KeptDaysForm(request.POST)
            if form.is_valid():
                return _keep(request, golem, form.cleaned_data["days"], now)
        found = look_over([str(golem.pk), *([golem.address] if golem.address else [])])
        context = {
            **admin.admin_site.each_context(request),
            "title": f"What is followed for {golem.name}",
            "opts": admin.opts,
            "golem": golem,
            "back_url": admin.page_of(golem),
            "overview": found,
            "days_form": form if is_owner else None,
            "contracts": [_describe(each, found.most_logs, now) for each in found.contracts],
            "chains": [_describe_chain(each, now) for each in found.chains],
        }
        return TemplateResponse(request, "admin/golem/followed.html", context)


def _keep(request: HttpRequest, golem: Golem, days: int | None, now: datetime) -> HttpResponse:
    with transaction.atomic():
        set_log_days(person=golem.owner, days=days)
        actor = f"owner:{golem.owner_id}"
        audit_log.append(golem_id=golem.pk, event="LogDaysChanged", actor=actor, data={"days": days}, now=now)
    messages.success(request, f"Logs are kept for {days} days." if days else "Logs are kept as long as anybody's.")
    return HttpResponseRedirect(request.path)


def _describe(each: FollowedContract, most_logs: int, now: datetime) -> ContractLine:
    source, gaps = each.source, each.gaps
    return ContractLine(
        kind=source.get_kind_display(),
        chain=format_chain(source.chain_id),
        address=f"{source.address} of {source.manager}" if source.manager else source.address,
        because=each.because,
        since=show_age(source.added_at, now=now),
        known_since=each.known_since,
        logs=f"{group_digits(str(source.logs))} of at most {group_digits(str(most_logs))}",
        missing=tuple(map(_say_gap, gaps[:MOST_GAPS_SHOWN])),
        more=max(0, len(gaps) - MOST_GAPS_SHOWN),
        shared_with=each.shared_with,
    )


def _say_gap(gap: LogGap) -> str:
    since = f"{gap.since_time:%Y-%m-%d %H:%M}" if gap.since_time else "its beginning"
    blocks = f"blocks {group_digits(str(gap.from_block))} to {group_digits(str(gap.to_block))}"
    state = f"filled no more: {gap.closed_because}" if gap.closed_because else "being filled"
    return f"{blocks}, from {since} to {gap.until_time:%Y-%m-%d %H:%M} UTC ({gap.because}); {state}"


def _describe_chain(row: FollowedChain, now: datetime) -> FollowedChainLine:
    lies = f"{row.lies}, the last: {row.last_lie}" if row.lies else ""
    return FollowedChainLine(
        chain=format_chain(row.pk),
        block=group_digits(str(row.next_block - 1)),
        read_until=row.head_time,
        looked=show_age(row.followed_at, now=now),
        problem=row.last_error,
        lie=lies,
        rollbacks=row.rollbacks,
        spent=row.spent,
    )
