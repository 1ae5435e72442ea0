"""Tries a token as traders do: bought from a pool, sold to it in part and whole, now, in a day and in thirty days.

It runs on the node in one simulated chain of three blocks, which nobody mines: the pool hands the token to made-up
accounts, and an address that they allowed takes it back into the pool, as a router does. So it is the token that is
tried, whatever kind of pool it is. What moved is measured by balances. What an owner of the token may change later no
trial shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from secrets import token_bytes
from typing import Any, Final

from tools_app.chain.abi import checksum, encode_call
from tools_app.chain.chains import get_pool
from tools_app.chain.node_errors import RpcNonsense
from tools_app.core.clock import Deadline
from tools_app.core.units import BPS
from tools_app.simulation.engine import CallOutcome
from tools_app.simulation.rpc import to_outcome
from tools_app.standards import erc20
from tools_app.toolkit.views import BlockRef

SPANS: Final = (0, 86_400, 30 * 86_400)
"""Seconds after the block at which a sale is tried."""
PART: Final = 100
"""A hundredth of what was bought is sold first."""
_GAS: Final = 10_000_000
_APPROVE: Final = "function approve(address spender, uint256 amount)"
_TRANSFER: Final = "function transfer(address to, uint256 amount)"
_TAKE: Final = "function transferFrom(address owner, address to, uint256 amount)"
_EVERYTHING: Final = 2**256 - 1


@dataclass(frozen=True, slots=True)
class Sale:
    """Selling `span` seconds after the block. A tax is what of the amount did not arrive in the pool, in basis points;
    None where the sale failed.
    """

    span: int
    part_tax_bps: int | None
    whole_tax_bps: int | None

    @property
    def succeeded(self) -> bool:
        """Whether a part and the rest could be sold."""
        return self.part_tax_bps is not None and self.whole_tax_bps is not None


@dataclass(frozen=True, slots=True)
class TokenTrial:
    """What trading the token does. `buy_tax_bps` is None where it cannot even be bought; `passes_on` is whether who
    bought it can send it to somebody else.
    """

    amount: int
    buy_tax_bps: int | None
    sales: tuple[Sale, ...]
    passes_on: bool

    @property
    def is_trap(self) -> bool:
        """Whether it can be bought and not be sold whole, at one of the times that were tried."""
        return self.buy_tax_bps is not None and not all(sale.succeeded for sale in self.sales)

    @property
    def sell_tax_bps(self) -> int | None:
        """The worst tax of a sale; None where one failed."""
        taxes = [tax for sale in self.sales for tax in (sale.part_tax_bps, sale.whole_tax_bps)]
        return None if None in taxes else max((tax for tax in taxes if tax is not None), default=None)


@dataclass(frozen=True, slots=True)
class _Step:
    sender: str
    data: bytes


def try_token(
    *, chain_id: int, token: str, pool: str, amount: int, block: BlockRef, block_seconds: int, deadline: Deadline
) -> TokenTrial:
    """Try `amount` base units of what `pool` holds. Two round trips.

    Raises the node's errors, also where it cannot simulate: then nothing is known.
    """
    spender = _make_address()
    holders = [_make_address() for _ in SPANS]
    sender, receiver = _make_address(), _make_address()
    asked = _Asked(chain_id, token, block, block_seconds, deadline)
    buys = [_Step(pool, encode_call(_TRANSFER, each, amount)) for each in (*holders, sender)]
    (opening,) = asked.run([[*buys, *(_balance_of(each) for each in (*holders, sender))]])
    bought = [_has_moved(each) for each in opening[: len(buys)]]
    got = [_number(each) for each in opening[len(buys) :]]
    if not all(bought) or not all(got):
        return TokenTrial(amount, None, (), passes_on=False)
    blocks: list[list[_Step]] = []
    for number, holder in enumerate(holders):
        part = max(1, got[number] // PART)
        steps = [
            _Step(holder, encode_call(_APPROVE, spender, _EVERYTHING)),
            _balance_of(pool),
            _Step(spender, encode_call(_TAKE, holder, pool, part)),
            _balance_of(pool),
            _Step(spender, encode_call(_TAKE, holder, pool, got[number] - part)),
            _balance_of(pool),
        ]
        blocks.append(steps)
    blocks[0] = [*buys, *blocks[0], _Step(sender, encode_call(_TRANSFER, receiver, got[-1])), _balance_of(receiver)]
    first, *later = asked.run(blocks)
    own, passing = first[len(buys) : -2], first[-2:]
    sales = tuple(
        _read_sale(span, rows, got[number])
        for number, (span, rows) in enumerate(zip(SPANS, (own, *later), strict=True))
    )
    return TokenTrial(
        amount,
        _tax_of(amount, min(got)),
        sales,
        passes_on=_has_moved(passing[0]) and _number(passing[1]) > 0,
    )


@dataclass(frozen=True, slots=True)
class _Asked:
    """Where steps are run: on the state after a block, each list in a block of its own, a span after the one before."""

    chain_id: int
    token: str
    block: BlockRef
    block_seconds: int
    deadline: Deadline

    def run(self, blocks: Sequence[Sequence[_Step]]) -> list[list[CallOutcome]]:
        """What each step did. Raises the node's errors, RpcNonsense."""
        asked = [
            {
                "blockOverrides": {
                    "number": hex(self.block.number + 1 + number),
                    "time": hex(self.block.timestamp + self.block_seconds + SPANS[number]),
                    "baseFeePerGas": "0x0",
                },
                "calls": [
                    {"from": each.sender, "to": self.token, "data": "0x" + each.data.hex(), "gas": hex(_GAS)}
                    for each in steps
                ],
            }
            for number, steps in enumerate(blocks)
        ]
        payload = {"blockStateCalls": asked, "validation": False, "traceTransfers": False}
        answer = get_pool(self.chain_id).call(
            "eth_simulateV1", payload, {"blockHash": self.block.hash}, deadline=self.deadline
        )
        return [
            [to_outcome(row, self.block.number + 1) for row in rows]
            for rows in _rows_of(answer, [len(steps) for steps in blocks])
        ]


def _rows_of(answer: Any, sizes: Sequence[int]) -> list[list[dict[str, Any]]]:
    if not isinstance(answer, list) or len(answer) != len(sizes):
        raise RpcNonsense("The node simulated another number of blocks than it was asked to")
    found = []
    for told, size in zip(answer, sizes, strict=True):
        rows = told.get("calls") if isinstance(told, dict) else None
        if not isinstance(rows, list) or len(rows) != size or not all(isinstance(row, dict) for row in rows):
            raise RpcNonsense("The node simulated another number of calls than it was asked to")
        found.append(rows)
    return found


def _read_sale(span: int, rows: Sequence[CallOutcome], held: int) -> Sale:
    """Approve, and then what the pool had before, after a part and after the rest."""
    approved, before, sold_part, between, sold_rest, after = rows
    part = max(1, held // PART)
    can_part = approved.succeeded and _has_moved(sold_part)
    can_rest = can_part and (held == part or _has_moved(sold_rest))
    return Sale(
        span,
        _tax_of(part, _number(between) - _number(before)) if can_part else None,
        _tax_of(held - part, _number(after) - _number(between)) if can_rest else None,
    )


def _tax_of(sent: int, came: int) -> int:
    """What of `sent` did not come, in basis points, rounded up."""
    return max(0, -(-(sent - came) * BPS // sent)) if sent else 0


def _has_moved(outcome: CallOutcome) -> bool:
    """Whether a token's movement succeeded: it did not revert, and said true or, as old tokens do, nothing."""
    return outcome.succeeded and (not outcome.output or int.from_bytes(outcome.output[:32], "big") == 1)


def _number(outcome: CallOutcome) -> int:
    return int.from_bytes(outcome.output[:32], "big") if outcome.succeeded and len(outcome.output) >= 32 else 0


def _balance_of(account: str) -> _Step:
    return _Step(account, encode_call(erc20.BALANCE_OF, account))


def _make_address() -> str:
    """An address nobody can guess, so that no token knows a trial by it."""
    return checksum("0x" + token_bytes(20).hex())
