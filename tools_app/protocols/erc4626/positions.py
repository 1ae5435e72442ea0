"""Reads what an account has in known ERC-4626 vaults, and what a call to one of them does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from tools_app.core.stored_json import read_stored
from tools_app.protocols.erc4626.addresses import NAME, find_savings, known_vaults
from tools_app.protocols.erc4626.savings import SSR, pays_nothing
from tools_app.standards.erc4626 import Vault, VaultFamily
from tools_app.standards.erc7540 import OUT, VaultsWithRequests
from tools_app.standards.erc7540_plans import RequestPlans
from tools_app.toolkit.context import ReadCall
from tools_app.toolkit.positions import (
    REQUEST_KIND,
    Act,
    ExitStep,
    Locked,
    Position,
    PositionRef,
    Reads,
    Stuck,
    Wait,
    side_by_side,
)
from tools_app.toolkit.views import LogEntry

FAMILY: Final = VaultFamily(NAME)
REQUESTS: Final = RequestPlans(FAMILY)
_VAULTS: Final = VaultsWithRequests(FAMILY, known_vaults)


class VaultPositions:
    """Shares and requests of the known vaults; savings that pay nothing any more say so."""

    def list(self, chain_id: int, account: str, hints: Sequence[PositionRef]) -> Reads[tuple[Position, ...]]:
        """Raises PositionsUnreadable. The rate is asked beside the balances, so it costs no batch of its own."""
        savings = find_savings(chain_id)
        if savings is None:
            return (yield from _VAULTS.list(chain_id, account, hints))
        held, rate = yield from side_by_side([_listed(_VAULTS.list(chain_id, account, hints)), _ask_rate(savings)])
        ref = FAMILY.ref(chain_id, savings.address)
        return tuple(_stopped(each) if rate.is_nothing and each.ref == ref else each for each in held.positions)

    def born(self, logs: Sequence[LogEntry], account: str, chain_id: int) -> tuple[PositionRef, ...]:
        """The vaults whose shares came to `account`, and the requests that are its."""
        return _VAULTS.born(logs, account, chain_id)


POSITIONS: Final = VaultPositions()


@dataclass(frozen=True, slots=True)
class _Facts:
    shares: int
    redeemable_shares: int
    by_request: str = ""
    is_paused: bool = False
    is_barred: bool = False


@dataclass(frozen=True, slots=True)
class _RequestFacts:
    vault: str
    way: str
    claimable: int
    is_paused: bool


class VaultExits:
    """Out of a vault: give the shares back, as many as it takes; where it is asked, ask, wait and claim."""

    def next_step(self, position: Position, held: Mapping[str, int], now: int) -> ExitStep | None:
        """Redeem or ask for all, or what the vault takes back now; take a deposit back that is not settled."""
        if position.is_settled:
            return None
        if position.ref.kind == REQUEST_KIND:
            return _end_request(position)
        facts = read_stored(_Facts, position.facts)
        shares, redeemable = facts.shares, facts.redeemable_shares
        if not shares:
            return None
        if facts.is_paused:
            return Wait(None, "the vault is paused: it takes no request")
        if facts.is_barred and not redeemable:
            return Stuck("the vault took the account off its list: only those who run it can let its shares out")
        is_asked = bool(facts.by_request) and redeemable < shares
        if not redeemable and not is_asked:
            return Wait(None, "the vault takes no shares back now")
        wanted = "max" if redeemable >= shares or is_asked else str(redeemable)
        params = {"vault": position.ref.id, "shares": wanted, "chain_id": position.ref.chain_id}
        if is_asked:
            return Act("vault_withdraw", params, "the vault is asked for what the shares stand for")
        return Act("vault_withdraw", params, "the shares are given back for what they stand for")


def _end_request(position: Position) -> ExitStep | None:
    facts = read_stored(_RequestFacts, position.facts)
    if facts.is_paused:
        return Wait(None, "the vault is paused: nothing of it is claimed or taken back")
    params = {"vault": facts.vault, "chain_id": position.ref.chain_id}
    if facts.claimable:
        return Act("vault_claim_request", {**params, "request": facts.way}, "the vault has settled it")
    if facts.way == OUT:
        return Wait(None, "the vault has not settled it yet, and nobody but those who run it can")
    return Act("vault_cancel_request", params, "it is not settled, and is taken back", is_early=True)


@dataclass(frozen=True, slots=True)
class _Told:
    positions: tuple[Position, ...] = ()
    is_nothing: bool = False


def _listed(reads: Reads[tuple[Position, ...]]) -> Reads[_Told]:
    return _Told(positions=(yield from reads))


def _ask_rate(savings: Vault) -> Reads[_Told]:
    (told,) = yield [ReadCall(savings.address, SSR)]
    return _Told(is_nothing=told.ok and pays_nothing(int(told.values[0])))


def _stopped(position: Position) -> Position:
    """All of it can be taken out."""
    return replace(position, locked=(*position.locked, Locked(str(position.facts["asset"]), 0, "unpaid")))
