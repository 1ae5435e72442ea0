"""The loop over a contract's bytes. It does itself what moves words, jumps, remembers and adds, for those are most
of what runs; `word_operations` and `frame_operations` do two families of others, and the rest is py-evm's own.

Same gas and same results as py-evm's loop, several times as fast: no method call per stack access, no text built for
each charge. Anything that runs too long is stopped by the run's budget, which raises out of the machine.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from eth.exceptions import FullStack, Halt, InsufficientStack, InvalidInstruction, InvalidJumpDestination, OutOfGas
from eth_hash.auto import keccak

from tools_app.simulation.pyevm.frame_operations import FRAME_OPERATIONS
from tools_app.simulation.pyevm.word_operations import WORD_OPERATIONS

_MASK: Final = (1 << 256) - 1
_STACK_LIMIT: Final = 1024
_COLD_SLOAD: Final = 2_100
_WARM_READ: Final = 100


class Program:
    """What is worth knowing of a contract's bytes: where one may jump, and the numbers it pushes as they come up."""

    __slots__ = ("code", "jumpdests", "pushes")

    def __init__(self, code: bytes) -> None:
        size = len(code)
        jumpdests = bytearray(size + 1)
        position = 0
        while position < size:
            op = code[position]
            if op == 0x5B:
                jumpdests[position] = 1
            elif 0x60 <= op <= 0x7F:
                position += op - 0x5F
            position += 1
        # Running off the end is STOP, also out of a PUSH that lacks bytes.
        self.code = code + bytes(34)
        self.jumpdests = bytes(jumpdests)
        self.pushes: dict[int, int] = {}


@lru_cache(maxsize=256)
def analyse(code: bytes) -> Program:
    """The program of `code`; the most used ones are kept."""
    return Program(code)


def memory_cost(size: int) -> int:
    """Gas of a memory of `size` bytes."""
    words = (size + 31) >> 5
    return 3 * words + words * words // 512


def grow(mem: bytearray, end: int, gas: int) -> int:
    """Extend the memory to hold `end` bytes, in words; returns the gas left. Raises OutOfGas before allocating."""
    have = len(mem)
    gas -= memory_cost(end) - memory_cost(have)
    if gas < 0:
        raise OutOfGas("memory")
    mem.extend(bytes(((end + 31) & ~31) - have))
    return gas


def run_code(  # noqa: C901 (a call for each of these opcodes costs more than the opcode)
    computation: Any,  # Any: py-evm leaves it untyped
) -> None:
    """Run the frame's code to its end. Raises VMError as py-evm does; the gas meter is right at every way out."""
    state, message = computation.state, computation.msg
    program = analyse(message.code)
    code, jumpdests, pushes = program.code, program.jumpdests, program.pushes
    last = len(jumpdests) - 1
    stack = computation._stack.values
    append, pop = stack.append, stack.pop
    meter = computation._gas_meter
    gas = meter.gas_remaining
    memory = computation._memory
    mem = memory._bytes
    data = message.data
    address = message.storage_address
    opcodes, words = computation.opcodes, _WORDS
    budget = state.budget
    pc = 0
    try:
        while True:
            op = code[pc]
            pc += 1
            if op >= 0x60:
                if op <= 0x7F:  # PUSH1..PUSH32
                    gas -= 3
                    if gas < 0:
                        raise OutOfGas("PUSH")
                    if len(stack) >= _STACK_LIMIT:
                        raise FullStack("stack limit")
                    value = pushes.get(pc)
                    if value is None:
                        value = pushes[pc] = int.from_bytes(code[pc : pc + op - 0x5F], "big")
                    append(value)
                    pc += op - 0x5F
                    continue
                if op <= 0x8F:  # DUP1..DUP16
                    gas -= 3
                    if gas < 0:
                        raise OutOfGas("DUP")
                    if len(stack) >= _STACK_LIMIT:
                        raise FullStack("stack limit")
                    append(stack[0x7F - op])
                    continue
                if op <= 0x9F:  # SWAP1..SWAP16
                    gas -= 3
                    if gas < 0:
                        raise OutOfGas("SWAP")
                    index = 0x8E - op
                    stack[-1], stack[index] = stack[index], stack[-1]
                    continue
            elif op >= 0x50:
                if op == 0x5B:  # JUMPDEST
                    gas -= 1
                    if gas < 0:
                        raise OutOfGas("JUMPDEST")
                    continue
                if op == 0x50:  # POP
                    gas -= 2
                    if gas < 0:
                        raise OutOfGas("POP")
                    pop()
                    continue
                if op == 0x57:  # JUMPI
                    gas -= 10
                    if gas < 0:
                        raise OutOfGas("JUMPI")
                    target = pop()
                    if pop():
                        if target > last or not jumpdests[target]:
                            raise InvalidJumpDestination(f"jump to {target}")
                        # A jump's place is the most that ran straight before it; a loop may be one long body.
                        budget.ticks -= 1 + (pc >> 8)
                        pc = target
                        if budget.ticks < 0:
                            budget.check()
                    continue
                if op == 0x56:  # JUMP
                    gas -= 8
                    if gas < 0:
                        raise OutOfGas("JUMP")
                    target = pop()
                    if target > last or not jumpdests[target]:
                        raise InvalidJumpDestination(f"jump to {target}")
                    budget.ticks -= 1 + (pc >> 8)
                    pc = target
                    if budget.ticks < 0:
                        budget.check()
                    continue
                if op == 0x52:  # MSTORE
                    gas -= 3
                    if gas < 0:
                        raise OutOfGas("MSTORE")
                    start = pop()
                    value = pop()
                    end = start + 32
                    if end > len(mem):
                        gas = grow(mem, end, gas)
                    mem[start:end] = value.to_bytes(32, "big")
                    continue
                if op == 0x51:  # MLOAD
                    gas -= 3
                    if gas < 0:
                        raise OutOfGas("MLOAD")
                    start = stack[-1]
                    end = start + 32
                    if end > len(mem):
                        gas = grow(mem, end, gas)
                    stack[-1] = int.from_bytes(mem[start:end], "big")
                    continue
                if op == 0x54:  # SLOAD
                    slot = stack[-1]
                    if (address, slot) in state.warm:
                        gas -= _WARM_READ
                    else:
                        gas -= _COLD_SLOAD
                    if gas < 0:
                        raise OutOfGas("SLOAD")
                    state.mark_storage_warm(address, slot)
                    stack[-1] = state.get_storage(address, slot)
                    continue
                if op == 0x5A:  # GAS
                    gas -= 2
                    if gas < 0:
                        raise OutOfGas("GAS")
                    if len(stack) >= _STACK_LIMIT:
                        raise FullStack("stack limit")
                    append(gas)
                    continue
                if op == 0x5F:  # PUSH0
                    gas -= 2
                    if gas < 0:
                        raise OutOfGas("PUSH0")
                    if len(stack) >= _STACK_LIMIT:
                        raise FullStack("stack limit")
                    append(0)
                    continue
                if op == 0x58:  # PC
                    gas -= 2
                    if gas < 0:
                        raise OutOfGas("PC")
                    if len(stack) >= _STACK_LIMIT:
                        raise FullStack("stack limit")
                    append(pc - 1)
                    continue
            elif op >= 0x20:
                if op == 0x35:  # CALLDATALOAD
                    gas -= 3
                    if gas < 0:
                        raise OutOfGas("CALLDATALOAD")
                    start = stack[-1]
                    piece = data[start : start + 32]
                    if len(piece) < 32:
                        piece = piece.ljust(32, b"\0")
                    stack[-1] = int.from_bytes(piece, "big")
                    continue
                if op in FRAME_OPERATIONS:
                    gas -= 2
                    if gas < 0:
                        raise OutOfGas("context")
                    if len(stack) >= _STACK_LIMIT:
                        raise FullStack("stack limit")
                    append(FRAME_OPERATIONS[op](computation))
                    continue
                if op == 0x20:  # KECCAK256
                    start = pop()
                    size = stack[-1]
                    gas -= 30 + 6 * ((size + 31) >> 5)
                    if gas < 0:
                        raise OutOfGas("KECCAK256")
                    if size:
                        end = start + size
                        if end > len(mem):
                            gas = grow(mem, end, gas)
                        stack[-1] = int.from_bytes(keccak(bytes(mem[start:end])), "big")
                    else:
                        stack[-1] = _EMPTY_HASH
                    continue
            elif op == 0x01:  # ADD
                gas -= 3
                if gas < 0:
                    raise OutOfGas("ADD")
                value = pop()
                stack[-1] = (value + stack[-1]) & _MASK
                continue
            elif op == 0x15:  # ISZERO
                gas -= 3
                if gas < 0:
                    raise OutOfGas("ISZERO")
                stack[-1] = 0 if stack[-1] else 1
                continue
            elif op == 0x16:  # AND
                gas -= 3
                if gas < 0:
                    raise OutOfGas("AND")
                value = pop()
                stack[-1] &= value
                continue
            elif op == 0x14:  # EQ
                gas -= 3
                if gas < 0:
                    raise OutOfGas("EQ")
                value = pop()
                stack[-1] = 1 if value == stack[-1] else 0
                continue
            elif op == 0x03:  # SUB
                gas -= 3
                if gas < 0:
                    raise OutOfGas("SUB")
                value = pop()
                stack[-1] = (value - stack[-1]) & _MASK
                continue
            elif op == 0x00:  # STOP
                meter.gas_remaining = gas
                return
            elif word := words[op]:
                gas -= word[0]
                if gas < 0:
                    raise OutOfGas("arithmetic")
                word[1](stack)
                continue
            function = opcodes.get(op)
            if function is None:
                raise InvalidInstruction(f"opcode 0x{op:02x}")
            meter.gas_remaining = gas
            function(computation)
            gas = meter.gas_remaining
            mem = memory._bytes
            if stack and type(stack[-1]) is bytes:
                stack[-1] = int.from_bytes(stack[-1], "big")
    except IndexError:
        raise InsufficientStack("stack underflow") from None
    except Halt:
        return


# By opcode, None where the loop or py-evm does it.
_WORDS: Final = tuple(WORD_OPERATIONS.get(op) for op in range(0x20))
_EMPTY_HASH: Final = int.from_bytes(keccak(b""), "big")
