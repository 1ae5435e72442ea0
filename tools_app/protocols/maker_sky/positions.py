"""Reads what an account has at Maker: one position for each vault, by its number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tools_app.chain.abi_records import AbiEvent
from tools_app.chain.deployments import load_deployment
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.core.stored_json import read_stored
from tools_app.protocols.maker_sky import math
from tools_app.protocols.maker_sky.addresses import NAME, collateral_types, contracts_at, deployments
from tools_app.protocols.maker_sky.reads import ask_live, ask_vaults
from tools_app.standards.rays import RAY
from tools_app.toolkit.positions import (
    Act,
    ExitStep,
    Leg,
    Locked,
    NeedsTrade,
    Position,
    PositionRef,
    PositionsUnreadable,
    Reads,
    Stuck,
)
from tools_app.toolkit.views import LogEntry

KIND: Final = "vault"
NEW_CDP: Final = "event NewCdp(address indexed usr, address indexed own, uint256 indexed cdp)"


@dataclass(frozen=True, slots=True)
class NewVault:
    """The number of a vault that was opened for `own`."""

    own: str
    cdp: int


OPENED: Final = AbiEvent(NEW_CDP, NewVault)
LEAST_INSIDE: Final = math.WAD // 10
"""Wads of DAI left inside a vault by rounding and unused fees; less than this is told as nothing."""
SETTLING_SECONDS: Final = 900
"""Fees until the transaction runs are allowed for this long."""


def ref_of(chain_id: int, vault_id: int) -> PositionRef:
    """The name of a vault's position."""
    return PositionRef(NAME, KIND, chain_id, str(vault_id))


def tokens_on(chain_id: int) -> tuple[str, str]:
    """The collateral (the wrapped coin) and DAI. Raises PositionsUnreadable where they are not registered."""
    known = load_deployment(KNOWN_NETWORKS[chain_id])
    dai = next((token.address for token in known.tokens if token.symbol == "DAI"), None)
    if dai is None or known.wrapped_native is None:
        raise PositionsUnreadable("DAI or the wrapped coin is not registered on this chain")
    return known.wrapped_native, dai


class MakerPositions:
    """Reads collateral and debt with the fee up to the block."""

    def list(self, chain_id: int, account: str, hints: Sequence[PositionRef]) -> Reads[tuple[Position, ...]]:
        """Every vault with something in it; of a kind that is not served here, only that it is there: anybody can open
        one for anybody. Raises PositionsUnreadable, also where such a vault owes something.
        """
        if deployments(chain_id) is None:
            return ()
        vaults = yield from ask_vaults(chain_id, account)
        kept = [each for each in vaults if each.ink or each.art or each.inside // RAY >= LEAST_INSIDE]
        served = collateral_types(chain_id)
        is_live = (yield from ask_live(chain_id)) if kept else True
        return tuple(
            _make(chain_id, each, is_live=is_live) if each.kind.name in served else _make_unread(chain_id, each)
            for each in kept
        )

    def born(self, logs: Sequence[LogEntry], account: str, chain_id: int) -> tuple[PositionRef, ...]:
        """The vaults that logs say were opened for `account`."""
        if deployments(chain_id) is None:
            return ()
        manager = contracts_at(chain_id).cdp_manager
        opened = OPENED.list(log for log in logs if log.address == manager)
        return tuple(dict.fromkeys(ref_of(chain_id, each.cdp) for each in opened if each.own == account))


def _make_unread(chain_id: int, vault: math.VaultState) -> Position:
    """A vault whose collateral nobody here can name. Its kind is whatever its opener wrote, and is not repeated."""
    if vault.art:
        raise PositionsUnreadable(f"vault {vault.id} owes something and is of a kind that cannot be read here")
    label = f"Maker vault {vault.id} of a kind that is not served"
    return Position(ref_of(chain_id, vault.id), label, (), is_whole=False)


def _make(chain_id: int, vault: math.VaultState, *, is_live: bool) -> Position:
    (collateral, dai), place = tokens_on(chain_id), contracts_at(chain_id)
    inside = vault.inside // RAY
    legs = (
        Leg(collateral, vault.ink, cover_bps=math.BPS * RAY // vault.kind.ratio),
        Leg(dai, inside if inside >= LEAST_INSIDE else 0),
        Leg(dai, -vault.owed),
    )
    return Position(
        ref=ref_of(chain_id, vault.id),
        label=f"Maker vault {vault.id} ({vault.kind.name})",
        legs=tuple(leg for leg in legs if leg.raw),
        health_bps=vault.kind.health_bps(vault.ink, vault.art),
        facts={
            "vault_id": str(vault.id),
            "market": str(vault.id),
            "collateral_type": vault.kind.name,
            "collateral": str(vault.ink),
            "owed": str(vault.owed),
            "to_clear": str(vault.owed + vault.kind.growth(vault.owed, SETTLING_SECONDS) + 1),
            "inside": str(inside),
            "least_debt": str(vault.kind.least_debt),
            "debt_token": dai,
        },
        relies_on=frozenset({place.vat, place.jug, place.spot}),
        oracles=frozenset({place.spot}),
        locked=() if is_live or not vault.ink else (Locked(collateral, vault.ink, "closed"),),
    )


LEAST_PART: Final = 10**18
"""Less DAI than this is not worth a transaction."""


@dataclass(frozen=True, slots=True)
class _VaultFacts:
    collateral: int
    owed: int
    to_clear: int
    least_debt: int
    debt_token: str


class MakerExits:
    """Out of a vault: pay all of its debt and take all of its collateral, in one plan; or pay what is there."""

    def next_step(self, position: Position, held: Mapping[str, int], now: int) -> ExitStep | None:
        """Close it; where DAI is missing, pay what there is as long as a vault may owe the rest, then say how much."""
        if not position.facts:
            return Stuck("it is of a kind that is not served here")
        facts = read_stored(_VaultFacts, position.facts)
        if not (facts.collateral or facts.owed):
            return None
        there = held.get(facts.debt_token, 0)
        missing = (facts.to_clear if facts.owed else 0) - there
        room = facts.owed - facts.least_debt - facts.to_clear + facts.owed
        part = min(there, room)
        if missing > 0 and part >= LEAST_PART:
            params = {"vault_id": position.ref.id, "dai_amount": str(part), "chain_id": position.ref.chain_id}
            return Act("maker_repay_dai", params, "a part of the debt is paid with what is there")
        if missing > 0:
            return NeedsTrade(facts.debt_token, missing, "the vault's debt is to be paid")
        params = {"vault_id": position.ref.id, "chain_id": position.ref.chain_id}
        return Act("maker_close_vault", params, "the debt is paid and the collateral taken back")
