"""The chain's own word on a simulation: the same calls mined in one block, and all the node can tell about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from eth_account.signers.local import LocalAccount
from eth_utils.address import to_checksum_address
from eth_utils.crypto import keccak

from tests.evm.world import CHAIN_ID, World
from tools_app.simulation.engine import SimulationRequest, SimulationResult, StateDiff
from tools_app.toolkit.plan import Call
from tools_app.toolkit.views import NATIVE, BlockRef

GAS = 14_000_000
_FEE_CAP = 10**11
_TIP = 10**8


def mine_together(chain: World, account: LocalAccount, calls: Sequence[Call], *, after: BlockRef) -> list[Any]:
    """The receipts of all calls, mined in the one block that was simulated: the next, a second later."""
    nonce = int(chain.rpc.call("eth_getTransactionCount", account.address, "latest"), 16)
    chain.rpc.call("evm_setAutomine", False)
    try:
        hashes = [
            chain.rpc.call("eth_sendRawTransaction", _sign(account, call, nonce=nonce + position))
            for position, call in enumerate(calls)
        ]
        chain.rpc.call("evm_setNextBlockTimestamp", after.timestamp + 1)
        chain.rpc.call("evm_mine")
    finally:
        chain.rpc.call("evm_setAutomine", True)
    receipts = [chain.wait(one) for one in hashes]
    assert {int(receipt["blockNumber"], 16) for receipt in receipts} <= {after.number + 1}
    return receipts


def check_as_mined(chain: World, request: SimulationRequest, result: SimulationResult, receipts: Sequence[Any]) -> None:
    """Outcome, output, gas and logs of every call, and the whole difference of the state, in both directions."""
    assert len(result.calls) == len(receipts) == len(request.calls)
    for call, outcome, receipt in zip(request.calls, result.calls, receipts, strict=True):
        assert receipt["status"] == hex(outcome.succeeded), outcome.revert_reason
        assert int(receipt["gasUsed"], 16) == outcome.gas_used
        assert [(log["address"].lower(), tuple(log["topics"]), log["data"]) for log in receipt["logs"]] == [
            (log.address.lower(), log.topics, log.data) for log in outcome.logs
        ]
        if len(call.to) > 2:
            assert (_frames(chain, receipt).get("output") or "0x") == "0x" + outcome.output.hex()
    fees = sum(int(receipt["gasUsed"], 16) * int(receipt["effectiveGasPrice"], 16) for receipt in receipts)
    for (account, token), before in result.balances_before.items():
        paid = fees if token == NATIVE and account == request.sender else 0
        after = read_balance(chain, account, token, "latest")
        assert result.balances_after[account, token] - before == after + paid - read_balance(
            chain, account, token, hex(result.block.number)
        ), token
    if result.state_diff is not None:
        _check_state(chain, request, result.state_diff, result.block, receipts, fees)


def read_balance(chain: World, account: str, token: str, block: str) -> int:
    """Base units, of the coin under NATIVE."""
    if token == NATIVE:
        return int(chain.rpc.call("eth_getBalance", account, block), 16)
    data = "0x70a08231" + account[2:].lower().rjust(64, "0")
    return int(chain.rpc.call("eth_call", {"to": token, "input": data}, block), 16)


def _sign(account: LocalAccount, call: Call, *, nonce: int) -> str:
    transaction: dict[str, Any] = {
        "type": 2,
        "chainId": CHAIN_ID,
        "nonce": nonce,
        "value": call.value,
        "data": "0x" + call.data.hex(),
        "gas": GAS,
        "maxFeePerGas": _FEE_CAP,
        "maxPriorityFeePerGas": _TIP,
    }
    if len(call.to) > 2:
        transaction["to"] = call.to
    return "0x" + account.sign_transaction(transaction).raw_transaction.hex()


def _check_state(
    chain: World,
    request: SimulationRequest,
    told: StateDiff,
    parent: BlockRef,
    receipts: Sequence[Any],
    fees: int,
) -> None:
    """What the chain says of every account and slot that either side names."""
    accounts: set[str] = {account.address for account in told.accounts}
    slots: set[tuple[str, int]] = {
        (account.address, slot) for account in told.accounts for slot, _, _ in account.storage
    }
    tracer = {"tracer": "prestateTracer", "tracerConfig": {"diffMode": True}}
    for receipt in receipts:
        changed = chain.rpc.call("debug_traceTransaction", receipt["transactionHash"], tracer)
        for side in ("pre", "post"):
            for text, entry in changed[side].items():
                named = str(to_checksum_address(text))
                accounts.add(named)
                slots |= {(named, int(slot, 16)) for slot in entry.get("storage") or {}}
    then = hex(parent.number)

    def both(method: str, *params: str) -> tuple[str, str]:
        return chain.rpc.call(method, *params, then), chain.rpc.call(method, *params, "latest")

    coinbase = to_checksum_address(chain.rpc.call("eth_getBlockByNumber", "latest", False)["miner"])
    real: dict[str, dict[str, Any]] = {}
    for address in accounts - {coinbase}:
        nonce = _differing(both("eth_getTransactionCount", address))
        was, now = (int(value, 16) for value in both("eth_getBalance", address))
        now += fees if address == request.sender else 0
        old, new = both("eth_getCode", address)
        real[address] = {
            "nonce": nonce,
            "balance": None if was == now else (was, now),
            "code_hash": None if old == new else (_hash(old), _hash(new)),
            "storage": {},
        }
    for address, slot in slots:
        if (change := _differing(both("eth_getStorageAt", address, hex(slot)))) is not None:
            real[address]["storage"][slot] = change
    simulated = {
        account.address: {
            "nonce": account.nonce,
            "balance": account.balance,
            "code_hash": account.code_hash,
            "storage": {slot: (before, after) for slot, before, after in account.storage},
        }
        for account in told.accounts
    }
    assert simulated == {address: entry for address, entry in real.items() if any(entry.values())}
    created = [address for receipt in receipts for address in _created(_frames(chain, receipt))]
    assert sorted(told.created) == sorted(created)


def _differing(values: tuple[str, str]) -> tuple[int, int] | None:
    before, after = (int(value, 16) for value in values)
    return None if before == after else (before, after)


def _hash(code: str) -> str:
    return "0x" + keccak(bytes.fromhex(code[2:])).hex()


def _frames(chain: World, receipt: Any) -> dict[str, Any]:
    found: dict[str, Any] = chain.rpc.call(
        "debug_traceTransaction", receipt["transactionHash"], {"tracer": "callTracer"}
    )
    return found


def _created(frame: dict[str, Any]) -> Iterator[str]:
    if frame.get("error"):
        return
    if frame["type"].startswith("CREATE") and frame.get("output", "0x") != "0x":
        yield to_checksum_address(frame["to"])
    for child in frame.get("calls") or ():
        yield from _created(child)
