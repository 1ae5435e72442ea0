"""Tools of vaults: put an asset into a known vault for shares, and give shares back.

At a vault that is entered and left by request these ask; two more claim what was settled and take back what was not.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Final, Literal

from pydantic import Field

from tools_app.core.errors import GolemError, Recovery
from tools_app.protocols.erc4626.addresses import CHAINS, NAME, find_savings, find_vault, known_vaults
from tools_app.protocols.erc4626.positions import FAMILY, REQUESTS
from tools_app.protocols.erc4626.savings import SSR, pays_nothing
from tools_app.standards.erc4626 import Vault, VaultClosed, sum_shares
from tools_app.standards.erc7540 import IN, OUT
from tools_app.standards.receipts import read_details
from tools_app.toolkit.answer import Told
from tools_app.toolkit.context import ChainReader, WriteContext
from tools_app.toolkit.enums import ActionClass, Category, RiskLayer, TickBudget
from tools_app.toolkit.family import ToolFamily
from tools_app.toolkit.params import EVERYTHING, ContractAddress, RawAmount, RawAmountOrMax
from tools_app.toolkit.plan import PlanOutcome, TxPlan
from tools_app.toolkit.report import Report, seen
from tools_app.toolkit.result import TokenAmount
from tools_app.toolkit.views import TokenMeta

BY_REQUEST: Final = (
    "asked for: the vault settles requests when those who run it choose, at a price that nobody knows before;"
    " request:ready tells when it can be claimed with vault_claim_request"
)
RequestWay = Annotated[
    Literal["deposit", "withdrawal"],
    Field(description="deposit: claim shares of a deposit that was asked for; withdrawal: claim assets of shares."),
]

vault_tools = ToolFamily(
    prefix="vault", category=Category.VAULT, chains=CHAINS, venue=NAME, picks_chain=True, reads_named=True
)


class VaultNotKnown(GolemError, status=404, recovery=Recovery.FIX_PARAMS, title="That vault is not known"):
    """No vault of this address is known on the chain; `data.vaults` are those that are."""


class DepositReport(Told):
    """What a deposit gave; `share_price_at_deposit` is assets for one share, in base units of both.

    At a vault by request it is asked for: `request_id` names it among the golem's requests, `note` says what follows,
    no share has come, and the price is null.
    """

    shares_received: str
    assets_deposited: TokenAmount
    fee_deducted: TokenAmount
    share_price_at_deposit: str | None
    request_id: str | None
    note: str | None


class RedeemReport(Told):
    """What shares gave; `share_price_at_withdraw` is assets for one share, in base units of both.

    At a vault by request `shares_redeemed` were asked back: `request_id` names that among the golem's requests, `note`
    says what follows, no asset has come, and the price is null.
    """

    assets_received: TokenAmount
    shares_redeemed: str
    fee_deducted: TokenAmount
    share_price_at_withdraw: str | None
    request_id: str | None
    note: str | None


class ClaimReport(Told):
    """What a settled request gave: shares of a deposit, assets of a withdrawal; the other is null."""

    request: str
    shares_received: str | None
    assets_received: TokenAmount | None


class CancelReport(Report):
    """What came back of a deposit that was asked for and not settled."""

    assets_returned: TokenAmount = seen(
        lambda outcome: TokenAmount(outcome.deltas.get(_asset(outcome).address, 0), _asset(outcome))
    )


@dataclass(frozen=True, slots=True)
class _Details:
    fee: int
    request_id: str | None = None


@dataclass(frozen=True, slots=True)
class _AssetDetails:
    asset: str
    symbol: str
    decimals: int


def report_deposit(outcome: PlanOutcome) -> DepositReport:
    """Shares from the vault's own transfer, assets from the balance difference."""
    token, details = outcome.plan.spends[0].token, read_details(_Details, outcome)
    request = details.request_id
    assets, shares = -outcome.deltas.get(token.address, 0), sum_shares(outcome, "to")
    return DepositReport(
        shares_received=str(shares),
        assets_deposited=TokenAmount(assets, token),
        fee_deducted=TokenAmount(details.fee, token),
        share_price_at_deposit=None if request else _price(assets, shares),
        request_id=request,
        note=BY_REQUEST if request else None,
    )


def report_redeem(outcome: PlanOutcome) -> RedeemReport:
    """Assets from the balance difference, shares from the vault's own transfer."""
    details, shares = read_details(_Details, outcome), sum_shares(outcome, "from")
    token, request = _asset(outcome), details.request_id
    assets = outcome.deltas.get(token.address, 0)
    return RedeemReport(
        assets_received=TokenAmount(assets, token),
        shares_redeemed=str(shares),
        fee_deducted=TokenAmount(details.fee, token),
        share_price_at_withdraw=None if request else _price(assets, shares),
        request_id=request,
        note=BY_REQUEST if request else None,
    )


def report_claim(outcome: PlanOutcome) -> ClaimReport:
    """Shares from the vault's own transfer, assets from the balance difference."""
    token = _asset(outcome)
    if not outcome.plan.receives:
        return ClaimReport(IN, str(sum_shares(outcome, "to")), None)
    return ClaimReport(OUT, None, TokenAmount(outcome.deltas.get(token.address, 0), token))


@vault_tools.write(
    risk=RiskLayer.BOUNDED,
    budget=TickBudget.SLOW,
    report=report_deposit,
    snippet=(
        "deposit: put an asset into a known ERC-4626 vault for its shares; refused where the shares would be worth"
        " less than the deposit."
    ),
    guidelines=(
        "The price of a share must stay within 0.25% until the transaction; preview again when it moved.",
        "A vault by request takes it at once and gives shares when it settles: the answer says so and names a request.",
        "Not available in DEFENSIVE, SURVIVAL or TERMINAL.",
    ),
)
def vault_deposit(ctx: WriteContext, vault: ContractAddress, amount: RawAmount) -> TxPlan:
    """Deposit an asset into an ERC-4626 vault for shares.

    Use to earn what the vault earns. What the shares are worth is measured, so a price that a donation blew up is
    refused. `amount` is of the vault's asset. At a vault by request (ERC-7540) the deposit is asked for: the asset
    leaves now, and vault_claim_request brings the shares once the vault has settled it.
    Does not serve vaults that are not known here, and does not deposit for another account.
    """
    reader = ctx.begin("Reading the vault")
    found = find_known(reader, vault)
    ctx.step("Building calls")
    if found.by_request:
        return REQUESTS.plan_ask_in(reader, ctx.account, found, amount)
    _check_pays(reader, found)
    return FAMILY.plan_deposit(reader, ctx.account, found, amount)


@vault_tools.write(
    risk=RiskLayer.LOW,
    report=report_redeem,
    snippet=(
        "withdraw: give shares of a known ERC-4626 vault back for the asset they stand for; max gives back all of them."
    ),
    guidelines=(
        "A vault may give back less than all at once; the refusal says how many shares pass.",
        "A vault by request gives assets when it settles: the answer says so and names a request.",
    ),
)
def vault_withdraw(ctx: WriteContext, vault: ContractAddress, shares: RawAmountOrMax) -> TxPlan:
    """Redeem shares of an ERC-4626 vault for its asset.

    Use to leave a vault or to take a part out. `shares` are base units of the vault's own token, or max. At a vault by
    request (ERC-7540) they are asked back: they leave now, and vault_claim_request brings the assets once the vault has
    settled it.
    Does not wait for a vault that is out of liquidity, and does not redeem shares of others.
    """
    reader = ctx.begin("Reading the vault")
    found = find_known(reader, vault)
    ctx.step("Building calls")
    wanted = None if shares == EVERYTHING else shares
    if found.by_request and not REQUESTS.gives_at_once(reader, ctx.account, found, wanted):
        return REQUESTS.plan_ask_out(reader, ctx.account, found, wanted)
    return FAMILY.plan_redeem(reader, ctx.account, found, wanted)


@vault_tools.write(
    risk=RiskLayer.LOW,
    report=report_claim,
    snippet=(
        "claim_request at a vault by request: take the shares of a settled deposit, or the assets of a settled"
        " withdrawal."
    ),
    guidelines=("request:ready tells when there is something to claim; all of it is claimed at once.",),
)
def vault_claim_request(ctx: WriteContext, vault: ContractAddress, request: RequestWay) -> TxPlan:
    """Claim what a vault has settled of a request of the golem.

    Use after vault_deposit or vault_withdraw at a vault by request (ERC-7540), once request:ready tells of it. Before
    another request the same way it has to be claimed.
    Does not hurry the vault, and does not claim for others.
    """
    reader = ctx.begin("Reading the vault")
    found = _find_asked(reader, vault)
    ctx.step("Building calls")
    claim = REQUESTS.plan_claim_in if request == IN else REQUESTS.plan_claim_out
    return claim(reader, ctx.account, found)


@vault_tools.write(
    risk=RiskLayer.LOW,
    report=CancelReport,
    action_class=ActionClass.CLOSE_POSITION,
    snippet="cancel_request at a vault by request: take back what was asked to be put in and is not settled.",
    guidelines=("Once the vault has begun to settle, the simulation says RequestNotCancelable: wait and claim.",),
)
def vault_cancel_request(ctx: WriteContext, vault: ContractAddress) -> TxPlan:
    """Take back what was asked of a vault and what it has not begun to settle.

    Use to get out of a vault by request before it has the assets; all that waits comes back. wallet_get_status lists
    requests. Does not take shares back that were asked to be redeemed: no vault gives those back.
    """
    reader = ctx.begin("Reading the vault")
    found = _find_asked(reader, vault)
    ctx.step("Building calls")
    return REQUESTS.plan_take_back(reader, ctx.account, found)


# ---- below ----------------------------------------------------------------------------------------------------------


def find_known(reader: ChainReader, address: str) -> Vault:
    """A vault that is known here. Raises VaultNotKnown."""
    found = find_vault(reader.chain_id, address)
    if found is None:
        known = [vault.address for vault in known_vaults(reader.chain_id)]
        raise VaultNotKnown(f"{address} is no vault that is known here", vaults=known)
    return found


def _check_pays(reader: ChainReader, vault: Vault) -> None:
    """Nothing is put into savings that pay nothing. Raises VaultClosed."""
    if vault == find_savings(reader.chain_id) and pays_nothing(int(reader.call(vault.address, SSR)[0])):
        raise VaultClosed(
            f"{vault.label} pays nothing now, so nothing more is put in",
            cleared_by="those who govern it set a rate again",
            vault=vault.address,
            room="0",
        )


def _find_asked(reader: ChainReader, address: str) -> Vault:
    found = find_known(reader, address)
    if not found.by_request:
        asked = [vault.address for vault in known_vaults(reader.chain_id) if vault.by_request]
        raise VaultNotKnown(f"{found.label} gives and takes at once; nothing is asked of it", vaults=asked)
    return found


def _asset(outcome: PlanOutcome) -> TokenMeta:
    """The vault's asset as the plan has it, or as its details name it."""
    if outcome.plan.receives:
        return outcome.plan.receives[0].token
    told = read_details(_AssetDetails, outcome)
    return TokenMeta(outcome.plan.chain_id, told.asset, told.symbol, told.decimals, "", is_registered=False)


def _price(assets: int, shares: int) -> str:
    return f"{Decimal(assets) / shares:.9f}" if shares else "0"
