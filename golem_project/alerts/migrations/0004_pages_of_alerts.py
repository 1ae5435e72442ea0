"""Each alert knows the page it leads to, and a browser is a channel."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("alerts", "0003_mailboxes_are_confirmed")]

    operations = [
        migrations.AddField(
            model_name="alert",
            name="path",
            field=models.CharField(
                blank=True, db_default="", default="", help_text="The page of it on this server", max_length=200
            ),
        ),
        migrations.AlterField(
            model_name="alertchannel",
            name="kind",
            field=models.CharField(
                choices=[
                    ("EMAIL", "E-mail"),
                    ("WEBHOOK", "Chat that takes Slack's webhooks"),
                    ("TELEGRAM", "Telegram bot"),
                    ("PUSH", "This browser or app"),
                ],
                max_length=10,
            ),
        ),
    ]
