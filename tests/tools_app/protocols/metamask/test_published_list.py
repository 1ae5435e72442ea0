"""The framework's addresses are those that its makers publish, and elsewhere nothing is asked of a chain."""

from __future__ import annotations

import re
from typing import Final
from uuid import uuid4

import pytest

from golem_project.embedded.npm import Package
from tests.tools_app.simulation.protocol_bytecode import fetch_or_skip
from tools_app.chain.networks import ChainNotSupported
from tools_app.protocols.metamask import addresses
from tools_app.protocols.metamask.addresses import CHAINS, LOCAL_CHAIN_ID, deployments
from tools_app.runner import check_chain
from tools_app.toolkit.enums import Phase
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.views import GolemView

FILE: Final = "dist/index.cjs"
LIST: Final = Package(
    name="@metamask/delegation-deployments",
    version="2.0.0",
    integrity="sha512-DnI1eZ2fCZtkfrq9+G4NKh2S4WOVczKkrTh+JVTgBCS4bCmObxN1pDvdxbTA9WPl9TZoL0XamRhjfYSRXIq6wA==",
    packed_bytes=15_725,
    keep=(FILE,),
)
_NOBODYS: Final = GolemView(uuid4(), "a golem", "0x" + "12" * 20, LOCAL_CHAIN_ID, "USDC", Phase.THRIVING)
NAMES: Final = {
    addresses.MANAGER: "DelegationManager",
    addresses.DELEGATOR: "EIP7702StatelessDeleGatorImpl",
    addresses.PERIOD: "ERC20PeriodTransferEnforcer",
    addresses.TIMESTAMP: "TimestampEnforcer",
    addresses.NONCE: "NonceEnforcer",
    addresses.VALUE: "ValueLteEnforcer",
    addresses.REDEEMER: "RedeemerEnforcer",
}


def test_every_contract_is_where_its_makers_say_on_every_public_chain_of_ours() -> None:
    text = (fetch_or_skip([LIST])[LIST.name] / FILE).read_text()
    _, _, listed = text.partition("DEPLOYMENTS_1_3_0 = {")
    published = dict(re.findall(r'(\w+): "(0x[0-9a-fA-F]{40})"', listed.partition("};")[0]))
    for chain_id in CHAINS - {LOCAL_CHAIN_ID}:
        ours = deployments(chain_id)
        assert ours is not None and {NAMES[key]: address for key, address in ours.items()} == {
            name: published[name] for name in NAMES.values()
        }


@pytest.mark.parametrize("name", ["metamask_redeem_runway", "metamask_redelegate", "metamask_check_permission_health"])
def test_on_a_chain_without_it_each_is_refused_with_those_that_have_it_before_anything_is_asked(name: str) -> None:
    with pytest.raises(ChainNotSupported) as refused:
        check_chain(tool=REGISTRY.get(name), params={"chain_id": 1}, golem=_NOBODYS)
    assert refused.value.data["supported_chain_ids"] == sorted(CHAINS)
