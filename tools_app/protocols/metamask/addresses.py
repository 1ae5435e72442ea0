"""Lists where the delegation framework is, as data: one set of addresses on every public chain, and the local chain's.

The public ones are those of version 1.3.0 in the npm package `@metamask/delegation-deployments` 2.0.0, its makers' own.
The local ones follow from the account that deploys the same bytecode.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from tools_app.chain.networks import ChainNotSupported

NAME: Final = "metamask"
LOCAL_CHAIN_ID: Final = 31_337
MANAGER: Final = "manager"
DELEGATOR: Final = "delegator"
PERIOD: Final = "erc20_period"
TIMESTAMP: Final = "timestamp"
NONCE: Final = "nonce"
VALUE: Final = "value_lte"
REDEEMER: Final = "redeemer"

_PUBLIC: Final = MappingProxyType(
    {
        MANAGER: "0xdb9B1e94B5b69Df7e401DDbedE43491141047dB3",
        DELEGATOR: "0x63c0c19a282a1B52b07dD5a65b58948A07DAE32B",
        PERIOD: "0x474e3Ae7E169e940607cC624Da8A15Eb120139aB",
        TIMESTAMP: "0x1046bb45C8d673d4ea75321280DB34899413c069",
        NONCE: "0xDE4f2FAC4B3D87A1d9953Ca5FC09FCa7F366254f",
        VALUE: "0x92Bf12322527cAA612fd31a0e810472BBB106A8F",
        REDEEMER: "0xE144b0b2618071B4E56f746313528a669c7E65c5",
    }
)
_LOCAL: Final = MappingProxyType(
    {
        MANAGER: "0x6776F70FFeE7fF678f4786fFE9CBbB6e3558F2Bf",
        DELEGATOR: "0x8177EE9Ab0984A0512903730C0b64d44304dC30E",
        PERIOD: "0xAAFbd612465E285bB26360583b404D61D70066C5",
        TIMESTAMP: "0x2711553A04AEB06EE9bA6a5344A8d48373D930E2",
        NONCE: "0xAC1dC3dfb4BbaaA5902B6fc9ebc44Bdc6781cbC9",
        VALUE: "0x83DC05A84aD8A5078a2b0fD2825794e2F37A3932",
        REDEEMER: "0x0ea51e5AF8CC68d3Ffd149C68aA04fc6a78F77fb",
    }
)
_DEPLOYMENTS: Final[Mapping[int, Mapping[str, str]]] = MappingProxyType({8453: _PUBLIC, LOCAL_CHAIN_ID: _LOCAL})
CHAINS: Final = frozenset(_DEPLOYMENTS)


def deployments(chain_id: int) -> Mapping[str, str] | None:
    """The contracts by key, checksummed; None where there are none."""
    return _DEPLOYMENTS.get(chain_id)


def place_on(chain_id: int) -> Mapping[str, str]:
    """The same. Raises ChainNotSupported."""
    found = deployments(chain_id)
    if found is None:
        raise ChainNotSupported(
            f"no delegation manager is known on chain {chain_id}", chain_id=chain_id, chains=sorted(CHAINS)
        )
    return found
