"""Lists the Safes that are watched for openings, and whether one keeps a golem from acting alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from archetypes_app.models import Golem
from permits_app.approval_errors import SafeStandsOpen
from permits_app.custody.safe_view import open_chain
from permits_app.models import CageMirror, SafeOpening, Wallet
from permits_app.models.wallet import WalletKind
from permits_app.policy_cage.safe_fallback import Openings, read_opening, say_opening

SAFE_KINDS: Final = (WalletKind.GNOSIS_SAFE, WalletKind.POLICY_CAGE)


@dataclass(frozen=True, slots=True)
class WatchedSafe:
    """An account that is a Safe as far as is known, for one golem, with the cages that stand over it."""

    golem_id: UUID
    chain_id: int
    account: str
    cages: tuple[str, ...] = ()


def list_watched(*, golem: Golem | None = None) -> list[WatchedSafe]:
    """The Safes that golems act with, or whose cage they follow; those of `golem` alone where one is named."""
    wallets, mirrors = Wallet.objects.filter(kind__in=SAFE_KINDS), CageMirror.objects.all()
    if golem is not None:
        wallets, mirrors = wallets.filter(golem=golem), mirrors.filter(cage__golem=golem)
    accounts: dict[tuple[UUID, int, str], tuple[str, ...]] = dict.fromkeys(
        wallets.values_list("golem_id", "golem__home_chain_id", "address"), ()
    )
    for golem_id, chain_id, account, *cages in mirrors.values_list(
        "cage__golem_id", "chain_id", "account", "contract", "replaced"
    ):
        accounts[(golem_id, chain_id, account)] = tuple(each for each in cages if each)
    return [WatchedSafe(*names, cages) for names, cages in sorted(accounts.items(), key=lambda item: str(item[0]))]


def check_not_known_open(golem: Golem) -> None:
    """Raises SafeStandsOpen where a Safe of the golem was found open. Reads rows alone."""
    row = SafeOpening.objects.filter(golem=golem).order_by("-is_open", "pk").first()
    if row is not None:
        raise refuse(row.account, Openings(row.handler, tuple(row.modules), row.is_open))


def check_closed_now(golem: Golem, *, now: datetime) -> None:
    """Raises SafeStandsOpen where a Safe of the golem stands open at this moment, and what a node raises.

    No transaction may be open.
    """
    for safe in list_watched(golem=golem):
        check_account(safe.chain_id, safe.account, {safe.account: safe.cages}, now=now)


def check_account(chain_id: int, account: str, cages: Mapping[str, tuple[str, ...]], *, now: datetime) -> None:
    """Raises SafeStandsOpen where `account` stands open, and what a node raises."""
    openings = read_opening(open_chain(chain_id, now=now), account, cages.get(account, ()))
    if openings:
        raise refuse(account, openings)


def refuse(account: str, openings: Openings) -> SafeStandsOpen:
    """The refusal, with what its owners do next."""
    return SafeStandsOpen(
        f"{say_opening(account, openings)} Its owners sign the request that takes it out first; it lies among the"
        " approvals",
        account=account,
        handler=openings.handler,
        modules=list(openings.modules),
        is_open=openings.is_open,
    )
