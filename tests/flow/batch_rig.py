"""What the tests of requests with many events share: a source of each such provider, and batches as GoCardless signs them."""
import base64
import hashlib
import hmac
import re

from harness import *

HUBSPOT_URL = "https://hooks.example.com/hooks/hubspot"
STEPS = "{ %s }" % ", ".join("%s: { order: /links/order, to: %s }" % step for step in
                             (("payments.created", "s1"), ("payments.submitted", "s2"), ("payments.confirmed", "s3")))
SOURCES = f"""
  gocardless:
    scheme: gocardless
    secrets: [credential:gocardless]
    events: {STEPS}
  gocardless-zip:
    scheme: gocardless
    secrets: [credential:gocardless]
    compressed: true
    body_max: 64KiB
    events: {STEPS}
  line:
    scheme: line
    secrets: [credential:line]
    events: {{ message: {{ order: /message/id, to: s1 }} }}
  xero:
    scheme: xero
    secrets: [credential:xero]
    events: {{ INVOICE.CREATE: {{ order: /resourceId, to: s1 }} }}
  meta:
    scheme: meta
    secrets: [credential:meta]
    events: {{ messages: {{ order: /id, to: s1 }}, statuses.sent: {{ order: /id, to: s2 }}, statuses: {{ order: /id, to: s2 }} }}
  adyen:
    scheme: adyen
    secrets: [credential:adyen]
    events: {{ AUTHORISATION: {{ order: /NotificationRequestItem/merchantReference, to: s1 }} }}
  sendgrid:
    scheme: sendgrid
    secrets: [credential:sendgrid]
    events: {{ processed: {{ order: /order, to: s1 }}, delivered: {{ order: /order, to: s2 }} }}
  hubspot:
    scheme: hubspot
    secrets: [credential:hubspot]
    public_url: {HUBSPOT_URL}
    events: {{ deal.creation: {{ order: /objectId, to: s1 }} }}
  ms-graph:
    scheme: ms-graph
    secrets: [credential:ms-graph]
    events: {{ created: {{ order: /resource, to: s1 }} }}
  own:
    scheme: custom
    verify:
      signature: {{ header: X-Own-Signature, encoding: hex }}
      signed: "{{body}}"
      algorithm: hmac-sha256
    batch: [/days/*/changes, /more]
    id: /n
    id_more: [/kind]
    type: /kind
    scope: [/shop]
    secrets: [credential:own]
    events: {{ paid: {{ order: /order, to: s1 }} }}
  erp-zip:
    scheme: custom
    verify:
      signature: {{ header: X-Erp-Signature, prefix: "v1=", encoding: hex }}
      timestamp: {{ header: X-Erp-Time }}
      signed: "{{timestamp}}.{{body}}"
      algorithm: hmac-sha256
      inflated: true
    compressed: true
    id: /delivery/id
    type: /delivery/kind
    secrets: [credential:erp]
    events: {{ step.s1: {{ order: /order/number, to: s1 }} }}
"""


def with_batches(text, more=""):
    return re.sub(r"^orders:", lambda _: SOURCES.lstrip("\n") + more + "\norders:", text, count=1, flags=re.M)


def world(t, receivers=1, keys=None, **options):
    w = t.world(receivers=0, dispatchers=0, edit=with_batches, **options)
    for name, value in (keys or {}).items():
        w.set_credential(name, value)
    return w.start(receivers, 0)


def member(event_id, order, action="created", **more):
    return {"id": event_id, "resource_type": "payments", "action": action, "links": {"order": order}, **more}


def gocardless(*members, source="gocardless", **envelope):
    body = as_body({"events": list(members), **envelope})
    mac = hmac.new(secret("gocardless").encode(), body, hashlib.sha256).hexdigest()
    return Request(f"/hooks/{source}", {"Webhook-Signature": mac, "Content-Type": "application/json"}, body)


def b64(digest):
    return base64.b64encode(digest).decode()


def signed_b64(source, header, body):
    return Request(f"/hooks/{source}", {header: b64(hmac.new(secret(source).encode(), body, hashlib.sha256).digest())}, body)


def count(cluster, table, where="true"):
    return cluster.value(f"SELECT count(*) FROM pawl.{table} WHERE {where}")


def good(answer):
    check(answer.status in (200, 202, 204), f"{answer.status} {answer.body} {answer.error}")
