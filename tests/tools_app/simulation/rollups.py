"""The local chain as a rollup: our simulated oracle at the predeploy's address, or the OP Stack's own contracts."""

from __future__ import annotations

import pytest

from tests.evm.world import CHAIN_ID, World
from tools_app.chain.abi import encode_call
from tools_app.simulation import rollup_fee
from tools_app.simulation.rollup_fee import ARBITRUM_NODE_INTERFACE, OP_ORACLE, RollupKind

L1_BLOCK = "0x4200000000000000000000000000000000000015"
_DEPOSITOR = "0xDeaDDEaDDeAdDeAdDEAdDEaddeAddEAdDEAd0001"
# As much gas as the data has bytes, then two prices: the interface of Arbitrum's NodeInterface.
_ARBITRUM_CODE = "0x6064355f526002602052600360405260605ff3"


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


def put_node_interface(chain: World) -> None:
    """Arbitrum's NodeInterface exists on no node but Arbitrum's: a simulated contract, one gas for each byte."""
    chain.rpc.call("anvil_setCode", ARBITRUM_NODE_INTERFACE, _ARBITRUM_CODE)


def put_real_op_stack(
    chain: World,
    bytecode: dict[str, str],
    *,
    base_fee_scalar: int,
    blob_base_fee_scalar: int,
    l1_base_fee: int,
    blob_base_fee: int,
) -> None:
    """The OP Stack's GasPriceOracle and L1Block at their addresses, after Fjord, told of a block of layer one."""
    for name, address in (("GasPriceOracle", OP_ORACLE), ("L1Block", L1_BLOCK)):
        made = chain.send(chain.actors.deployer, None, "0x" + bytecode[name].removeprefix("0x"))
        code = chain.rpc.call("eth_getCode", made["contractAddress"], "latest")
        chain.rpc.call("anvil_setCode", address, code)
    packed = b"".join(
        value.to_bytes(size, "big")
        for value, size in (
            (base_fee_scalar, 4),
            (blob_base_fee_scalar, 4),
            (0, 8),
            (1_700_000_000, 8),
            (20_000_000, 8),
            (l1_base_fee, 32),
            (blob_base_fee, 32),
            (1, 32),
            (2, 32),
        )
    )
    for to, data in (
        (L1_BLOCK, "0x440a5e20" + packed.hex()),
        (OP_ORACLE, "0x" + encode_call("function setEcotone()").hex()),
        (OP_ORACLE, "0x" + encode_call("function setFjord()").hex()),
    ):
        chain.rpc.call("anvil_setBalance", _DEPOSITOR, hex(10**18))
        chain.rpc.call("anvil_impersonateAccount", _DEPOSITOR)
        sent = chain.rpc.call("eth_sendTransaction", {"from": _DEPOSITOR, "to": to, "data": data})
        assert chain.wait(sent)["status"] == "0x1"
        chain.rpc.call("anvil_stopImpersonatingAccount", _DEPOSITOR)
