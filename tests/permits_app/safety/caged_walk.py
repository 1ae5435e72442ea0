"""The same walk for a golem that acts through a Safe: its key alone owns it, or a PolicyCage judges what its key does.

Of a cage its owners tighten the contract as well: the phase, the limits, the list of assets, the mark, the session and
the contract's own halt. What the contract takes from the key for good its owners take out of the Safe themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from permits_app.policy_cage.abi import FUNCTIONS
from permits_app.policy_cage.contract import (
    AssetRule,
    AssetState,
    Limit,
    RuleKind,
    address_key,
    encode_halt,
    encode_propose,
    encode_resume,
    encode_set_session,
    limit_rule,
)
from permits_app.policy_cage.contract import Rule as CageRule
from permits_app.policy_cage.safe_tx import ZERO_ADDRESS
from permits_app.policy_cage.state import CageState
from tests.live_golem import LiveGolem
from tests.permits_app.caged_golem import CagedGolem
from tests.permits_app.execution.test_safe_wallet import SafeGolem
from tests.permits_app.safety.leaving_walk import ACTS, BASE, OTHERS, LeavingWalk
from tools_app.chain.abi import encode_call
from tools_app.protocols.uniswap.v3 import plans as v3
from tools_app.toolkit.enums import Phase

_PHASES: Final = (Phase.THRIVING, Phase.CAUTIOUS, Phase.DEFENSIVE, Phase.SURVIVAL, Phase.TERMINAL)
_APPROVE: Final = "function approve(address spender, uint256 amount)"
_ALL: Final = 2**128 - 1
_IN_POSITION: Final = "WETH"
_FEES: Final = {"WETH": 500, "DAI": 100}

CAGED_ACTS: Final[Mapping[str, tuple[tuple[Any, ...], ...]]] = {
    **ACTS,
    "worsen_in_contract": tuple((index,) for index in range(1, len(_PHASES))),
    "tighten_contract": (
        (Limit.MAX_POSITION_BPS, 1),
        (Limit.MAX_CONCENTRATION_BPS, 500),
        (Limit.MAX_REBALANCES_PER_DAY, 0),
    ),
    "retire": tuple((token,) for token in OTHERS),
    "raise_the_mark": ((60_000,), (10_000_000,)),
    "record_drawdown": ((),),
    "close_outflow": tuple((token,) for token in OTHERS),
    "propose_looser": ((),),
    "end_session": ((),),
    "appoint": ((),),
    "halt_contract": ((),),
    "resume_contract": ((),),
}
"""What is done to any golem, and what its owners sign for the contract."""


class SafeWalk(LeavingWalk):
    """One golem whose key is the only owner of its Safe."""

    def __init__(self, live: LiveGolem) -> None:
        SafeGolem(live)
        super().__init__(live)


class CagedWalk(LeavingWalk):
    """One golem behind its cage."""

    def __init__(self, live: LiveGolem) -> None:
        self.caged = CagedGolem(live)
        self.kept_in: set[str] = set()
        self.retiring: set[str] = set()
        self.is_position_first = False
        self.is_concentrated = False
        self.is_change_pending = False
        super().__init__(live)
        self.appoint()

    # What its owners sign.

    def worsen_in_contract(self, index: int) -> None:
        """The contract's phase, which is never worse by less than it is."""
        if index > self._state().limit(Limit.PHASE):
            self._propose(limit_rule(Limit.PHASE, index))

    def tighten_contract(self, limit: Limit, value: int) -> None:
        """One of the contract's own limits, at once. What is above its cap goes before anything else is sold."""
        self._propose(limit_rule(limit, value))
        self.is_position_first |= limit is Limit.MAX_POSITION_BPS
        self.is_concentrated |= limit is Limit.MAX_CONCENTRATION_BPS

    def retire(self, symbol: str) -> None:
        """The asset may only fall from now on: what a position holds of it is sold in the plan that takes it out."""
        key = address_key(self.live.world.tokens[symbol].address)
        rule = AssetRule.unpack(self._state().rule(RuleKind.ASSET, key))
        if rule.state is AssetState.APPROVED:
            packed = rule.pack() & ~(0xFF << 208) | int(AssetState.RETIRING) << 208
            self._propose(CageRule(RuleKind.ASSET, key, packed))
        self.retiring.add(symbol)

    def raise_the_mark(self, dollars: int) -> None:
        """Far above what is there: a drawdown."""
        self._propose(limit_rule(Limit.HIGH_WATER_MARK_MICRO_USD, dollars * 10**6))

    def record_drawdown(self) -> None:
        """By anyone, where there is one that is not on record."""
        engine, caller = self.caged.safe.engine, self.caged.safe.owners[0]
        self.caged.safe.keep_up()
        engine.send(caller, self.caged.mirror.contract, encode_call(FUNCTIONS["recordDrawdown"]))

    def close_outflow(self, symbol: str) -> None:
        """Nothing of it leaves through the key any more."""
        key = address_key(self.live.world.tokens[symbol].address)
        self._propose(CageRule(RuleKind.OUTFLOW_PER_BATCH, key, 0))
        self.kept_in.add(symbol)

    def propose_looser(self) -> None:
        """A change that waits."""
        if not self.is_change_pending:
            self._sign(encode_propose([limit_rule(Limit.MAX_LOSS_BPS, 2 * self._state().limit(Limit.MAX_LOSS_BPS))]))
        self.is_change_pending = True

    def end_session(self) -> None:
        """The key may nothing."""
        self._sign(encode_set_session(key=ZERO_ADDRESS, expires_at=0, operations=0, budget_micro_usd=0))

    def appoint(self) -> None:
        """The key again, with all that the contract lets a session have."""
        self.caged.appoint(self.caged.key, operations=1_000)

    def halt_contract(self) -> None:
        """By the owners."""
        self._sign(encode_halt())

    def resume_contract(self) -> None:
        """Does nothing to one that runs."""
        if self._state().is_halted:
            self._sign(encode_resume())

    # What must hold.

    def check_every_step_out(self) -> None:
        """Through the key, unless the contract is halted or its session ended: then its owners' word comes first."""
        if self.may_the_key_act():
            super().check_every_step_out()

    def may_the_key_act(self) -> bool:
        """Neither a halt of the contract nor an end of the session keeps it from acting."""
        state = self._state()
        return not state.is_halted and state.session.key == self.caged.key.address

    def check_agent_gets_out(self) -> None:
        """By the agent, once its owners let its key act and took out what it may not."""
        self._let_the_key_act()
        super().check_agent_gets_out()

    def check_owner_gets_out(self) -> None:
        """By the halt that sells, once its owners let the key act."""
        self._let_the_key_act()
        super().check_owner_gets_out()

    def check_is_sold(self, symbol: str) -> None:
        """Asked for and not taken."""
        self._check(action_type="swap", token_in=symbol, token_out=BASE, amount=str(self.live.balance(symbol)))

    def check_position_is_left_by_the_key(self) -> None:
        """Asked for and not taken."""
        for position in self.list_positions():
            self._check(action_type="remove_liquidity", position_id=position, percent_to_remove=100)

    def check_rest_is_taken_out(self, position: str, *, of: str) -> None:
        """What a plan left owed to a position comes out too, and nothing of that token lies in the wallet then."""
        self._do(action_type="collect_fees", position_id=position)
        manager = self.live.world.contracts["uniswap_v3_position_manager"]
        shape = "(uint96,address,address,address,uint24,int24,int24,uint128,uint256,uint256,uint128,uint128)"
        told = self.live.world.rpc.read(manager, "positions(uint256)", int(position), returns=shape)
        assert (tuple(told[10:]), self.live.balance(of)) == ((0, 0), 0), self._tell("something is owed")

    def _let_the_key_act(self) -> None:
        self.resume_contract()
        self.appoint()
        for position in [] if self._may_leave_positions() else super().list_positions():
            self._leave_as_owners(int(position))

    def _may_leave_positions(self) -> bool:
        return _IN_POSITION not in self.kept_in

    def _is_anything_open(self) -> bool:
        """Whether the contract still counts a position."""
        return bool(self.list_positions())

    def _list_left(self) -> list[str]:
        return self.list_positions() if self._may_leave_positions() else []

    def _leave_as_owners(self, position: int) -> None:
        manager, account = self.live.world.contracts["uniswap_v3_position_manager"], self.live.golem.address
        shape = "(uint96,address,address,address,uint24,int24,int24,uint128,uint256,uint256,uint128,uint128)"
        held = self.live.world.rpc.read(manager, "positions(uint256)", position, returns=shape)[7]
        deadline = self.caged.safe.engine._head_time() + 3_600
        self.caged.safe.owner_call(manager, encode_call(v3.DECREASE, (position, held, 0, 0, deadline)))
        self.caged.safe.owner_call(manager, encode_call(v3.COLLECT, (position, account, _ALL, _ALL)))

    def _list_held(self) -> list[str]:
        if self.is_position_first and self._is_anything_open():
            return []
        held = super()._list_held()
        first = held[:1] if self.is_concentrated else held
        return [symbol for symbol in first if symbol not in self.kept_in]

    def _sell_all(self) -> None:
        for symbol in self.kept_in:
            self._sell_as_owners(symbol)
        super()._sell_all()
        assert [symbol for symbol in OTHERS if self.live.balance(symbol)] == [], self._tell("something is left")

    def _sell_as_owners(self, symbol: str) -> None:
        """What the contract keeps from the key is no less their own: two transactions of the Safe."""
        amount = self.live.balance(symbol)
        if not amount:
            return
        token, base = (self.live.world.tokens[each].address for each in (symbol, BASE))
        router = self.live.world.contracts["uniswap_v3_swap_router_02"]
        sold = encode_call(v3.EXACT_IN_SINGLE, (token, base, _FEES[symbol], self.live.golem.address, amount, 0, 0))
        self.caged.safe.owner_call(token, encode_call(_APPROVE, router, amount))
        self.caged.safe.owner_call(router, sold)

    def _commit(self, permit: dict[str, Any], wish: Any) -> None:
        super()._commit(permit, wish)
        self.caged.sync()

    def _propose(self, rule: CageRule) -> None:
        if self._state().rule(rule.kind, rule.key) != rule.value:
            self._sign(encode_propose([rule]))

    def _sign(self, data: bytes) -> None:
        self.caged.safe.owner_call(self.caged.mirror.contract, data)
        self.caged.sync()

    def _state(self) -> CageState:
        return CageState.from_dict(self.caged.sync().state)
