"""CodingWorkspace: where a golem's coding tools work, and what of it waits for an owner."""

from __future__ import annotations

from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models

from tools_app.core.hashing import hash_canonical
from tools_app.core.models import TimeStamped
from tools_app.subsystems.coding.operations import NeedsOwner


class WorkspacePlace(models.TextChoices):
    LOCAL = "LOCAL", "A folder of its own on this server"
    SSH = "SSH", "A folder on another machine, by SSH"


SETTINGS = ("place", "needs_owner", "allows_network", "host", "port", "username", "folder", "host_key")
"""What an owner sets of it, and a permit is given under."""
NEEDS_OWNER_CHOICES = [
    (NeedsOwner.EVERYTHING.value, "Commands and writes"),
    (NeedsOwner.COMMANDS.value, "Commands"),
    (NeedsOwner.NOTHING.value, "Nothing"),
]


class CodingWorkspace(TimeStamped):
    """One per golem; a golem without a row works here, and everything it writes or runs waits for its owner."""

    golem = models.OneToOneField("archetypes_app.Golem", on_delete=models.CASCADE, related_name="coding_workspace")
    place = models.CharField(max_length=8, choices=WorkspacePlace.choices, default=WorkspacePlace.LOCAL)
    needs_owner = models.CharField(
        "waits for an owner",
        max_length=16,
        choices=NEEDS_OWNER_CHOICES,
        default=NeedsOwner.EVERYTHING.value,
        help_text="Each waiting permit shows the diff or the command, and any owner decides it",
    )
    allows_network = models.BooleanField(
        default=False, help_text="Commands on this server reach the network, this server's own services included"
    )
    host = models.CharField(max_length=253, blank=True, validators=[RegexValidator(r"^[A-Za-z0-9.:\-]+$")])
    port = models.PositiveIntegerField(default=22, validators=[MinValueValidator(1), MaxValueValidator(65_535)])
    username = models.CharField(max_length=32, blank=True, validators=[RegexValidator(r"^[a-z_][a-z0-9_.\-]*$")])
    folder = models.CharField(
        max_length=500,
        blank=True,
        validators=[RegexValidator(r"^/[^\x00-\x1f]*[^/\x00-\x1f]$")],
        help_text="Its folder on the other machine, from / on",
    )
    host_key = models.CharField(
        max_length=1_000,
        blank=True,
        help_text="The other machine's public key, such as: ssh-ed25519 AAAA…; any other key is refused",
    )

    class Meta:
        verbose_name = "coding workspace"
        ordering = ["golem__name"]
        constraints = [
            models.CheckConstraint(
                condition=~models.Q(place="SSH")
                | ~(models.Q(host="") | models.Q(username="") | models.Q(folder="") | models.Q(host_key="")),
                name="coding_workspace_names_its_machine",
            ),
        ]

    def __str__(self) -> str:
        return f"workspace of {self.golem}"

    @property
    def fingerprint(self) -> str:
        """A hash of every setting: what a permit was given under."""
        return hash_canonical(self.settings)

    @property
    def settings(self) -> dict[str, object]:
        """Every setting by name, JSON-ready."""
        return {name: getattr(self, name) for name in SETTINGS}

    @property
    def where(self) -> str:
        """The machine, and the folder there."""
        if self.place == WorkspacePlace.LOCAL:
            return "this server"
        return f"{self.username}@{self.host}:{self.port} {self.folder}"
