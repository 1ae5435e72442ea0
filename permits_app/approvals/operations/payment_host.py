"""`payment_host`: which hosts a golem may pay by x402, up to what, and whom one is paid at when that changes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from archetypes_app.models import Golem
from permits_app.approval_errors import ChangeStale, ChangeUnchanged
from permits_app.approvals.approval_rules import cool_off, measure_loosening, tier_of_loosening
from permits_app.approvals.operations.base import BeforeAndAfter, Proposal
from permits_app.models import PaymentHost
from permits_app.models.payment_host import HOST, find_host, list_hosts
from tools_app.core.errors import InvalidParams
from tools_app.toolkit.enums import RiskTier
from tools_app.toolkit.golem_chains import list_chains
from tools_app.toolkit.payment_hosts import read_origin
from tools_app.wording.formats import format_chain

MOST_HOSTS: Final = 20
MOST_RAW: Final = 10**39
SET, PAYEE, REMOVE = "set", "payee", "remove"


class ListHost:
    """`arguments`: `act`, `chain_id` and `origin`. To set: `token`, `most_raw`, `most_a_day_raw`, base units as text,
    and `unit` for people; for another payee: `payee`.
    """

    name = HOST

    def propose(self, golem: Golem, arguments: Mapping[str, Any]) -> Proposal:
        """A host more, other caps, another payee or one host less. Raises ChangeUnchanged, InvalidParams."""
        chain_id, origin, act = int(arguments["chain_id"]), str(arguments["origin"]), str(arguments["act"])
        known = find_host(golem.pk, chain_id=chain_id, origin=origin)
        change = {"act": act, "chain_id": str(chain_id), "origin": origin}
        words = f"{origin} on {format_chain(chain_id)}"
        if act == SET:
            return _propose_caps(golem, known, change, words, arguments)
        if known is None:
            raise ChangeUnchanged("this host is not listed", origin=origin)
        if act == REMOVE:
            line = BeforeAndAfter(words, "may be paid", "may not be paid any more", "tightens")
            return Proposal(f"Pay {origin} no more"[:200], change, (line,), RiskTier.STANDARD, is_tightening=True)
        payee = str(arguments["payee"])
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
            {**change, "payee": payee, "from": known.payee},
            (line,),
            tier_of_loosening(None),
            cooling_seconds=cool_off(None),
        )

    def check_current(self, golem: Golem, change: Mapping[str, Any]) -> None:
        """The host still is, or is not, listed as it was."""
        known = find_host(golem.pk, chain_id=int(change["chain_id"]), origin=change["origin"])
        if change["act"] == SET:
            if _describe(known) != change["from"]:
                raise ChangeStale("the host's caps changed since")
            if known is None and list_hosts(golem.pk).count() >= MOST_HOSTS:
                raise ChangeStale(f"there are {MOST_HOSTS} hosts already; take one off first")
        elif known is None:
            raise ChangeStale("the host is not listed any more")
        elif change["act"] == PAYEE and known.payee != change["from"]:
            raise ChangeStale("the host's payee changed since")

    def apply(
        self, *, golem: Golem, change: Mapping[str, Any], actor: str, reason: str, now: datetime
    ) -> dict[str, Any]:
        """Write the row, or end it. Another token is another payee: the host is asked again."""
        chain_id, origin = int(change["chain_id"]), change["origin"]
        rows = list_hosts(golem.pk).filter(chain_id=chain_id, origin=origin)
        if change["act"] == REMOVE:
            rows.update(removed_at=now)
        elif change["act"] == PAYEE:
            rows.update(payee=change["payee"], payee_since=now)
        else:
            caps = {"most_raw": int(change["most_raw"]), "most_a_day_raw": int(change["most_a_day_raw"])}
            if not rows.filter(token=change["token"]).update(**caps):
                rows.update(removed_at=now)
                PaymentHost.objects.create(
                    golem=golem, chain_id=chain_id, origin=origin, token=change["token"], listed_at=now, **caps
                )
        return {"act": change["act"], "origin": origin}


def _propose_caps(
    golem: Golem, known: PaymentHost | None, change: dict[str, Any], words: str, arguments: Mapping[str, Any]
) -> Proposal:
    most, day, token = int(arguments["most_raw"]), int(arguments["most_a_day_raw"]), str(arguments["token"])
    _check_new(golem, known, change, most, day)
    full = {**change, "token": token, "most_raw": str(most), "most_a_day_raw": str(day), "from": _describe(known)}
    if full["from"] == f"{token} {most} {day}":
        raise ChangeUnchanged("the host is listed with these caps already", origin=change["origin"])
    after = f"may be paid {arguments['shown']}"
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
        return Proposal(f"Pay {change['origin']} less"[:200], full, (line,), RiskTier.STANDARD, is_tightening=True)
    note = "loosens; whom it is paid at is what the host itself answers first, and another one needs approval again"
    return Proposal(
        f"Let it pay {change['origin']}"[:200],
        full,
        (BeforeAndAfter(words, before, after, note),),
        tier_of_loosening(loosening),
        cooling_seconds=cool_off(loosening),
    )


def _check_new(golem: Golem, known: PaymentHost | None, change: Mapping[str, Any], most: int, day: int) -> None:
    """Raises InvalidParams."""
    if int(change["chain_id"]) not in list_chains(golem):
        raise InvalidParams("the golem has no such chain", fields={"chain_id": "unknown"})
    if read_origin(change["origin"]) != change["origin"]:
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
