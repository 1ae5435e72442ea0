"""The `maker_*` tools: open a vault, put collateral in, draw DAI, pay some of it back, and close it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tools_app.chain.abi import encode_call
from tools_app.core.errors import InvalidParams
from tools_app.core.units import format_units
from tools_app.protocols.maker_sky import math
from tools_app.protocols.maker_sky.addresses import CHAINS, NAME, MakerContracts, collateral_types, contracts_at
from tools_app.protocols.maker_sky.errors import DebtTooSmall, PriceDisagrees, VaultNotFound
from tools_app.protocols.maker_sky.positions import KIND, SETTLING_SECONDS, ref_of, tokens_on
from tools_app.protocols.maker_sky.reads import VAT_CAN, ask_live, ask_vaults, word_of
from tools_app.protocols.maker_sky.reports import (
    DepositReport,
    GenerateReport,
    RepayReport,
    report_close,
    report_open,
)
from tools_app.protocols.maker_sky.signatures import DRIP, EXIT, FLUX, FROB, HOPE, JOIN, MOVE, NOPE, OPEN
from tools_app.standards.plan_draft import PlanDraft
from tools_app.standards.rays import RAY, SECONDS_PER_YEAR, rpow
from tools_app.toolkit.context import ChainReader, WriteContext
from tools_app.toolkit.enums import ActionClass, Category, RiskLayer, TickBudget
from tools_app.toolkit.family import ToolFamily
from tools_app.toolkit.lending import DEFAULT_HEALTH_FLOOR_BPS, KEPT_BACK_BPS, MarketClosed, NothingThere
from tools_app.toolkit.params import CollateralType, PositionId, RawAmount
from tools_app.toolkit.plan import Call, TxPlan
from tools_app.toolkit.positions import Gauge, GaugeBound, HealthTooLow, PositionChange, drive
from tools_app.toolkit.views import TokenMeta

maker = ToolFamily(prefix="maker", category=Category.LENDING, chains=CHAINS, picks_chain=True)

LEAST_RATIO_BPS: Final = 20_000
PRICE_TOLERANCE_BPS: Final = 500
_ROUNDING: Final = 2


@maker.write(
    risk=RiskLayer.BOUNDED,
    report=report_open,
    action_class=ActionClass.NEW_POSITION,
    snippet="open_vault: open an empty Maker vault of a collateral type such as ETH-A; nothing is put in or drawn yet.",
    guidelines=("The collateral of all types served here is the wrapped coin.",),
)
def maker_open_vault(ctx: WriteContext, collateral_type: CollateralType) -> TxPlan:
    """Open an empty Maker vault.

    Use once before putting collateral in; one vault can be used again and again.
    Does not put collateral in, does not draw DAI, and does not open vaults for others.
    """
    reader = ctx.chain()
    _check_live(reader)
    place = contracts_at(reader.chain_id)
    kind = collateral_type
    if kind not in collateral_types(reader.chain_id):
        kinds = ", ".join(collateral_types(reader.chain_id))
        raise InvalidParams(
            f"the collateral types here are {kinds}",
            fields={"collateral_type": "not served"},
            fill={"collateral_type": {"one_of": kinds.split(", ")}},
        )
    ctx.step("Building calls")
    data = encode_call(OPEN, word_of(kind), ctx.account)
    draft = PlanDraft(reader.chain_id, ctx.account)
    draft.call(Call(place.cdp_manager, data, 0, f"Open a Maker vault for {kind}"))
    return draft.finish(
        action_class=ActionClass.NEW_POSITION,
        details={"venue": "Maker", "manager": place.cdp_manager, "collateral_type": kind},
    )


@maker.write(
    risk=RiskLayer.BOUNDED,
    report=DepositReport,
    action_class=ActionClass.INCREASE_POSITION,
    snippet="deposit_collateral: put wrapped coin into a Maker vault of the golem, so that it can owe more safely.",
    guidelines=("Collateral alone earns nothing; it only covers debt.",),
)
def maker_deposit_collateral(ctx: WriteContext, vault_id: PositionId, amount: RawAmount) -> TxPlan:
    """Put collateral into a Maker vault of the golem.

    Use before drawing DAI, or to raise a vault's health. The collateral is the wrapped coin. maker_open_vault answers a
    vault's id. Does not draw DAI and does not fill vaults of others.
    """
    ctx.step("Reading the vault")
    opened = _open(ctx, vault_id)
    _check_live(opened.reader)
    ctx.step("Building calls")
    vault, token = opened.vault, opened.collateral
    after, draft = vault.ink + amount, PlanDraft(opened.reader.chain_id, ctx.account)
    draft.pay(opened.reader, token, amount, to=opened.join)
    draft.call(
        Call(opened.join, encode_call(JOIN, vault.urn, amount), 0, f"Bring {_shown(amount, token)} to Maker"),
        opened.call(opened.place.cdp_manager, FROB, vault.id, amount, 0, label=f"Lock it in vault {vault.id}"),
    )
    draft.changes.append(opened.change(token, amount, amount))
    return draft.finish(
        action_class=ActionClass.INCREASE_POSITION if vault.ink else ActionClass.NEW_POSITION,
        details={
            **opened.details,
            "collateral_after": str(after),
            "ratio": _percent(_ratio_bps(after, vault.kind.price, vault.owed)),
        },
    )


@maker.write(
    risk=RiskLayer.UNBOUNDED,
    report=GenerateReport,
    action_class=ActionClass.INCREASE_POSITION,
    snippet=(
        "generate_dai: draw DAI against the collateral of a Maker vault; the ratio stays above 200% and health at 1.5"
        " or more, or it is refused with the most that passes."
    ),
    guidelines=(
        "A vault owes nothing or at least its dust; the refusal names it.",
        "Not available in DEFENSIVE, SURVIVAL or TERMINAL.",
    ),
)
def maker_generate_dai(ctx: WriteContext, vault_id: PositionId, dai_amount: RawAmount) -> TxPlan:
    """Draw DAI against the collateral of a Maker vault.

    Use to get DAI without selling the collateral. Collateral counts at the lower of Maker's price and the price feeds.
    The right the DAI adapter needs is given and taken back in the same plan. maker_open_vault answers a vault's id.
    Does not put collateral in first, and does not go over a ceiling of Maker.
    """
    ctx.step("Reading the vault")
    opened = _open(ctx, vault_id)
    _check_live(opened.reader)
    vault, kind, dai = opened.vault, opened.vault.kind, opened.dai
    ctx.step("Judging the debt")
    price = _check_price(opened)
    owed = vault.owed + dai_amount
    _check_draw(opened, dai_amount, price)
    if owed < kind.least_debt:
        raise DebtTooSmall(
            f"the vault would owe {_shown(owed, dai)}; at least {_shown(kind.least_debt, dai)} is asked",
            least=str(kind.least_debt),
            fill={"dai_amount": {"least": str(kind.least_debt - vault.owed), "unit": "base units of DAI"}},
        )
    if dai_amount > kind.room:
        raise MarketClosed(
            f"the ceiling of {kind.name} leaves {_shown(kind.room, dai)}", reason="ceiling", room=str(kind.room)
        )
    ctx.step("Building calls")
    manager, adapter, account = opened.place.cdp_manager, opened.place.join_dai, ctx.account
    allowed = opened.reader.call(opened.place.vat, VAT_CAN, account, adapter)[0]
    give = (opened.call(opened.place.vat, HOPE, adapter, label="Let Maker's DAI adapter take what was drawn"),)
    take = (opened.call(opened.place.vat, NOPE, adapter, label="Take that right back"),)
    ratio = _ratio_bps(vault.ink, price, owed) or 0
    # What a unit of collateral must not fall to: where the ratio is the least Maker allows.
    liquidation = owed * kind.ratio // RAY * math.WAD // vault.ink
    most = dai_amount + kind.growth(owed, SETTLING_SECONDS) + _ROUNDING
    draft = PlanDraft(opened.reader.chain_id, account)
    draft.call(
        opened.call(opened.place.jug, DRIP, word_of(kind.name), label=f"Count the fee of {kind.name}"),
        opened.call(
            opened.place.cdp_manager,
            FROB,
            vault.id,
            0,
            kind.art_for(dai_amount),
            label=f"Draw {_shown(dai_amount, dai)}",
        ),
        opened.call(
            opened.place.cdp_manager, MOVE, vault.id, account, dai_amount * RAY, label="Take it out of the vault"
        ),
        *(() if allowed else give),
        opened.call(opened.place.join_dai, EXIT, account, dai_amount, label="Take it as tokens"),
        *(() if allowed else take),
    )
    draft.receive(dai, dai_amount)
    draft.changes.append(opened.change(dai, -dai_amount, -most, least_health_bps=DEFAULT_HEALTH_FLOOR_BPS))
    return draft.finish(
        action_class=ActionClass.INCREASE_POSITION,
        collateral_ratio_bps=ratio,
        gauges=(opened.no_right,) if not allowed else (),
        details={
            **opened.details,
            "manager": manager,
            "owed_after": str(owed),
            "ratio": _percent(ratio),
            "liquidation_price": format_units(liquidation, 18),
            "stability_fee": _percent((rpow(kind.fee, SECONDS_PER_YEAR) - RAY) * math.BPS // RAY),
        },
    )


@maker.write(
    risk=RiskLayer.LOW,
    report=RepayReport,
    action_class=ActionClass.DECREASE_POSITION,
    is_rescue=True,
    snippet="repay_dai: pay a part of the debt of a Maker vault of the golem back out of the wallet's DAI.",
    guidelines=("A vault owes nothing or at least its dust; close_vault pays everything.",),
)
def maker_repay_dai(ctx: WriteContext, vault_id: PositionId, dai_amount: RawAmount) -> TxPlan:
    """Pay a part of the debt of a Maker vault back.

    Use to raise a vault's health. What the fee of the next minutes takes of it, some millionths, stays inside the vault
    and counts for its debt.
    Does not pay everything (close_vault does), does not take collateral out, and does not swap for missing DAI.
    """
    ctx.step("Reading the vault")
    opened = _open(ctx, vault_id)
    vault, kind, dai = opened.vault, opened.vault.kind, opened.dai
    if not vault.art:
        raise NothingThere(f"vault {vault.id} owes nothing", vault_id=vault_id)
    # By the rate there may be when it is mined, so that what is paid in covers what is cleared.
    settled = kind.rate * rpow(kind.fee, SETTLING_SECONDS) // RAY + 1
    art = min(vault.art, dai_amount * RAY // settled)
    left = kind.owed_of(vault.art - art)
    if left < kind.least_debt:
        most = max(0, vault.owed - kind.least_debt - kind.growth(vault.owed, SETTLING_SECONDS))
        raise DebtTooSmall(
            f"the vault would owe {_shown(left, dai)}; at least {_shown(kind.least_debt, dai)} is asked, or nothing:"
            f" pay {_shown(most, dai)} at most, or close it",
            least=str(kind.least_debt),
            most=str(most),
        )
    ctx.step("Building calls")
    cleared, draft = art * kind.rate // RAY, PlanDraft(opened.reader.chain_id, ctx.account)
    draft.call(opened.call(opened.place.jug, DRIP, word_of(kind.name), label=f"Count the fee of {kind.name}"))
    draft.pay(opened.reader, dai, dai_amount, to=opened.place.join_dai)
    draft.call(
        opened.call(
            opened.place.join_dai, JOIN, vault.urn, dai_amount, label=f"Pay {_shown(dai_amount, dai)} into the vault"
        ),
        opened.call(
            opened.place.cdp_manager, FROB, vault.id, 0, -art, label=f"Clear it from the debt of vault {vault.id}"
        ),
    )
    room = kind.growth(vault.owed, SETTLING_SECONDS) + _ROUNDING
    draft.changes.append(opened.change(dai, cleared, cleared - room))
    return draft.finish(
        action_class=ActionClass.DECREASE_POSITION,
        details={
            **opened.details,
            "owed_after": str(left),
            "ratio": _percent(_ratio_bps(vault.ink, kind.price, left)),
        },
    )


@maker.write(
    risk=RiskLayer.BOUNDED,
    budget=TickBudget.SLOW,
    report=report_close,
    action_class=ActionClass.CLOSE_POSITION,
    snippet="close_vault: pay all debt of a Maker vault of the golem and take all of its collateral back, in one plan.",
    guidelines=("The wallet must hold all DAI that is owed, with some minutes of the fee.",),
)
def maker_close_vault(ctx: WriteContext, vault_id: PositionId) -> TxPlan:
    """Pay all debt of a Maker vault and take all of its collateral back.

    Use to leave Maker. DAI for the debt and the fee of the next minutes is paid in; what the fee does not need of it,
    some millionths, stays inside the vault.
    Does not swap collateral for missing DAI; maker_repay_dai pays a part.
    """
    ctx.step("Reading the vault")
    opened = _open(ctx, vault_id)
    vault, token, dai, account = opened.vault, opened.collateral, opened.dai, ctx.account
    if not (vault.ink or vault.art):
        raise NothingThere(f"vault {vault.id} is empty", vault_id=vault_id)
    ctx.step("Building calls")
    draft = PlanDraft(opened.reader.chain_id, account)
    if vault.art:
        # What is inside already counts for the debt.
        paid = max(1, vault.owed + vault.kind.growth(vault.owed, SETTLING_SECONDS) + 1 - vault.inside // RAY)
        draft.call(
            opened.call(opened.place.jug, DRIP, word_of(vault.kind.name), label=f"Count the fee of {vault.kind.name}")
        )
        draft.pay(opened.reader, dai, paid, to=opened.place.join_dai)
        draft.call(
            opened.call(opened.place.join_dai, JOIN, vault.urn, paid, label=f"Pay {_shown(paid, dai)} into the vault")
        )
        draft.changes.append(opened.change(dai, vault.owed, vault.owed - _ROUNDING))
    draft.call(
        opened.call(opened.place.cdp_manager, FROB, vault.id, -vault.ink, -vault.art, label=f"Clear vault {vault.id}")
    )
    if vault.ink:
        draft.call(
            opened.call(opened.place.cdp_manager, FLUX, vault.id, account, vault.ink, label="Take the collateral out"),
            Call(opened.join, encode_call(EXIT, account, vault.ink), 0, f"Take {_shown(vault.ink, token)} as tokens"),
        )
        draft.changes.append(opened.change(token, -vault.ink, -vault.ink))
    draft.receive(token, vault.ink)
    return draft.finish(
        action_class=ActionClass.CLOSE_POSITION,
        details=opened.details,
    )


# ---- below ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Opened:
    """A vault of the golem, and where its calls go."""

    reader: ChainReader
    account: str
    vault: math.VaultState
    collateral: TokenMeta
    dai: TokenMeta

    @property
    def place(self) -> MakerContracts:
        return contracts_at(self.reader.chain_id)

    @property
    def join(self) -> str:
        return self.place.joins[self.vault.kind.name]

    @property
    def details(self) -> dict[str, object]:
        return {"venue": "Maker", "vault_id": str(self.vault.id), "collateral_type": self.vault.kind.name}

    @property
    def no_right(self) -> GaugeBound:
        """Afterwards the adapter may take nothing more; the ledger tells rights by no event."""
        arguments = (self.account, self.place.join_dai)
        return GaugeBound(Gauge("the DAI adapter's right over the account", self.place.vat, VAT_CAN, arguments), most=0)

    def call(self, to: str, signature: str, *arguments: object, label: str) -> Call:
        return Call(to, encode_call(signature, *arguments), 0, label)

    def change(
        self, token: TokenMeta, expected: int, bound: int, *, least_health_bps: int | None = None
    ) -> PositionChange:
        ref = ref_of(self.reader.chain_id, self.vault.id)
        return PositionChange(NAME, KIND, token.address, expected, bound, ref=ref, least_health_bps=least_health_bps)


def _open(ctx: WriteContext, vault_id: str) -> _Opened:
    reader = ctx.chain()
    vaults = drive(ask_vaults(reader.chain_id, ctx.account), reader.call_many)
    vault = next((each for each in vaults if str(each.id) == vault_id.lstrip("0")), None)
    if vault is None or vault.kind.name not in collateral_types(reader.chain_id):
        raise VaultNotFound(f"the golem has no vault {vault_id}", vaults=[str(each.id) for each in vaults])
    collateral, dai = (reader.token(token) for token in tokens_on(reader.chain_id))
    return _Opened(reader, ctx.account, vault, collateral, dai)


def _check_live(reader: ChainReader) -> None:
    """Nothing enters a Maker that was shut down. Raises MarketClosed."""
    if not drive(ask_live(reader.chain_id), reader.call_many):
        raise MarketClosed("Maker was shut down: its vaults neither take nor give any more", reason="closed")


def _check_price(opened: _Opened) -> int:
    """DAI in wads for a unit of collateral: the lower of Maker's and the feeds'. Raises PriceDisagrees, PriceStale."""
    collateral, dai = opened.reader.price(opened.collateral), opened.reader.price(opened.dai)
    feeds = math.WAD * collateral.answer * 10**dai.decimals // (dai.answer * 10**collateral.decimals)
    own = opened.vault.kind.price
    if abs(own - feeds) * math.BPS > feeds * PRICE_TOLERANCE_BPS:
        raise PriceDisagrees(
            "Maker's price of the collateral is more than 5% away from the price feeds",
            maker_price=str(own),
            feeds_price=str(feeds),
        )
    return min(own, feeds)


def _check_draw(opened: _Opened, amount: int, price: int) -> None:
    """Raises HealthTooLow with the most that keeps the ratio above 200% and health at the floor."""
    vault, kind = opened.vault, opened.vault.kind
    worth = vault.ink * price // math.WAD
    # As the position tells what its collateral covers, in whole basis points.
    covers_bps = math.BPS * RAY // kind.ratio
    least = max(LEAST_RATIO_BPS, math.divide_up((DEFAULT_HEALTH_FLOOR_BPS + KEPT_BACK_BPS) * math.BPS, covers_bps))
    most = worth * math.BPS // least
    room = max(0, most - kind.growth(most, SETTLING_SECONDS) - vault.owed - _ROUNDING)
    if amount > room:
        raise HealthTooLow(
            f"the ratio would fall under {_percent(least)}%; at most {_shown(room, opened.dai)} can be drawn",
            most=str(room),
            least_health_bps=str(DEFAULT_HEALTH_FLOOR_BPS),
            least_ratio_bps=str(least),
        )


def _ratio_bps(ink: int, price: int, owed: int) -> int | None:
    return ink * price // math.WAD * math.BPS // owed if owed else None


def _percent(bps: int | None) -> str | None:
    return None if bps is None else f"{bps // 100}.{bps % 100:02d}"


def _shown(amount: int, token: TokenMeta) -> str:
    return format_units(amount, token.decimals, token.symbol)
