"""Tools of Yearn V3: an asset goes into a vault for shares, and comes back with what its strategies earned."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Annotated, Final

from pydantic import BeforeValidator, Field

from tools_app.chain.abi import encode_call
from tools_app.core.errors import GolemError, Recovery
from tools_app.core.ratio import percent_text
from tools_app.core.units import BPS, format_micro_usd, format_units, usd_to_micro
from tools_app.portfolio.holdings import PriceBook
from tools_app.protocols.yearn.addresses import CHAINS, NAME, find_vault, known_vaults
from tools_app.protocols.yearn.positions import FAMILY
from tools_app.protocols.yearn.reads import MAX_WITHDRAW, Standing, read_standing, read_yearly_bps
from tools_app.select_tool_for_venue import whose
from tools_app.standards import erc20
from tools_app.standards.erc4626 import TO_ASSETS, SharesMissing, Vault, VaultClosed, sum_shares
from tools_app.standards.vault_logs import read_put_in
from tools_app.toolkit.answer import OfChain, Told
from tools_app.toolkit.context import ChainReader, ReadCall, ReadContext, WriteContext
from tools_app.toolkit.enums import Category, RiskLayer, TickBudget
from tools_app.toolkit.family import ToolFamily
from tools_app.toolkit.params import (
    EVERYTHING,
    Address,
    ContractAddress,
    DecimalText,
    RawAmount,
    RawAmountOrMax,
    Token,
    check_whole,
)
from tools_app.toolkit.plan import Call, PlanOutcome, TokenFlow, TxPlan
from tools_app.toolkit.report import Report, seen, spent, told
from tools_app.toolkit.result import TokenAmount

yearn = ToolFamily(
    prefix="yearn", category=Category.YIELD, chains=CHAINS, venue=NAME, picks_chain=True, reads_named=True
)

REDEEM: Final = "function redeem(uint256 shares, address receiver, address owner, uint256 max_loss)"
WEEK, MONTH, LOOK_BACK_DAYS = 7, 30, 90
LossBps = Annotated[
    int,
    Field(ge=0, le=1_000, description="Most loss taken of what leaves, in basis points: 50 is 0.5%."),
    BeforeValidator(check_whole),
]
FEW_IDLE_BPS: Final = 100
"""With less idle than this of all, leaving takes from strategies, and is told as a risk."""


class YearnVaultNotKnown(GolemError, status=404, recovery=Recovery.FIX_PARAMS, title="That Yearn vault is not known"):
    """No Yearn vault of this address is known on the chain; `data.vaults` are those that are."""


class LossOnWithdrawal(GolemError, status=409, recovery=Recovery.FIX_PARAMS, title="Leaving now would take a loss"):
    """A strategy lost what was not reported yet, and leaving would take more of it than `max_loss_bps` allows.
    `data.without_loss` base units of the asset can leave within it.
    """


class DepositReport(Report):
    """What a deposit gave. `share_price` is assets for a whole share, `preview_apy` simple and in percent."""

    shares_received: str = seen(lambda outcome: str(sum_shares(outcome, "to")))
    assets_deposited: TokenAmount = spent()
    share_price: str
    preview_apy: str
    strategy_name: str = told("vault_name")


class WithdrawReport(Told):
    """What shares gave. `realized_yield` is that part of what they earned since they were put in; null where some came
    otherwise, or more than 90 days ago.
    """

    assets_received: TokenAmount
    shares_burned: str
    realized_yield: TokenAmount | None


class VaultRow(Told):
    """A vault. Yearly rates are simple and in percent: what unlocks now, and what a week and a month reported, null
    where the chain is younger. `risks` are facts.
    """

    vault: str
    name: str
    asset: str
    apy: str
    apy_7d: str | None
    apy_30d: str | None
    tvl: TokenAmount
    tvl_usd: str | None
    strategy_type: str
    risks: tuple[str, ...]


class Vaults(OfChain):
    """The known vaults that fit, highest rate first. `source` says where the list is from."""

    vaults: tuple[VaultRow, ...]
    source: str


class HeldVault(Told):
    """Shares of a vault and what they stand for; `yield_earned` is null where some came otherwise or long ago."""

    vault: str
    vault_name: str
    shares: str
    assets_value: TokenAmount
    assets_value_usd: str | None
    apy: str
    yield_earned: TokenAmount | None


class HeldVaults(OfChain):
    """What an account has in known vaults; the sum is null where one of them has no price."""

    positions: tuple[HeldVault, ...]
    total_value_usd: str | None


def report_withdraw(outcome: PlanOutcome) -> WithdrawReport:
    """Assets from balances, shares from the vault's own transfer."""
    details, token = outcome.plan.details, outcome.plan.receives[0].token
    earned = details["realized_yield"]
    return WithdrawReport(
        assets_received=TokenAmount(outcome.deltas.get(token.address, 0), token),
        shares_burned=str(sum_shares(outcome, "from")),
        realized_yield=None if earned is None else TokenAmount(int(earned), token),
    )


@yearn.write(
    action_type="deposit_yearn",
    risk=RiskLayer.BOUNDED,
    budget=TickBudget.SLOW,
    report=DepositReport,
    aliases=("yearn_deposit_vault",),
    snippet="deposit_yearn: put an asset into a known Yearn V3 vault for shares, whose price grows as profit unlocks.",
    guidelines=(
        "The price of a share must stay within 0.25% until the transaction; preview again when it moved.",
        "Compare yearn_vaults first: it tells rates and what speaks against a vault.",
    ),
)
def yearn_deposit(ctx: WriteContext, vault: ContractAddress, amount: RawAmount) -> TxPlan:
    """Deposit an asset into a Yearn V3 vault for shares.

    Use to earn what the vault's strategies earn. `amount` is base units of the vault's asset; what the shares are worth
    is measured, so a price that was blown up is refused.
    Does not choose a vault, and does not deposit for another account.
    """
    reader = ctx.begin("Reading the vault")
    found = _find(reader, vault)
    standing, token = read_standing(reader, found), reader.token(found.asset)
    ctx.step("Building calls")
    plan = FAMILY.plan_deposit(reader, ctx.account, found, amount)
    told = {
        "venue": NAME,
        "vault_name": found.label,
        "share_price": format_units(standing.share_price, token.decimals),
        "preview_apy": format_units(standing.rate_bps, 2),
    }
    return replace(plan, details={**plan.details, **told})


@yearn.write(
    action_type="withdraw_yearn",
    risk=RiskLayer.LOW,
    budget=TickBudget.SLOW,
    report=report_withdraw,
    snippet="withdraw_yearn: give shares of a Yearn V3 vault back for its asset; max gives back all of them.",
    guidelines=(
        "max_loss_bps is how much of what leaves a strategy's unreported loss may take; without it none is taken.",
    ),
)
def yearn_withdraw(
    ctx: WriteContext,
    vault: ContractAddress,
    shares: RawAmountOrMax,
    max_loss_bps: LossBps = 0,
) -> TxPlan:
    """Redeem shares of a Yearn V3 vault for its asset.

    Use to leave a vault or to take a part out. `shares` are base units of the vault's own token, or max. The call
    always says how much loss is taken: Yearn's own default takes any. yearn_get_position names its vaults. Does not
    wait for a vault whose strategies cannot give, and does not redeem shares of others.
    """
    reader = ctx.begin("Reading the vault")
    found = _find(reader, vault)
    owned, reachable, within = (
        int(outcome.values[0]) if outcome.ok else 0
        for outcome in reader.call_many(
            [
                erc20.balance_call(found.address, ctx.account),
                ReadCall(found.address, MAX_WITHDRAW, (ctx.account, BPS, [])),
                ReadCall(found.address, MAX_WITHDRAW, (ctx.account, max_loss_bps, [])),
            ]
        )
    )
    given = owned if shares == EVERYTHING else shares
    if not owned or given > owned:
        raise SharesMissing(f"the account holds {owned} shares of {found.label}", available=str(owned))
    worth, whole = (int(reader.call(found.address, TO_ASSETS, each)[0]) for each in (given, owned))
    token = reader.token(found.asset)
    if worth > reachable:
        shown = format_units(reachable, token.decimals, token.symbol)
        raise VaultClosed(f"the vault can give {shown} now", vault=found.address, room=str(reachable))
    if worth > within:
        shown = format_units(within, token.decimals, token.symbol)
        raise LossOnWithdrawal(
            f"{shown} can leave with at most {max_loss_bps} basis points of loss; take out less, wait, or allow more"
            " with max_loss_bps",
            vault=found.address,
            without_loss=str(within),
            max_loss_bps=max_loss_bps,
        )
    ctx.step("Building calls")
    plan = FAMILY.plan_redeem(reader, ctx.account, found, given)
    (flow,) = plan.receives
    least = flow.bound * (BPS - max_loss_bps) // BPS
    call = Call(
        found.address, encode_call(REDEEM, given, ctx.account, ctx.account, max_loss_bps), 0, plan.calls[-1].label
    )
    earned = read_put_in(reader, found.address, ctx.account, days=LOOK_BACK_DAYS).earned(shares=owned, worth=whole)
    return replace(
        plan,
        calls=(*plan.calls[:-1], call),
        receives=(TokenFlow(flow.token, flow.expected, least),),
        slippage_bps=max_loss_bps or None,
        details={
            **plan.details,
            "venue": NAME,
            "vault_name": found.label,
            "max_loss_bps": max_loss_bps,
            "realized_yield": None if earned is None else str(earned * given // owned),
        },
    )


@yearn.read(
    snippet="yearn_vaults: known Yearn V3 vaults with rates, size and what speaks against each; changes nothing.",
    guidelines=("A rate is what unlocks now; a week and a month say how steady it was.",),
)
def yearn_get_vaults(
    ctx: ReadContext,
    asset: Token | None = None,
    min_apy: DecimalText | None = None,
    min_tvl: DecimalText | None = None,
) -> Vaults:
    """List known Yearn V3 vaults, highest rate first.

    Use to choose where to deposit. `min_apy` is in percent, `min_tvl` in dollars, which no vault without a price fits.
    Does not list vaults that are not known here.
    """
    reader = ctx.begin("Reading vaults")
    wanted = None if asset is None else reader.token(asset).address
    rows = []
    for vault in known_vaults(reader.chain_id):
        if wanted is not None and vault.asset != wanted:
            continue
        standing = read_standing(reader, vault)
        worth = _weigh(reader, vault, standing.assets)
        if min_apy is not None and standing.rate_bps < Decimal(min_apy) * 100:
            continue
        if min_tvl is not None and (worth is None or worth < usd_to_micro(min_tvl)):
            continue
        rows.append((standing.rate_bps, _describe(reader, vault, standing, worth)))
    return Vaults(
        vaults=tuple(row for _, row in sorted(rows, key=lambda each: -each[0])),
        source="the vaults this product knows, whose addresses are Yearn's own list",
    )


@yearn.read(
    budget=TickBudget.FAST,
    snippet="yearn_position: shares of Yearn V3 vaults, what they stand for and earned; changes nothing.",
    guidelines=("What shares stand for is not always what can leave at once: withdraw_yearn says how much can.",),
)
def yearn_get_position(ctx: ReadContext, account: Address | None = None) -> HeldVaults:
    """Read what an account has in known Yearn V3 vaults, and what it earned there.

    Use before depositing more or leaving. `account` defaults to the golem's own.
    Does not tell vaults that are not known here.
    """
    owner = whose(ctx, account)
    reader = ctx.begin("Reading vaults")
    held, worths = [], []
    ctx.step("Reading the past")
    for vault in known_vaults(reader.chain_id):
        shares = int(reader.call(vault.address, erc20.BALANCE_OF, owner)[0])
        if not shares:
            continue
        assets, token = int(reader.call(vault.address, TO_ASSETS, shares)[0]), reader.token(vault.asset)
        worths.append(_weigh(reader, vault, assets))
        earned = read_put_in(reader, vault.address, owner, days=LOOK_BACK_DAYS).earned(shares=shares, worth=assets)
        held.append(
            HeldVault(
                vault=vault.address,
                vault_name=vault.label,
                shares=str(shares),
                assets_value=TokenAmount(assets, token),
                assets_value_usd=_dollars(worths[-1]),
                apy=format_units(read_standing(reader, vault).rate_bps, 2),
                yield_earned=None if earned is None else TokenAmount(earned, token),
            )
        )
    known = [each for each in worths if each is not None]
    return HeldVaults(
        positions=tuple(held),
        total_value_usd=format_micro_usd(sum(known)) if len(known) == len(worths) else None,
    )


# ---- below ----------------------------------------------------------------------------------------------------------


def _find(reader: ChainReader, address: str) -> Vault:
    found = find_vault(reader.chain_id, address)
    if found is None:
        known = [vault.address for vault in known_vaults(reader.chain_id)]
        raise YearnVaultNotKnown(f"{address} is no Yearn vault that is known here", vaults=known)
    return found


def _describe(reader: ChainReader, vault: Vault, standing: Standing, worth: int | None) -> VaultRow:
    token = reader.token(vault.asset)
    risks = []
    if standing.is_shutdown:
        risks.append("it is shut down: it takes nothing and gives back what it has")
    elif not standing.room:
        risks.append("it takes no more deposits now")
    if standing.idle * BPS < standing.assets * FEW_IDLE_BPS:
        risks.append("nearly all is lent to strategies: leaving depends on what they can give")
    if not standing.rate_bps:
        risks.append("no profit unlocks now")
    return VaultRow(
        vault=vault.address,
        name=vault.label,
        asset=token.symbol,
        apy=format_units(standing.rate_bps, 2),
        apy_7d=percent_text(read_yearly_bps(reader, vault, days=WEEK, assets=standing.assets)),
        apy_30d=percent_text(read_yearly_bps(reader, vault, days=MONTH, assets=standing.assets)),
        tvl=TokenAmount(standing.assets, token),
        tvl_usd=_dollars(worth),
        strategy_type="multi" if standing.strategies > 1 else "single",
        risks=tuple(risks),
    )


def _weigh(reader: ChainReader, vault: Vault, assets: int) -> int | None:
    book = PriceBook(reader)
    book.learn(reader.token(vault.asset))
    return book.weigh(vault.asset, assets).micro_usd if assets else 0


def _dollars(micro_usd: int | None) -> str | None:
    return None if micro_usd is None else format_micro_usd(micro_usd)
