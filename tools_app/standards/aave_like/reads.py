"""Reads a pool's reserves and accounts without I/O: batches out, outcomes in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from tools_app.standards.aave_like import signatures
from tools_app.standards.aave_like.contracts import PoolContracts
from tools_app.standards.aave_like.signatures import RAY, WAD, Configuration
from tools_app.toolkit.context import AbiValues, ReadCall, ReadOutcome
from tools_app.toolkit.lending import PPM, MarketNotFound
from tools_app.toolkit.positions import PositionsUnreadable, Reads, gather

ZERO = "0x" + "00" * 20
MOST_HEALTH_BPS = 10**9
"""Health beyond this is told as this: a debt of dust."""


@dataclass(frozen=True, slots=True)
class Reserve:
    """One reserve. Amounts are base units, rates are RAY a year, `price` is dollars of BASE_UNIT for a whole token."""

    asset: str
    id: int
    configuration: Configuration
    a_token: str
    stable_debt: str
    variable_debt: str
    supplied: int
    stable_owed: int
    variable_owed: int
    supply_rate: int
    variable_rate: int
    stable_rate: int
    isolated_debt: int
    price: int

    @property
    def owed(self) -> int:
        return self.stable_owed + self.variable_owed

    @property
    def liquidity(self) -> int:
        """What is there to be taken out; what is owed to the treasury is left aside."""
        return max(0, self.supplied - self.owed)

    @property
    def unit(self) -> int:
        unit: int = 10**self.configuration.decimals
        return unit

    @property
    def supply_room(self) -> int | None:
        """What its cap leaves; None without one."""
        cap = self.configuration.supply_cap
        return max(0, cap * self.unit - self.supplied) if cap else None

    @property
    def borrow_room(self) -> int | None:
        """What its cap leaves; None without one."""
        cap = self.configuration.borrow_cap
        return max(0, cap * self.unit - self.owed) if cap else None

    def value(self, raw: int) -> int:
        """Base dollars of base units, rounded up."""
        return -(-raw * self.price // self.unit)

    def raw_of_value(self, base: int) -> int:
        """Base units of so many base dollars, rounded down."""
        return base * self.unit // self.price if self.price else 0

    def rate_of(self, mode: int) -> int:
        """What a debt of this mode costs."""
        return self.stable_rate if mode == signatures.STABLE else self.variable_rate


@dataclass(frozen=True, slots=True)
class LendingAccount:
    """An account in base dollars; `health` is WAD, `e_mode` the number of its category, 0 for none."""

    collateral: int
    debt: int
    available: int
    threshold_bps: int
    ltv_bps: int
    health: int
    e_mode: int
    bitmap: int

    @property
    def health_bps(self) -> int | None:
        """Cover over debt; None without debt."""
        return min(self.health * 10_000 // WAD, MOST_HEALTH_BPS) if self.debt else None

    @property
    def cover(self) -> int:
        """What counts against its debts before it is liquidated."""
        return self.collateral * self.threshold_bps // 10_000

    def health_with(self, *, cover: int = 0, debt: int = 0) -> int | None:
        """Health when cover and debt have changed by so much; None without debt."""
        owed = self.debt + debt
        return min(max(0, self.cover + cover) * 10_000 // owed, MOST_HEALTH_BPS) if owed > 0 else None

    @property
    def collateral_ids(self) -> tuple[int, ...]:
        """The reserves that are its collateral."""
        return tuple(number for number in range(128) if self.bitmap >> 2 * number + 1 & 1)


@dataclass(frozen=True, slots=True)
class HeldReserve:
    """What an account has in one reserve, in base units."""

    supplied: int
    stable_owed: int
    variable_owed: int
    is_collateral: bool

    @property
    def owed(self) -> int:
        return self.stable_owed + self.variable_owed

    @property
    def is_empty(self) -> bool:
        return not (self.supplied or self.owed)

    def owed_in(self, mode: int) -> int:
        """What is owed in one rate mode."""
        return self.stable_owed if mode == signatures.STABLE else self.variable_owed


@dataclass(frozen=True, slots=True)
class EModeCategory:
    """The account's e-mode, as far as it concerns one reserve: basis points, and whether the reserve is in it."""

    number: int
    ltv_bps: int
    threshold_bps: int
    has_collateral: bool
    has_debt: bool


@dataclass(frozen=True, slots=True)
class Stand:
    """Everything that decides about one verb of an account in one reserve. `isolated_by` is the reserve whose debt
    ceiling binds the account; `wallet` and `allowance` are base units of the asset it holds and lets the pool take.
    """

    pool: str
    account: LendingAccount
    reserve: Reserve
    held: HeldReserve
    wallet: int
    allowance: int
    category: EModeCategory | None = None
    isolated_by: Reserve | None = None

    @property
    def threshold_bps(self) -> int:
        """What the asset counts as collateral of this account."""
        if self.category is not None and self.category.has_collateral:
            return self.category.threshold_bps
        return self.reserve.configuration.threshold_bps

    @property
    def ltv_bps(self) -> int:
        """What may be borrowed against the asset by this account."""
        if self.category is not None and self.category.has_collateral:
            return self.category.ltv_bps
        return self.reserve.configuration.ltv_bps


def annual_ppm(rate: int) -> int:
    """A yearly rate of RAY, compounded by the second, in millionths."""
    return int(((Decimal(rate) / RAY).exp() - 1) * PPM)


def interest_in(raw: int, rate: int, seconds: int) -> int:
    """The most that `raw` grows by at a yearly rate of RAY, rounded up, and a unit for rounding inside the pool."""
    return -(-raw * rate * seconds // (RAY * 31_536_000)) + 2


def account_calls(pool: str, account: str) -> list[ReadCall]:
    """What `read_account` reads."""
    return [
        ReadCall(pool, each, (account,))
        for each in (signatures.ACCOUNT_DATA, signatures.USER_E_MODE, signatures.USER_CONFIGURATION)
    ]


def read_account(outcomes: Sequence[ReadOutcome]) -> LendingAccount:
    """Raises PositionsUnreadable."""
    data, e_mode, bitmap = (answer_of(outcome, "the pool") for outcome in outcomes)
    collateral, debt, available, threshold, ltv, health = data
    return LendingAccount(collateral, debt, available, threshold, ltv, health, e_mode[0], bitmap[0])


def reserve_calls(where: PoolContracts, asset: str) -> list[ReadCall]:
    """What `read_reserve` reads."""
    return [
        ReadCall(where.pool, signatures.RESERVE, (asset,)),
        ReadCall(where.data_provider, signatures.RESERVE_TOTALS, (asset,)),
        ReadCall(where.oracle, signatures.ASSET_PRICE, (asset,)),
    ]


def read_reserve(asset: str, outcomes: Sequence[ReadOutcome], *, label: str = "this lender") -> Reserve:
    """One reserve. Raises MarketNotFound for what the pool tells as none, and where there is no pool.

    Raises PositionsUnreadable where it does not tell, and for one without totals or price.
    """
    if outcomes[0].is_absent or answer_of(outcomes[0], "the pool")[0][8] == ZERO:
        raise MarketNotFound(f"{label} has no market for {asset}", asset=asset)
    [data] = outcomes[0].values
    totals = answer_of(outcomes[1], "the data provider")
    [price] = answer_of(outcomes[2], "the oracle")
    return Reserve(
        asset=asset,
        id=data[7],
        configuration=Configuration(data[0]),
        a_token=data[8],
        stable_debt=data[9],
        variable_debt=data[10],
        supplied=totals[2],
        stable_owed=totals[3],
        variable_owed=totals[4],
        supply_rate=totals[5],
        variable_rate=totals[6],
        stable_rate=totals[7],
        isolated_debt=data[14],
        price=price,
    )


def held_call(where: PoolContracts, asset: str, account: str) -> ReadCall:
    """What `read_held` reads."""
    return ReadCall(where.data_provider, signatures.USER_RESERVE, (asset, account))


def read_held(outcome: ReadOutcome) -> HeldReserve:
    """Raises PositionsUnreadable."""
    told = answer_of(outcome, "the data provider")
    return HeldReserve(supplied=told[0], stable_owed=told[1], variable_owed=told[2], is_collateral=told[8])


def read_stand(
    where: PoolContracts, account: str, asset: str, wallet_calls: Sequence[ReadCall], *, label: str
) -> Reads[Stand]:
    """Everything about one asset for one account: one batch, and two more in e-mode or with a single collateral.

    `wallet_calls` read the balance and the allowance. Raises MarketNotFound, PositionsUnreadable.
    """
    about, reserve_told, held_told, wallet = yield from gather(
        account_calls(where.pool, account),
        reserve_calls(where, asset),
        [held_call(where, asset, account)],
        wallet_calls,
    )
    reserve = read_reserve(asset, reserve_told, label=label)
    found, held = read_account(about), read_held(held_told[0])
    balance, allowance = (answer_of(outcome, "the token")[0] for outcome in wallet)
    category = (yield from read_category(where.pool, found.e_mode, reserve)) if found.e_mode else None
    isolated_by = yield from read_isolation(where, found)
    return Stand(where.pool, found, reserve, held, balance, allowance, category, isolated_by)


def read_category(pool: str, number: int, reserve: Reserve) -> Reads[EModeCategory]:
    """An e-mode as it concerns a reserve. Newer versions keep bitmaps, older ones a number in the reserve."""
    outcomes = yield [
        ReadCall(pool, each, (number,))
        for each in (signatures.E_MODE, signatures.E_MODE_COLLATERALS, signatures.E_MODE_BORROWABLES)
    ]
    [about] = answer_of(outcomes[0], "the pool")
    if outcomes[1].ok and outcomes[2].ok:
        has_collateral, has_debt = (bool(each.values[0] >> reserve.id & 1) for each in outcomes[1:])
    else:
        has_collateral = has_debt = reserve.configuration.e_mode == number
    return EModeCategory(number, about[0], about[1], has_collateral, has_debt)


def read_isolation(where: PoolContracts, account: LendingAccount) -> Reads[Reserve | None]:
    """The one collateral whose debt ceiling binds the account; None when nothing does."""
    if len(account.collateral_ids) != 1:
        return None
    [told] = yield [ReadCall(where.pool, signatures.RESERVE_BY_ID, account.collateral_ids)]
    asset = str(answer_of(told, "the pool")[0])
    only = read_reserve(asset, (yield reserve_calls(where, asset)))
    return only if only.configuration.debt_ceiling else None


def answer_of(outcome: ReadOutcome, who: str) -> AbiValues:
    if not outcome.ok:
        raise PositionsUnreadable(f"{who} does not answer: {outcome.revert_reason}")
    return outcome.values
