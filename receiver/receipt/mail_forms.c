// Receipts of mail. What a provider tries again by itself (deferred, delayed) is still on its way.
#include "receiver/receipt/form.h"

// https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/event. `blocked`: the
// recipient's server would not take it now; a dropped one was never sent.
static const struct receipt_rule sendgrid[] = {
        {"processed", NULL, RECEIPT_ACCEPTED, SUPPRESS_NOT, 0},
        {"deferred", NULL, RECEIPT_ACCEPTED, SUPPRESS_NOT, 0},
        {"delivered", NULL, RECEIPT_DELIVERED, SUPPRESS_NOT, 0},
        {"bounce", "blocked", RECEIPT_TEMPORARY, SUPPRESS_NOT, 0},
        {"bounce", NULL, RECEIPT_BOUNCED, SUPPRESS_BOUNCE, 0},
        {"dropped", "Bounced Address", RECEIPT_REFUSED, SUPPRESS_BOUNCE, 0},
        {"dropped", "Invalid", RECEIPT_REFUSED, SUPPRESS_BOUNCE, 0},
        {"dropped", "Spam Reporting Address", RECEIPT_REFUSED, SUPPRESS_COMPLAINT, 0},
        {"dropped", "Unsubscribed Address", RECEIPT_REFUSED, SUPPRESS_OPT_OUT, 0},
        {"dropped", NULL, RECEIPT_REFUSED, SUPPRESS_NOT, 0},
        {"spamreport", NULL, RECEIPT_COMPLAINED, SUPPRESS_COMPLAINT, 0},
        {"unsubscribe", NULL, RECEIPT_UNSUBSCRIBED, SUPPRESS_OPT_OUT, 0},
};

// https://postmarkapp.com/developer/webhooks/webhooks-overview and
// /developer/api/bounce-api#bounce-types. Of its bounces several are none.
static const struct receipt_rule postmark[] = {
        {"Delivery", NULL, RECEIPT_DELIVERED, SUPPRESS_NOT, 0},
        {"Bounce", "HardBounce", RECEIPT_BOUNCED, SUPPRESS_BOUNCE, 0},
        {"Bounce", "BadEmailAddress", RECEIPT_BOUNCED, SUPPRESS_BOUNCE, 0},
        {"Bounce", "ManuallyDeactivated", RECEIPT_BOUNCED, SUPPRESS_OPT_OUT, 0},
        {"Bounce", "Unsubscribe", RECEIPT_UNSUBSCRIBED, SUPPRESS_OPT_OUT, 0},
        {"Bounce", "SpamComplaint", RECEIPT_COMPLAINED, SUPPRESS_COMPLAINT, 0},
        {"Bounce", "Transient", RECEIPT_ACCEPTED, SUPPRESS_NOT, 0}, // it is tried again there
        {"Bounce", "AutoResponder", RECEIPT_DELIVERED, SUPPRESS_NOT, 0},
        {"Bounce", "AddressChange", RECEIPT_DELIVERED, SUPPRESS_NOT, 0},
        {"Bounce", "ChallengeVerification", RECEIPT_ACCEPTED, SUPPRESS_NOT, 0},
        {"Bounce", "Subscribe", RECEIPT_NONE, SUPPRESS_NOT, 0},
        {"Bounce", "OpenRelayTest", RECEIPT_NONE, SUPPRESS_NOT, 0},
        {"Bounce", "SoftBounce", RECEIPT_TEMPORARY, SUPPRESS_NOT, 0},
        {"Bounce", "DnsError", RECEIPT_TEMPORARY, SUPPRESS_NOT, 0},
        {"Bounce", "SMTPApiError", RECEIPT_REFUSED, SUPPRESS_NOT, 0},
        {"Bounce", "TemplateRenderingFailed", RECEIPT_REFUSED, SUPPRESS_NOT, 0},
        {"Bounce", NULL, RECEIPT_BOUNCED, SUPPRESS_NOT,
                0}, // blocked, spam, DMARC: not the address' fault
        {"SpamComplaint", NULL, RECEIPT_COMPLAINED, SUPPRESS_COMPLAINT, 0},
        {"SubscriptionChange", "HardBounce", RECEIPT_NONE, SUPPRESS_BOUNCE, 0},
        {"SubscriptionChange", "SpamComplaint", RECEIPT_NONE, SUPPRESS_COMPLAINT, 0},
        {"SubscriptionChange", "ManualSuppression", RECEIPT_UNSUBSCRIBED, SUPPRESS_OPT_OUT, 0},
};

// https://resend.com/docs/webhooks/event-types
static const struct receipt_rule resend[] = {
        {"email.sent", NULL, RECEIPT_ACCEPTED, SUPPRESS_NOT, 0},
        {"email.delivery_delayed", NULL, RECEIPT_ACCEPTED, SUPPRESS_NOT, 0},
        {"email.delivered", NULL, RECEIPT_DELIVERED, SUPPRESS_NOT, 0},
        {"email.bounced", "Transient", RECEIPT_TEMPORARY, SUPPRESS_NOT, 0},
        {"email.bounced", "Permanent", RECEIPT_BOUNCED, SUPPRESS_BOUNCE, 0},
        {"email.bounced", NULL, RECEIPT_BOUNCED, SUPPRESS_NOT, 0},
        {"email.complained", NULL, RECEIPT_COMPLAINED, SUPPRESS_COMPLAINT, 0},
        {"email.suppressed", NULL, RECEIPT_REFUSED, SUPPRESS_BOUNCE, 0},
        {"email.failed", NULL, RECEIPT_REFUSED, SUPPRESS_NOT, 0},
};

// https://docs.aws.amazon.com/ses/latest/dg/event-publishing-retrieving-sns-contents.html; older
// topics say notificationType. SES has tried again before a Transient bounce. The topic's message
// is read as if it stood there unquoted (read_inner).
static const struct receipt_rule ses[] = {
        {"Send", NULL, RECEIPT_ACCEPTED, SUPPRESS_NOT, 0},
        {"DeliveryDelay", NULL, RECEIPT_ACCEPTED, SUPPRESS_NOT, 0},
        {"Delivery", NULL, RECEIPT_DELIVERED, SUPPRESS_NOT, 0},
        {"Bounce", "Permanent", RECEIPT_BOUNCED, SUPPRESS_BOUNCE, 0},
        {"Bounce", "MessageTooLarge", RECEIPT_BOUNCED, SUPPRESS_NOT, 0}, // "Transient", but the
        {"Bounce", "ContentRejected", RECEIPT_BOUNCED, SUPPRESS_NOT, 0}, // same message would not
        {"Bounce", "AttachmentRejected", RECEIPT_BOUNCED, SUPPRESS_NOT, 0}, // pass later either
        {"Bounce", "Transient", RECEIPT_TEMPORARY, SUPPRESS_NOT, 0},
        {"Bounce", NULL, RECEIPT_BOUNCED, SUPPRESS_NOT, 0}, // Undetermined
        {"Complaint", NULL, RECEIPT_COMPLAINED, SUPPRESS_COMPLAINT, 0},
        {"Reject", NULL, RECEIPT_REFUSED, SUPPRESS_NOT, 0},
        {"Rendering Failure", NULL, RECEIPT_REFUSED, SUPPRESS_NOT, 0},
        {"Subscription", NULL, RECEIPT_UNSUBSCRIBED, SUPPRESS_OPT_OUT, 0},
};

#define RULES(table) .rules = (table), .n_rules = ARRAY_LEN(table)
const struct receipt_form receipt_mail_forms[] = {
        {
                .provider = "sendgrid",
                .scheme = "sendgrid",
                .channel = CHANNEL_EMAIL,
                .key = {"/pawl_delivery"},
                .place = {"/pawl_place"},
                .id = {"/sg_message_id"},
                .id_ends = '.', // behind it is which of its machines took it
                .status = {"/event"},
                .code = {"/type", "/reason"},
                .detail = {"/reason", "/response"},
                RULES(sendgrid),
        },
        {
                .provider = "postmark",
                .scheme = "postmark",
                .channel = CHANNEL_EMAIL,
                .key = {"/Metadata/pawl-delivery"},
                .place = {"/Metadata/pawl-place"},
                .id = {"/MessageID"},
                .status = {"/RecordType"},
                .code = {"/Type", "/SuppressionReason"},
                .detail = {"/Description", "/Details"},
                RULES(postmark),
        },
        {
                .provider = "resend",
                .scheme = "resend",
                .channel = CHANNEL_EMAIL,
                .key = {"/data/tags/pawl_delivery", "/data/tags/0/value"},
                .place = {"/data/tags/pawl_place", "/data/tags/1/value"},
                .id = {"/data/email_id"},
                .status = {"/type"},
                .code = {"/data/bounce/type"},
                .detail = {"/data/bounce/message", "/data/failed/reason"},
                RULES(resend),
        },
        {
                .provider = "ses",
                .scheme = "aws-sns",
                .channel = CHANNEL_EMAIL,
                .key = {"/Message/mail/tags/pawl_delivery/0"},
                .place = {"/Message/mail/tags/pawl_place/0"},
                .id = {"/Message/mail/messageId"},
                .status = {"/Message/eventType", "/Message/notificationType"},
                .code = {"/Message/bounce/bounceType", "/Message/bounce/bounceSubType",
                        "/Message/complaint/complaintFeedbackType"},
                .detail = {"/Message/bounce/bouncedRecipients/0/diagnosticCode",
                        "/Message/bounce/bounceSubType", "/Message/reject/reason"},
                RULES(ses),
        },
};
const size_t receipt_n_mail_forms = ARRAY_LEN(receipt_mail_forms);
