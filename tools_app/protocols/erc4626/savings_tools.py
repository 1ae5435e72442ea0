"""`vault_get_savings`: what Sky's savings vault pays now, and what an account has in it."""

from __future__ import annotations

from tools_app.core.units import format_units
from tools_app.protocols.erc4626.addresses import LOCAL_CHAIN_ID, find_savings
from tools_app.protocols.erc4626.savings import SSR, yearly_ppm
from tools_app.protocols.erc4626.tools import VaultNotKnown, vault_tools
from tools_app.select_tool_for_venue import whose
from tools_app.standards import erc20
from tools_app.standards.erc4626 import MAX_REDEEM, TO_ASSETS
from tools_app.standards.read_all_or_fail import read_all
from tools_app.toolkit.answer import Told
from tools_app.toolkit.context import ReadCall, ReadContext
from tools_app.toolkit.enums import TickBudget
from tools_app.toolkit.params import Address
from tools_app.toolkit.result import TokenAmount


class Savings(Told):
    """A savings vault. `savings_rate` is percent a year with interest on interest, as long as nobody changes it;
    `share_price` assets for a whole share; `shares` are base units of the account, `redeemable_shares` those that the
    vault takes back now, and `assets` what they stand for.
    """

    vault: str
    name: str
    savings_rate: str
    share_price: str
    shares: str
    redeemable_shares: str
    assets: TokenAmount
    block_number: int
    is_simulated: bool


@vault_tools.read(
    budget=TickBudget.FAST,
    snippet="vault_get_savings: Sky's savings rate now, and what an account has in sUSDS; changes nothing.",
    guidelines=("Whoever governs Sky changes the rate at once; vault_deposit and vault_withdraw go in and out.",),
)
def vault_get_savings(ctx: ReadContext, account: Address | None = None) -> Savings:
    """Read Sky's savings rate, and what an account has in sUSDS.

    Use before depositing, or to see what savings earned. `account` defaults to the golem's own.
    Does not tell what was paid for the shares.
    """
    owner = whose(ctx, account)
    reader = ctx.begin("Reading the vault")
    vault = find_savings(reader.chain_id)
    if vault is None:
        raise VaultNotKnown(f"no savings vault is known on chain {reader.chain_id}", vaults=[])
    token = reader.token(vault.asset)
    told = read_all(
        reader,
        [
            ReadCall(vault.address, SSR),
            ReadCall(vault.address, TO_ASSETS, (10**token.decimals,)),
            erc20.balance_call(vault.address, owner),
            ReadCall(vault.address, MAX_REDEEM, (owner,)),
        ],
    )
    ssr, price, shares, redeemable = (int(each[0]) for each in told)
    [(worth,)] = read_all(reader, [ReadCall(vault.address, TO_ASSETS, (shares,))])
    return Savings(
        vault=vault.address,
        name=vault.label,
        savings_rate=format_units(yearly_ppm(ssr), 4),
        share_price=format_units(price, token.decimals),
        shares=str(shares),
        redeemable_shares=str(redeemable),
        assets=TokenAmount(int(worth), token),
        block_number=reader.block.number,
        is_simulated=reader.chain_id == LOCAL_CHAIN_ID,
    )
