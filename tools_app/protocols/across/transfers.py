"""One transfer: what its name says of it, and under which hash the other chain keeps what became of it.

A golem pays in for itself: it is depositor and recipient, names no relayer that alone may pay out, and sends no
message. So a transfer's name says all of it, and no log of the chain that it left is read again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from eth_utils.crypto import keccak

from tools_app.chain.abi import checksum, encode_constructor
from tools_app.chain.abi_records import AbiEvent
from tools_app.protocols.across.addresses import NAME, pool_on
from tools_app.toolkit.answer import Told
from tools_app.toolkit.positions import REQUEST_KIND, PositionRef
from tools_app.toolkit.views import LogEntry

DEPOSIT: Final = (
    "function deposit(bytes32 depositor, bytes32 recipient, bytes32 inputToken, bytes32 outputToken,"
    " uint256 inputAmount, uint256 outputAmount, uint256 destinationChainId, bytes32 exclusiveRelayer,"
    " uint32 quoteTimestamp, uint32 fillDeadline, uint32 exclusivityParameter, bytes message)"
)
DEPOSITED: Final = (
    "event FundsDeposited(bytes32 inputToken, bytes32 outputToken, uint256 inputAmount, uint256 outputAmount,"
    " uint256 indexed destinationChainId, uint256 indexed depositId, uint32 quoteTimestamp, uint32 fillDeadline,"
    " uint32 exclusivityDeadline, bytes32 indexed depositor, bytes32 recipient, bytes32 exclusiveRelayer,"
    " bytes message)"
)
FILLED: Final = (
    "event FilledRelay(bytes32 inputToken, bytes32 outputToken, uint256 inputAmount, uint256 outputAmount,"
    " uint256 repaymentChainId, uint256 indexed originChainId, uint256 indexed depositId, uint32 fillDeadline,"
    " uint32 exclusivityDeadline, bytes32 exclusiveRelayer, bytes32 indexed relayer, bytes32 depositor,"
    " bytes32 recipient, bytes32 messageHash,"
    " (bytes32 updatedRecipient, bytes32 updatedMessageHash, uint256 updatedOutputAmount, uint8 fillType) info)"
)


@dataclass(frozen=True, slots=True)
class Deposited:
    """What was paid in, and what is to be paid out for it; addresses as words."""

    input_token: bytes
    output_token: bytes
    input_amount: int
    output_amount: int
    destination_chain_id: int
    deposit_id: int
    quote_timestamp: int
    fill_deadline: int
    exclusivity_deadline: int
    depositor: bytes
    recipient: bytes
    exclusive_relayer: bytes
    message: bytes


@dataclass(frozen=True, slots=True)
class RelayFilled:
    """What was paid out for a deposit; addresses as words."""

    input_token: bytes
    output_token: bytes
    input_amount: int
    output_amount: int
    deposit_id: int


_DEPOSITED: Final = AbiEvent(DEPOSITED, Deposited)
FILLS: Final = AbiEvent(FILLED, RelayFilled)

STATUS: Final = "function fillStatuses(bytes32) view returns (uint256)"
PAID: Final = 2
"""The status of a transfer that was paid out; 0 is none yet, 1 that its own pool is asked to pay it."""
NOBODY: Final = bytes(32)

_RELAY: Final = (
    "constructor((bytes32,bytes32,bytes32,bytes32,bytes32,uint256,uint256,uint256,uint256,uint32,uint32,bytes),uint256)"
)


class Transfer(Told):
    """Base units `amount` of `token` left `origin` as its `number`; at least `least` of `arrives` comes until the Unix
    second `until`.
    """

    origin: int
    number: int
    token: str
    arrives: str
    amount: int
    least: int
    until: int

    @property
    def name(self) -> str:
        """All of it in one word."""
        parts = (self.origin, self.number, self.token, self.arrives, self.amount, self.least, self.until)
        return "-".join(map(str, parts))

    @classmethod
    def parse(cls, name: str) -> Transfer:
        """The reverse of `name`. Raises ValueError."""
        origin, number, token, arrives, amount, least, until = name.split("-")
        return cls(int(origin), int(number), token, arrives, int(amount), int(least), int(until))

    @property
    def late_words(self) -> str:
        """What there is to say once its time is over and nobody paid it out."""
        return f"no relayer paid it in its time; Across gives it back on chain {self.origin}, mostly within a day"

    def ref(self, chain_id: int) -> PositionRef:
        """The position that it is on the chain where it is expected."""
        return PositionRef(NAME, REQUEST_KIND, chain_id, self.name)

    def hash(self, account: str, chain_id: int) -> bytes:
        """Under what the pool of the chain where it is expected keeps what became of it."""
        whose, nobody = to_word(account), NOBODY
        relay = (
            *(whose, whose, nobody, to_word(self.token), to_word(self.arrives)),
            *(self.amount, self.least, self.origin, self.number, self.until, 0, b""),
        )
        return bytes(keccak(encode_constructor(_RELAY, relay, chain_id)))


def to_word(address: str) -> bytes:
    """An address as the pools write it: 32 bytes, so that they fit chains of another kind."""
    return bytes(12) + bytes.fromhex(address.removeprefix("0x"))


def to_address(word: bytes) -> str | None:
    """The address in a word; None where it is that of a chain of another kind."""
    return checksum("0x" + word[12:].hex()) if len(word) == 32 and not any(word[:12]) else None


def read_deposit(log: LogEntry, chain_id: int) -> Deposited | None:
    """What the pool of a chain wrote down of something paid in; None for any other log."""
    return _DEPOSITED.read(log) if log.address == pool_on(chain_id) else None


def read_own(log: LogEntry, account: str, chain_id: int) -> tuple[int, Transfer] | None:
    """Where a transfer goes that the account made for itself, and the transfer; None for any other log."""
    told = read_deposit(log, chain_id)
    if told is None or told.depositor != to_word(account) or told.recipient != to_word(account):
        return None
    token, arrives = to_address(told.input_token), to_address(told.output_token)
    is_plain = told.exclusive_relayer == NOBODY and not told.exclusivity_deadline and not told.message
    if token is None or arrives is None or not is_plain:
        return None
    transfer = Transfer(
        origin=chain_id,
        number=told.deposit_id,
        token=token,
        arrives=arrives,
        amount=told.input_amount,
        least=told.output_amount,
        until=told.fill_deadline,
    )
    return told.destination_chain_id, transfer
