"""Checks beforehand what a pool and our own health floor would refuse, with code, reason and next step."""

from __future__ import annotations

from dataclasses import dataclass

from tools_app.core.errors import Recovery
from tools_app.core.units import format_units
from tools_app.standards.aave_like import signatures
from tools_app.standards.aave_like.reads import Reserve, Stand
from tools_app.standards.format_loan_figures import show_health
from tools_app.toolkit.lending import KEPT_BACK_BPS, LEAST_FREE_BPS, MarketClosed
from tools_app.toolkit.positions import HealthTooLow, PositionRef
from tools_app.toolkit.views import TokenMeta

CENTS_IN_BASE = signatures.BASE_UNIT // 100


@dataclass(frozen=True, slots=True)
class Checks:
    """Judges one verb. `token` is the reserve's asset, `floor_bps` the least health a debt is left with."""

    stand: Stand
    token: TokenMeta
    ref: PositionRef
    label: str
    floor_bps: int

    @property
    def reserve(self) -> Reserve:
        return self.stand.reserve

    def check_open(self, *, may_be_frozen: bool) -> None:
        """Raises MarketClosed for a reserve that is inactive, paused, or frozen where that matters."""
        configuration = self.reserve.configuration
        if not configuration.is_active:
            self._close("inactive", "is not active")
        if configuration.is_paused:
            self._close("paused", "is paused", waits_for="the lender's guardians open it again")
        if configuration.is_frozen and not may_be_frozen:
            self._close("frozen", "is frozen: nothing more is supplied or borrowed", waits_for="the lender thaws it")

    def check_supply(self, amount: int) -> None:
        """Raises MarketClosed."""
        self.check_open(may_be_frozen=False)
        self._check_used()
        self._check_room("supply_cap", self.reserve.supply_room, amount, "its supply cap")

    def _check_used(self) -> None:
        """Nothing enters a reserve that has next to nothing to give out: what goes in may not come back."""
        supplied, free = self.reserve.supplied, self.reserve.liquidity
        if free * 10_000 < supplied * LEAST_FREE_BPS:
            self._close(
                "used",
                f"is lent out whole: of {self.show(supplied)} {self.show(free)} can be taken out now",
                waits_for="others repay or supply",
            )

    def check_liquidity(self, amount: int) -> None:
        """Raises MarketClosed when less is there to be taken out."""
        if amount > self.reserve.liquidity:
            self._close(
                "liquidity",
                f"has {self.show(self.reserve.liquidity)} to take out now",
                room=self.reserve.liquidity,
                waits_for="others repay or supply",
            )

    def check_borrow(self, amount: int, mode: int) -> None:
        """Raises MarketClosed, HealthTooLow."""
        self.check_open(may_be_frozen=False)
        self._check_used()
        configuration = self.reserve.configuration
        if not configuration.is_borrowable:
            self._close("not_borrowable", "is not lent out")
        if mode == signatures.STABLE and not configuration.has_stable_rate:
            self._close("no_stable_rate", "has no stable rate; take interest_rate_mode variable")
        category = self.stand.category
        if category is not None and not category.has_debt:
            self._close("e_mode", f"is not in e-mode category {category.number}, which the account has chosen")
        self._check_isolation(amount)
        self._check_room("borrow_cap", self.reserve.borrow_room, amount, "its borrow cap")
        self.check_liquidity(amount)
        self._check_debt(amount)

    def most_borrowed(self) -> int:
        """Base units that pass both what the pool lends and the floor."""
        account = self.stand.account
        by_floor = account.cover * 10_000 // (self.floor_bps + KEPT_BACK_BPS) - account.debt
        # A base dollar is kept back, because the pool rounds values up where we round them down.
        return self.reserve.raw_of_value(max(0, min(account.available, by_floor) - 1))

    def most_withdrawn(self, *, spare_bps: int = 0) -> int:
        """Base units that keep the floor, and so many basis points above it; all of it where it covers nothing or
        nothing is owed.
        """
        stand = self.stand
        if not stand.account.debt or not stand.held.is_collateral or not stand.threshold_bps:
            return stand.held.supplied
        spare = stand.account.cover - -(-stand.account.debt * (self.floor_bps + spare_bps) // 10_000)
        return min(stand.held.supplied, self.reserve.raw_of_value(max(0, spare - 1) * 10_000 // stand.threshold_bps))

    def check_withdrawal(self, amount: int) -> None:
        """Raises HealthTooLow, MarketClosed."""
        self.check_open(may_be_frozen=True)
        most = self.most_withdrawn()
        if amount > most:
            self._refuse_health(self.health_less_collateral(amount), most, "withdrawn")
        self.check_liquidity(amount)

    def health_less_collateral(self, amount: int) -> int | None:
        """Health when so much of the asset is collateral no more."""
        if not self.stand.held.is_collateral:
            return self.stand.account.health_bps
        return self.stand.account.health_with(cover=-(self.reserve.value(amount) * self.stand.threshold_bps // 10_000))

    def check_collateral_use(self, *, wanted: bool) -> None:
        """Raises MarketClosed, HealthTooLow."""
        self.check_open(may_be_frozen=True)
        configuration = self.reserve.configuration
        if wanted:
            if not self.stand.ltv_bps:
                self._close("not_collateral", "counts as no collateral")
            others = [each for each in self.stand.account.collateral_ids if each != self.reserve.id]
            if others and configuration.debt_ceiling:
                self._close("isolation", "is isolated collateral, and the account has other collateral already")
            if self.stand.isolated_by is not None and others:
                self._close("isolation", "cannot join isolated collateral; disable that first")
            return
        after = self.health_less_collateral(self.stand.held.supplied)
        if after is not None and after < self.floor_bps:
            self._refuse_health(after, self.most_withdrawn(), "no collateral any more")

    def show(self, raw: int) -> str:
        """An amount of the asset for people."""
        return format_units(raw, self.token.decimals, self.token.symbol)

    def _check_isolation(self, amount: int) -> None:
        isolated_by = self.stand.isolated_by
        if isolated_by is None:
            return
        if not self.reserve.configuration.is_borrowable_in_isolation:
            self._close("isolation", "is not lent against isolated collateral, which is all the account has")
        left = max(0, isolated_by.configuration.debt_ceiling - isolated_by.isolated_debt) * CENTS_IN_BASE
        room = self.reserve.raw_of_value(left)
        self._check_room("debt_ceiling", room, amount, "the debt ceiling of the account's isolated collateral")

    def _check_debt(self, amount: int) -> None:
        most = self.most_borrowed()
        if amount > most:
            self._refuse_health(self.stand.account.health_with(debt=self.reserve.value(amount)), most, "borrowed")

    def _check_room(self, reason: str, room: int | None, amount: int, what: str) -> None:
        if room is not None and amount > room:
            self._close(reason, f"has room for {self.show(room)} under {what}", room=room)

    def _refuse_health(self, after: int | None, most: int, verb: str) -> None:
        would_be = "none" if after is None else show_health(after)
        has_cover = bool(self.stand.account.cover)
        raise HealthTooLow(
            f"the account's health would be {would_be}; at least {show_health(self.floor_bps)} is kept, and the pool"
            f" lends up to {self.stand.account.ltv_bps / 100:g}%. At most {self.show(most)} can be {verb} now"
            + ("" if has_cover else ": nothing is supplied as collateral, which comes first"),
            position=str(self.ref),
            health_bps=str(after or 0),
            least_health_bps=str(self.floor_bps),
            most=str(most),
            most_units=self.show(most),
        )

    def _close(self, reason: str, problem: str, *, room: int | None = None, waits_for: str = "") -> None:
        asked = {"cleared_by": waits_for} if waits_for else {}
        told = {"room": str(room), "room_units": self.show(room)} if room is not None else {}
        raise MarketClosed(
            f"{self.token.symbol} at {self.label} {problem}",
            recovery=Recovery.WAIT if waits_for and not room else Recovery.FIX_PARAMS,
            reason=reason,
            asset=self.token.address,
            **told,
            **asked,
        )
