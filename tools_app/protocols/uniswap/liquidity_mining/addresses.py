"""Where V3 positions are staked for rewards, and whose list of claims is known, chain by chain, as data.

The stakers of version 1.0.2 are those that the repository Uniswap/v3-staker names in its README (Ethereum, Optimism,
Arbitrum, Base), Uniswap/v3-periphery in `deploys.md` (Polygon) and Uniswap's documentation (Unichain). The list of
claims is Uniswap's own for UNI. The local ones follow from the account that deploys them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

_STAKER: Final = "0xe34139463bA50bD61336E0c446Bd8C0867c6fE65"


@dataclass(frozen=True, slots=True)
class MiningContracts:
    """The contracts of one chain, checksummed; `distributor` is None where no list of claims is known."""

    staker: str
    distributor: str | None = None


_DEPLOYED: Final[Mapping[int, MiningContracts]] = {
    1: MiningContracts(_STAKER, distributor="0x090D4613473dEE047c3f2706764f49E0821D256e"),
    10: MiningContracts(_STAKER),
    130: MiningContracts("0xd693d8df6CF768248c16f98745Ee0c8E06460487"),
    137: MiningContracts(_STAKER),
    8453: MiningContracts("0x42bE4D6527829FeFA1493e1fb9F3676d2425C3C1"),
    42161: MiningContracts(_STAKER),
    31_337: MiningContracts("0x862d8C45BdC6eD06619A2d0248A2281dBC0aCC87", "0xdBe3bd6f626Df8c8EE7971B3fbea1c3a83B6B00a"),
}
CHAINS: Final = frozenset(_DEPLOYED)


def mining_on(chain_id: int) -> MiningContracts | None:
    """The contracts of a chain; None where there are none."""
    return _DEPLOYED.get(chain_id)


def mining_by_key(chain_id: int) -> Mapping[str, str]:
    """The same by the keys of `protocol.py`."""
    found = mining_on(chain_id)
    if found is None:
        return {}
    return {"v3_staker": found.staker, **({} if found.distributor is None else {"claim_list": found.distributor})}
