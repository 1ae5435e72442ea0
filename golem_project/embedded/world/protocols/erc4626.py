"""ERC-4626 vaults over USDC on the local chain: OpenZeppelin's own, with a depositor and something earned, and Lagoon's
own (0.5.0), which is entered and left by request (ERC-7540).

What is asked of the second waits until whoever values it has told what everything is worth and the safe settles it;
both are accounts of this building.
"""

from __future__ import annotations

from typing import Final

from golem_project.embedded.npm import Say, say_to_stderr
from golem_project.embedded.world.compiled import compile_sources
from golem_project.embedded.world.figures import worth
from golem_project.embedded.world.protocols import Fetched, ProtocolWorld
from golem_project.embedded.world.rpc import encode_arguments
from golem_project.embedded.world.site import Site
from golem_project.embedded.world.solidity import SETTINGS

ROOT = "@openzeppelin/contracts/"
VAULT = f"""
// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;
import {{ERC4626, IERC20, ERC20}} from "{ROOT}token/ERC20/extensions/ERC4626.sol";
contract Vault is ERC4626 {{
    constructor(IERC20 asset, string memory name, string memory symbol) ERC4626(asset) ERC20(name, symbol) {{}}
}}
"""
ASSET = "USDC"
DEPOSITED_USD = 1_000_000
# So that a share is worth more than one, as after some time.
EARNED_USD = 50_000
LAGOON: Final = "eth_defi/abi/lagoon/v0.5.0/Vault.json"
FEES: Final = "eth_defi/abi/lagoon/FeeRegistry.json"
# Asset, name, symbol, safe, whitelist's manager, valuer, admin, who gets fees, both fees, whitelist, pause of rates.
FIRST_WORDS: Final = "((address,string,string,address,address,address,address,address,uint16,uint16,bool,uint256))"
CREATE_GAS: Final = 8_000_000


def compile_vault(fetched: Fetched, *, say: Say = say_to_stderr) -> str:
    """Creation code of the vault: asset, name, symbol."""
    sources = {"Vault.sol": VAULT, **fetched.sources("openzeppelin", under=ROOT)}
    return str(compile_sources(fetched.packages["solc"], sources, SETTINGS, say=say)["Vault"]["bytecode"])


def deploy(site: Site) -> dict[str, str]:
    """The vault, and somebody who was there before; beside it the one that is asked."""
    code, asset = compile_vault(site.fetched, say=site.say), site.tokens[ASSET]
    vault = site.create(code, "(address,string,string)", asset, "Local USDC Vault", "vUSDC", what="the vault")
    depositor, deposited = site.account("depositor"), worth(ASSET, DEPOSITED_USD)
    site.give(ASSET, deposited + worth(ASSET, EARNED_USD), depositor.address)
    site.transact(asset, "approve(address,uint256)", vault, deposited, sender=depositor)
    site.transact(vault, "deposit(uint256,address)", deposited, depositor.address, sender=depositor)
    site.transact(asset, "transfer(address,uint256)", vault, worth(ASSET, EARNED_USD), sender=depositor)
    return {"vault": vault, "request_vault": _deploy_lagoon(site)}


def _deploy_lagoon(site: Site) -> str:
    """Its registry of fees, which are none, and the vault."""
    me, safe, valuer = (site.account(role).address for role in ("deployer", "safe", "valuer"))
    fees = _behind_proxy(site, site.create_from("eth_defi", FEES, "(bool)", True))
    site.transact(fees, "initialize(address,address)", me, me)
    vault = _behind_proxy(site, site.create_from("eth_defi", LAGOON, "(bool)", True))
    asset = site.tokens[ASSET]
    first = encode_arguments(FIRST_WORDS, (asset, "Local Lagoon", "LAG", safe, me, valuer, me, me, 0, 0, False, 0))
    site.transact(vault, "initialize(bytes,address,address)", first, fees, site.tokens["WETH"], gas=CREATE_GAS)
    # The safe gives back what it settles.
    site.transact(asset, "approve(address,uint256)", vault, 2**255, sender=site.account("safe"))
    return vault


def _behind_proxy(site: Site, code_at: str) -> str:
    """A minimal proxy as ERC-1167 writes it down."""
    runs = bytes.fromhex("363d3d373d3d3d363d73" + code_at[2:] + "5af43d82803e903d91602b57fd5bf3")
    return site.create(bytes.fromhex("3d602d80600a3d3981f3") + runs, what="a proxy")


WORLD = ProtocolWorld("erc4626", deploy, compiles=compile_vault)
