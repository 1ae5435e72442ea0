"""`vault_deposit` and `vault_withdraw`: put an asset into a known vault for shares, and give shares back."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from tools_app.core.errors import GolemError, Recovery
from tools_app.protocols.erc4626.addresses import CHAINS, NAME, find_vault, known_vaults
from tools_app.protocols.erc4626.positions import FAMILY
from tools_app.standards.erc4626 import Vault, sum_shares
from tools_app.toolkit.context import ChainReader, WriteContext
from tools_app.toolkit.enums import Category, RiskLayer, TickBudget
from tools_app.toolkit.family import ToolFamily
from tools_app.toolkit.params import EVERYTHING, ContractAddress, RawAmount, RawAmountOrMax
from tools_app.toolkit.plan import PlanOutcome, TxPlan
from tools_app.toolkit.result import TokenAmount

vault_tools = ToolFamily(prefix="vault", category=Category.VAULT, chains=CHAINS, venue=NAME, picks_chain=True)


class VaultNotKnown(GolemError):
    """No vault of this address is known on the chain; `data.vaults` are those that are."""

    code = "VAULT_NOT_KNOWN"
    http_status = 404
    recovery = Recovery.FIX_PARAMS
    title = "That vault is not known"


@dataclass(frozen=True, slots=True)
class DepositReport:
    """What a deposit gave; `share_price_at_deposit` is assets for one share, in base units of both."""

    shares_received: str
    assets_deposited: TokenAmount
    fee_deducted: TokenAmount
    share_price_at_deposit: str


@dataclass(frozen=True, slots=True)
class RedeemReport:
    """What shares gave; `share_price_at_withdraw` is assets for one share, in base units of both."""

    assets_received: TokenAmount
    shares_redeemed: str
    fee_deducted: TokenAmount
    share_price_at_withdraw: str


def report_deposit(outcome: PlanOutcome) -> DepositReport:
    """Shares from the vault's own transfer, assets from the balance difference."""
    token = outcome.plan.spends[0].token
    assets, shares = -outcome.deltas.get(token.address, 0), sum_shares(outcome, "to")
    return DepositReport(
        shares_received=str(shares),
        assets_deposited=TokenAmount(assets, token),
        fee_deducted=TokenAmount(int(outcome.plan.details["fee"]), token),
        share_price_at_deposit=_price(assets, shares),
    )


def report_redeem(outcome: PlanOutcome) -> RedeemReport:
    """Assets from the balance difference, shares from the vault's own transfer."""
    token = outcome.plan.receives[0].token
    assets, shares = outcome.deltas.get(token.address, 0), sum_shares(outcome, "from")
    return RedeemReport(
        assets_received=TokenAmount(assets, token),
        shares_redeemed=str(shares),
        fee_deducted=TokenAmount(int(outcome.plan.details["fee"]), token),
        share_price_at_withdraw=_price(assets, shares),
    )


@vault_tools.write(
    action_type="deposit",
    risk=RiskLayer.BOUNDED,
    budget=TickBudget.SLOW,
    report=report_deposit,
    action_class=None,
    steps=("Reading the vault", "Building calls"),
    snippet=(
        "deposit: put an asset into a known ERC-4626 vault for its shares; refused where the shares would be worth"
        " less than the deposit."
    ),
    guidelines=(
        "The price of a share must stay within 0.25% until the transaction; preview again when it moved.",
        "Not available in DEFENSIVE, SURVIVAL or TERMINAL.",
    ),
)
def vault_deposit(ctx: WriteContext, vault: ContractAddress, amount: RawAmount) -> TxPlan:
    """Deposit an asset into an ERC-4626 vault for shares.

    Use to earn what the vault earns. What the shares are worth is measured, so a price that a donation blew up is
    refused. `amount` is of the vault's asset.
    Does not serve vaults that are not known here, and does not deposit for another account.
    """
    reader = ctx.chain()
    ctx.step("Reading the vault")
    found = _find(reader, vault)
    ctx.step("Building calls")
    return FAMILY.plan_deposit(reader, ctx.account, found, amount)


@vault_tools.write(
    action_type="withdraw",
    risk=RiskLayer.LOW,
    budget=TickBudget.MEDIUM,
    report=report_redeem,
    action_class=None,
    steps=("Reading the vault", "Building calls"),
    snippet=(
        "withdraw: give shares of a known ERC-4626 vault back for the asset they stand for; max gives back all of them."
    ),
    guidelines=("A vault may give back less than all at once; the refusal says how many shares pass.",),
)
def vault_withdraw(ctx: WriteContext, vault: ContractAddress, shares: RawAmountOrMax) -> TxPlan:
    """Redeem shares of an ERC-4626 vault for its asset.

    Use to leave a vault or to take a part out. `shares` are base units of the vault's own token, or max.
    Does not wait for a vault that is out of liquidity, and does not redeem shares of others.
    """
    reader = ctx.chain()
    ctx.step("Reading the vault")
    found = _find(reader, vault)
    ctx.step("Building calls")
    return FAMILY.plan_redeem(reader, ctx.account, found, None if shares == EVERYTHING else shares)


# ---- below ----------------------------------------------------------------------------------------------------------


def _find(reader: ChainReader, address: str) -> Vault:
    found = find_vault(reader.chain_id, address)
    if found is None:
        known = [vault.address for vault in known_vaults(reader.chain_id)]
        raise VaultNotKnown(f"{address} is no vault that is known here", vaults=known)
    return found


def _price(assets: int, shares: int) -> str:
    return f"{Decimal(assets) / shares:.9f}" if shares else "0"
