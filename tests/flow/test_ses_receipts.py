"""What Amazon SES tells later of a mail, through a topic of SNS signed by a certificate of the tests' own authority: by the database."""
import base64
import json
import os
import sys
import time
import urllib.parse

from harness import *
from kit.https import Authority, HttpsServer

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from channels_rig import HttpPeer, Shop  # noqa: E402

SNS, PEM = "sns.eu-central-1.amazonaws.com", "/SimpleNotificationService-test.pem"
TOPIC = "arn:aws:sns:eu-central-1:123456789012:mail-events"
SOURCE = f"""  ses-events:
    scheme: aws-sns
    topics: ["{TOPIC}"]
    type: /Message/eventType
    receipts: email
"""
CHANNELS = ('  email: {{ from: "Shop <shop@example.net>", providers: [{{ driver: ses, region: eu-central-1, access_key: AKID, secret: credential:ses,'
            ' config_set: pawl-events, url: "{url}" }}] }}')
DUE, ACCEPTED, REFUSED, DELIVERED, BOUNCED, COMPLAINED = 0, 2, 3, 10, 11, 12


class Rig:
    """Mail goes out by SES's API to .peer; what happens to it comes back by .event()."""

    def __init__(self, t):
        self.ca, self.n = Authority(), 0
        web = self.ca.key("web")
        self.server = HttpsServer(self.ca.certificate(web, [SNS]), web)
        self.signer = self.ca.key("signer")
        self.server.pages[PEM] = self.ca.certificate(self.signer, [SNS]).encode()
        self.peer = t.keep(HttpPeer(lambda c, r: c.say(200, b'{"MessageId":"0100-%d"}' % r["n"])))
        fetch = f'{{ ca: {self.ca.file}, connect: ["{SNS}=127.0.0.1:{self.server.port}"] }}'
        self.shop = Shop(t, CHANNELS.format(url=self.peer.url), "email", credentials={"ses": "secret-key"}, host={"receiver": {"fetch": fetch}},
                         edit=lambda text: text.replace("orders:", SOURCE + "orders:", 1))
        self.w, self.cluster = self.shop.w, self.shop.cluster

    def order(self, kind, state="accepted"):
        order = self.shop.order(kind, email=f"{kind}{self.n}@example.net")
        self.n += 1
        self.shop.ended(order, state)
        return order

    def mail(self, order):
        """The member `mail` of every event: what SES was told with the message, as it tells it back."""
        (address, sent), = self.cluster.query("SELECT d.address, d.provider_id FROM pawl.deliveries d JOIN pawl.notifications n"
                                              " USING (bucket, notification_id) WHERE n.order_id = %s", (order,))
        request = next(r["json"] for r in reversed(self.peer.requests) if r["json"]["Destination"]["ToAddresses"] == [address])
        eq(request["ConfigurationSetName"], "pawl-events")
        tags = {tag["Name"]: [tag["Value"]] for tag in request["EmailTags"]}
        return {"timestamp": "2026-11-30T02:00:00.000Z", "source": "shop@example.net", "messageId": sent, "destination": [address],
                "tags": {"ses:configuration-set": ["pawl-events"], **tags}}

    def message(self, text, kind="Notification", key=None, topic=TOPIC, **more):
        """A request as SNS makes and signs it (version 2)."""
        self.n += 1
        body = {"Type": kind, "MessageId": f"m-{self.n}", "TopicArn": topic, "Message": text, "SignatureVersion": "2",
                "Timestamp": time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime()), "SigningCertURL": f"https://{SNS}{PEM}", **more}
        names = [n for n in ("Message", "MessageId", "Subject", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type") if n in body]
        signed = "".join(f"{n}\n{body[n]}\n" for n in names)
        body["Signature"] = base64.b64encode((key or self.signer).sign(signed.encode())).decode()
        return Request("/hooks/ses-events", {"Content-Type": "text/plain; charset=UTF-8"}, json.dumps(body).encode())

    def event(self, order, kind, **said):
        return self.message(json.dumps({"eventType": kind, "mail": self.mail(order), **said}), Subject="Amazon SES Email Event Notification")

    def tell(self, *requests):
        """As SNS sends: a 503 (the certificate is being fetched) is tried again."""
        for request in requests:
            eventually(lambda r=request: (status := self.w.post(r).status) != 503 and eq(status, 200) is None, 10)

    def states(self, *orders):
        found = dict(self.cluster.query("SELECT n.order_id, d.state FROM pawl.deliveries d JOIN pawl.notifications n USING (bucket, notification_id)"))
        return [found[o] for o in orders]


def bounce(kind, sub, diagnostic="smtp; 550 5.1.1 user unknown"):
    return {"bounce": {"bounceType": kind, "bounceSubType": sub, "feedbackId": "f-1",
                       "bouncedRecipients": [{"emailAddress": "x@example.net", "action": "failed", "diagnosticCode": diagnostic}]}}


def test_each_of_its_events_moves_the_delivery_it_is_of(t):
    rig = Rig(t)
    hard, soft, once, big, spam, fine, virus = (rig.order(k) for k in ("most", "least", "most", "least", "least", "least", "most"))
    rig.tell(rig.event(hard, "Bounce", **bounce("Permanent", "General")),
             rig.event(soft, "Bounce", **bounce("Transient", "MailboxFull", "smtp; 452 4.2.2 full")),
             rig.event(once, "Bounce", **bounce("Transient", "General", "smtp; 451 4.3.0 later")),
             rig.event(big, "Bounce", **bounce("Transient", "MessageTooLarge", "smtp; 552 5.3.4 too big")),
             rig.event(spam, "Delivery", delivery={"smtpResponse": "250 2.6.0 ok"}),
             rig.event(spam, "Complaint", complaint={"complaintFeedbackType": "abuse", "complainedRecipients": []}),
             rig.event(fine, "Delivery", delivery={"smtpResponse": "250 2.6.0 ok"}), rig.event(fine, "Send", send={}),
             rig.event(fine, "DeliveryDelay", deliveryDelay={"delayType": "MailboxFull"}),
             rig.event(fine, "Open", open={"ipAddress": "192.0.2.1"}),
             rig.event(virus, "Reject", reject={"reason": "Bad content"}))
    eq(rig.states(hard, once, big, spam, fine, virus), [BOUNCED, BOUNCED, BOUNCED, COMPLAINED, DELIVERED, REFUSED])
    rig.shop.ended(soft, "accepted")
    eq(rig.shop.outcomes(soft), [1, 1], "a temporary failure of an at-least-once mail is a new try")
    eq(rig.cluster.query("SELECT address, reason, source FROM pawl.suppressions ORDER BY 1"),
       [("least4@example.net", 4, "ses-events"), ("most0@example.net", 1, "ses-events")])
    reason = rig.cluster.value("SELECT reason FROM pawl.deliveries JOIN pawl.notifications USING (bucket, notification_id) WHERE order_id = %s", (hard,))
    eq(reason, "ses Bounce Permanent: smtp; 550 5.1.1 user unknown")
    eq(rig.cluster.value("SELECT reason FROM pawl.deliveries WHERE state = 3"), "ses Reject: Bad content")
    eq(rig.server.count(PEM), 1, "its certificate is fetched once")
    eq((rig.cluster.value("SELECT count(*) FROM pawl.receipts"), rig.cluster.value("SELECT sum(possible_duplicates) FROM pawl.deliveries")), (10, 0))


def test_what_is_not_of_this_topic_or_changed_moves_nothing(t):
    rig = Rig(t)
    order, other = rig.order("least"), rig.order("least")
    delivered = rig.event(order, "Delivery", delivery={})
    rig.tell(delivered, delivered)  # SNS repeats what it got no answer for
    eq(rig.cluster.value("SELECT count(*) FROM pawl.receipts"), 1)
    inner = json.dumps({"eventType": "Bounce", "mail": rig.mail(other), **bounce("Permanent", "General")})
    stranger = rig.ca.key("stranger")
    changed = rig.event(other, "Delivery", delivery={})
    changed.body = changed.body.replace(b"Delivery", b"Bounce")
    for bad in (rig.message(inner, topic=TOPIC.replace("mail-events", "other")), rig.message(inner, key=stranger), changed):
        eq(rig.w.post(bad).status, 401)
    # Without our tags (the feedback of an identity, or mail by others through the same account) it names no delivery.
    bare = {**rig.mail(other), "tags": {"ses:configuration-set": ["pawl-events"]}}
    rig.tell(rig.message(json.dumps({"eventType": "Bounce", "mail": bare, **bounce("Permanent", "General")})),
             rig.message(json.dumps({"notificationType": "Bounce", "mail": {k: v for k, v in bare.items() if k != "tags"}})),
             rig.message("Successfully validated SNS topic for Amazon SES event publishing."))
    eq(rig.states(order, other), [DELIVERED, ACCEPTED])
    eq(rig.cluster.value("SELECT count(*) FROM pawl.suppressions"), 0)


def test_the_topics_subscription_is_confirmed_by_itself(t):
    rig = Rig(t)
    want = f"/?Action=ConfirmSubscription&TopicArn={urllib.parse.quote(TOPIC, safe='')}&Token=tok"
    rig.server.pages[want] = b"<ConfirmSubscriptionResponse/>"
    rig.tell(rig.message("You have chosen to subscribe", kind="SubscriptionConfirmation", Token="tok", SubscribeURL=f"https://{SNS}/trap"))
    eventually(lambda: rig.server.asked.get(want) == 1, 8, str(rig.server.asked))
    eq((rig.server.count("/trap"), rig.cluster.value("SELECT count(*) FROM pawl.keys WHERE event_id LIKE 'm-%%'")), (0, 0))
