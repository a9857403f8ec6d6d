"""Verifies signed requests with the package http-message-signatures.

Reads {"directory": JWKS, "requests": [{"url": ..., "headers": {...}}]} from stdin. Prints one JSON list a request: what
is said of it as it was sent, at another authority, ten minutes later, with another Signature-Agent, and with a
parameter changed.
"""

import base64
import datetime
import json
import sys
import types

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from http_message_signatures import HTTPMessageVerifier, HTTPSignatureKeyResolver, InvalidSignature, algorithms, signatures


class Directory(HTTPSignatureKeyResolver):
    def __init__(self, keys):
        self.keys = {key["kid"]: key for key in keys}

    def resolve_public_key(self, key_id):
        text = self.keys[key_id]["x"]
        return Ed25519PublicKey.from_public_bytes(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))


class Message:
    method = "GET"

    def __init__(self, url, headers):
        self.url = url
        self.headers = headers


class Later(datetime.datetime):
    @classmethod
    def now(cls, zone=None):
        return datetime.datetime.now(zone) + datetime.timedelta(minutes=10)


def verdict(verifier, message):
    wanted = ("@authority", '"signature-agent";key="sig1"')
    try:
        found = verifier.verify(message, expect_tag="web-bot-auth", require_components=wanted)
    except InvalidSignature:
        return "invalid"
    return "valid" if len(found) == 1 and found[0].nonce else "incomplete"


def verdicts(verifier, url, headers):
    changed = lambda name, old, new: Message(url, headers | {name: headers[name].replace(old, new)})
    yield verdict(verifier, Message(url, headers))
    yield verdict(verifier, Message("http://other.example/", headers))
    now, signatures.datetime = signatures.datetime, types.SimpleNamespace(**vars(datetime) | {"datetime": Later})
    yield verdict(verifier, Message(url, headers))
    signatures.datetime = now
    yield verdict(verifier, changed("signature-agent", "bot.example", "bad.example"))
    yield verdict(verifier, changed("signature-input", "expires=", "expires=1"))


work = json.load(sys.stdin)
verifier = HTTPMessageVerifier(
    signature_algorithm=algorithms.ED25519, key_resolver=Directory(work["directory"]["keys"])
)
for request in work["requests"]:
    print(json.dumps(list(verdicts(verifier, request["url"], request["headers"]))))
