"""The walk from behind a cage for all that its valuers count and for what none counts: a loan at Aave with its
collateral, a vault's shares, a position of Uniswap V3, and shares of a Uniswap V2 pair.

Its key opened what the contract counts, its owners agreed to the loan as they do, and put the pair's shares there: no
tool buys them, and only the owners may let the router take them. What the contract keeps from the key in the end, its
owners take out of the Safe.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from django_otp.plugins.otp_totp.models import TOTPDevice

from permits_app.actions.execute_change import execute_change
from permits_app.actions.halt import list_what_is_left
from permits_app.models import AllowlistEntry, ChangeRequest, SpendingLimits
from permits_app.models.spending import AllowlistMode
from tests.evm.world import CHAIN_ID
from tests.golem_project.heartbeat.loans import include
from tests.live_golem import LiveGolem
from tests.permits_app.approvals.people import approve, give_device
from tests.permits_app.safety.caged_walk import CAGED_ACTS, CagedWalk
from tests.permits_app.safety.leaving_walk import BASE
from tests.permits_app.safety.lending_walk import LENDING_ACTS, OWED, SUPPLIED, LendingWalk
from tests.tools_app.factories import call_tool, make_context
from tools_app.chain.abi import encode_call
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.protocols.aave_v3.addresses import deployments as aave_deployments
from tools_app.protocols.erc4626.addresses import NAME as VAULTS
from tools_app.protocols.erc4626.addresses import REQUEST, SAVINGS, deployments
from tools_app.protocols.morpho_blue.addresses import known_markets
from tools_app.protocols.uniswap.v2 import plans as v2
from tools_app.protocols.uniswap.v3 import plans as v3
from tools_app.standards.aave_like import signatures
from tools_app.standards.retiring_sales import RetiringUnsold
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.retiring_tokens import OnlyFalling

_USED: Final = frozenset({"uniswap", "aave_v3", VAULTS})
_TOOLS: Final = ("aave_supply", "aave_borrow", "aave_repay", "aave_withdraw", "vault_deposit", "vault_withdraw")
_APPROVE: Final = "function approve(address spender, uint256 amount)"
_ADD_V2: Final = "function addLiquidity(address,address,uint256,uint256,uint256,uint256,address,uint256)"
_REDEEM: Final = "function redeem(uint256 shares, address receiver, address owner)"
_PAIRED: Final = (600 * 10**6, 2 * 10**17)
_FAR: Final = 2**40
_ALL: Final = 2**256 - 1

CAGED_LENDING_ACTS: Final[Mapping[str, tuple[tuple[Any, ...], ...]]] = {**CAGED_ACTS, "pause": LENDING_ACTS["pause"]}
"""All that is done to a golem behind its cage, and the lender's own pause."""


def list_only(live: LiveGolem, protocols: frozenset[str], *, without: Sequence[str]) -> None:
    """A cage's creation has room for the protocols and tokens that are used, not for all that are there."""
    unused = [each for each in SHELF.on(CHAIN_ID) if each.name not in protocols]
    gone = [place for each in unused for place in (each.deployments(CHAIN_ID) or {}).values()]
    gone += [live.world.tokens[symbol].address for symbol in without]
    # Nor for every vault: the one of these walks is entered and left at once.
    vaults = deployments(CHAIN_ID) or {}
    gone += [vaults[REQUEST], vaults[SAVINGS]]
    AllowlistEntry.objects.filter(golem=live.golem, address__in=gone).delete()


class CagedMorphoWalk(CagedWalk):
    """One golem behind its cage with collateral in a market of Morpho."""

    def __init__(self, live: LiveGolem) -> None:
        list_only(live, frozenset({"uniswap", "morpho"}), without=("FEE", "USDT"))
        # Nor for both versions of Uniswap beside Morpho.
        router = live.world.contracts["uniswap_v2_router"]
        AllowlistEntry.objects.filter(golem=live.golem, address=router).delete()
        super().__init__(live)
        self.market = {"venue": "morpho", "market_id": known_markets(CHAIN_ID)[0].id, "asset": SUPPLIED}

    def begin(self) -> None:
        """By its key; no debt."""
        include(self.live, "morpho_supply_market", "morpho_withdraw_market")
        self._do(action_type="supply", amount=str(3 * 10**17), **self.market)

    def take_out(self) -> None:
        """All of it, by its agent."""
        self._do(action_type="withdraw", amount="max", **self.market)

    def check_nothing_is_left(self) -> None:
        """At any protocol."""
        left = list_what_is_left(golem=self.golem, now=clock.now())
        assert left == [], self._tell(left)


class CagedLendingWalk(LendingWalk, CagedWalk):
    """One golem behind its cage that lends, owes, and holds shares of a vault and of a pair."""

    def __init__(self, live: LiveGolem) -> None:
        list_only(live, _USED, without=("FEE", "USDT"))
        self.may_router_take_shares = True
        super().__init__(live)
        self.pair = live.world.pool("v2", BASE, "WETH").address

    def begin(self) -> None:
        """By its key through the cage, but for what its owners alone can do."""
        CagedWalk.begin(self)
        include(self.live, *_TOOLS)
        self._do(action_type="supply", venue="aave", asset=SUPPLIED, amount=str(3 * 10**17))
        self._borrow_with_its_owners(300)
        self._do(action_type="deposit", venue=VAULTS, vault=self.vault, amount=str(500 * 10**6))
        self._buy_shares_as_owners()

    # What its owners sign.

    def keep_shares_from_router(self) -> None:
        """The owners take back what they let the router take."""
        self._sign_call(self.pair, _APPROVE, self._router, 0)
        self.may_router_take_shares = False

    def leave_the_lender_but(self, raw: int) -> None:
        """By the owners: the debt is paid, and of what was put in so many base units stay."""
        self._repay_as_owners()
        self._withdraw_as_owners(self._read_reserve(SUPPLIED)[0] - raw)

    # What must hold.

    def check_every_step_out(self) -> None:
        """Through the key, unless the contract is halted or its session ended."""
        if self.may_the_key_act():
            super().check_every_step_out()

    def list_lent_steps(self) -> list[dict[str, Any]]:
        """Those that the contract lets its key take."""
        steps = [each for each in super().list_lent_steps() if self._may_key_take(each)]
        if self.has_pair_shares() and self._may_key_leave_the_pair():
            steps.append(self._leave_the_pair())
        return steps

    def check_agent_gets_out(self) -> None:
        """Once the lender is open, by the agent, after its owners took out what it may not."""
        self.pause(False)
        self.resume()
        self._let_the_key_act()
        for position in self.list_positions():
            self._do(action_type="remove_liquidity", position_id=position, percent_to_remove=100)
        self._leave_what_is_lent()
        self._sell_all()
        if self._is_unsold_rest():
            self._take_rest_as_owners()
        self._check_nothing_is_counted()

    def check_owner_gets_out(self) -> None:
        """Once the lender is open, by the halt that sells, after the owners took out what the key may not."""
        self.pause(False)
        self._let_the_key_act()
        super().check_owner_gets_out()
        self._check_nothing_is_counted()

    def sell_what_is_owed(self) -> None:
        """All of it that the wallet holds, by its agent."""
        asked = {"token_in": OWED, "token_out": BASE, "amount": str(self.live.balance(OWED))}
        self._do(action_type="swap", **asked)

    def buy_what_is_owed_as_owners(self) -> None:
        """A little more than the debt, for dollars."""
        router, dollars = self.live.world.contracts["uniswap_v3_swap_router_02"], 310 * 10**6
        self._sign_call(self._address(BASE), _APPROVE, router, dollars)
        tokens = (self._address(BASE), self._address(OWED))
        self._sign_call(router, v3.EXACT_IN_SINGLE, (*tokens, 100, self.live.golem.address, dollars, 0, 0))
        self.caged.sync()

    def redeem_as_owners(self) -> None:
        """The vault's shares, out of the Safe."""
        account = self.live.golem.address
        self._sign_call(self.vault, _REDEEM, self._balance_of(self.vault), account, account)

    def check_step(self, name: str) -> None:
        """Asked for and not taken: `repay`, `withdraw`, `redeem` or `pair`."""
        self._check(**self._wish(name))

    def take_step(self, name: str) -> None:
        """Asked for and taken."""
        self._do(**self._wish(name))

    def has_collateral(self) -> bool:
        """Whether anything is lent out that its key takes out; not a rest of what retires that no market buys."""
        return super().has_collateral() and not self._is_unsold_rest()

    def has_pair_shares(self) -> bool:
        """Whether it holds shares of the V2 pair."""
        return self._balance_of(self.pair) > 0

    def _wish(self, name: str) -> dict[str, Any]:
        lender = {"venue": "aave", "amount": "max"}
        wishes = {
            "repay": {"action_type": "repay", "asset": OWED, **lender},
            "withdraw": {"action_type": "withdraw", "asset": SUPPLIED, **lender},
            "redeem": self._redeem(),
            "pair": self._leave_the_pair(),
        }
        return wishes[name]

    def _may_key_take(self, wish: dict[str, Any]) -> bool:
        """A debt is paid with what may leave, and by itself: with its cover it would be an exchange to the contract."""
        if wish["action_type"] == "repay":
            wish["withdraw_collateral"] = False
            return OWED not in self.kept_in
        return wish["venue"] != "aave" or self._may_key_withdraw()

    def _may_key_withdraw(self) -> bool:
        """What retires is sold as it comes out, and that is outflow."""
        return SUPPLIED not in self.retiring & self.kept_in

    def _may_key_leave_the_pair(self) -> bool:
        """Nothing counts the pair's shares, so what comes out of them is there anew: not above a cap, nor of what
        retires. Its key never called the router, so the list is asked.
        """
        is_counted_well = "WETH" not in self.retiring and not self.is_concentrated
        return self.may_router_take_shares and is_counted_well and self._is_router_listed()

    def _is_router_listed(self) -> bool:
        limits = SpendingLimits.objects.get(golem=self.live.golem)
        listed = AllowlistEntry.objects.filter(golem=self.live.golem, address=self._router)
        return limits.allowlist_mode != AllowlistMode.STRICT or listed.exists()

    def _let_the_key_act(self) -> None:
        super()._let_the_key_act()
        if self.has_debt() and OWED in self.kept_in:
            self._repay_as_owners()
        if self.has_collateral() and not self._may_key_withdraw():
            self._repay_as_owners()
            self._withdraw_as_owners(_ALL)
        if self.has_pair_shares() and not self._may_key_leave_the_pair():
            self.leave_the_pair_as_owners()
        self.caged.sync()

    def _check_nothing_is_left(self) -> None:
        """But for what it earned since it was last sold, which its owners take."""
        if self._is_unsold_rest():
            self._take_rest_as_owners()
        super()._check_nothing_is_left()

    def _is_unsold_rest(self) -> bool:
        """Whether all that is lent out is less than what can be sold in the plan that takes it out."""
        if SUPPLIED not in self.retiring or not super().has_collateral():
            return False
        falling = OnlyFalling, lambda *, golem_id, chain_id: frozenset({self._address(SUPPLIED)})
        asked = make_context(self.live.world, address=self.live.golem.address, services=dict([falling]))
        try:
            call_tool(asked, "aave_withdraw", asset=SUPPLIED, amount="max")
        except RetiringUnsold:
            return True
        except GolemError:
            # Another reason, such as a market that pauses, says nothing of how much it is.
            return False
        return False

    def _take_rest_as_owners(self) -> None:
        """To one of themselves: in the wallet nobody could sell it either."""
        to = self.caged.safe.owners[0].address
        self._sign_call(self._pool, signatures.WITHDRAW, self._address(SUPPLIED), _ALL, to)
        self.caged.sync()

    def _is_anything_open(self) -> bool:
        return super()._is_anything_open() or self.has_debt() or self.has_collateral() or self.has_shares()

    def _check_nothing_is_counted(self) -> None:
        held = (self.has_debt(), self.has_collateral(), self.has_shares(), self.has_pair_shares())
        assert held == (False, False, False, False), self._tell(held)

    # How it got there, and what the owners do themselves.

    def _borrow_with_its_owners(self, units: int) -> None:
        asked = self._post(action_type="borrow", venue="aave", asset=OWED, amount=str(units * 10**18))
        request = ChangeRequest.objects.get(permit_id=asked["permit_id"])
        if not TOTPDevice.objects.filter(user=self.live.owner).exists():
            give_device(self.live.owner)
        approve(request, self.live.owner)
        execute_change(request_id=request.pk, now=clock.now())
        assert self.has_debt(), self._tell(asked)
        self.caged.sync()

    def _buy_shares_as_owners(self) -> None:
        tokens = [self._address(each) for each in (BASE, "WETH")]
        for token, amount in zip(tokens, _PAIRED, strict=True):
            self._sign_call(token, _APPROVE, self._router, amount)
        self._sign_call(self._router, _ADD_V2, *tokens, *_PAIRED, 0, 0, self.live.golem.address, _FAR)
        self._sign_call(self.pair, _APPROVE, self._router, self._balance_of(self.pair))
        self.caged.sync()

    def _leave_the_pair(self) -> dict[str, Any]:
        return {"action_type": "remove_shares", "pair": self.pair}

    def leave_the_pair_as_owners(self) -> None:
        """Two transactions of the Safe."""
        shares = self._balance_of(self.pair)
        tokens = sorted((self._address(each) for each in (BASE, "WETH")), key=str.lower)
        self._sign_call(self.pair, _APPROVE, self._router, shares)
        self._sign_call(self._router, v2.REMOVE, *tokens, shares, 0, 0, self.live.golem.address, _FAR)

    def _repay_as_owners(self) -> None:
        if self.has_debt():
            owed = self._read_reserve(OWED)[2]
            self._sign_call(self._address(OWED), _APPROVE, self._pool, owed + owed // 100)
            self._sign_call(
                self._pool, signatures.REPAY, self._address(OWED), _ALL, signatures.VARIABLE, self.live.golem.address
            )
            self._sign_call(self._address(OWED), _APPROVE, self._pool, 0)

    def _withdraw_as_owners(self, raw: int) -> None:
        self._sign_call(self._pool, signatures.WITHDRAW, self._address(SUPPLIED), raw, self.live.golem.address)
        self.caged.sync()

    def _sign_call(self, to: str, signature: str, *arguments: Any) -> None:
        self.caged.safe.owner_call(to, encode_call(signature, *arguments))

    def _address(self, symbol: str) -> str:
        return self.live.world.tokens[symbol].address

    @property
    def _pool(self) -> str:
        return (aave_deployments(CHAIN_ID) or {})["pool"]

    @property
    def _router(self) -> str:
        return self.live.world.contracts["uniswap_v2_router"]
