"""Runs a generated case on our machine and tells everything that came of it, as JSON."""

from __future__ import annotations

from typing import Any

from tools_app.chain.node_errors import GasLimitRefused
from tools_app.simulation.pyevm.base import Base, EvmAccount
from tools_app.simulation.pyevm.budget import Budget
from tools_app.simulation.pyevm.memory_source import MemorySource
from tools_app.simulation.pyevm.state import STATES, BlockEnv
from tools_app.simulation.pyevm.transaction import Transaction, execute, make_authorization


def run_case(case: dict[str, Any]) -> dict[str, Any]:
    """Success, gas, output, logs and the whole state afterwards; `refused` alone for what may not be in a block."""
    state, transaction = open_case(case)
    try:
        done = execute(state, transaction, has_floor=case["fork"] == "prague")
    except GasLimitRefused:
        return {"refused": True}
    return {
        "succeeded": done.succeeded,
        "gas_used": done.gas_used,
        "output": done.output.hex() if transaction.to else "",
        "logs": [[a.hex(), [f"{topic:064x}" for topic in topics], data.hex()] for a, topics, data in done.logs],
        "state": read_state(state),
    }


def open_case(case: dict[str, Any]) -> tuple[Any, Transaction]:
    """The state a case begins with, and its transaction."""
    base = Base()
    for text, entry in case["accounts"].items():
        address = bytes.fromhex(text)
        base.accounts[address] = EvmAccount(entry["nonce"], entry["balance"], bytes.fromhex(entry["code"]))
        base.slots |= {(address, int(slot)): value for slot, value in entry["storage"].items()}
    told = case["env"]
    env = BlockEnv(
        chain_id=told["chain_id"],
        number=told["number"],
        timestamp=told["timestamp"],
        coinbase=bytes.fromhex(told["coinbase"]),
        prevrandao=bytes.fromhex(told["prevrandao"]),
        gas_limit=told["gas_limit"],
        base_fee=0,
        excess_blob_gas=told["excess_blob_gas"],
        parent_hash=block_hash(told["number"] - 1),
    )
    state = STATES[case["fork"]](base=base, source=MemorySource(block_hash=block_hash), env=env, budget=Budget(None))
    tx = case["transaction"]
    transaction = Transaction(
        sender=bytes.fromhex(tx["sender"]),
        to=bytes.fromhex(tx["to"]),
        value=tx["value"],
        data=bytes.fromhex(tx["data"]),
        gas=tx["gas"],
        access_list=[(bytes.fromhex(address), slots) for address, slots in tx["access_list"]],
        authorization_list=[_read_authorization(told) for told in tx["authorizations"]],
    )
    return state, transaction


def _read_authorization(told: dict[str, Any]) -> Any:
    return make_authorization(**{**told, "address": bytes.fromhex(told["address"])})


def block_hash(number: int) -> bytes:
    """The made-up hash of an earlier block, the same for every interpreter."""
    return number.to_bytes(32, "big")


def read_state(state: Any) -> dict[str, Any]:
    """Every account that is not empty, with its storage."""
    addresses = {*state.base.accounts, *state.nonces, *state.balances, *state.codes}
    slots: dict[bytes, dict[str, int]] = {}
    for address, slot in {*state.base.slots, *state.storage}:
        value = state.get_storage(address, slot)
        if value:
            slots.setdefault(address, {})[str(slot)] = value
    shown = {}
    for address in sorted(addresses):
        nonce, balance, code = state.get_nonce(address), state.get_balance(address), state.get_code(address)
        if nonce or balance or code:
            shown[address.hex()] = {
                "nonce": nonce,
                "balance": balance,
                "code": code.hex(),
                "storage": dict(sorted(slots.get(address, {}).items())),
            }
    return shown
