"""Py-evm's call frames with our loop in the middle, and two of its habits put right.

A frame is the transaction's own when it has no parent; py-evm asks whether its sender is the origin instead, which an
account with delegated code (EIP-7702) also is further down, and would pay for init code twice. A contract about to be
created has no storage, so nothing of it is asked of a node.
"""

from __future__ import annotations

from typing import Any, Final

from eth.exceptions import StackDepthLimit, VMError
from eth.vm.forks.byzantium.opcodes import ensure_no_static
from eth.vm.forks.cancun.computation import CancunComputation
from eth.vm.forks.cancun.logic import selfdestruct_eip6780
from eth.vm.forks.prague.computation import PragueComputation
from eth.vm.forks.shanghai.computation import ShanghaiComputation
from eth.vm.opcode import as_opcode

from tools_app.simulation.pyevm.interpreter import run_code
from tools_app.simulation.pyevm.precompiles import estimate_ms, with_point_evaluation

_SELFDESTRUCT: Final = 0xFF
_DEPTH_LIMIT: Final = 1024
# What only the block that mines a transaction decides; contracts see the parent's, or what nobody can foretell.
_GUESSED: Final = {0x3A: "gas price", 0x41: "miner", 0x44: "randomness", 0x48: "base fee", 0x4A: "blob base fee"}


class Machine:
    """Mixed into py-evm's computation classes."""

    @classmethod
    def apply_computation(
        cls,
        state: Any,  # Any: py-evm leaves it untyped
        message: Any,  # Any: py-evm leaves it untyped
        transaction_context: Any,  # Any: py-evm leaves it untyped
        parent_computation: Any = None,  # Any: py-evm leaves it untyped
    ) -> Any:  # Any: py-evm leaves it untyped
        state.budget.spend_frame()
        computation: Any  # Any: py-evm leaves it untyped
        computation = cls(state, message, transaction_context)  # type: ignore[call-arg]
        try:
            if parent_computation is None:
                computation.contracts_created = []
                if message.is_create:
                    cls.consume_initcode_gas_cost(computation)  # type: ignore[attr-defined]
            else:
                computation.contracts_created = parent_computation.contracts_created
            if message.is_create:
                computation.contracts_created.append(message.storage_address)
            else:
                state.ran.add((message.storage_address, message.code_address))
            precompile = computation.precompiles.get(message.code_address)
            if precompile is None:
                run_code(computation)
            elif not message.is_delegation:
                gas = computation._gas_meter.gas_remaining
                ms = estimate_ms(message.code_address, message.data, gas)
                state.budget.check_ahead(ms)
                precompile(computation)
                state.budget.check_slow(ms)
        except VMError as error:
            computation._error = error
            if computation.should_burn_gas:
                computation._gas_meter.gas_remaining = 0
            if computation.should_erase_return_data:
                computation.return_data = b""
        return computation

    @classmethod
    def apply_message(
        cls,
        state: Any,  # Any: py-evm leaves it untyped
        message: Any,  # Any: py-evm leaves it untyped
        transaction_context: Any,  # Any: py-evm leaves it untyped
        parent_computation: Any = None,  # Any: py-evm leaves it untyped
    ) -> Any:  # Any: py-evm leaves it untyped
        snapshot = state.snapshot()
        if message.depth > _DEPTH_LIMIT:
            raise StackDepthLimit("call depth")
        value = message.value
        if value and message.should_transfer_value:
            state.delta_balance(message.sender, -value)
            state.delta_balance(message.storage_address, value)
        computation = cls.apply_computation(state, message, transaction_context, parent_computation)
        if computation.is_error:
            state.revert(snapshot)
        return computation

    @classmethod
    def apply_create_message(
        cls,
        state: Any,  # Any: py-evm leaves it untyped
        message: Any,  # Any: py-evm leaves it untyped
        transaction_context: Any,  # Any: py-evm leaves it untyped
        parent_computation: Any = None,  # Any: py-evm leaves it untyped
    ) -> Any:  # Any: py-evm leaves it untyped
        state.delete_storage(message.storage_address)
        return super().apply_create_message(state, message, transaction_context, parent_computation)  # type: ignore[misc]


def _noting(opcode: Any, name: str) -> object:  # Any: py-evm leaves it untyped
    def run(computation: Any) -> None:  # Any: py-evm leaves it untyped
        computation.state.guessed.add((name, bytes(computation.msg.storage_address)))
        opcode(computation)

    return run


def _adapt(opcodes: dict[int, Any]) -> dict[int, Any]:  # Any: py-evm leaves it untyped
    """The same table with SELFDESTRUCT as it is, not wrapped in a Python warning about its future, and with a note of
    every question that no simulation knows the answer to.
    """
    plain = as_opcode(logic_fn=ensure_no_static(selfdestruct_eip6780), mnemonic="SELFDESTRUCT", gas_cost=5_000)
    noting = {op: _noting(opcodes[op], name) for op, name in _GUESSED.items()}
    return {**opcodes, **noting, _SELFDESTRUCT: plain}


class ShanghaiMachine(Machine, ShanghaiComputation):
    """Frames under Shanghai's rules."""


class CancunMachine(Machine, CancunComputation):
    """Frames under Cancun's rules."""

    opcodes = _adapt(CancunComputation.opcodes)
    _precompiles = with_point_evaluation(CancunComputation.get_precompiles())


class PragueMachine(Machine, PragueComputation):
    """Frames under Prague's rules."""

    opcodes = _adapt(PragueComputation.opcodes)
    _precompiles = with_point_evaluation(PragueComputation.get_precompiles())
