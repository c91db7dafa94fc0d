"""What providers do before they send: signatures and bodies of the test policies' sources."""
import hashlib
import hmac
import json
import time
from dataclasses import dataclass, field


@dataclass
class Request:
    """One HTTP request; port says which receiver (None: in turn), tag is the caller's own."""
    path: str
    headers: dict = field(default_factory=dict)
    body: bytes = b""
    method: str = "POST"
    port: int = None
    tag: object = None


def as_body(value):
    return value if isinstance(value, bytes) else json.dumps(value, separators=(",", ":")).encode()


def stripe_sign(secret, body, t=None):
    """The Stripe-Signature header: https://docs.stripe.com/webhooks#verify-manually"""
    t = int(time.time()) if t is None else t
    mac = hmac.new(secret.encode(), str(t).encode() + b"." + body, hashlib.sha256).hexdigest()
    return {"Stripe-Signature": f"t={t},v1={mac}", "Content-Type": "application/json; charset=utf-8"}


def erp_sign(secret, body, t=None):
    """The `custom` grammar as the example's source `erp` uses it: HMAC-SHA256 hex over "{timestamp}.{body}"."""
    t = int(time.time()) if t is None else t
    mac = hmac.new(secret.encode(), str(t).encode() + b"." + body, hashlib.sha256).hexdigest()
    return {"X-Erp-Signature": "v1=" + mac, "X-Erp-Time": str(t), "Content-Type": "application/json"}


def app_auth(secret, key):
    """Scheme `app`: a bearer token, and the Idempotency-Key is the event's id."""
    return {"Authorization": "Bearer " + secret, "Idempotency-Key": key, "Content-Type": "application/json"}


_test = {"began": int(time.time())}


def begin_test():
    _test["began"] = int(time.time())


def happened():
    """When the events of a test happened: the same for all, since a provider's copy of an event is the same event."""
    return _test["began"]


def stripe_event(event_id, kind, order, email=None, livemode=True, amount=None, **more):
    """A body as Stripe sends it, cut down to what the example's policy points at."""
    thing = {"id": "obj_" + event_id, "metadata": {"order_id": order}}
    if email:
        thing["receipt_email"] = email
    if amount is not None:
        thing["amount_refunded"] = amount
    return as_body({"id": event_id, "object": "event", "api_version": "2026-01-28", "created": happened(),
                    "livemode": livemode, "type": kind, "pending_webhooks": 1, "data": {"object": thing}, **more})


def stripe_request(secret, event_id, kind, order, email=None, t=None, source="stripe", **more):
    body = stripe_event(event_id, kind, order, email, **more)
    return Request(f"/hooks/{source}", stripe_sign(secret, body, t), body, tag=event_id)


def erp_request(secret, event_id, kind, order, t=None, source="erp", **more):
    body = as_body({"delivery": {"id": event_id, "kind": kind, "happened_at": happened()}, "order": {"number": order},
                    **more})
    return Request(f"/hooks/{source}", erp_sign(secret, body, t), body, tag=event_id)


def app_request(secret, key, kind, order, email=None, source="shop", customer=None, **more):
    who = {**({"email": email} if email else {}), **(customer or {})}
    body = as_body({"type": kind, "order": {"id": order, "total": "12.00", "currency": "EUR"}, "customer": who, **more})
    return Request(f"/hooks/{source}", app_auth(secret, key), body, tag=key)
