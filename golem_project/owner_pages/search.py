"""Searches everything that a person may see: golems, permits, requests, addresses, hashes; pages, settings and help."""

from __future__ import annotations

import re
from typing import Any, Final
from uuid import UUID

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from archetypes_app.demo_golems import APART, link_to, read_set_apart, shorten_names
from archetypes_app.models import Golem
from archetypes_app.ownership import list_seen_golems
from golem_project.owner_pages.find_pages import find_beside
from golem_project.owner_pages.search_hit import SearchHit
from permits_app.models import ActionPermit, AllowlistEntry, ChangeRequest, KnownAddress, OutboundTransaction
from permits_app.pages.golem_figures import describe_action
from permits_app.permits.plan_store import match_dealings
from permits_app.words.address_book import read_book
from tools_app.chain.abi import checksum
from tools_app.wording.formats import format_chain, shorten_hex

LONGEST: Final = 100
MOST: Final = 10
_ADDRESS: Final = re.compile(r"0x[0-9a-fA-F]{40}")
_HASH: Final = re.compile(r"0x[0-9a-fA-F]{64}")


@require_safe
def show_found(request: HttpRequest) -> HttpResponse:
    """What `q` finds."""
    words = " ".join(str(request.GET.get("q", "")).split())[:LONGEST]
    is_with_apart = APART in request.GET
    seen = list_seen_golems(request.user)
    apart = read_set_apart(seen)
    # What is asked for by its whole id or hash is meant.
    is_meant = bool(_HASH.fullmatch(words)) or is_id(words)
    golems = seen if is_with_apart or is_meant or not apart else seen.exclude(pk__in=apart)
    # An id, a hash or an address is no word of a page.
    beside = () if is_meant or not words or _ADDRESS.fullmatch(words) else find_beside(request, golems, words)
    context = {
        **admin.site.each_context(request),
        "title": "Find",
        "words": words,
        "found": (*find(request.user, words, golems), *beside) if words else (),
        "apart": {} if is_meant else {"apart": shorten_names(apart.values()), "is_with_apart": is_with_apart},
        "apart_url": link_to(request.GET, is_with_apart=not is_with_apart),
    }
    return TemplateResponse(request, "golem_project/find.html", context)


def is_id(words: str) -> bool:
    """Whether it is a whole id."""
    try:
        UUID(words)
    except ValueError:
        return False
    return True


def find(person: object, words: str, golems: QuerySet[Golem]) -> tuple[SearchHit, ...]:
    """What there is of it with `golems`, all of which `person` may see, at most MOST of each kind."""
    mine = golems.values("pk")
    if _HASH.fullmatch(words):
        return _find_hash(mine, words.lower())
    if _ADDRESS.fullmatch(words):
        return _find_address(person, golems, checksum(words))
    return _find_id(golems, UUID(words)) if is_id(words) else _find_words(person, golems, words)


def _find_hash(mine: QuerySet[Any], digest: str) -> tuple[SearchHit, ...]:  # Any: rows of any model
    of_permit = Q(plan_hash=digest) | Q(simulation_hash=digest) | Q(action_hash=digest)
    sent = OutboundTransaction.objects.filter(tx_hash=digest).values("permit_id")
    permits = ActionPermit.objects.filter(golem__in=mine).filter(of_permit | Q(pk__in=sent))
    requests = ChangeRequest.objects.filter(golem__in=mine).filter(Q(digest=digest) | Q(plan_hash=digest))
    return (*_tell_permits(permits), *_tell_requests(requests))


def _find_id(golems: QuerySet[Golem], key: UUID) -> tuple[SearchHit, ...]:
    mine = golems.values("pk")
    permits = ActionPermit.objects.filter(golem__in=mine, pk=key)
    requests = ChangeRequest.objects.filter(golem__in=mine, pk=key)
    return (*_tell_golems(golems.filter(pk=key)), *_tell_permits(permits), *_tell_requests(requests))


def _find_address(
    person: Any,  # Any: which model accounts have is a setting
    golems: QuerySet[Golem],
    address: str,
) -> tuple[SearchHit, ...]:
    mine = golems.values("pk")
    found = [*_tell_golems(golems.filter(address__iexact=address))]
    own = KnownAddress.objects.filter(owner_id=person.pk, address=address).first()
    page = reverse("admin:permits_app_knownaddress_change", args=[own.pk]) if own is not None else ""
    chains = sorted({golem.home_chain_id for golem in golems})
    book = read_book(person.pk)
    found += [
        SearchHit("address", book.say(chain, address), f"{address} on {format_chain(chain)}", page) for chain in chains
    ]
    entries = AllowlistEntry.objects.filter(golem__in=mine, address=address).select_related("golem")[:MOST]
    found += [
        SearchHit(
            "allowlist",
            f"{entry.get_kind_display()} of {entry.golem.name}",
            format_chain(entry.chain_id),
            reverse("admin:permits_app_allowlistentry_change", args=[entry.pk]),
        )
        for entry in entries
    ]
    dealt = ActionPermit.objects.filter(match_dealings(address), golem__in=mine)
    return (*found, *_tell_permits(dealt))


def _find_words(
    person: Any,  # Any: which model accounts have is a setting
    golems: QuerySet[Golem],
    words: str,
) -> tuple[SearchHit, ...]:
    mine = golems.values("pk")
    named = KnownAddress.objects.filter(owner_id=person.pk, name__icontains=words).order_by("name")[:MOST]
    told = [
        SearchHit("address", row.name, row.address, reverse("admin:permits_app_knownaddress_change", args=[row.pk]))
        for row in named
    ]
    action = words.lower().replace(" ", "_")
    permits = ActionPermit.objects.filter(golem__in=mine).filter(Q(action_type=action) | Q(venue__iexact=words))
    requests = ChangeRequest.objects.filter(golem__in=mine, title__icontains=words)
    return (
        *_tell_golems(golems.filter(name__icontains=words)),
        *told,
        *_tell_permits(permits),
        *_tell_requests(requests),
    )


def _tell_golems(rows: QuerySet[Golem]) -> list[SearchHit]:
    return [
        SearchHit(
            "golem",
            golem.name,
            shorten_hex(golem.address) if golem.address else "only reads",
            reverse("admin:archetypes_app_golem_change", args=[golem.pk]),
        )
        for golem in rows.order_by("name")[:MOST]
    ]


def _tell_permits(rows: QuerySet[ActionPermit]) -> list[SearchHit]:
    return [
        SearchHit(
            "permit",
            describe_action(permit),
            f"{permit.golem.name}, {permit.get_status_display().lower()}, {permit.created_at:%Y-%m-%d %H:%M} UTC",
            reverse("admin:permits_app_actionpermit_change", args=[permit.pk]),
        )
        for permit in rows.select_related("golem").order_by("-created_at")[:MOST]
    ]


def _tell_requests(rows: QuerySet[ChangeRequest]) -> list[SearchHit]:
    return [
        SearchHit(
            "request",
            row.title,
            f"{row.golem.name}, {row.get_state_display().lower()}",
            reverse("admin:permits_app_changerequest_change", args=[row.pk]),
        )
        for row in rows.select_related("golem").order_by("-created_at")[:MOST]
    ]
