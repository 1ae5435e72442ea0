"""`payment_host`: which hosts a golem may pay by x402, up to what, and whom one is paid at when that changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final

from pydantic import Field

from archetypes_app.models import Golem
from permits_app.approval_errors import ChangeStale, ChangeUnchanged
from permits_app.approvals.approval_rules import cool_off, measure_loosening, tier_of_loosening
from permits_app.approvals.operations.base import BeforeAndAfter, Proposal
from permits_app.models import PaymentHost
from permits_app.models.payment_host import HOST, find_host, list_hosts
from tools_app.core.errors import InvalidParams
from tools_app.core.stored_json import read_stored
from tools_app.toolkit.enums import RiskTier
from tools_app.toolkit.golem_chains import list_chains
from tools_app.toolkit.payment_hosts import read_origin
from tools_app.wording.formats import format_chain

MOST_HOSTS: Final = 20
MOST_RAW: Final = 10**39
SET, PAYEE, REMOVE = "set", "payee", "remove"


@dataclass(frozen=True, slots=True)
class _HostAsked:
    """What is done with which host. `payee` is for another payee."""

    act: str
    chain_id: int
    origin: str
    payee: str = ""

    def as_change(self) -> dict[str, object]:
        """What every change of a host keeps, JSON-ready."""
        return {"act": self.act, "chain_id": str(self.chain_id), "origin": self.origin}


@dataclass(frozen=True, slots=True)
class _Caps:
    """Base units of a token that one payment, and all payments in 24 hours, may be."""

    token: str
    most_raw: int
    most_a_day_raw: int


@dataclass(frozen=True, slots=True)
class _CapsAsked(_Caps):
    """The same, and how people read it."""

    shown: str


@dataclass(frozen=True, slots=True)
class _HostChange(_HostAsked):
    """What was asked for, as its request keeps it; `from` is what it starts from."""

    was: Annotated[str | None, Field(alias="from")] = None


class ListHost:
    """`arguments`: `act`, `chain_id` and `origin`. To set: `token`, `most_raw`, `most_a_day_raw`, base units as text,
    and `unit` for people; for another payee: `payee`.
    """

    name = HOST

    def propose(self, golem: Golem, arguments: Mapping[str, object]) -> Proposal:
        """A host more, other caps, another payee or one host less. Raises ChangeUnchanged, InvalidParams."""
        asked = read_stored(_HostAsked, arguments)
        origin, act = asked.origin, asked.act
        known = find_host(golem.pk, chain_id=asked.chain_id, origin=origin)
        words = f"{origin} on {format_chain(asked.chain_id)}"
        if act == SET:
            return _propose_caps(golem, known, asked, words, read_stored(_CapsAsked, arguments))
        if known is None:
            raise ChangeUnchanged("this host is not listed", origin=origin)
        if act == REMOVE:
            line = BeforeAndAfter(words, "may be paid", "may not be paid any more", "tightens")
            return Proposal(
                f"Pay {origin} no more"[:200], asked.as_change(), (line,), RiskTier.STANDARD, is_tightening=True
            )
        payee = asked.payee
        if payee in ("", known.payee, golem.address):
            raise ChangeUnchanged("that is nobody else than before", payee=payee)
        line = BeforeAndAfter(
            words,
            f"is paid at {known.payee or 'nobody yet'}",
            f"is paid at {payee}",
            "loosens; the host itself answered this address when it was asked. Ask whoever runs it why it changed",
        )
        return Proposal(
            f"Pay {origin} at another address"[:200],
            {**asked.as_change(), "payee": payee, "from": known.payee},
            (line,),
            tier_of_loosening(None),
            cooling_seconds=cool_off(None),
        )

    def check_current(self, golem: Golem, change: Mapping[str, object]) -> None:
        """The host still is, or is not, listed as it was."""
        kept = read_stored(_HostChange, change)
        known = find_host(golem.pk, chain_id=kept.chain_id, origin=kept.origin)
        if kept.act == SET:
            if _describe(known) != kept.was:
                raise ChangeStale("the host's caps changed since")
            if known is None and list_hosts(golem.pk).count() >= MOST_HOSTS:
                raise ChangeStale(f"there are {MOST_HOSTS} hosts already; take one off first")
        elif known is None:
            raise ChangeStale("the host is not listed any more")
        elif kept.act == PAYEE and known.payee != kept.was:
            raise ChangeStale("the host's payee changed since")

    def apply(
        self, *, golem: Golem, change: Mapping[str, object], actor: str, reason: str, now: datetime
    ) -> dict[str, object]:
        """Write the row, or end it. Another token is another payee: the host is asked again."""
        kept = read_stored(_HostChange, change)
        chain_id, origin = kept.chain_id, kept.origin
        rows = list_hosts(golem.pk).filter(chain_id=chain_id, origin=origin)
        if kept.act == REMOVE:
            rows.update(removed_at=now)
        elif kept.act == PAYEE:
            rows.update(payee=kept.payee, payee_since=now)
        else:
            caps = read_stored(_Caps, change)
            most, day = caps.most_raw, caps.most_a_day_raw
            if not rows.filter(token=caps.token).update(most_raw=most, most_a_day_raw=day):
                rows.update(removed_at=now)
                PaymentHost.objects.create(
                    golem=golem,
                    chain_id=chain_id,
                    origin=origin,
                    token=caps.token,
                    listed_at=now,
                    most_raw=most,
                    most_a_day_raw=day,
                )
        return {"act": kept.act, "origin": origin}


def _propose_caps(golem: Golem, known: PaymentHost | None, asked: _HostAsked, words: str, caps: _CapsAsked) -> Proposal:
    most, day, token = caps.most_raw, caps.most_a_day_raw, caps.token
    _check_new(golem, known, asked, most, day)
    had = _describe(known)
    full = {
        **asked.as_change(),
        "token": token,
        "most_raw": str(most),
        "most_a_day_raw": str(day),
        "from": had,
    }
    if had == f"{token} {most} {day}":
        raise ChangeUnchanged("the host is listed with these caps already", origin=asked.origin)
    after = f"may be paid {caps.shown}"
    if known is None or known.token != token:
        loosening: int | None = None
        before = "may not be paid" if known is None else f"may be paid in {known.token}"
    else:
        pairs = ((int(known.most_raw), most), (int(known.most_a_day_raw), day))
        measured = [measure_loosening(before=one, after=two, looser_is_higher=True) for one, two in pairs]
        loosening = None if None in measured else max(each for each in measured if each is not None)
        before = f"may be paid {known.most_raw} base units at a time and {known.most_a_day_raw} in 24 hours"
    if loosening is not None and loosening <= 0:
        line = BeforeAndAfter(words, before, after, "tightens")
        return Proposal(f"Pay {asked.origin} less"[:200], full, (line,), RiskTier.STANDARD, is_tightening=True)
    note = "loosens; whom it is paid at is what the host itself answers first, and another one needs approval again"
    return Proposal(
        f"Let it pay {asked.origin}"[:200],
        full,
        (BeforeAndAfter(words, before, after, note),),
        tier_of_loosening(loosening),
        cooling_seconds=cool_off(loosening),
    )


def _check_new(golem: Golem, known: PaymentHost | None, asked: _HostAsked, most: int, day: int) -> None:
    """Raises InvalidParams."""
    if asked.chain_id not in list_chains(golem):
        raise InvalidParams("the golem has no such chain", fields={"chain_id": "unknown"})
    if read_origin(asked.origin) != asked.origin:
        raise InvalidParams(
            "a host is written as https://api.example, without a path", fields={"origin": "no host of the web"}
        )
    if not 0 < most <= day <= MOST_RAW:
        raise InvalidParams(
            "say what one payment may be, and at least as much for 24 hours", fields={"most_a_day_raw": "not in order"}
        )
    if known is None and list_hosts(golem.pk).count() >= MOST_HOSTS:
        raise InvalidParams(
            f"a golem has at most {MOST_HOSTS} hosts; take one off first", fields={"origin": "too many"}
        )


def _describe(host: PaymentHost | None) -> str:
    return f"{host.token} {int(host.most_raw)} {int(host.most_a_day_raw)}" if host is not None else ""
