"""Where Uniswap V4 and the Universal Router are deployed, chain by chain, as data.

V4's contracts are those of the npm package `@uniswap/sdk-core` 7.19.4, the routers those that
`@uniswap/universal-router-sdk` 5.13.0 names as version 2.1.1, whose encoding `v4/plans.py` writes: older and newer ones
read some of the same commands otherwise. The local chain's constants follow from the account that builds it there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class V4Contracts:
    """V4 on one chain; every address is checksummed. `router` is the Universal Router."""

    manager: str
    positions: str
    state_view: str
    quoter: str
    router: str


_DEPLOYED: Final[dict[int, V4Contracts]] = {
    1: V4Contracts(
        manager="0x000000000004444c5dc75cB358380D2e3dE08A90",
        positions="0xbD216513d74C8cf14cf4747E6AaA6420FF64ee9e",
        state_view="0x7fFE42C4a5DEeA5b0feC41C94C136Cf115597227",
        quoter="0x52F0E24D1c21C8A0cB1e5a5dD6198556BD9E1203",
        router="0x4C82D1fBFe28C977cBB58D8C7FF8FCF9F70a2cCA",
    ),
    10: V4Contracts(
        manager="0x9a13F98Cb987694C9F086b1F5eB990EeA8264Ec3",
        positions="0x3C3Ea4B57a46241e54610e5f022E5c45859A1017",
        state_view="0xc18a3169788F4F75A170290584ECA6395C75Ecdb",
        quoter="0x1f3131A13296FB91C90870043742C3CDBFF1A8d7",
        router="0x8B844f885672f333Bc0042cB669255f93a4C1E6b",
    ),
    56: V4Contracts(
        manager="0x28e2Ea090877bF75740558f6BFB36A5ffeE9e9dF",
        positions="0x7A4a5c919aE2541AeD11041A1AEeE68f1287f95b",
        state_view="0xd13Dd3D6E93f276FAfc9Db9E6BB47C1180aeE0c4",
        quoter="0x9F75dD27D6664c475B90e105573E550ff69437B0",
        router="0x8B844f885672f333Bc0042cB669255f93a4C1E6b",
    ),
    130: V4Contracts(
        manager="0x1F98400000000000000000000000000000000004",
        positions="0x4529A01c7A0410167c5740C487A8DE60232617bf",
        state_view="0x86e8631A016F9068C3f085fAF484Ee3F5fDee8f2",
        quoter="0x333E3C607B141b18fF6de9f258db6e77fE7491E0",
        router="0xFdf682F51FE81Aa4898F0AE2163d8A55c127fbC7",
    ),
    137: V4Contracts(
        manager="0x67366782805870060151383F4BbFF9daB53e5cD6",
        positions="0x1Ec2eBf4F37E7363FDfe3551602425af0B3ceef9",
        state_view="0x5eA1bD7974c8A611cBAB0bDCAFcB1D9CC9b3BA5a",
        quoter="0xb3d5c3Dfc3a7aEbFF71895A7191796BFFc2c81b9",
        router="0x8B844f885672f333Bc0042cB669255f93a4C1E6b",
    ),
    8453: V4Contracts(
        manager="0x498581fF718922c3f8e6A244956aF099B2652b2b",
        positions="0x7C5f5A4bBd8fD63184577525326123B519429bDc",
        state_view="0xA3c0c9b65baD0b08107Aa264b0f3dB444b867A71",
        quoter="0x0d5e0F971ED27FBfF6c2837bf31316121532048D",
        router="0xFdf682F51FE81Aa4898F0AE2163d8A55c127fbC7",
    ),
    42161: V4Contracts(
        manager="0x360E68faCcca8cA495c1B759Fd9EEe466db9FB32",
        positions="0xd88F38F930b7952f2DB2432Cb002E7abbF3dD869",
        state_view="0x76Fd297e2D437cd7f76d50F01AfE6160f86e9990",
        quoter="0x3972C00f7ed4885e145823eb7C655375d275A1C5",
        router="0x8B844f885672f333Bc0042cB669255f93a4C1E6b",
    ),
    43114: V4Contracts(
        manager="0x06380C0e0912312B5150364B9DC4542BA0DbBc85",
        positions="0xB74b1F14d2754AcfcbBe1a221023a5cf50Ab8ACD",
        state_view="0xc3c9e198C735a4b97e3e683f391cCBDD60B69286",
        quoter="0xbE40675BB704506a3c2Ccfb762DCFd1e979845C2",
        router="0x8B844f885672f333Bc0042cB669255f93a4C1E6b",
    ),
    31_337: V4Contracts(
        manager="0x79593488f28b7a48cad7b3A3bF7d3760C5045C4F",
        positions="0x7d8bA9060C214FFE9DFB28dd613365388560b970",
        state_view="0x173FC424ab12D2f4ec76E5aB754036001D641fda",
        quoter="0xFC95E876E00Cf294D245eB970746659Bce7d475f",
        router="0xBE4CA7d2585f02b0E0E9A5b924a27D34043a16B0",
    ),
}


def v4_on(chain_id: int) -> V4Contracts | None:
    """V4's contracts on a chain; None where it is not served."""
    return _DEPLOYED.get(chain_id)


def v4_by_key(chain_id: int) -> Mapping[str, str]:
    """The contracts that plans call or that hold what is in pools, by the keys of `protocol.py`."""
    found = v4_on(chain_id)
    if found is None:
        return {}
    return {"v4_pool_manager": found.manager, "universal_router": found.router, "v4_position_manager": found.positions}


def view_of(manager: str) -> str:
    """The contract that tells of the pools of a manager."""
    return next(each.state_view for each in _DEPLOYED.values() if each.manager == manager)
