"""Lists where Lido is deployed, as data.

Ethereum: the queue is that of the npm package `@lido-sdk/constants` 3.5.1, stETH, the oracle and its consensus those of
`deployed-mainnet.json` (lidofinance/core, commit 0252fa7391ba), both its makers' own, and stETH and wstETH those that
lenders list; a test compares them. docs.lido.fi/deployed-contracts names the same five for protocol version 3.0.1, and
wstETH on other chains: there it is alone, with no pool, no oracle and no queue. Locally our own contracts stand in;
their addresses follow from the account that deploys them, in that order; the second local chain is to the first what a
rollup is to Ethereum.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Final

from tools_app.chain.networks import ChainNotSupported
from tools_app.standards.bridged_stakes import MAIN_CHAINS, SECOND_LOCAL_CHAIN_ID
from tools_app.toolkit.context import ChainReader

NAME: Final = "lido"
LOCAL_CHAIN_ID: Final = 31_337


@dataclass(frozen=True, slots=True)
class LidoContracts:
    """The contracts of one chain."""

    steth: str
    wsteth: str
    queue: str
    consensus: str
    oracle: str

    @property
    def tokens(self) -> Mapping[str, str]:
        """Both tokens by the name of what is held of them."""
        return {"steth": self.steth, "wsteth": self.wsteth}


_DEPLOYMENTS: Final[Mapping[int, LidoContracts]] = {
    1: LidoContracts(
        steth="0xae7ab96520DE3A18E5e111B5EaAb095312D7fE84",
        wsteth="0x7f39C581F595B53c5cb19bD0b3f8dA6c935E2Ca0",
        queue="0x889edC2eDab5f40e902b864aD4d7AdE8E412F9B1",
        consensus="0xD624B08C83bAECF0807Dd2c6880C3154a5F0B288",
        oracle="0x852deD011285fe67063a08005c71a85690503Cee",
    ),
    LOCAL_CHAIN_ID: LidoContracts(
        steth="0xAEa68e1dbF14D819be046cE64e2059390107747e",
        wsteth="0xcfdf72a64Be0cF934085F21C10a3dfe1fCaCf6e0",
        queue="0xa2501b731D345F0E230311a59eddd1cfB69b07ac",
        consensus="0x4A44Ff68Dd688aD16295742e0eCCA75706826bF8",
        oracle="0xcaF16636fd758441918e4Ed40d0aa0eEFDbBafB1",
    ),
}
_BY_KEY: Final = {chain_id: asdict(each) for chain_id, each in _DEPLOYMENTS.items()}
CHAINS: Final = frozenset(_DEPLOYMENTS)
BRIDGED: Final[Mapping[int, str]] = {
    10: "0x1F32b1c2345538c0c6f582fCB022739c4A194Ebb",
    56: "0x26c5e01524d2E6280A48F2c50fF6De7e52E9611C",
    130: "0xc02fE7317D4eb8753a02c35fe019786854A92001",
    137: "0x03b54A6e9a984069379fae1a4fC4dBAE93B3bCCD",
    8453: "0xc1CBa3fCea344f92D9239c08C0568f6F2F0ee452",
    42161: "0x5979D7b546E38E414F7E9822514be443A4800529",
    SECOND_LOCAL_CHAIN_ID: _DEPLOYMENTS[LOCAL_CHAIN_ID].wsteth,
}
"""wstETH where it was brought by a bridge; a whole one is a share of the pool as at home."""
HELD_ON: Final = CHAINS | frozenset(BRIDGED)
"""Where an account can have something of Lido."""
READ_ON: Final = HELD_ON | MAIN_CHAINS
"""Where the pool's figures are asked for."""


def deployments(chain_id: int) -> Mapping[str, str] | None:
    """The contracts of a chain by key; None where it is not."""
    return _BY_KEY.get(chain_id)


def contracts_on(chain_id: int) -> LidoContracts | None:
    """The contracts of a chain; None where it is not."""
    return _DEPLOYMENTS.get(chain_id)


def deployment_on(reader: ChainReader) -> LidoContracts:
    """The contracts of the reader's chain, which has code for them. Raises ChainNotSupported."""
    found = contracts_on(reader.chain_id)
    if found is None or not reader.code(found.steth):
        raise ChainNotSupported(
            f"Lido is not deployed on chain {reader.chain_id}", chain_id=reader.chain_id, chains=sorted(CHAINS)
        )
    return found
