"""Sends one mail as an app on Django does, with the settings that the guide has."""
import os

from django.conf import settings
from django.core.mail import EmailMessage

settings.configure(
    EMAIL_HOST="localhost",
    EMAIL_PORT=int(os.environ["PORT"]),
    EMAIL_USE_TLS=True,
    EMAIL_HOST_USER="satchel",
    EMAIL_HOST_PASSWORD=os.environ["KEY"],
    DEFAULT_FROM_EMAIL="Shöp <hello@shop.example.com>",
)
with open(os.environ["FILE"], "rb") as file:
    attachment = ("ä.bin", file.read(), "application/octet-stream")
EmailMessage(os.environ["SUBJECT"], os.environ["TEXT"], to=["ada@example.org"], attachments=[attachment]).send()
