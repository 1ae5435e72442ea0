"""The local chain as a rollup: our simulated oracle at the predeploy's address."""

from __future__ import annotations

import pytest

from tests.evm.world import CHAIN_ID, World
from tools_app.simulation import rollup_fee
from tools_app.simulation.rollup_fee import OP_ORACLE, RollupKind


def as_rollup(monkeypatch: pytest.MonkeyPatch, kind: RollupKind) -> None:
    """The local chain counts as a rollup of this kind for one test."""
    monkeypatch.setitem(rollup_fee.ROLLUPS, CHAIN_ID, kind)


def put_oracle(chain: World, *, l1_base_fee: int, base_fee_scalar: int) -> None:
    """A deployed oracle's code at the predeploy's address; `base_fee_scalar` 1,000,000 is one wei per wei and gas."""
    owner = chain.actors.deployer
    deployed = chain.deploy(owner, "SimulatedGasPriceOracle")
    chain.rpc.call("anvil_setCode", OP_ORACLE, chain.rpc.call("eth_getCode", deployed, "latest"))
    set_l1_price(chain, l1_base_fee=l1_base_fee, base_fee_scalar=base_fee_scalar)


def set_l1_price(chain: World, *, l1_base_fee: int, base_fee_scalar: int = 1_000_000) -> None:
    """What layer one costs from now on, wei per gas."""
    chain.transact(
        chain.actors.deployer, OP_ORACLE, "setPrices(uint256,uint256,uint32,uint32)", l1_base_fee, 0, base_fee_scalar, 0
    )
