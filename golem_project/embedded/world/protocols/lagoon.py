"""A vault of Lagoon over USDC on the local chain: entered and left by request (ERC-7540), for tests of vault tools.

Its authors' own code, 0.5.0, behind minimal proxies. What is asked for waits until whoever values it has told what
everything is worth and the safe settles it; both are accounts of this building.
"""

from __future__ import annotations

from typing import Final

from golem_project.embedded.world.protocols import ProtocolWorld
from golem_project.embedded.world.rpc import encode_arguments
from golem_project.embedded.world.site import Site

ASSET: Final = "USDC"
VAULT: Final = "eth_defi/abi/lagoon/v0.5.0/Vault.json"
FEES: Final = "eth_defi/abi/lagoon/FeeRegistry.json"
# Asset, name, symbol, safe, whitelist's manager, valuer, admin, who gets fees, both fees, whitelist, pause of rates.
FIRST_WORDS: Final = "((address,string,string,address,address,address,address,address,uint16,uint16,bool,uint256))"
CREATE_GAS: Final = 8_000_000


def deploy(site: Site) -> dict[str, str]:
    """The registry of fees, which are none, and the vault."""
    me, safe, valuer = (site.account(role).address for role in ("deployer", "safe", "valuer"))
    fees = _behind_proxy(site, site.create_from("eth_defi", FEES, "(bool)", True))
    site.transact(fees, "initialize(address,address)", me, me)
    vault = _behind_proxy(site, site.create_from("eth_defi", VAULT, "(bool)", True))
    asset = site.tokens[ASSET]
    first = encode_arguments(FIRST_WORDS, (asset, "Local Lagoon", "LAG", safe, me, valuer, me, me, 0, 0, False, 0))
    site.transact(vault, "initialize(bytes,address,address)", first, fees, site.tokens["WETH"], gas=CREATE_GAS)
    # The safe gives back what it settles.
    site.transact(asset, "approve(address,uint256)", vault, 2**255, sender=site.account("safe"))
    return {"vault": vault, "fees": fees}


def _behind_proxy(site: Site, code_at: str) -> str:
    """A minimal proxy as ERC-1167 writes it down."""
    runs = bytes.fromhex("363d3d373d3d3d363d73" + code_at[2:] + "5af43d82803e903d91602b57fd5bf3")
    return site.create(bytes.fromhex("3d602d80600a3d3981f3") + runs, what="a proxy")


WORLD = ProtocolWorld("lagoon", deploy, version_of="erc4626")
