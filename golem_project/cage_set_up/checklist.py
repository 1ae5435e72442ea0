"""Lists what is done and what is next on the way to a cage that is enforced on chain, as rows and chain say it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import segno
from django.urls import reverse

from archetypes_app.models import Golem
from permits_app.models import ActionPermit, CageMirror, ChangeRequest, SigningKey, Wallet
from permits_app.models.approval import ChangeState
from permits_app.models.permit import PermitStatus
from permits_app.models.signing_key import KeyState
from permits_app.models.wallet import WalletKind
from permits_app.policy_cage.state import CageState
from tools_app.core.errors import GolemError
from tools_app.toolkit.context import ChainReader
from tools_app.wording.formats import format_coin, shorten_hex

GAS_OF_A_SWAP: Final = 343_200
"""What a swap by the cage takes at most: measured 312,000, and a tenth. A test of the contract holds the figure."""
_ENOUGH_FOR: Final = 20
"""So many swaps' gas a key has to have before the checklist calls it enough."""


@dataclass(frozen=True, slots=True)
class ChecklistStep:
    """One line. `page` is where it is done, empty where it stands on this page; `told` says how it stands."""

    title: str
    told: str
    is_done: bool
    page: str = ""


@dataclass(frozen=True, slots=True)
class KeyCoins:
    """What the session key has for gas, and what it needs, in the chain's coin; empty where the chain did not say.

    `picture` is its address as a QR code, SVG.
    """

    address: str
    has: str
    needs: str
    is_enough: bool
    picture: str


@dataclass(frozen=True, slots=True)
class Checklist:
    """All steps in their order, and the coins of the key."""

    steps: tuple[ChecklistStep, ...]
    coins: KeyCoins | None

    @property
    def following(self) -> ChecklistStep | None:
        """The first that is not done."""
        return next((each for each in self.steps if not each.is_done), None)


def build_checklist(golem: Golem, mirror: CageMirror | None, chain: ChainReader | None, *, safe: str) -> Checklist:
    """The checklist of one golem. `safe` is an address that somebody named; `chain` None where no node answers."""
    state = CageState.from_dict(mirror.state) if mirror is not None else None
    wallet = Wallet.objects.filter(golem=golem).first()
    keys = {each.state: each.address for each in SigningKey.objects.filter(golem=golem)}
    key = keys.get(KeyState.STAGED) or (keys.get(KeyState.ACTIVE, "") if _is_caged(wallet) else "")
    coins = read_coins(key, golem.home_chain_id, chain) if key else None
    cage = reverse("admin:archetypes_app_golem_cage", args=[golem.pk]) if mirror is not None else ""
    is_appointed = bool(state is not None and key and state.session.key.lower() == key.lower())
    is_acting = bool(mirror is not None and wallet is not None and _is_caged(wallet))
    asked = _list_asked(golem) if mirror is not None else {}
    swap = _find_swap(golem, mirror) if mirror is not None and is_acting else None
    account = mirror.account if mirror is not None else safe
    steps = (
        ChecklistStep("A Safe", shorten_hex(account) if account else "its owners keep their keys", bool(account)),
        ChecklistStep(
            "Its session key",
            shorten_hex(key) if key else "made here, without any right until its owners appoint it",
            bool(key),
        ),
        ChecklistStep(
            "Gas for the key",
            f"it has {coins.has} and needs about {coins.needs}" if coins is not None and coins.has else _TELLS_GAS,
            coins is not None and coins.is_enough,
        ),
        ChecklistStep(
            "The contract",
            f"{shorten_hex(mirror.contract)}, followed" if mirror is not None else "deployed with this golem's rules",
            mirror is not None,
        ),
        ChecklistStep(
            "It acts for the Safe",
            asked.get("enable") or "the Safe's owners sign it once",
            mirror is not None and mirror.is_enforced,
            f"{cage}#acts" if cage else "",
        ),
        ChecklistStep(
            "The key is appointed",
            asked.get("session") or "until when and for how much, the Safe's owners sign that too",
            is_appointed,
            f"{cage}?key={key}#ask-session" if cage and key else "",
        ),
        ChecklistStep(
            "The golem acts through it",
            "the Safe becomes its account; what the account before holds stays there",
            is_acting,
            reverse("admin:permits_app_wallet_choose_signer", args=[wallet.pk]) if wallet is not None else "",
        ),
        ChecklistStep(
            "The first caged action",
            f"{swap.action_type} {swap.pk}" if swap is not None else "one that its agent previews and commits",
            swap is not None,
            reverse("admin:permits_app_actionpermit_change", args=[swap.pk]) if swap is not None else "",
        ),
    )
    return Checklist(steps, coins)


def read_coins(key: str, chain_id: int, chain: ChainReader | None) -> KeyCoins:
    """The key's coins beside what `_ENOUGH_FOR` swaps take at the gas price of now."""
    picture = segno.make(key, error="m").svg_inline(scale=4, border=2, light="#fff", dark="#000")
    if chain is None:
        return KeyCoins(key, "", "", False, picture)
    try:
        has, needs = chain.native_balance(key), GAS_OF_A_SWAP * _ENOUGH_FOR * chain.fees().max_fee
    except GolemError:
        return KeyCoins(key, "", "", False, picture)
    return KeyCoins(key, format_coin(has, chain_id), format_coin(needs, chain_id), has >= needs > 0, picture)


_TELLS_GAS: Final = (
    f"a caged swap takes up to {GAS_OF_A_SWAP:,} gas, which the key pays from its own coins; later it refills from the"
    " Safe as far as its rules let it"
)


def _is_caged(wallet: Wallet | None) -> bool:
    return wallet is not None and wallet.kind == WalletKind.POLICY_CAGE


def _find_swap(golem: Golem, mirror: CageMirror) -> ActionPermit | None:
    done = ActionPermit.objects.filter(golem=golem, status=PermitStatus.COMMITTED, acts_for__iexact=mirror.account)
    return done.order_by("created_at").first()


def _list_asked(golem: Golem) -> dict[str, str]:
    """What is asked of the owners of its contract and not carried out yet, by the act, in words."""
    waiting = ChangeRequest.objects.filter(golem=golem, kind="cage", state__in=(ChangeState.OPEN, ChangeState.APPROVED))
    return {
        str(change.get("act", "")): f"asked; it waits for its owners: {title}"
        for change, title in waiting.order_by("created_at").values_list("change", "title")
    }
