"""Reads what an account has at Ethena: shares of sUSDe, and what cools down; and the way out, which takes a
cooldown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tools_app.core.stored_json import IntText, read_stored, write_stored
from tools_app.protocols.ethena.addresses import NAME, find_vault
from tools_app.protocols.ethena.reads import Staked, ask_staked
from tools_app.standards.erc4626 import PAID_OUT, Vault, VaultFamily
from tools_app.toolkit.positions import (
    REQUEST_KIND,
    Act,
    ExitStep,
    Leg,
    Locked,
    Position,
    PositionRef,
    Reads,
    ShareIndex,
    Stuck,
    Wait,
)
from tools_app.toolkit.views import LogEntry

KIND: Final = "stake"
COOLDOWN: Final = "cooldown"
DUST_WEI: Final = 10**15
"""What is worth less stays: whoever sends so little keeps nobody from being out."""
FAMILY: Final = VaultFamily(NAME, KIND)
_ALL: Final = "max"


def cooldown_ref(chain_id: int) -> PositionRef:
    """Names what cools down; an account has one cooldown."""
    return PositionRef(NAME, REQUEST_KIND, chain_id, COOLDOWN)


class StakedPositions:
    """Shares at what they stand for, and what cools down; one batch for who has nothing, two for who has."""

    def list(self, chain_id: int, account: str, hints: Sequence[PositionRef]) -> Reads[tuple[Position, ...]]:
        """Every position. Raises PositionsUnreadable."""
        vault = find_vault(chain_id)
        if vault is None:
            return ()
        staked = yield from ask_staked(vault, account)
        found = []
        if staked.shares:
            found.append(_stake(chain_id, vault, staked))
        if staked.cooling:
            found.append(_cooldown(chain_id, vault, staked))
        return tuple(found)

    def born(self, logs: Sequence[LogEntry], account: str, chain_id: int) -> tuple[PositionRef, ...]:
        """The cooldown, where shares of the account went to whoever keeps them meanwhile, so that it is followed to its
        end. To find it nothing has to be remembered: sUSDe tells both.
        """
        vault = find_vault(chain_id)
        told = PAID_OUT.list(log for log in logs if vault is not None and log.address == vault.address)
        left = any(each.owner == account != each.receiver for each in told)
        return (cooldown_ref(chain_id),) if left else ()


@dataclass(frozen=True, slots=True)
class _Facts:
    shares: IntText
    worth: IntText
    cooling: IntText
    cooldown_end: IntText
    cooldown_seconds: IntText
    is_restricted: bool


class StakedExits:
    """Let shares cool down, wait, claim. A cooldown that runs is waited for first: shares that came meanwhile, from
    strangers too, must not start it anew.
    """

    def next_step(self, position: Position, held: Mapping[str, int], now: int) -> ExitStep | None:
        """One step; dust stays."""
        facts, chain_id = read_stored(_Facts, position.facts), position.ref.chain_id
        if facts.is_restricted:
            return Stuck("Ethena has restricted this account: only its issuer can let it out")
        if position.ref.kind == REQUEST_KIND:
            end = facts.cooldown_end
            if end > now:
                return Wait(end, "it cools down")
            return Act("ethena_claim_unstaked", {"chain_id": chain_id}, "the cooldown is over")
        if facts.worth < DUST_WEI:
            return None
        if facts.cooling:
            return Wait(max(now + 1, facts.cooldown_end), "an earlier exit cools down and is claimed first")
        asked = {"amount": _ALL, "chain_id": chain_id}
        return Act("ethena_unstake_usde", asked, "the shares cool down, or are given back where there is no cooldown")


def _facts(staked: Staked) -> dict[str, object]:
    facts = _Facts(
        shares=staked.shares,
        worth=staked.worth,
        cooling=staked.cooling,
        cooldown_end=staked.cooldown_end,
        cooldown_seconds=staked.duration,
        is_restricted=staked.is_restricted,
    )
    return write_stored(facts)


def _stake(chain_id: int, vault: Vault, staked: Staked) -> Position:
    return Position(
        ref=FAMILY.ref(chain_id, vault.address),
        label=vault.label,
        legs=(Leg(vault.asset, staked.worth),) if staked.worth else (),
        claim_tokens=frozenset({vault.address}),
        facts=_facts(staked),
        share_index=ShareIndex(vault.address, staked.index, staked.shares),
        locked=_locked(vault, staked, staked.worth),
        leaving_seconds=staked.duration,
    )


def _cooldown(chain_id: int, vault: Vault, staked: Staked) -> Position:
    # Where the cooldown was abolished everything can be claimed at once.
    free_at = staked.cooldown_end if staked.duration else None
    return Position(
        ref=cooldown_ref(chain_id),
        label="USDe that cools down (Ethena)",
        legs=(Leg(vault.asset, staked.cooling, free_at=free_at),),
        facts={**_facts(staked), "cooldown_end": str(free_at or 0)},
        locked=_locked(vault, staked, staked.cooling),
    )


def _locked(vault: Vault, staked: Staked, raw: int) -> tuple[Locked, ...]:
    return (Locked(vault.asset, raw, "frozen"),) if staked.is_restricted and raw else ()
