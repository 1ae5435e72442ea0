"""`vault_get_share_price_history`: what a share of a known vault was worth whenever somebody went in or out."""

from __future__ import annotations

from tools_app.core.ratio import Ratio, ratio_text
from tools_app.portfolio.history_from_logs import Interval, Period, ToldPast, tell_share_prices
from tools_app.protocols.erc4626.tools import find_known, vault_tools
from tools_app.standards.erc4626 import TO_ASSETS
from tools_app.standards.read_all_or_fail import read_all
from tools_app.toolkit.answer import Told
from tools_app.toolkit.context import ReadCall, ReadContext
from tools_app.toolkit.enums import TickBudget
from tools_app.toolkit.params import ContractAddress


class SharePrices(Told):
    """`share_price` and the points are assets for a whole share, as decimal text. What lay in the vault in the past is
    in no log, and is not told.
    """

    vault: str
    name: str
    chain_id: int
    share_price: str
    past: ToldPast


@vault_tools.read(
    query="vault_share_prices",
    budget=TickBudget.FAST,
    snippet=(
        "vault_get_share_price_history: what a share of a known vault was worth by hour, day or week, from who went in"
        " and out, and since when that is known."
    ),
    guidelines=("Without a deposit or withdrawal no price is told: the next point holds what was earned meanwhile.",),
)
def vault_get_share_price_history(
    ctx: ReadContext, vault: ContractAddress, period: Period = "90d", interval: Interval = "1d"
) -> SharePrices:
    """Read what a share of a vault was worth in the past.

    Use to see what a vault earned, and whether it ever lost. Asking has the vault followed by this server's index for a
    while. intel_compare_yields names vaults. Does not know the time before it was followed and read back, and does not
    serve vaults that are not known.
    """
    reader = ctx.begin("Reading the vault")
    found = find_known(reader, vault)
    share, asset = reader.token(found.address), reader.token(found.asset)
    [(now,)] = read_all(reader, [ReadCall(found.address, TO_ASSETS, (10**share.decimals,))])
    ctx.step("Reading what is kept of it")

    def show(price: Ratio) -> str:
        return ratio_text(price, base_decimals=share.decimals, quote_decimals=asset.decimals)

    past = tell_share_prices(ctx, reader, found.address, period=period, interval=interval, show=show)
    return SharePrices(found.address, found.label, reader.chain_id, show(Ratio(int(now), 10**share.decimals)), past)
