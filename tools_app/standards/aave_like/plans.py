"""Plans of one verb at a pool: read what decides, refuse what would fail, make the exact calls and their promises."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from tools_app.chain.abi import encode_call
from tools_app.chain.networks import ChainNotSupported
from tools_app.core.errors import InvalidParams
from tools_app.core.units import format_units
from tools_app.standards import erc20
from tools_app.standards.aave_like import signatures
from tools_app.standards.aave_like.checks import Checks
from tools_app.standards.aave_like.contracts import PoolContracts, contracts_on
from tools_app.standards.aave_like.leaving import list_supplied
from tools_app.standards.aave_like.positions import ref_of
from tools_app.standards.aave_like.reads import Stand, annual_ppm, interest_in, read_stand
from tools_app.standards.format_loan_figures import percent, show_health
from tools_app.standards.plan_draft import PlanDraft, check_enough
from tools_app.standards.retiring_sales import RETIRES, sell_falling
from tools_app.toolkit.context import AbiValues, ChainReader, WriteContext
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.lending import DEFAULT_HEALTH_FLOOR_BPS, MarketNotFound, NothingThere
from tools_app.toolkit.params import EVERYTHING
from tools_app.toolkit.plan import Call, TxPlan
from tools_app.toolkit.positions import Gauge, GaugeBound, PositionChange, drive
from tools_app.toolkit.retiring_tokens import list_falling
from tools_app.toolkit.views import TokenMeta

ROUNDING = 2
"""Base units that the pool's own rounding may take."""
SECONDS_BPS = 1
"""What of a health the seconds until a plan is judged may take: exactly at its floor it would be below it then."""
PLAN_SECONDS = 86_400
"""A plan is carried out within a day of being made: what interest adds until then is counted in."""


@dataclass(frozen=True, slots=True)
class Lender:
    """One lender of Aave's code. `name` is the protocol's, `label` for people."""

    name: str
    label: str
    deployments: Callable[[int], Mapping[str, str] | None]

    def where(self, chain_id: int) -> PoolContracts:
        """Its contracts on a chain. Raises ChainNotSupported."""
        found = contracts_on(self.deployments, chain_id)
        if found is None:
            raise ChainNotSupported(f"{self.label} is not served on chain {chain_id}", chain_id=chain_id)
        return found

    def asset(self, reader: ChainReader, ref: str) -> TokenMeta:
        """A token by symbol or address; the coin itself has no market. Raises TokenNotFound, MarketNotFound."""
        token = reader.token(ref)
        if token.is_native:
            raise MarketNotFound(
                f"{self.label} lends the wrapped coin, not {token.symbol} itself: wrap it first, and name the wrapped"
                " token",
                asset=token.address,
            )
        return token

    def open(self, ctx: WriteContext, asset: str, floor_bps: int) -> LendingDesk:
        """Read everything that decides about one asset for the golem, in one to three batches."""
        reader = ctx.chain()
        where = self.where(reader.chain_id)
        token = self.asset(reader, asset)
        ctx.step("Reading the account")
        wallet = [
            erc20.balance_call(token.address, ctx.account),
            erc20.allowance_call(token.address, ctx.account, where.pool),
        ]
        stand = drive(read_stand(where, ctx.account, token.address, wallet, label=self.label), reader.call_many)
        ref = ref_of(self.name, reader.chain_id, ctx.account)
        return LendingDesk(self, reader, token, ctx.account, stand, Checks(stand, token, ref, self.label, floor_bps))

    def supply(self, ctx: WriteContext, asset: str, amount: int, on_behalf_of: str | None = None) -> TxPlan:
        """Raises MarketNotFound, MarketClosed, InsufficientBalance."""
        if on_behalf_of not in (None, ctx.account):
            raise InvalidParams(
                "a golem supplies for itself alone; leave on_behalf_of out, or send the tokens instead",
                fields={"on_behalf_of": "another account would own what is supplied"},
            )
        desk = self.open(ctx, asset, DEFAULT_HEALTH_FLOOR_BPS)
        desk.checks.check_supply(amount)
        check_enough(desk.token, balance=desk.stand.wallet, needed=amount)
        ctx.step("Building calls")
        draft = desk.draft()
        draft.approve(desk.token, spender=desk.pool, amount=amount, allowance=desk.stand.allowance)
        draft.call(desk.call(signatures.SUPPLY, (desk.asset, amount, ctx.account, 0), f"Supply {desk.show(amount)}"))
        draft.spend(desk.token, amount)
        draft.changes.append(desk.change(amount, bound=amount - ROUNDING))
        is_new = not desk.stand.account.collateral and not desk.stand.account.debt
        grown = desk.stand.reserve.value(amount) * desk.stand.threshold_bps // 10_000
        counts = desk.stand.held.is_collateral or not desk.stand.held.supplied
        return draft.finish(
            action_class=ActionClass.NEW_POSITION if is_new else ActionClass.INCREASE_POSITION,
            details=desk.details(
                amount=amount,
                supplied_before=desk.stand.held.supplied,
                health=desk.stand.account.health_with(cover=grown if counts else 0),
            ),
        )

    def withdraw(self, ctx: WriteContext, asset: str, amount: int) -> TxPlan:
        """What may only fall is sold as it comes out, and as much is asked for as is there now: interest stays.

        Raises MarketNotFound, MarketClosed, HealthTooLow, NothingThere, RetiringUnsold.
        """
        desk = self.open(ctx, asset, DEFAULT_HEALTH_FLOOR_BPS)
        held = desk.stand.held.supplied
        if not held:
            raise NothingThere(f"nothing of {desk.token.symbol} is supplied at {self.label}", asset=desk.asset)
        wanted = held if amount >= held else amount
        if amount == EVERYTHING:
            most = desk.checks.most_withdrawn(spare_bps=SECONDS_BPS)
            wanted = min(held, most, desk.stand.reserve.liquidity)
        desk.checks.check_withdrawal(max(1, wanted))
        ctx.step("Building calls")
        sale = sell_falling(ctx, desk.reader, desk.token, wanted)
        is_all = wanted == held and sale is None
        draft = desk.draft()
        named = EVERYTHING if is_all else wanted
        draft.call(desk.call(signatures.WITHDRAW, (desk.asset, named, ctx.account), f"Withdraw {desk.show(wanted)}"))
        draft.receive(desk.token, wanted if sale is None else 0)
        if sale is not None:
            draft.adopt(sale.plan)
            draft.receive(sale.brought.token, sale.brought.expected, at_least=sale.brought.bound)
        grown = interest_in(held, desk.stand.reserve.supply_rate, PLAN_SECONDS) if is_all else ROUNDING
        draft.changes.append(desk.change(-wanted, bound=-(wanted + grown), least_health=desk.least_health))
        is_last = is_all and not desk.stand.account.debt and desk.is_only_asset
        return draft.finish(
            action_class=ActionClass.CLOSE_POSITION if is_last else ActionClass.DECREASE_POSITION,
            collateral_ratio_bps=desk.ratio_bps(collateral=-desk.stand.reserve.value(wanted)),
            **({} if sale is None else sale.bounds),
            details={
                **desk.details(amount=wanted, supplied_before=held, health=desk.checks.health_less_collateral(wanted)),
                **({} if sale is None else sale.details),
            },
        )

    def borrow(self, ctx: WriteContext, asset: str, amount: int, rate_mode: str) -> TxPlan:
        """Raises MarketNotFound, MarketClosed, HealthTooLow."""
        mode = signatures.MODES[rate_mode]
        desk = self.open(ctx, asset, DEFAULT_HEALTH_FLOOR_BPS)
        desk.checks.check_borrow(amount, mode)
        ctx.step("Building calls")
        draft = desk.draft()
        draft.call(
            desk.call(signatures.BORROW, (desk.asset, amount, mode, 0, ctx.account), f"Borrow {desk.show(amount)}")
        )
        draft.receive(desk.token, amount)
        draft.changes.append(desk.change(-amount, bound=-(amount + ROUNDING), least_health=desk.checks.floor_bps))
        value = desk.stand.reserve.value(amount)
        return draft.finish(
            action_class=ActionClass.INCREASE_POSITION,
            collateral_ratio_bps=desk.ratio_bps(debt=value),
            details=desk.details(
                amount=amount,
                mode=rate_mode,
                owed_before=desk.stand.held.owed_in(mode),
                health=desk.stand.account.health_with(debt=value),
            ),
        )

    def repay(
        self,
        ctx: WriteContext,
        asset: str,
        amount: int,
        rate_mode: str,
        *,
        withdraw_collateral: bool = False,
    ) -> TxPlan:
        """Raises MarketNotFound, MarketClosed, InsufficientBalance, NothingThere, InvalidParams."""
        mode = signatures.MODES[rate_mode]
        desk = self.open(ctx, asset, DEFAULT_HEALTH_FLOOR_BPS)
        owed, wallet = desk.stand.held.owed_in(mode), desk.stand.wallet
        if not owed:
            raise NothingThere(
                f"nothing of {desk.token.symbol} is owed at the {rate_mode} rate of {self.label}", asset=desk.asset
            )
        desk.checks.check_open(may_be_frozen=True)
        if withdraw_collateral:
            desk.check_leaves_whole(amount, owed)
        wanted = min(owed, wallet) if amount == EVERYTHING else min(amount, owed)
        check_enough(desk.token, balance=wallet, needed=owed if withdraw_collateral or not wanted else wanted)
        # Interest goes on until the call runs; the pool takes what is owed then and no more.
        margin = interest_in(owed, desk.stand.reserve.rate_of(mode), PLAN_SECONDS) if wanted == owed else 0
        at_most = min(wallet, wanted + margin)
        ctx.step("Building calls")
        draft = desk.draft()
        granted = draft.approve(desk.token, spender=desk.pool, amount=at_most, allowance=desk.stand.allowance)
        draft.call(desk.call(signatures.REPAY, (desk.asset, at_most, mode, ctx.account), f"Repay {desk.show(wanted)}"))
        if granted and at_most > wanted:
            draft.revoke(desk.token, spender=desk.pool)
        draft.spend(desk.token, wanted, at_most=at_most)
        draft.changes.append(desk.change(wanted, bound=wanted - ROUNDING))
        left = desk.take_out(draft, list_falling(ctx, desk.reader.chain_id)) if withdraw_collateral else None
        return draft.finish(
            action_class=ActionClass.CLOSE_POSITION if left == () else ActionClass.DECREASE_POSITION,
            details={
                **desk.details(
                    amount=wanted,
                    mode=rate_mode,
                    owed_before=owed,
                    health=desk.stand.account.health_with(
                        debt=-(wanted * desk.stand.reserve.price // desk.stand.reserve.unit)
                    ),
                ),
                **({"left_behind": list(left)} if left else {}),
            },
        )

    def use_as_collateral(self, ctx: WriteContext, asset: str, wanted: bool) -> TxPlan:
        """Raises MarketNotFound, MarketClosed, HealthTooLow, NothingThere."""
        desk = self.open(ctx, asset, DEFAULT_HEALTH_FLOOR_BPS)
        held = desk.stand.held
        if not held.supplied:
            raise NothingThere(f"nothing of {desk.token.symbol} is supplied at {self.label}", asset=desk.asset)
        if held.is_collateral == wanted:
            state = "is collateral" if wanted else "is no collateral"
            raise NothingThere(f"{desk.token.symbol} {state} already", asset=desk.asset)
        desk.checks.check_collateral_use(wanted=wanted)
        ctx.step("Building calls")
        draft = desk.draft()
        word = "Use" if wanted else "No longer use"
        draft.call(
            desk.call(signatures.USE_AS_COLLATERAL, (desk.asset, wanted), f"{word} {desk.token.symbol} as collateral")
        )
        draft.changes.append(desk.change(0, bound=-ROUNDING, least_health=desk.least_health))
        value = desk.stand.reserve.value(held.supplied) * desk.stand.threshold_bps // 10_000
        return draft.finish(
            action_class=ActionClass.REBALANCE,
            collateral_ratio_bps=desk.ratio_bps(),
            gauges=(desk.is_collateral(wanted),),
            details={
                **desk.details(amount=0, health=desk.stand.account.health_with(cover=value if wanted else -value)),
                "use_as_collateral": wanted,
            },
        )


@dataclass(frozen=True, slots=True)
class LendingDesk:
    """One verb in the making: the lender, the asset, the account and what decides about them."""

    lender: Lender
    reader: ChainReader
    token: TokenMeta
    account: str
    stand: Stand
    checks: Checks

    @property
    def asset(self) -> str:
        return self.token.address

    @property
    def pool(self) -> str:
        return self.stand.pool

    @property
    def is_only_asset(self) -> bool:
        """Whether the account's collateral is this asset alone."""
        return self.stand.account.collateral <= self.stand.reserve.value(self.stand.held.supplied) + 1

    @property
    def least_health(self) -> int | None:
        """The floor, where there is a debt to be covered."""
        return self.checks.floor_bps if self.stand.account.debt else None

    def check_leaves_whole(self, amount: int, owed: int) -> None:
        """That nothing is owed once so much of this debt is paid. Raises InvalidParams."""
        if amount != EVERYTHING:
            raise InvalidParams(
                f"all collateral comes out only once nothing is owed, and {self.show(owed)} is: say max",
                fields={"withdraw_collateral": "needs max"},
                fill={"amount": {"one_of": [EVERYTHING]}},
            )
        # Each debt's value is rounded up on its own.
        if self.stand.account.debt > self.stand.reserve.value(owed) + 1:
            raise InvalidParams(
                "the account owes something else as well; repay that first, and this debt last",
                fields={"withdraw_collateral": "needs the last debt"},
            )

    def take_out(self, draft: PlanDraft, falling: frozenset[str]) -> tuple[str, ...]:
        """Add the calls that take out what is supplied, once nothing is owed; the assets that stay, and why.

        What may only fall stays: it is sold in a plan of its own, which takes it out.
        """
        left: list[str] = []
        where = self.lender.where(self.reader.chain_id)
        for each in drive(list_supplied(where, self.account, label=self.lender.label), self.reader.call_many):
            token = self.reader.token(each.reserve.asset)
            closed = "this asset was owed too" if token.address == self.asset else each.closed
            closed = RETIRES if token.address in falling else closed
            if closed:
                left.append(f"{token.symbol}: {closed}")
                continue
            shown = format_units(each.raw, token.decimals, token.symbol)
            draft.call(self.call(signatures.WITHDRAW, (token.address, EVERYTHING, self.account), f"Withdraw {shown}"))
            draft.receive(token, each.raw)
            grown = interest_in(each.raw, each.reserve.supply_rate, PLAN_SECONDS)
            draft.changes.append(replace(self.change(-each.raw, bound=-(each.raw + grown)), token=token.address))
        return tuple(left)

    def draft(self) -> PlanDraft:
        return PlanDraft(self.reader.chain_id, self.account)

    def show(self, raw: int) -> str:
        return format_units(raw, self.token.decimals, self.token.symbol)

    def call(self, signature: str, args: AbiValues, what: str) -> Call:
        return Call(self.pool, encode_call(signature, *args), 0, f"{what} at {self.lender.label}")

    def change(self, expected: int, *, bound: int, least_health: int | None = None) -> PositionChange:
        """What the plan promises of the account's legs of this asset."""
        ref = self.checks.ref
        return PositionChange(ref.protocol, ref.kind, self.asset, expected, bound, ref, least_health)

    def is_collateral(self, wanted: bool) -> GaugeBound:
        """What the pool shall say afterwards of the asset as the account's collateral."""
        gauge = Gauge(
            f"whether {self.token.symbol} is collateral",
            self.lender.where(self.reader.chain_id).data_provider,
            signatures.USER_RESERVE,
            (self.asset, self.account),
            signatures.IS_COLLATERAL,
        )
        return GaugeBound(gauge, least=1) if wanted else GaugeBound(gauge, most=0)

    def ratio_bps(self, *, collateral: int = 0, debt: int = 0) -> int | None:
        """Collateral over debt afterwards, unweighted; None without debt."""
        owed = self.stand.account.debt + debt
        return max(0, self.stand.account.collateral + collateral) * 10_000 // owed if owed else None

    def details(self, *, amount: int, health: int | None, mode: str = "variable", **before: int) -> dict[str, object]:
        """What the permit tells. Integers as text; `health_factor_after` is None without debt."""
        reserve = self.stand.reserve
        return {
            "venue": self.lender.name,
            "pool": self.pool,
            "asset": self.asset,
            "symbol": self.token.symbol,
            "amount": str(amount),
            "amount_units": self.show(amount),
            "interest_rate_mode": mode,
            "supply_apy_pct": percent(annual_ppm(reserve.supply_rate)),
            "borrow_apy_pct": percent(annual_ppm(reserve.rate_of(signatures.MODES[mode]))),
            "health_factor_before": None if (now := self.stand.account.health_bps) is None else show_health(now),
            "health_factor_after": None if health is None else show_health(health),
            "health_floor": show_health(self.checks.floor_bps),
            **{key: str(value) for key, value in before.items()},
        }
