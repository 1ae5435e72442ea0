"""Lists where Rocket Pool is deployed, as data.

Ethereum: all three are those of its makers' own list, "All Active Deployed Protocol Contracts" of their page
`docs/en/protocol/contracts-integrations.md` (rocket-pool/docs.rocketpool.net, commit fb9282ae3f00); a test compares
them. The table "Key Protocol Contracts" above it there still names the deposit pool of version 1.2: it moves with
upgrades. It is named here because owners allow contracts by address, and compared with the storage before anything is
sent to it. Everything that is only read is looked up in the storage. Locally our own contracts stand in; their
addresses follow from the account that deploys them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Final

from eth_utils.crypto import keccak

from tools_app.chain.networks import ChainNotSupported
from tools_app.protocols.rocketpool.errors import DeploymentMoved
from tools_app.standards.bridged_stakes import MAIN_CHAINS, SECOND_LOCAL_CHAIN_ID
from tools_app.toolkit.context import ChainReader, ReadCall

NAME: Final = "rocketpool"
LOCAL_CHAIN_ID: Final = 31_337
ADDRESS_OF: Final = "function getAddress(bytes32 key) view returns (address)"


@dataclass(frozen=True, slots=True)
class FixedContracts:
    """The contracts of one chain that do not move."""

    storage: str
    reth: str
    deposit_pool: str


@dataclass(frozen=True, slots=True)
class RocketPoolContracts(FixedContracts):
    """Those, and what the network's storage names now."""

    settings: str
    balances: str
    fees: str
    nodes: str
    minipools: str


_DEPLOYMENTS: Final[Mapping[int, FixedContracts]] = {
    1: FixedContracts(
        storage="0x1d8f8f00cfa6758d7bE78336684788Fb0ee0Fa46",
        reth="0xae78736Cd615f374D3085123A210448E74Fc6393",
        deposit_pool="0xCE15294273CFb9D9b628F4D61636623decDF4fdC",
    ),
    LOCAL_CHAIN_ID: FixedContracts(
        storage="0x2dd50ac12D2aeeA0C60489b4aB795c2203805B06",
        reth="0x12474c20b2aAC5982625F02A792e93Bf16A931c9",
        deposit_pool="0x5E26bC3D8187a157BEDe8DBCE7A1075eF230422F",
    ),
}
_BY_KEY: Final = {chain_id: asdict(each) for chain_id, each in _DEPLOYMENTS.items()}
CHAINS: Final = frozenset(_DEPLOYMENTS)
BRIDGED: Final[Mapping[int, str]] = {
    10: "0x9Bcef72be871e61ED4fBbc7630889beE758eb81D",
    8453: "0xB6fe221Fe9EeF5aBa221c348bA20A1Bf5e73624c",
    42161: "0xEC70Dcb4A1EFa46b8F2D97C310C9c4790ba5ffA8",
    SECOND_LOCAL_CHAIN_ID: _DEPLOYMENTS[LOCAL_CHAIN_ID].reth,
}
"""rETH where it was brought by a bridge; a whole one is worth what it is at home."""
HELD_ON: Final = CHAINS | frozenset(BRIDGED)
"""Where an account can have something of Rocket Pool."""
READ_ON: Final = HELD_ON | MAIN_CHAINS
"""Where the network's figures are asked for."""
NAMED: Final = {
    "deposit_pool": "rocketDepositPool",
    "reth": "rocketTokenRETH",
    "settings": "rocketDAOProtocolSettingsDeposit",
    "balances": "rocketNetworkBalances",
    "fees": "rocketNetworkFees",
    "nodes": "rocketNodeManager",
    "minipools": "rocketMinipoolManager",
}
"""What the storage calls each contract."""


def deployments(chain_id: int) -> Mapping[str, str] | None:
    """The contracts of a chain that are fixed, by key: storage, reth, deposit_pool; None where it is not."""
    return _BY_KEY.get(chain_id)


def contracts_on(chain_id: int) -> FixedContracts | None:
    """The contracts of a chain that are fixed; None where it is not."""
    return _DEPLOYMENTS.get(chain_id)


def find_contracts(reader: ChainReader) -> RocketPoolContracts:
    """Those and what the storage names besides, by the keys of NAMED.

    Raises ChainNotSupported where it is not deployed, DeploymentMoved where the storage names another deposit pool.
    """
    fixed = contracts_on(reader.chain_id)
    if fixed is None or not reader.code(fixed.storage):
        raise ChainNotSupported(
            f"Rocket Pool is not deployed on chain {reader.chain_id}", chain_id=reader.chain_id, chains=sorted(CHAINS)
        )
    keys = [keccak(text=f"contract.address{name}") for name in NAMED.values()]
    outcomes = reader.call_many([ReadCall(fixed.storage, ADDRESS_OF, (key,)) for key in keys])
    found = {key: str(each.values[0]) for key, each in zip(NAMED, outcomes, strict=True) if each.ok}
    for key, known in (("deposit_pool", fixed.deposit_pool), ("reth", fixed.reth)):
        if found.get(key) != known:
            raise DeploymentMoved(
                f"the network's storage names {found.get(key)} as its {NAMED[key]}, and {known} is known here",
                known=known,
                named=found.get(key),
            )
    return RocketPoolContracts(storage=fixed.storage, **found)
