"""KnownContract: the code a contract had when it was first seen as one the golems may deal with."""

from __future__ import annotations

from django.db import models

from archetypes_app.models.golem import ADDRESS


class KnownContract(models.Model):
    """Keccak-256 of the runtime code at one address, taken once; other code there later is another contract.

    Only addresses somebody vouches for are kept: the chain's registry, or an owner's allowlist. A proxy keeps its own
    code when what stands behind it changes, so for a proxy this says less.
    """

    chain_id = models.PositiveBigIntegerField()
    address = models.CharField(max_length=42, validators=[ADDRESS])
    code_hash = models.CharField(max_length=66)
    first_seen_at = models.DateTimeField()

    class Meta:
        verbose_name = "known contract"
        constraints = [models.UniqueConstraint(fields=["chain_id", "address"], name="known_contract_once")]

    def __str__(self) -> str:
        return f"{self.address} on chain {self.chain_id}"
