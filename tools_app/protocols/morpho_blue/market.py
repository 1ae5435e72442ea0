"""A market: five parameters that never change, whose hash is its id, and what is lent and owed in it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from eth_utils.crypto import keccak

from tools_app.chain.abi import encode_args
from tools_app.protocols.morpho_blue.math import ORACLE_SCALE, MarketState

NOBODY = "0x0000000000000000000000000000000000000000"
PARAM_TYPES = ("address", "address", "address", "address", "uint256")


@dataclass(frozen=True, slots=True)
class MarketParams:
    """The five parameters of a market: lent token, collateral, oracle, rate model and `lltv`, of which 1e18 is all
    of the collateral's value.
    """

    loan_token: str
    collateral_token: str
    oracle: str
    irm: str
    lltv: int

    @property
    def as_tuple(self) -> tuple[str, str, str, str, int]:
        """In the order of the contract's struct."""
        return (self.loan_token, self.collateral_token, self.oracle, self.irm, self.lltv)

    @property
    def id(self) -> str:
        """The market's id, 0x-hex of 32 bytes."""
        return _hash(self)

    @property
    def lltv_bps(self) -> int:
        """How much of the collateral's value covers debt, in basis points."""
        return self.lltv // 10**14

    @property
    def is_idle(self) -> bool:
        """Whether nothing can be borrowed from it: it has no collateral."""
        return self.collateral_token == NOBODY


@lru_cache(maxsize=1024)
def _hash(params: MarketParams) -> str:
    return "0x" + keccak(encode_args(PARAM_TYPES, params.as_tuple)).hex()


@dataclass(frozen=True, slots=True)
class Market:
    """A market at one moment: `state` with the interest up to `now` (unix seconds), `rate` per second in 1e18.

    `price` is what the oracle says one base unit of collateral is worth in base units of the loan token, times 1e36;
    None where there is no oracle or it does not answer.
    """

    params: MarketParams
    state: MarketState
    rate: int
    price: int | None
    now: int

    @property
    def id(self) -> str:
        return self.params.id

    @property
    def liquidity(self) -> int:
        """Base units of the loan token that can be taken out."""
        return self.state.supply_assets - self.state.borrow_assets

    def least_uncovered(self, collateral_held: int) -> int:
        """Base units of the loan token that borrowers owe and at least nothing covers, where the contract holds
        `collateral_held` of the collateral for all its markets together. 0 where nobody can say: without a price, and
        where others' collateral might be this market's.
        """
        if self.price is None or self.params.is_idle:
            return 0
        cover = -(-collateral_held * self.price // ORACLE_SCALE)
        return max(0, self.state.borrow_assets - cover)

    def worth_of(self, lent: int, uncovered: int) -> int:
        """Value `lent` in base units of the loan token. The part that can be taken out now counts in full. The rest
        counts less its share of the bad debt, which falls on the remaining lenders when a borrower is liquidated.
        """
        free = min(lent, self.liquidity)
        left, others = lent - free, self.state.supply_assets - free
        return free + left * max(0, others - uncovered) // others if left else lent


@dataclass(frozen=True, slots=True)
class Holding:
    """What an account has in a market: shares of what is lent, shares of what is owed, base units of collateral."""

    supply_shares: int
    borrow_shares: int
    collateral: int

    @property
    def is_empty(self) -> bool:
        return not (self.supply_shares or self.borrow_shares or self.collateral)
