"""Every address of a request by name, and what makes it suspect; stored and hashed with what owners are shown.

An address is told of when it stands in what is shown, whatever kind of change it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from archetypes_app.models import Golem
from permits_app.models import ActionPermit, ChangeRequest, WithdrawalAddress
from permits_app.models.approval import LIVE_STATES
from permits_app.models.permit import PermitStatus
from permits_app.permits.plan_store import match_dealings
from permits_app.policy_cage.safe_tx import ZERO_ADDRESS
from permits_app.words.address_book import ADDRESS_IN_TEXT, UNKNOWN, read_book
from permits_app.words.look_alikes import find_look_alike
from tools_app.chain.abi import checksum
from tools_app.core.right_to_left_names import isolate
from tools_app.core.stored_json import write_stored
from tools_app.wording.address_names import name_address

MOST_TOLD: Final = 40
_MOST_OPEN: Final = 50
FIRST_USE: Final = "no golem of yours has dealt with it before"
_FIRST_USE_MARK: Final = "First use:"
MOST_FIRST_USED: Final = 3
"""Addresses used for the first time of which each has a notice of its own; more are told together."""


@dataclass(frozen=True, slots=True)
class _AddressLine:
    """One address that a request shows: its name, and what makes it suspect."""

    address: str
    name: str
    warnings: tuple[str, ...]


def describe_addresses(shown: Mapping[str, object], *, golem: Golem, chain_id: int) -> list[dict[str, object]]:
    """`address`, `name` and `warnings` of each address in `shown`: all that are warned of, then at most MOST_TOLD."""
    book, own, asked_about = read_book(golem.owner_id), golem.address.lower(), _list_asked_about(golem.owner_id)
    registered = _list_registered(golem, chain_id)
    lines: list[_AddressLine] = []
    asked = 0
    for address in dict.fromkeys(_list_addresses(shown)):
        if address == ZERO_ADDRESS:
            continue
        name = "the golem itself" if address.lower() == own else book.find(chain_id, address)
        name = name or registered.get(address.lower(), UNKNOWN)
        warnings = []
        twin = book.find_twin(chain_id, address)
        if twin is not None:
            warnings.append(f"It LOOKS LIKE {twin[1]} {checksum(twin[0])} and is another address")
        elif (alike := find_look_alike(address, asked_about)) is not None:
            warnings.append(f"It LOOKS LIKE {checksum(alike[0])} of {alike[1]} and is another address")
        is_familiar = address.lower() in book.own or bool(name_address(chain_id, address))
        if not is_familiar:
            asked += 1
            if asked > MOST_TOLD:
                warnings.append("Among too many addresses to look up whether it was used before")
            elif not _is_used(golem, chain_id, address):
                warnings.append(f"{_FIRST_USE_MARK} {FIRST_USE}")
        lines.append(_AddressLine(address, name, tuple(warnings)))
    warned = [line for line in lines if line.warnings]
    plain = sorted((line for line in lines if not line.warnings), key=lambda line: line.name != UNKNOWN)
    return [write_stored(line) for line in (*warned, *plain[:MOST_TOLD])]


def sum_up_warnings(shown: Mapping[str, Any]) -> str:  # Any: what owners are shown, as JSON
    """The warnings of a request in a few words for a line of an alert; empty where there are none."""
    lines = _list_warned(shown)
    twins = sum(any("LOOKS LIKE" in warning for warning in warnings) for _, warnings in lines)
    if twins:
        return f"WARNING: {twins} address{'es' if twins > 1 else ''} made to look like a known one"
    return f"with {len(lines)} address{'es' if len(lines) > 1 else ''} never used before" if lines else ""


def split_warnings(
    shown: Mapping[str, Any],  # Any: what owners are shown, as JSON
) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    """The warned lines of a request: those that are read one by one, and those used for the first time of which there
    are more than MOST_FIRST_USED, which are told together.
    """
    lines = _list_warned(shown)
    first = [line for line, warnings in lines if all(each.startswith(_FIRST_USE_MARK) for each in warnings)]
    if len(first) <= MOST_FIRST_USED:
        return [line for line, _ in lines], []
    return [line for line, _ in lines if line not in first], first


def _list_warned(
    shown: Mapping[str, Any],  # Any: what owners are shown, as JSON
) -> list[tuple[dict[str, object], list[str]]]:
    return [(line, line["warnings"]) for line in shown.get("addresses", []) if line["warnings"]]


def _list_asked_about(owner_id: int) -> list[tuple[str, str]]:
    """Addresses that requests of this owner's golems name and that nobody may know yet: they are not carried out."""
    live = ChangeRequest.objects.filter(golem__owner_id=owner_id, state__in=LIVE_STATES).order_by("-created_at")
    shown = live.values_list("shown", flat=True)[:_MOST_OPEN]
    return [(line["address"], "a request that waits") for each in shown for line in each.get("addresses", [])]


def _list_registered(golem: Golem, chain_id: int) -> dict[str, str]:
    """What owners agreed to call the addresses that money may be withdrawn to, by address in lower case."""
    rows = WithdrawalAddress.objects.filter(golem=golem, chain_id=chain_id, removed_at__isnull=True)
    return {address.lower(): isolate(label) for address, label in rows.values_list("address", "label") if label}


def _list_addresses(value: object) -> Iterator[str]:
    """In the order of the statement; raw bytes of calls hold no address by themselves."""
    if isinstance(value, Mapping):
        for each in value.values():
            yield from _list_addresses(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _list_addresses(each)
    elif isinstance(value, str):
        yield from map(checksum, ADDRESS_IN_TEXT.findall(value))


def _is_used(golem: Golem, chain_id: int, address: str) -> bool:
    """Whether a committed permit of this owner's golems called, approved or paid it."""
    done = ActionPermit.objects.filter(golem__owner_id=golem.owner_id, chain_id=chain_id, status=PermitStatus.COMMITTED)
    return done.filter(match_dealings(address)).exists()
