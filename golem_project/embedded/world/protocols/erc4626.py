"""An ERC-4626 vault over USDC on the local chain: OpenZeppelin's own, with a depositor and something earned."""

from __future__ import annotations

from golem_project.embedded.npm import Say, say_to_stderr
from golem_project.embedded.world.compiled import compile_sources
from golem_project.embedded.world.figures import worth
from golem_project.embedded.world.protocols import Fetched, ProtocolWorld
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


def compile_vault(fetched: Fetched, *, say: Say = say_to_stderr) -> str:
    """Creation code of the vault: asset, name, symbol."""
    sources = {"Vault.sol": VAULT, **fetched.sources("openzeppelin", under=ROOT)}
    return str(compile_sources(fetched.packages["solc"], sources, SETTINGS, say=say)["Vault"]["bytecode"])


def deploy(site: Site) -> dict[str, str]:
    """The vault, and somebody who was there before."""
    code, asset = compile_vault(site.fetched, say=site.say), site.tokens[ASSET]
    vault = site.create(code, "(address,string,string)", asset, "Local USDC Vault", "vUSDC", what="the vault")
    depositor, deposited = site.account("depositor"), worth(ASSET, DEPOSITED_USD)
    site.give(ASSET, deposited + worth(ASSET, EARNED_USD), depositor.address)
    site.transact(asset, "approve(address,uint256)", vault, deposited, sender=depositor)
    site.transact(vault, "deposit(uint256,address)", deposited, depositor.address, sender=depositor)
    site.transact(asset, "transfer(address,uint256)", vault, worth(ASSET, EARNED_USD), sender=depositor)
    return {"vault": vault}


WORLD = ProtocolWorld("erc4626", deploy, compiles=compile_vault)
