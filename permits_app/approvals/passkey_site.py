"""Decides on pages of which addresses a passkey counts. Without a name none does."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings

from permits_app.approval_errors import PasskeysNotSetUp


@dataclass(frozen=True, slots=True)
class PasskeySite:
    """The relying party's id (a host name), and the origins that may ask in its name (`https://golem.example`)."""

    rp_id: str
    origins: tuple[str, ...]


def find_site(*, scheme: str, host: str) -> PasskeySite:
    """The site of a page that was asked for at `scheme`://`host` (with its port). Raises PasskeysNotSetUp.

    Where the settings name no origins, the page's own address is the one that counts; `host` is an allowed one then.
    """
    rp_id = settings.GOLEM_PASSKEY_RP_ID
    if not rp_id:
        raise PasskeysNotSetUp(
            "this server does not say under which name passkeys count; whoever runs it sets GOLEM_PASSKEY_RP_ID to the"
            " host name of this page"
        )
    here, name = f"{scheme}://{host}", _name_of(host)
    named = settings.GOLEM_PASSKEY_ORIGINS
    origins = (here,) if named is None else tuple(named)
    if here in origins and f".{name}".endswith(f".{rp_id}"):
        return PasskeySite(rp_id, origins)
    if not origins:
        raise PasskeysNotSetUp(
            f"passkeys of this server count at {rp_id}, and no address of its pages is named; whoever runs it sets"
            " GOLEM_PASSKEY_ORIGINS"
        )
    place = here.replace(name, rp_id, 1) if named is None else origins[0]
    raise PasskeysNotSetUp(f"passkeys of this server count at {rp_id}; open this page at {place}")


def _name_of(host: str) -> str:
    """A host without its port; `[::1]` stays whole."""
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() else host
