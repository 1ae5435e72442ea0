"""What the cage costs in gas; on a node of its own."""

from __future__ import annotations

from collections.abc import Iterator

from golem_project.embedded.world.solidity import load_contract
from permits_app.policy_cage import contract as cage_contract
from permits_app.policy_cage.contract import Limit, limit_rule
from tests.bench.figures import Figure, measure
from tests.proof.cage import run_siege
from tests.proof.caged.safe import USD, CagedSafe
from tools_app.core import clock

DAY_SECONDS = 86_400
SWAP_GAS = 343_200


@measure("cage")
def measure_cage() -> Iterator[Figure]:
    """Gas of each door of the contract, its size, and hostile batches a second."""
    yield Figure(
        "cage.code_bytes",
        "size of PolicyCage",
        len(load_contract("PolicyCage").deployed_bytecode) // 2 - 1,
        "bytes",
        target=22_118,
    )
    with run_siege() as siege:
        yield from measure_gas(siege.watches[0].caged)
        started = clock.monotonic_ms()
        for _ in siege.run_many(range(20)):
            pass
        seconds = (clock.monotonic_ms() - started) / 1000
        yield Figure(
            "cage.batches_per_second",
            "hostile batches run and checked on the node",
            round(1_000 / seconds),
            "batches/s",
            target=300,
            at_least=True,
        )


def measure_gas(caged: CagedSafe) -> Iterator[Figure]:
    """One transaction of each kind."""
    weth = caged.coins["WETH"]
    doors = {
        "approve": [caged.approve("USDC", 1)],
        "swap": caged.trade("USDC", 300 * USD, "WETH", weth.units("0.1")),
        "swap_again": caged.trade("USDC", 300 * USD, "WETH", weth.units("0.1")),
        "losing_swap": caged.trade("WETH", weth.units("0.1"), "USDC", 295 * USD),
        "open_position": [caged.position(10_000 * USD), *caged.take("USDC", 10_000 * USD)],
        "four_calls": [
            *caged.trade("USDC", 300 * USD, "WETH", weth.units("0.1")),
            *caged.trade("USDC", 300 * USD, "WBTC", 500_000),
        ],
    }
    for name, calls in doors.items():
        sent = caged.execute(*calls)
        if not sent.succeeded:
            raise RuntimeError(f"{name} was refused: {caged.error(sent)}")
        target = SWAP_GAS if name == "swap" else None
        yield Figure(
            f"cage.gas_{name}", f"gas of execute: {name.replace('_', ' ')}", sent.gas_used, "gas", target=target
        )
    owner = {
        "tighten": caged.propose(limit_rule(Limit.MAX_POSITION_BPS, 2_400)),
        "propose_loosening": caged.propose(limit_rule(Limit.MAX_POSITION_BPS, 2_500)),
    }
    caged.engine.advance(DAY_SECONDS)
    data = cage_contract.encode_apply_change(
        cage_contract.RuleKind.LIMIT, cage_contract.limit_key(Limit.MAX_POSITION_BPS)
    )
    owner["apply_change"] = caged.engine.send(caged.stranger, caged.cage, data)
    owner["halt"] = caged.engine.send(caged.guardian, caged.cage, cage_contract.encode_halt())
    for name, sent in owner.items():
        yield Figure(f"cage.gas_{name}", f"gas of {name.replace('_', ' ')}", sent.gas_used, "gas")
