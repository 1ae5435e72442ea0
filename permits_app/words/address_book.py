"""Names an address for pages: by its owner's book, their golems' accounts, or the chain's registry.

A name is the owner's word and data: it allows nothing, binds nothing, and no agent reads it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from django.db.models import QuerySet

from archetypes_app.models import Golem
from permits_app.models import CageMirror, KnownAddress, SigningKey
from permits_app.words.look_alikes import find_look_alike
from tools_app.core.right_to_left_names import isolate
from tools_app.wording.address_names import list_named, name_address
from tools_app.wording.formats import shorten_hex

UNKNOWN: Final = "unknown"
ADDRESS_IN_TEXT: Final = re.compile(r"0x[0-9a-fA-F]{40}\b")
ANY_CHAIN: Final = 0


@dataclass(frozen=True, slots=True)
class AddressBook:
    """Names by chain (`ANY_CHAIN` for every one) and address in lower case, of one owner."""

    names: Mapping[tuple[int, str], str] = field(default_factory=dict)
    own: frozenset[str] = frozenset()
    """Accounts, keys and contracts of the owner's golems, in lower case."""

    def find(self, chain_id: int, address: str) -> str:
        """Its name; empty where nobody named it."""
        wanted = address.lower()
        own = self.names.get((chain_id, wanted)) or self.names.get((ANY_CHAIN, wanted))
        return own or name_address(chain_id, address)

    def say(self, chain_id: int, address: str) -> str:
        """Its name, or that it is unknown."""
        return self.find(chain_id, address) or UNKNOWN

    def in_text(self, chain_id: int, text: str) -> str:
        """A sentence with each address as its name and its ends: `Treasury 0x1234…abcd`."""
        return ADDRESS_IN_TEXT.sub(lambda found: f"{self.say(chain_id, found[0])} {shorten_hex(found[0])}", text)

    def in_full(self, chain_id: int, text: str) -> str:
        """A sentence with its name before each whole address."""
        return ADDRESS_IN_TEXT.sub(lambda found: f"{self.say(chain_id, found[0])} {found[0]}", text)

    def list_names(self, chain_id: int) -> dict[str, str]:
        """Every name on a chain by its address in lower case: the owner's before the chain's registry."""
        found = {address.lower(): name for address, name in list_named(chain_id)}
        for wanted in (ANY_CHAIN, chain_id):
            found |= {address: name for (chain, address), name in self.names.items() if chain == wanted}
        return found

    def find_twin(self, chain_id: int, address: str) -> tuple[str, str] | None:
        """The named address (and its name) that this one is made to be taken for; None where there is none."""
        own = [(known, name) for (chain, known), name in self.names.items() if chain in (chain_id, ANY_CHAIN)]
        return find_look_alike(address, [*own, *list_named(chain_id)])


def read_book(owner_id: int) -> AddressBook:
    """The book of an owner: what they named, before the keys, contracts and accounts of their golems."""
    names = _name_golems(Golem.objects.filter(owner_id=owner_id))
    own = frozenset(address for _, address in names)
    rows = KnownAddress.objects.filter(owner_id=owner_id).values_list("chain_id", "address", "name")
    given = {(chain_id or ANY_CHAIN, address.lower()): isolate(name) for chain_id, address, name in rows}
    return AddressBook(names | given, own)


def read_page_of(golem: Golem) -> AddressBook:
    """What whoever sees this golem alone may read of its owner's book: the keys, contracts and accounts of it."""
    names = _name_golems(Golem.objects.filter(pk=golem.pk))
    return AddressBook(names, frozenset(address for _, address in names))


def _name_golems(golems: QuerySet[Golem]) -> dict[tuple[int, str], str]:
    names: dict[tuple[int, str], str] = {}
    for address, golem in SigningKey.objects.filter(golem__in=golems).values_list("address", "golem__name"):
        names[ANY_CHAIN, address.lower()] = f"key of {isolate(golem)}"
    mirrors = CageMirror.objects.filter(cage__golem__in=golems)
    for contract, account, golem in mirrors.values_list("contract", "account", "cage__golem__name"):
        names |= {
            (ANY_CHAIN, contract.lower()): f"cage of {isolate(golem)}",
            (ANY_CHAIN, account.lower()): f"Safe of {isolate(golem)}",
        }
    accounts = golems.exclude(address="").values_list("address", "name")
    return names | {(ANY_CHAIN, address.lower()): f"account of {isolate(name)}" for address, name in accounts}
