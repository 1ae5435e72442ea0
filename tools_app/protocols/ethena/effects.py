"""Reads what calls to sUSDe do from their bytes; written from the contract's interface, not from the tools."""

from __future__ import annotations

from typing import Final

from tools_app.protocols.ethena.addresses import NAME, SUSDE, deployments, find_vault
from tools_app.standards.call_table import CallTable, Reading
from tools_app.standards.erc4626 import DEPOSIT, MINT, REDEEM, TO_ASSETS, WITHDRAW, Vault, VaultFamily
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.effects import ChangeRead, UnknownCall
from tools_app.toolkit.positions import PositionRef

_WAITS: Final = "function cooldowns(address) view returns (uint104,uint152)"
_REQUEST: Final = "cooldown"


class StakedEffects(CallTable):
    """Reads stakes, exits, cooldowns and claims."""

    def read_claim(self, token: str, raw: int, *, chain: ChainReader) -> ChangeRead | None:
        """What sUSDe that is traded takes from the position, or brings to it."""
        vault = find_vault(chain.chain_id)
        if vault is None or token != vault.address:
            return None
        worth = (1 if raw > 0 else -1) * int(chain.call(token, TO_ASSETS, abs(raw))[0])
        ref = PositionRef(NAME, "stake", chain.chain_id, vault.address)
        return ChangeRead(NAME, "stake", vault.asset, worth, ref, is_exact=False)


def _cool(reading: Reading, shares: int) -> None:
    vault = _vault(reading)
    worth = int(reading.ask(vault.address, TO_ASSETS, shares))
    # Rewards drip in until the call, and what a share stands for grows with them.
    reading.change("stake", vault.asset, -worth, vault.address, is_exact=False)
    reading.change("request", vault.asset, worth, _REQUEST, is_exact=False)


def _claim(reading: Reading, receiver: str) -> None:
    reading.check_own(receiver, "what cooled down")
    vault = _vault(reading)
    cooled = int(reading.chain.call(vault.address, _WAITS, reading.account)[1])
    if not cooled:
        raise UnknownCall("nothing cools down")
    reading.receive(vault.asset, cooled)
    reading.change("request", vault.asset, -cooled, _REQUEST)


def _as_any_vault(reading: Reading, *_: object) -> None:
    VaultFamily(NAME, "stake").read_effects(reading.call, _vault(reading), reading.account, reading.chain, reading.into)


def _vault(reading: Reading) -> Vault:
    vault = find_vault(reading.chain.chain_id)
    if vault is None:
        raise UnknownCall(f"Ethena is not known on chain {reading.chain.chain_id}")
    return vault


EFFECTS: Final = StakedEffects(
    NAME,
    deployments,
    {
        (SUSDE, "function cooldownShares(uint256)"): _cool,
        (SUSDE, "function unstake(address)"): _claim,
        **{(SUSDE, each): _as_any_vault for each in (DEPOSIT, MINT, WITHDRAW, REDEEM)},
    },
    approved=(SUSDE,),
)
