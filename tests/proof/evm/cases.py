"""Small programs for the EVM, made from a number: the same number always makes the same case.

Every fourth case aims at one opcode with awkward operands, every eighth at a precompile, every sixteenth at one with an
input that means something; the others are programs of many opcodes with calls into each other, creations, loops and
too little gas. Under Prague some carry authorizations (EIP-7702). A case is JSON, so any interpreter can read it:
amounts are integers, bytes are hex without 0x.
"""

from __future__ import annotations

import random
from typing import Any, Final

from tests.proof.evm.authorizations import authority_address, make_authorizations
from tests.proof.evm.inputs import make_input

SENDER: Final = "a0" * 20
COINBASE: Final = "c0" * 20
CONTRACTS: Final = tuple(f"{0x10 + n:02x}" * 20 for n in range(4))
EMPTY_ONE: Final = "e0" * 20
PRECOMPILES: Final = tuple(f"{n:040x}" for n in range(1, 18))
AUTHORITIES: Final = tuple(authority_address(number) for number in range(3))
_WORD: Final = 1 << 256

# opcode: (taken from the stack, put on it)
_PLAIN: Final[dict[int, tuple[int, int]]] = {
    **dict.fromkeys((1, 2, 3, 4, 5, 6, 7, 10, 11, *range(16, 21), 22, 23, 24, 26, 27, 28, 29), (2, 1)),
    **dict.fromkeys((8, 9), (3, 1)),
    **dict.fromkeys((21, 25), (1, 1)),
    **dict.fromkeys((48, 50, 51, 52, 54, 56, 58, 61, 65, 66, 67, 68, 69, 70, 71, 72, 74, 88, 89, 90, 95), (0, 1)),
}
_AWKWARD: Final = (
    0,
    1,
    2,
    3,
    7,
    31,
    32,
    33,
    255,
    256,
    257,
    2**16,
    2**31,
    2**63,
    2**64,
    2**127,
    2**128 - 1,
    2**128,
    2**160 - 1,
    2**160,
    2**255 - 1,
    2**255,
    2**255 + 1,
    2**256 - 2,
    2**256 - 1,
    2**256 - 256,
)


class _Program:
    """Bytes under construction, with the stack's height known so that most programs run far."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.code = bytearray()
        self.height = 0

    def push(self, value: int) -> None:
        value %= _WORD
        size = max(1, (value.bit_length() + 7) // 8)
        if self.rng.random() < 0.05:
            size = self.rng.randint(size, 32)
        self.code += bytes([0x5F + size]) + value.to_bytes(size, "big")
        self.height += 1

    def op(self, op: int, taken: int, put: int) -> None:
        self.code.append(op)
        self.height += put - taken

    def word(self) -> int:
        kind = self.rng.random()
        if kind < 0.5:
            return self.rng.choice(_AWKWARD)
        if kind < 0.75:
            return self.rng.randrange(0, 300)
        return self.rng.randrange(_WORD) >> self.rng.choice((0, 0, 64, 128, 200))

    def offset(self) -> int:
        return self.rng.choice((0, 0, 1, 31, 32, 33, 64, 96, 127, 200, 500, 1_000, self.rng.randrange(4_000)))

    def size(self) -> int:
        return self.rng.choice((0, 1, 4, 31, 32, 33, 64, 100, 128, 192, 300))

    def target(self) -> int:
        choices = (
            *CONTRACTS,
            *CONTRACTS,
            EMPTY_ONE,
            SENDER,
            COINBASE,
            "ff" * 20,
            *self.rng.sample(PRECOMPILES, 2),
            self.rng.choice(AUTHORITIES),
        )
        return int(self.rng.choice(choices), 16)


def make_case(number: int, *, fork: str = "prague") -> dict[str, Any]:
    """The case of a number: fork, block, accounts, transaction."""
    rng = random.Random(f"evm {number}")
    accounts = {
        address: {
            "nonce": rng.choice((1, 1, 5)),
            "balance": rng.choice((0, 1, 10**18)),
            "code": _make_code(rng, number).hex(),
            "storage": {str(slot): _storage_word(rng) for slot in range(4) if rng.random() < 0.5},
        }
        for address in CONTRACTS
    }
    if fork == "prague" and rng.random() < 0.2:
        pointed = rng.choice((*CONTRACTS, EMPTY_ONE, PRECOMPILES[3]))
        accounts[CONTRACTS[3]]["code"] = "ef0100" + pointed
    accounts[SENDER] = {"nonce": rng.choice((0, 7)), "balance": 10**20, "code": "", "storage": {}}
    accounts[COINBASE] = {"nonce": 0, "balance": 5, "code": "", "storage": {}}
    creates = rng.random() < 0.08
    data = rng.randbytes(rng.choice((0, 4, 32, 68, 100, 400))) if rng.random() < 0.7 else bytes(rng.randrange(300))
    transaction = {
        "sender": SENDER,
        "to": "" if creates else rng.choice((CONTRACTS[0], CONTRACTS[0], CONTRACTS[0], rng.choice(CONTRACTS))),
        "value": rng.choice((0, 0, 0, 1, 10**15)),
        "data": (_make_init_code(rng) if creates else data).hex(),
        "gas": rng.choice((60_000, 100_000, 200_000, 500_000, 1_000_000, 1_000_000, rng.randrange(55_000, 400_000))),
        "access_list": [[rng.choice(CONTRACTS), [0, 1]]] if rng.random() < 0.15 else [],
        "authorizations": [],
    }
    if number % 16 == 7:
        _aim_at_precompile(rng, accounts, transaction)
    elif fork == "prague" and not creates and rng.random() < 0.15:
        transaction["authorizations"] = make_authorizations(rng, accounts, chain_id=1, targets=(*CONTRACTS, EMPTY_ONE))
        transaction["to"] = rng.choice((transaction["to"], rng.choice(AUTHORITIES)))
    env = {
        "chain_id": 1,
        "number": 1_000,
        "timestamp": 1_700_000_000,
        "coinbase": COINBASE,
        "prevrandao": "7d" * 32,
        "gas_limit": 30_000_000,
        "excess_blob_gas": 0,
    }
    return {"number": number, "fork": fork, "env": env, "accounts": accounts, "transaction": transaction}


def _aim_at_precompile(rng: random.Random, accounts: dict[str, Any], transaction: dict[str, Any]) -> None:
    """The first contract hands its calldata to one precompile and returns whether it worked, and its answer."""
    precompile = rng.randrange(1, len(PRECOMPILES) + 1)
    accounts[CONTRACTS[0]]["code"] = f"365f5f376101206020365f60{precompile:02x}5afa5f526101405ff3"
    transaction |= {
        "to": CONTRACTS[0],
        "value": 0,
        "data": make_input(rng, precompile).hex(),
        "gas": rng.choice((1_000_000, 1_000_000, 1_000_000, rng.randrange(60_000, 300_000))),
    }


def _storage_word(rng: random.Random) -> int:
    return rng.choice((1, 2, 2**255, _WORD - 1, rng.randrange(1, _WORD)))


def _make_code(rng: random.Random, number: int) -> bytes:
    program = _Program(rng)
    if number % 8 == 3:
        _call_precompile(program)
    elif number % 4 == 1:
        for _ in range(3):
            _one_opcode(program)
    else:
        for _ in range(rng.randrange(4, 30)):
            _step(program)
    _finish(program)
    return bytes(program.code)


def _one_opcode(program: _Program) -> None:
    op = program.rng.choice(list(_PLAIN))
    taken, put = _PLAIN[op]
    for _ in range(taken):
        program.push(program.word())
    program.op(op, taken, put)
    program.push(program.rng.randrange(0, 6))
    program.op(0x55, 2, 0)


def _call_precompile(program: _Program) -> None:
    rng = program.rng
    for position in range(0, 224, 32):
        program.push(rng.choice((0, 1, 2, 27, 28, 32, 64, rng.randrange(_WORD))))
        program.push(position)
        program.op(0x52, 2, 0)
    for value in (64, 256, rng.choice((0, 1, 32, 64, 96, 128, 192, 213, 224)), 0):
        program.push(value)
    if rng.random() < 0.5:
        program.push(rng.choice((0, 0, 1)))
        program.push(int(rng.choice(PRECOMPILES), 16))
        program.push(rng.choice((700, 3_000, 10**5, 10**6)))
        program.op(0xF1, 7, 1)
    else:
        program.push(int(rng.choice(PRECOMPILES), 16))
        program.push(rng.choice((700, 3_000, 10**5, 10**6)))
        program.op(rng.choice((0xF4, 0xFA)), 6, 1)


def _step(program: _Program) -> None:  # noqa: C901 (one branch for each kind of step)
    rng = program.rng
    kind = rng.random()
    if kind < 0.25:
        op = rng.choice(list(_PLAIN))
        taken, put = _PLAIN[op]
        while program.height < taken or rng.random() < 0.3:
            program.push(program.word())
        program.op(op, taken, put)
    elif kind < 0.37:
        if rng.random() < 0.6:
            program.push(program.word())
            program.push(rng.randrange(0, 5))
            program.op(rng.choice((0x55, 0x55, 0x5D)), 2, 0)
        else:
            program.push(rng.randrange(0, 5))
            program.op(rng.choice((0x54, 0x54, 0x5C)), 1, 1)
    elif kind < 0.49:
        if rng.random() < 0.6:
            program.push(program.word())
            program.push(program.offset())
            program.op(rng.choice((0x52, 0x53)), 2, 0)
        else:
            program.push(program.offset())
            program.op(0x51, 1, 1)
    elif kind < 0.56:
        program.push(program.size())
        program.push(program.offset())
        program.op(0x20, 2, 1)
    elif kind < 0.64:
        program.push(program.size())
        program.push(program.offset())
        program.push(program.offset())
        program.op(rng.choice((0x37, 0x39, 0x3E, 0x5E)), 3, 0)
    elif kind < 0.68:
        if rng.random() < 0.5:
            program.push(program.target())
            program.op(rng.choice((0x31, 0x3B, 0x3F)), 1, 1)
        else:
            program.push(program.size())
            program.push(program.offset())
            program.push(program.offset())
            program.push(program.target())
            program.op(0x3C, 4, 0)
    elif kind < 0.72:
        topics = rng.randrange(0, 5)
        for _ in range(topics):
            program.push(program.word())
        program.push(program.size())
        program.push(program.offset())
        program.op(0xA0 + topics, 2 + topics, 0)
    elif kind < 0.84:
        _call(program)
    elif kind < 0.88:
        _create(program)
    elif kind < 0.92:
        _loop(program)
    elif kind < 0.97:
        depth = rng.randrange(1, 17)
        swap = rng.random() < 0.5
        while program.height < depth + swap and rng.random() < 0.98:
            program.push(program.word())
        program.op((0x8F if swap else 0x7F) + depth, 0, 0 if swap else 1)
    elif kind < 0.98:
        program.push(program.word())
        program.op(rng.choice((0x35, 0x40, 0x49)), 1, 1)
    elif kind < 0.99:
        program.push(program.target())
        program.op(0xFF, 1, 0)
    else:
        program.code.append(rng.randrange(256))


def _call(program: _Program) -> None:
    rng = program.rng
    op = rng.choice((0xF1, 0xF1, 0xF2, 0xF4, 0xFA))
    for value in (program.size(), program.offset(), program.size(), program.offset()):
        program.push(value)
    taken = 6
    if op in (0xF1, 0xF2):
        program.push(rng.choice((0, 0, 0, 1, 10**14, 10**30)))
        taken = 7
    program.push(program.target())
    if rng.random() < 0.4:
        program.op(0x5A, 0, 1)
    else:
        program.push(rng.choice((0, 100, 2_300, 5_000, 30_000, 100_000, _WORD - 1)))
    program.op(op, taken, 1)


def _make_init_code(rng: random.Random) -> bytes:
    program = _Program(rng)
    for _ in range(rng.randrange(0, 5)):
        _step(program)
    runtime = rng.choice((b"\x00", b"\x60\x00\x60\x00\xfd", b"\xef\x00", b"\x33\xff", b"\x60\x01\x60\x00\x55"))
    program.push(int.from_bytes(runtime.ljust(32, b"\0"), "big"))
    program.push(0)
    program.op(0x52, 2, 0)
    program.push(rng.choice((0, len(runtime), 32, 40)))
    program.push(0)
    program.op(rng.choice((0xF3, 0xF3, 0xF3, 0xFD)), 2, 0)
    return bytes(program.code)


def _create(program: _Program) -> None:
    rng = program.rng
    code = _make_init_code(rng)[:96] if rng.random() < 0.8 else rng.randbytes(20)
    for position in range(0, len(code), 32):
        program.push(int.from_bytes(code[position : position + 32].ljust(32, b"\0"), "big"))
        program.push(position)
        program.op(0x52, 2, 0)
    two = rng.random() < 0.5
    if two:
        program.push(rng.choice((0, 1)))
    program.push(len(code))
    program.push(0)
    program.push(rng.choice((0, 0, 0, 1, 10**30)))
    program.op(0xF5 if two else 0xF0, 4 if two else 3, 1)


def _loop(program: _Program) -> None:
    program.push(program.rng.randrange(1, 6))
    start = len(program.code)
    program.op(0x5B, 0, 0)
    for _ in range(program.rng.randrange(1, 3)):
        program.push(program.word())
        program.push(program.word())
        program.op(program.rng.choice((1, 2, 3, 4, 0x0A, 0x16)), 2, 1)
        program.push(program.rng.randrange(0, 3))
        program.op(0x55, 2, 0)
    program.push(1)
    program.op(0x90, 0, 0)
    program.op(0x03, 2, 1)
    program.op(0x80, 0, 1)
    program.push(start)
    program.op(0x57, 2, 0)


def _finish(program: _Program) -> None:
    rng = program.rng
    if program.height > 0 and rng.random() < 0.7:
        program.push(0)
        program.op(0x52, 2, 0)
    if rng.random() < 0.1:
        return
    program.push(program.size())
    program.push(program.offset())
    program.op(rng.choice((0xF3, 0xF3, 0xF3, 0xFD)), 2, 0)
