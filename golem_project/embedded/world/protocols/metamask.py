"""MetaMask's delegation framework on the local chain: real bytecode of its manager, its account and its enforcers."""

from __future__ import annotations

import re
from typing import Final

from golem_project.embedded.world.protocol_deployer import Site
from golem_project.embedded.world.protocols import ProtocolWorld

ENFORCERS: Final = {
    "erc20_period": "ERC20PeriodTransferEnforcer",
    "timestamp": "TimestampEnforcer",
    "nonce": "NonceEnforcer",
    "value_lte": "ValueLteEnforcer",
    "redeemer": "RedeemerEnforcer",
}


def deploy(site: Site) -> dict[str, str]:
    """Manager, entry point, the code that accounts run by EIP-7702, and the enforcers whose terms the product reads."""
    manager = site.create(read_code(site, "DelegationManager"), "(address)", site.deployer.address, what="the manager")
    entry_point = site.create(read_code(site, "EntryPoint"), what="the entry point")
    account = read_code(site, "EIP7702StatelessDeleGator")
    delegator = site.create(account, "(address,address)", manager, entry_point, what="the account's code")
    enforcers = {key: site.create(read_code(site, name), what=name) for key, name in ENFORCERS.items()}
    return {"manager": manager, "delegator": delegator, **enforcers}


def read_code(site: Site, name: str) -> str:
    """Creation code of one contract of the package."""
    [code] = re.findall(
        r'bytecode = "(0x[0-9a-f]+)"', site.fetched.text("delegation_abis", f"dist/bytecode/{name}.cjs")
    )
    return str(code)


WORLD = ProtocolWorld("metamask", deploy)
