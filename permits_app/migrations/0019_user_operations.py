"""Smart accounts: the key that owns one, and user operations among what is signed and sent."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("permits_app", "0018_judged_facts"),
    ]

    operations = [
        migrations.AddField(
            model_name="outboundtransaction",
            name="entry_point",
            field=models.CharField(
                blank=True, help_text="The EntryPoint, when this is a user operation of `sender`", max_length=42
            ),
        ),
        migrations.AddField(
            model_name="outboundtransaction",
            name="signed_at_block",
            field=models.PositiveBigIntegerField(
                blank=True,
                help_text="The chain's head when an operation was signed: it is looked for from there on",
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="signingkey",
            name="account",
            field=models.CharField(
                blank=True, help_text="The smart account it owns and signs user operations for", max_length=42
            ),
        ),
        migrations.AlterField(
            model_name="wallet",
            name="kind",
            field=models.CharField(
                choices=[
                    ("LOCAL_KEYSTORE", "Local keystore file (development; not enforced on chain)"),
                    ("PRIVY", "Privy server wallet (limits enforced by this server only)"),
                    ("ZERODEV", "Smart account at ZeroDev (limits enforced by this server only)"),
                    (
                        "GNOSIS_SAFE",
                        "Safe of the golem's key, alone or with others (limits enforced by this server only)",
                    ),
                    ("POLICY_CAGE", "Safe behind a PolicyCage (enforced on chain)"),
                ],
                default="LOCAL_KEYSTORE",
                max_length=24,
            ),
        ),
        migrations.AddConstraint(
            model_name="signingkey",
            constraint=models.UniqueConstraint(
                condition=models.Q(("account", ""), _negated=True),
                fields=("account",),
                name="signing_key_one_per_account",
            ),
        ),
    ]
