"""Sends one mail with Python's own library: STARTTLS, AUTH, a text and a file."""
import os
import smtplib
import ssl
from email.headerregistry import Address
from email.message import EmailMessage

message = EmailMessage()
message["From"] = Address("Shöp", "hello", "shop.example.com")
message["To"] = "ada@example.org"
message["Subject"] = os.environ["SUBJECT"]
message.set_content(os.environ["TEXT"])
with open(os.environ["FILE"], "rb") as file:
    message.add_attachment(file.read(), maintype="application", subtype="octet-stream", filename="ä.bin")
with smtplib.SMTP("localhost", int(os.environ["PORT"])) as smtp:
    smtp.starttls(context=ssl.create_default_context())
    smtp.login("satchel", os.environ["KEY"])
    smtp.send_message(message)
