"""Several steps at the position managers as one plan: what one of them brings another takes, and both are netted.

Steps at V3 that follow each other without a swap between them are one call of its manager, which does all of them or
none; at V4 each step is a call.
Nothing is put in but what the calldata of earlier steps surely brings, or what the tool itself allowed of the wallet.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from tools_app.core.errors import InvalidParams
from tools_app.core.json_types import JsonObject
from tools_app.core.units import BPS, format_units
from tools_app.protocols.uniswap.addresses import UniswapDeployment, deployment_on
from tools_app.protocols.uniswap.balances import read_holdings
from tools_app.protocols.uniswap.errors import AmountTooSmall, InsufficientLiquidity, NoRoute, TransferFeeUnknown
from tools_app.protocols.uniswap.paths import V4
from tools_app.protocols.uniswap.position_changes import FEE_DUST, Range, nft_ref
from tools_app.protocols.uniswap.quoting import RouteQuote
from tools_app.protocols.uniswap.routing import find_routes, least_out
from tools_app.protocols.uniswap.swap_calls import build_swap_call
from tools_app.protocols.uniswap.tools.family import deadline_after
from tools_app.protocols.uniswap.v3 import plans as v3_plans
from tools_app.protocols.uniswap.v3.deposits import RangeDeposit, amount_to_swap, plan_deposit, plan_exact_deposit
from tools_app.protocols.uniswap.v3.positions import V3Position, least_amounts
from tools_app.protocols.uniswap.v4 import liquidity_plans as v4_plans
from tools_app.protocols.uniswap.v4.addresses import V4Contracts, v4_on
from tools_app.protocols.uniswap.v4.liquidity_plans import NOBODY
from tools_app.protocols.uniswap.v4.pools import key_of
from tools_app.protocols.uniswap.v4.positions import held_of
from tools_app.standards.mid_plan_state import foresee
from tools_app.standards.permit2 import PERMIT2
from tools_app.standards.plan_draft import PlanDraft, check_enough
from tools_app.toolkit.context import ChainReader, WriteContext
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.markets import Pool
from tools_app.toolkit.plan import Call, ItemGiven, TxPlan
from tools_app.toolkit.pool_hooks import PoolHooks
from tools_app.toolkit.positions import PositionChange
from tools_app.toolkit.views import NATIVE, TokenMeta

UNTIL_SECONDS: Final = 300
"""Calls of a joint plan run at most so long after it was made."""
LEAST_SWAPPED_BPS: Final = 100
"""A surplus smaller than this part of what there is stays over: swapping it costs more than it earns."""

Amounts = tuple[int, int]


def is_worth_swapping(amount: int, *, of: int) -> bool:
    """Whether a surplus is large enough, of all there is of its token."""
    return amount > 0 and amount * BPS >= of * LEAST_SWAPPED_BPS


@dataclass
class _Flow:
    """Base units of one token: what steps bring (as quoted, at least by their bytes, the least of fees, which no bytes
    bound), and what they take.
    """

    token: TokenMeta
    brings: int = 0
    surely: int = 0
    fees: int = 0
    takes: int = 0
    most: int = 0


@dataclass(frozen=True, slots=True)
class SwapBetween:
    """A swap between two steps: base units sold, and the least of the other token that it brings."""

    sold: TokenMeta
    bought: TokenMeta
    amount: int
    least: int


@dataclass
class JointSteps:
    """Steps in the making, for the golem's account on one chain."""

    ctx: WriteContext
    reader: ChainReader
    deployment: UniswapDeployment
    until: int
    slippage_bps: int
    changes: list[PositionChange] = field(default_factory=list)
    impact_bps: int | None = None
    _calls: list[Call] = field(default_factory=list)
    _waiting: list[bytes] = field(default_factory=list)
    _labels: list[str] = field(default_factory=list)
    _flows: dict[str, _Flow] = field(default_factory=dict)
    _offered: dict[str, Amounts] = field(default_factory=lambda: defaultdict(lambda: (0, 0)))
    _routed: dict[tuple[str, str], int] = field(default_factory=lambda: defaultdict(int))
    _through: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    _items: list[ItemGiven] = field(default_factory=list)
    _hooks: dict[PoolHooks, None] = field(default_factory=dict)

    @classmethod
    def begin(cls, ctx: WriteContext, *, slippage_bps: int) -> JointSteps:
        """Nothing yet. Raises what opening the chain raises."""
        reader = ctx.chain()
        until = deadline_after(ctx, reader, UNTIL_SECONDS)
        return cls(ctx, reader, deployment_on(reader.chain_id), until, slippage_bps)

    def tokens_of(self, pool: Pool) -> tuple[TokenMeta, TokenMeta]:
        """Both tokens of a pool, in its order."""
        return self.reader.token(pool.token0), self.reader.token(pool.token1)

    def take_out(
        self, position: V3Position, liquidity: int, *, with_fees: bool = True, as_coin: bool = False
    ) -> Amounts:
        """Take liquidity out, by default with its fees; the least of both tokens that surely comes out.

        `as_coin` has the wrapped coin of a V3 position paid out as the coin.
        """
        tokens, amounts = self.tokens_of(position.pool), position.amounts(liquidity)
        least = least_amounts(position, liquidity, self.slippage_bps)
        fees = (position.fees0, position.fees1) if with_fees else (0, 0)
        if position.pool.version == V4:
            if not with_fees:
                raise InvalidParams(
                    "V4 pays the fees of a position whenever it is changed",
                    fields={"collect_fees": "leave it out, or true"},
                )
            self._take_out_of_v4(position, liquidity, least)
        else:
            self._take_out_of_v3(position, liquidity, least, with_fees=with_fees, as_coin=as_coin)
        for token, amount, fee, low in zip(tokens, amounts, fees, least, strict=True):
            is_coin = as_coin and token.address == self.deployment.wrapped_native
            came = self.reader.token(NATIVE) if is_coin else token
            self._brings(came, amount + fee, surely=low, fees=max(0, fee - FEE_DUST))
        self.changes += self._range_of(position).shrinks(
            liquidity,
            position.liquidity,
            fees,
            slippage_bps=self.slippage_bps,
            ref=nft_ref(self.reader.chain_id, position.position_id),
        )
        return least

    def _take_out_of_v4(self, position: V3Position, liquidity: int, least: Amounts) -> None:
        held, contracts = held_of(position), self.v4
        bounds: JsonObject = {
            "manager": contracts.positions,
            "held": held,
            "least": least,
            "recipient": self.ctx.account,
            "deadline": self.until,
            "label": f"Take liquidity out of V4 position {held.number}",
        }
        if liquidity == position.liquidity:
            self._call_v4(position.pool, v4_plans.burn(**bounds))
            self._items.append(ItemGiven(contracts.positions, held.number, NOBODY))
        else:
            self._call_v4(position.pool, v4_plans.shrink(liquidity=liquidity, **bounds))

    def _take_out_of_v3(
        self, position: V3Position, liquidity: int, least: Amounts, *, with_fees: bool, as_coin: bool
    ) -> None:
        most = (None, None) if with_fees else position.amounts(liquidity)
        self._step(
            f"take liquidity out of position {position.position_id}",
            *v3_plans.decrease_steps(
                position_id=position.position_id,
                liquidity=liquidity,
                least0=least[0],
                least1=least[1],
                most0=most[0],
                most1=most[1],
                recipient=NOBODY if as_coin else self.ctx.account,
                deadline=self.until,
            ),
            *(
                v3_plans.pay_out_steps(
                    wrapped=self.deployment.wrapped_native,
                    tokens=(position.pool.token0, position.pool.token1),
                    least=least,
                    recipient=self.ctx.account,
                )
                if as_coin
                else ()
            ),
        )

    def collect(self, position: V3Position) -> Amounts:
        """Take the fees out; what of them surely comes, which no calldata bounds."""
        fees = (position.fees0, position.fees1)
        label = f"collect the fees of position {position.position_id}"
        if position.pool.version == V4:
            call = v4_plans.shrink(
                manager=self.v4.positions,
                held=held_of(position),
                liquidity=0,
                least=(0, 0),
                recipient=self.ctx.account,
                deadline=self.until,
                label=label.capitalize(),
            )
            self._call_v4(position.pool, call)
        else:
            step = v3_plans.collect_step(position_id=position.position_id, recipient=self.ctx.account)
            self._step(label, step)
        for token, fee in zip(self.tokens_of(position.pool), fees, strict=True):
            self._brings(token, fee, surely=0, fees=max(0, fee - FEE_DUST))
        self.changes += self._range_of(position).shrinks(
            0, position.liquidity, fees, slippage_bps=0, ref=nft_ref(self.reader.chain_id, position.position_id)
        )
        return max(0, fees[0] - FEE_DUST), max(0, fees[1] - FEE_DUST)

    def even_out(self, pool: Pool, ticks: tuple[int, int], have: Amounts) -> tuple[Amounts, SwapBetween | None]:
        """Swap of what is there as much as the range wants of the other token; what surely is there then.

        Nothing is swapped where little is over, or no pool takes it.
        """
        tokens = self.tokens_of(pool)
        amounts = amount_to_swap(pool.sqrt_price, *ticks, amount0=have[0], amount1=have[1])
        place = 0 if amounts[0] else 1
        amount, sold, bought = amounts[place], tokens[place], tokens[1 - place]
        if not is_worth_swapping(amount, of=have[place]):
            return have, None
        quote = self._quote(sold, bought, amount)
        if quote is None:
            return have, None
        least = least_out(quote, self.slippage_bps)
        self._flush()
        router = self.deployment.v2_router if quote.version == "v2" else self.deployment.v3_router
        self._calls.append(
            build_swap_call(
                self.deployment,
                quote,
                token_in=sold,
                token_out=bought,
                limit=least,
                recipient=self.ctx.account,
                deadline=self.until,
            )
        )
        self._routed[sold.address, router] += amount
        self._takes(sold, amount, most=amount)
        self._brings(bought, quote.amount_out, surely=least)
        self.impact_bps = max(self.impact_bps or 0, quote.price_impact_bps)
        left = (have[0] - amount, have[1] + least) if place == 0 else (have[0] + least, have[1] - amount)
        return left, SwapBetween(sold, bought, amount, least)

    def open(self, pool: Pool, ticks: tuple[int, int], amounts: tuple[int | None, int | None]) -> RangeDeposit:
        """Open a position with at most these amounts. Raises AmountTooSmall, InvalidRange."""
        offer = self._deposit(pool, ticks, amounts)
        tokens = self.tokens_of(pool)
        label = f"open a position in {tokens[0].symbol}/{tokens[1].symbol}"
        if pool.version == V4:
            call = v4_plans.open_range(
                manager=self.v4.positions,
                key=key_of(pool),
                ticks=ticks,
                liquidity=offer.liquidity,
                most=offer.offered,
                recipient=self.ctx.account,
                deadline=self.until,
                label=f"{label[0].upper()}{label[1:]}",
            )
            self._put_into_v4(pool, offer, call)
            self.changes += Range.read(self.reader, pool, *ticks).grows(
                offer.liquidity, offer.least_liquidity, slippage_bps=self.slippage_bps
            )
            return offer
        mint = v3_plans.mint_position(
            manager=self.deployment.v3_position_manager,
            token0=pool.token0,
            token1=pool.token1,
            fee=pool.fee,
            tick_lower=ticks[0],
            tick_upper=ticks[1],
            deposit=v3_plans.OfferedAmounts(*offer.offered, *offer.least),
            recipient=self.ctx.account,
            deadline=self.until,
            label=label,
        )
        self._step(label, mint.data)
        self._put_in(tokens, offer)
        self.changes += Range.read(self.reader, pool, *ticks).grows(
            offer.liquidity, offer.least_liquidity, slippage_bps=self.slippage_bps
        )
        return offer

    def grow(self, position: V3Position, amounts: Amounts) -> RangeDeposit:
        """Add at most these amounts to a position. Raises AmountTooSmall."""
        ticks = (position.tick_lower, position.tick_upper)
        offer = self._deposit(position.pool, ticks, amounts)
        label = f"add to position {position.position_id}"
        if position.pool.version == V4:
            call = v4_plans.grow(
                manager=self.v4.positions,
                held=held_of(position),
                liquidity=offer.liquidity,
                most=offer.offered,
                recipient=self.ctx.account,
                deadline=self.until,
                label=label.capitalize(),
            )
            self._put_into_v4(position.pool, offer, call)
        else:
            increase = v3_plans.increase_position(
                manager=self.deployment.v3_position_manager,
                position_id=position.position_id,
                deposit=v3_plans.OfferedAmounts(*offer.offered, *offer.least),
                deadline=self.until,
                label=label,
            )
            self._step(label, increase.data)
            self._put_in(self.tokens_of(position.pool), offer)
        self.changes += self._range_of(position).grows(
            offer.liquidity,
            offer.least_liquidity,
            slippage_bps=self.slippage_bps,
            ref=nft_ref(self.reader.chain_id, position.position_id),
        )
        return offer

    def finish(self, *, action_class: ActionClass, details: Mapping[str, object]) -> TxPlan:
        """The plan: exact approvals first, then the steps; flows are what is left over or missing of each token.

        Raises InsufficientBalance.
        """
        self._flush()
        draft = PlanDraft(self.reader.chain_id, self.ctx.account)
        tokens = [flow.token for flow in self._flows.values()]
        holdings = read_holdings(self.reader, self.ctx.account, tokens, spender=self.deployment.v3_position_manager)
        for holding in holdings:
            flow, token = self._flows[holding.token.address], holding.token
            missing = flow.most - flow.surely
            expected = max(0, flow.takes - flow.brings)
            check_enough(token, balance=holding.balance, needed=expected)
            offered, taken = self._offered[token.address]
            manager = self.deployment.v3_position_manager
            draft.approve(token, spender=manager, amount=offered, allowance=holding.allowance, least_taken=taken)
            if missing > 0:
                draft.spend(token, expected, at_most=missing)
            else:
                # Fees are promised where nothing is taken: what is put in is held against bytes alone.
                least = -missing if flow.most else flow.surely + flow.fees
                draft.receive(token, max(0, flow.brings - flow.takes), at_least=least)
        for (address, router), amount in self._routed.items():
            token = self._flows[address].token
            (allowed,) = read_holdings(self.reader, self.ctx.account, [token], spender=router)
            draft.approve(token, spender=router, amount=amount, allowance=allowed.allowance)
        tokens = [self._flows[address].token for address in self._through]
        for holding in read_holdings(self.reader, self.ctx.account, tokens, spender=PERMIT2):
            draft.approve_through_permit2(
                holding.token,
                spender=self.v4.positions,
                amount=self._through[holding.token.address],
                allowance=holding.allowance,
                until=self.until,
                is_used_up=False,
            )
        draft.call(*self._calls)
        draft.changes += self.changes
        return draft.finish(
            action_class=action_class,
            slippage_bps=self.slippage_bps,
            price_impact_bps=self.impact_bps,
            deadline=self.until,
            hooks=tuple(self._hooks),
            items=tuple(self._items),
            details={
                "manager": self.deployment.v3_position_manager,
                "is_atomic": len(self._calls) == 1,
                **details,
                "left_in_wallet": [
                    {
                        "token": flow.token.address,
                        "expected": str(max(0, flow.brings - flow.takes)),
                        "expected_units": format_units(
                            max(0, flow.brings - flow.takes), flow.token.decimals, flow.token.symbol
                        ),
                    }
                    for flow in self._flows.values()
                ],
            },
        )

    # ---- below ------------------------------------------------------------------------------------------------------

    @property
    def v4(self) -> V4Contracts:
        """V4's contracts on the chain."""
        found = v4_on(self.reader.chain_id)
        if found is None:
            raise AssertionError("a chain with Uniswap has V4's addresses")
        return found

    def _call_v4(self, pool: Pool, call: Call) -> None:
        """One call of V4's manager, after what waits for V3's."""
        self._flush()
        self._calls.append(call)
        if pool.hooks is not None:
            self._hooks[pool.hooks] = None

    def _put_into_v4(self, pool: Pool, offer: RangeDeposit, call: Call) -> None:
        for token, used, offered in zip(self.tokens_of(pool), offer.used, offer.offered, strict=True):
            self._takes(token, used, most=offered)
            if offered and not token.is_native:
                self._through[token.address] += offered
        self._call_v4(pool, call)

    def _step(self, label: str, *steps: bytes) -> None:
        self._waiting += steps
        self._labels.append(label)

    def _flush(self) -> None:
        if self._waiting:
            label = ", then ".join(self._labels)
            label = f"{label[0].upper()}{label[1:]}"
            manager = self.deployment.v3_position_manager
            self._calls.append(v3_plans.bundle(manager=manager, steps=self._waiting, label=label))
        self._waiting, self._labels = [], []

    def _flow(self, token: TokenMeta) -> _Flow:
        return self._flows.setdefault(token.address, _Flow(token))

    def _brings(self, token: TokenMeta, expected: int, *, surely: int, fees: int = 0) -> None:
        flow = self._flow(token)
        flow.brings += expected
        flow.surely += surely
        flow.fees += fees

    def _takes(self, token: TokenMeta, expected: int, *, most: int) -> None:
        flow = self._flow(token)
        flow.takes += expected
        flow.most += most

    def _put_in(self, tokens: Sequence[TokenMeta], offer: RangeDeposit) -> None:
        for token, used, offered, least in zip(tokens, offer.used, offer.offered, offer.least, strict=True):
            self._takes(token, used, most=offered)
            before = self._offered[token.address]
            self._offered[token.address] = (before[0] + offered, before[1] + least)

    def _deposit(self, pool: Pool, ticks: tuple[int, int], amounts: tuple[int | None, int | None]) -> RangeDeposit:
        plan = plan_exact_deposit if pool.version == V4 else plan_deposit
        return plan(pool.sqrt_price, *ticks, amount0=amounts[0], amount1=amounts[1], slippage_bps=self.slippage_bps)

    def _quote(self, sold: TokenMeta, bought: TokenMeta, amount: int) -> RouteQuote | None:
        seen = foresee(self.reader, self.ctx.account, {sold.address: amount})
        try:
            routes = find_routes(
                seen, self.deployment, token_in=sold, token_out=bought, amount=amount, slippage_bps=self.slippage_bps
            )
        except (NoRoute, InsufficientLiquidity, AmountTooSmall, TransferFeeUnknown):
            return None
        return routes.best

    def _range_of(self, position: V3Position) -> Range:
        return Range.read(self.reader, position.pool, position.tick_lower, position.tick_upper)
