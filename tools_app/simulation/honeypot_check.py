"""Tries a token as traders do: bought from a pool, sold to it in part and whole, now, in a day and in thirty days.

It runs on the node in one simulated chain of four blocks, which nobody mines: the pool hands the token to made-up
accounts, and in a later block a contract that they allowed takes it back into the pool, as a router does. So it is the
token that is tried, whatever kind of pool it is. What moved is measured by balances. Whoever sends is made up and pays
for gas, so that no token knows a trial by it. What an owner of the token may change later no trial shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from secrets import token_bytes, token_hex
from typing import Final

from tools_app.chain.abi import checksum, encode_call
from tools_app.chain.chains import get_pool
from tools_app.chain.node_errors import RpcNonsense
from tools_app.core.clock import Deadline
from tools_app.core.units import BPS
from tools_app.simulation.engine import CallOutcome
from tools_app.simulation.rpc import read_row, to_outcome
from tools_app.standards import erc20
from tools_app.toolkit.views import BlockRef

SPANS: Final = (0, 86_400, 30 * 86_400)
"""Seconds after the block at which a sale is tried."""
PART: Final = 100
"""A hundredth of what was bought is sold first."""
LARGE: Final = 20
"""So many times the amount is bought at once by one more account, and sold at once."""
MOST_GAS: Final = 2_000_000
"""A movement that burns more is taken for one that failed: what is sold for more than it is worth cannot be sold."""
_GAS: Final = 10_000_000
_COINS: Final = 10**24
# A contract that exists in the simulated blocks only: it calls the address in the first word with the rest, and returns
# or reverts with what that said.
_ROUTER_CODE: Final = (
    "0x60203603806020600037"  # copy all but the first word
    "6000600082600060006000355af1"  # call the first word with it
    "3d600060003e602557"  # what was said; was it a success?
    "3d6000fd5b3d6000f3"
)
_APPROVE: Final = "function approve(address spender, uint256 amount)"
_TRANSFER: Final = "function transfer(address to, uint256 amount)"
_TAKE: Final = "function transferFrom(address owner, address to, uint256 amount)"
_EVERYTHING: Final = 2**256 - 1


@dataclass(frozen=True, slots=True)
class TrialSale:
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
    bought it can send it to somebody else; `large` is None where so much cannot be bought at once. `owner_takes` is
    whether its owner moved what a holder never allowed anybody to.
    """

    amount: int
    buy_tax_bps: int | None
    sales: tuple[TrialSale, ...]
    passes_on: bool
    large: TrialSale | None = None
    owner_takes: bool = False

    @property
    def is_trap(self) -> bool:
        """Whether it can be bought and not be sold whole, at one of the times that were tried."""
        return self.buy_tax_bps is not None and not all(sale.succeeded for sale in self.every_sale)

    @property
    def every_sale(self) -> tuple[TrialSale, ...]:
        """The sales at each time, and the large one where there was any."""
        return self.sales if self.large is None else (*self.sales, self.large)

    @property
    def sell_tax_bps(self) -> int | None:
        """The worst tax of a sale; None where one failed."""
        taxes = [tax for sale in self.sales for tax in (sale.part_tax_bps, sale.whole_tax_bps)]
        return None if None in taxes else max((tax for tax in taxes if tax is not None), default=None)


@dataclass(frozen=True, slots=True)
class _TrialStep:
    sender: str
    to: str
    data: bytes


def try_token(
    *,
    chain_id: int,
    token: str,
    pool: str,
    owner: str | None,
    amount: int,
    block: BlockRef,
    block_seconds: int,
    deadline: Deadline,
) -> TokenTrial:
    """Try `amount` base units of what `pool` holds. Two round trips.

    Raises the node's errors, also where it cannot simulate: then nothing is known.
    """
    people = _People(token, pool, router=_make_address(), origin=_make_address())
    thief = owner if owner is not None else _make_address()
    holders = [_make_address() for _ in SPANS]
    large, sender, receiver = _make_address(), _make_address(), _make_address()
    bought = {**dict.fromkeys((*holders, sender), amount), large: amount * LARGE}
    asked = _TrialGround(chain_id, people, (*holders, large, sender, thief), block, block_seconds, deadline)
    buys = [people.buy(each, size) for each, size in bought.items()]
    (opening,) = asked.run([[*buys, *(people.balance_of(each) for each in bought)]])
    has_bought = dict(zip(bought, map(_has_moved, opening[: len(buys)]), strict=True))
    got = dict(zip(bought, map(_number, opening[len(buys) :]), strict=True))
    small = [*holders, sender]
    if not all(has_bought[each] and got[each] for each in small):
        return TokenTrial(amount, None, (), passes_on=False)
    if not has_bought[large] or not got[large]:
        # A limit that meets purchases too is no trap; what is not bought needs no way out.
        bought.pop(large)
    buys = [people.buy(each, size) for each, size in bought.items()]
    sold = [people.sell(each, got[each]) for each in holders]
    big = people.sell(large, got[large]) if large in bought else []
    taking = [_TrialStep(thief, token, encode_call(_TAKE, holders[-1], thief, 1)), people.balance_of(holders[-1])]
    passing = [_TrialStep(sender, token, encode_call(_TRANSFER, receiver, got[sender])), people.balance_of(receiver)]
    _, now, *later = asked.run([buys, [*sold[0], *big, *taking, *passing], *sold[1:]])
    own, after, taken, passed = now[: len(sold[0])], now[len(sold[0]) : -4], now[-4:-2], now[-2:]
    sales = tuple(
        _read_sale(span, rows, got[holder]) for span, holder, rows in zip(SPANS, holders, (own, *later), strict=True)
    )
    return TokenTrial(
        amount,
        _tax_of(amount, min(got[each] for each in small)),
        sales,
        passes_on=_has_moved(passed[0]) and _number(passed[1]) > 0,
        large=_read_sale(0, after, got[large]) if big else None,
        owner_takes=_has_moved(taken[0]) and _number(taken[1]) < got[holders[-1]],
    )


@dataclass(frozen=True, slots=True)
class _People:
    """Who takes part beside the holders: the pool, the contract that sells for them, and who asks for balances."""

    token: str
    pool: str
    router: str
    origin: str

    def buy(self, holder: str, amount: int) -> _TrialStep:
        """The pool hands it over."""
        return _TrialStep(self.pool, self.token, encode_call(_TRANSFER, holder, amount))

    def sell(self, holder: str, held: int) -> list[_TrialStep]:
        """Allow, a part, the rest, and what the pool has before and after each."""
        part = max(1, held // PART)
        takes = [encode_call(_TAKE, holder, self.pool, each) for each in (part, held - part)]
        word = bytes(12) + bytes.fromhex(self.token[2:])
        first, rest = (_TrialStep(holder, self.router, word + each) for each in takes)
        allow = _TrialStep(holder, self.token, encode_call(_APPROVE, self.router, _EVERYTHING))
        balance = self.balance_of(self.pool)
        return [allow, balance, first, balance, rest, balance]

    def balance_of(self, account: str) -> _TrialStep:
        """What an account has of the token."""
        return _TrialStep(self.origin, self.token, encode_call(erc20.BALANCE_OF, account))


@dataclass(frozen=True, slots=True)
class _TrialGround:
    """Where steps are run: on the state after a block, each list in a block of its own. The first has the purchases,
    the second sales, the others sales a span later.
    """

    chain_id: int
    people: _People
    holders: tuple[str, ...]
    block: BlockRef
    block_seconds: int
    deadline: Deadline

    def run(self, blocks: Sequence[Sequence[_TrialStep]]) -> list[list[CallOutcome]]:
        """What each step did. Raises the node's errors, RpcNonsense."""
        base_fee = max(1, self.block.base_fee)
        fees = {"gas": hex(_GAS), "maxFeePerGas": hex(base_fee * 2), "maxPriorityFeePerGas": "0x1"}
        asked: list[dict[str, object]] = [
            {
                "blockOverrides": {
                    "number": hex(self.block.number + 1 + number),
                    "time": hex(self.block.timestamp + self._seconds_to(number)),
                    "baseFeePerGas": hex(base_fee),
                    "feeRecipient": _make_address(),
                    "prevRandao": "0x" + token_hex(32),
                },
                "calls": [
                    {"from": each.sender, "to": each.to, "data": "0x" + each.data.hex(), **fees} for each in steps
                ],
            }
            for number, steps in enumerate(blocks)
        ]
        rich = (self.people.origin, self.people.pool, *self.holders)
        overrides: dict[str, dict[str, str]] = {each: {"balance": hex(_COINS)} for each in rich}
        asked[0]["stateOverrides"] = {**overrides, self.people.router: {"code": _ROUTER_CODE}}
        payload = {"blockStateCalls": asked, "validation": False, "traceTransfers": False}
        answer = get_pool(self.chain_id).call(
            "eth_simulateV1", payload, {"blockHash": self.block.hash}, deadline=self.deadline
        )
        return [
            [to_outcome(read_row(row), self.block.number + 1) for row in rows]
            for rows in _rows_of(answer, [len(steps) for steps in blocks])
        ]

    def _seconds_to(self, number: int) -> int:
        """From the block to that of these steps."""
        return self.block_seconds if number == 0 else 2 * self.block_seconds + SPANS[number - 1]


def _rows_of(answer: object, sizes: Sequence[int]) -> list[list[dict[str, object]]]:
    if not isinstance(answer, list) or len(answer) != len(sizes):
        raise RpcNonsense("The node simulated another number of blocks than it was asked to")
    found = []
    for told, size in zip(answer, sizes, strict=True):
        rows = told.get("calls") if isinstance(told, dict) else None
        if not isinstance(rows, list) or len(rows) != size or not all(isinstance(row, dict) for row in rows):
            raise RpcNonsense("The node simulated another number of calls than it was asked to")
        found.append(rows)
    return found


def _read_sale(span: int, rows: Sequence[CallOutcome], held: int) -> TrialSale:
    """As `_People.sell` asked: approve, and then what the pool had before, after a part and after the rest."""
    approved, before, sold_part, between, sold_rest, after = rows
    part = max(1, held // PART)
    can_part = approved.succeeded and _has_moved(sold_part)
    can_rest = can_part and (held == part or _has_moved(sold_rest))
    return TrialSale(
        span,
        _tax_of(part, _number(between) - _number(before)) if can_part else None,
        _tax_of(held - part, _number(after) - _number(between)) if can_rest else None,
    )


def _tax_of(sent: int, came: int) -> int:
    """What of `sent` did not come, in basis points, rounded up."""
    return max(0, -(-(sent - came) * BPS // sent)) if sent else 0


def _has_moved(outcome: CallOutcome) -> bool:
    """Whether a token's movement succeeded: no revert, true or, as old tokens say, nothing, and gas for an exchange."""
    has_said_so = not outcome.output or int.from_bytes(outcome.output[:32], "big") == 1
    return outcome.succeeded and has_said_so and outcome.gas_used <= MOST_GAS


def _number(outcome: CallOutcome) -> int:
    return int.from_bytes(outcome.output[:32], "big") if outcome.succeeded and len(outcome.output) >= 32 else 0


def _make_address() -> str:
    """An address nobody can guess, so that no token knows a trial by it."""
    return checksum("0x" + token_bytes(20).hex())
