"""`hook_get_template`: the text of a hook to begin with, our own and audited by nobody."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from tools_app.subsystems.hook.family import hook, hooked_on
from tools_app.toolkit.context import ReadContext
from tools_app.toolkit.enums import TickBudget
from tools_app.toolkit.params import ChainId

Kind = Annotated[
    Literal["counter", "dynamic_fee"],
    Field(description="counter: watches swaps and takes nothing. dynamic_fee: sets the fee of each swap."),
]


@dataclass(frozen=True, slots=True)
class HookTemplate:
    """Solidity to begin with. `address_bits` is what the low 14 bits of the hook's address have to be, as hex; the salt
    of its deployment is searched for until they are.
    """

    kind: str
    source: str
    address_bits: str
    callbacks: tuple[str, ...]
    license: str
    is_audited: bool


@hook.read(
    query="hook_template",
    budget=TickBudget.FAST,
    aliases=("get_hook_template",),
    snippet=(
        "hook_template: Solidity of a hook of pools to begin with, with the bits its address needs; our own text under"
        " the MIT licence, audited by nobody."
    ),
    guidelines=("Say that it is not audited wherever it is shown, and try the hook on a private chain first.",),
)
def hook_get_template(ctx: ReadContext, kind: Kind = "counter", chain_id: ChainId | None = None) -> HookTemplate:
    """Give the text of a hook to begin with.

    Use when somebody wants to write a hook, or to see what one looks like that takes nothing.
    Does not compile, deploy or audit anything.
    """
    ctx.step("Choosing the text")
    hooked, _ = hooked_on(chain_id if chain_id is not None else ctx.golem.home_chain_id)
    text = hooked.texts[kind]
    return HookTemplate(kind, text.source, f"0x{text.address_bits:04x}", text.callbacks, "MIT", is_audited=False)
