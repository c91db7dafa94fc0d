// Receipts of text messages. The key comes back in what is signed (Twilio signs the URL); the place
// may stand outside of it, since it must agree with the key.
#include "receiver/receipt/form.h"

// https://www.twilio.com/docs/messaging/guides/outbound-message-status-in-status-callbacks and
// /docs/api/errors
static const struct receipt_rule twilio[] = {
        {"queued", NULL, RECEIPT_ACCEPTED, SUPPRESS_NOT, 0},
        {"accepted", NULL, RECEIPT_ACCEPTED, SUPPRESS_NOT, 0},
        {"scheduled", NULL, RECEIPT_ACCEPTED, SUPPRESS_NOT, 0},
        {"sending", NULL, RECEIPT_ACCEPTED, SUPPRESS_NOT, 0},
        {"sent", NULL, RECEIPT_ACCEPTED, SUPPRESS_NOT, 0},
        {"delivered", NULL, RECEIPT_DELIVERED, SUPPRESS_NOT, 0},
        {"partially_delivered", NULL, RECEIPT_DELIVERED, SUPPRESS_NOT, 0},
        {"read", NULL, RECEIPT_DELIVERED, SUPPRESS_NOT, 0},
        {"canceled", NULL, RECEIPT_REFUSED, SUPPRESS_NOT, 0},
        {NULL, "30001", RECEIPT_TEMPORARY, SUPPRESS_NOT, 60},   // queue overflow
        {NULL, "30003", RECEIPT_TEMPORARY, SUPPRESS_NOT, 600},  // handset off
        {NULL, "30022", RECEIPT_TEMPORARY, SUPPRESS_NOT, 60},   // A2P rate
        {NULL, "30023", RECEIPT_TEMPORARY, SUPPRESS_NOT, 3600}, // A2P daily cap
        {NULL, "30004", RECEIPT_BOUNCED, SUPPRESS_OPT_OUT, 0},  // blocked
        {NULL, "30005", RECEIPT_BOUNCED, SUPPRESS_BOUNCE, 0},   // unknown handset
        {NULL, "30006", RECEIPT_BOUNCED, SUPPRESS_BOUNCE, 0},   // landline
        {NULL, "21610", RECEIPT_BOUNCED, SUPPRESS_OPT_OUT, 0},
        {NULL, "21211", RECEIPT_REFUSED, SUPPRESS_BOUNCE, 0}, // no valid number
        {NULL, "21614", RECEIPT_REFUSED, SUPPRESS_BOUNCE, 0}, // no mobile
        {NULL, "30002", RECEIPT_REFUSED, SUPPRESS_NOT, 0},    // our account is suspended
        {NULL, "30007", RECEIPT_REFUSED, SUPPRESS_NOT, 0},    // filtered: never sent again
        {"undelivered", NULL, RECEIPT_BOUNCED, SUPPRESS_NOT, 0},
        {"failed", NULL, RECEIPT_REFUSED, SUPPRESS_NOT, 0},
};

// https://developers.sinch.com/docs/sms/api-reference/sms/tag/Delivery-reports/
static const struct receipt_rule sinch[] = {
        {"Queued", NULL, RECEIPT_ACCEPTED, SUPPRESS_NOT, 0},
        {"Dispatched", NULL, RECEIPT_ACCEPTED, SUPPRESS_NOT, 0},
        {"Delivered", NULL, RECEIPT_DELIVERED, SUPPRESS_NOT, 0},
        {"Aborted", "404", RECEIPT_TEMPORARY, SUPPRESS_NOT, 60}, // temporary delivery failure
        {"Aborted", "403", RECEIPT_TEMPORARY, SUPPRESS_NOT, 60}, // internal error there
        {"Aborted", NULL, RECEIPT_REFUSED, SUPPRESS_NOT, 0},
        {"Cancelled", NULL, RECEIPT_REFUSED, SUPPRESS_NOT, 0},
        {"Rejected", NULL, RECEIPT_BOUNCED, SUPPRESS_NOT, 0},
        {"Deleted", NULL, RECEIPT_BOUNCED, SUPPRESS_BOUNCE, 0}, // an invalid number, or opted out
        {"Failed", NULL, RECEIPT_BOUNCED, SUPPRESS_NOT, 0},
        {"Expired", NULL, RECEIPT_TEMPORARY, SUPPRESS_NOT, 600},
        {"Unknown", NULL, RECEIPT_NONE, SUPPRESS_NOT, 0},
};

// https://developer.vonage.com/en/messages/concepts/messages-status-callbacks and
// /en/api-errors/messages
static const struct receipt_rule vonage[] = {
        {"submitted", NULL, RECEIPT_ACCEPTED, SUPPRESS_NOT, 0},
        {"delivered", NULL, RECEIPT_DELIVERED, SUPPRESS_NOT, 0},
        {"read", NULL, RECEIPT_DELIVERED, SUPPRESS_NOT, 0},
        {NULL, "1000", RECEIPT_TEMPORARY, SUPPRESS_NOT, 1},   // throttled
        {NULL, "1100", RECEIPT_TEMPORARY, SUPPRESS_NOT, 60},  // communication failed
        {NULL, "1180", RECEIPT_TEMPORARY, SUPPRESS_NOT, 600}, // absent for now
        {NULL, "1220", RECEIPT_TEMPORARY, SUPPRESS_NOT, 600}, // handset busy
        {NULL, "1230", RECEIPT_TEMPORARY, SUPPRESS_NOT, 60},  // network error
        {NULL, "1050", RECEIPT_BOUNCED, SUPPRESS_OPT_OUT, 0}, // number barred
        {NULL, "1170", RECEIPT_BOUNCED, SUPPRESS_BOUNCE, 0},  // no valid number
        {NULL, "1190", RECEIPT_BOUNCED, SUPPRESS_BOUNCE, 0},  // absent for good
        {NULL, "1240", RECEIPT_BOUNCED, SUPPRESS_BOUNCE, 0},  // illegal number
        {"undeliverable", NULL, RECEIPT_BOUNCED, SUPPRESS_NOT, 0},
        {"rejected", NULL, RECEIPT_REFUSED, SUPPRESS_NOT, 0},
};

// https://developers.telnyx.com/docs/messaging/messages/receiving-webhooks and
// /docs/messaging/messages/error-codes
static const struct receipt_rule telnyx[] = {
        {"queued", NULL, RECEIPT_ACCEPTED, SUPPRESS_NOT, 0},
        {"sending", NULL, RECEIPT_ACCEPTED, SUPPRESS_NOT, 0},
        {"sent", NULL, RECEIPT_ACCEPTED, SUPPRESS_NOT, 0},
        {"delivery_unconfirmed", NULL, RECEIPT_ACCEPTED, SUPPRESS_NOT, 0},
        {"delivered", NULL, RECEIPT_DELIVERED, SUPPRESS_NOT, 0},
        {NULL, "40005", RECEIPT_TEMPORARY, SUPPRESS_NOT, 600}, // expired on its way
        {NULL, "40006", RECEIPT_TEMPORARY, SUPPRESS_NOT, 60},  // the recipient's server is away
        {NULL, "40011", RECEIPT_TEMPORARY, SUPPRESS_NOT, 60},  // too many requests
        {NULL, "40001", RECEIPT_BOUNCED, SUPPRESS_BOUNCE, 0},  // landline
        {NULL, "40012", RECEIPT_BOUNCED, SUPPRESS_BOUNCE, 0},  // no valid number
        {NULL, "40310", RECEIPT_BOUNCED, SUPPRESS_BOUNCE, 0},  // no valid number
        {NULL, "40300", RECEIPT_REFUSED, SUPPRESS_OPT_OUT, 0},
        {"sending_failed", NULL, RECEIPT_REFUSED, SUPPRESS_NOT, 0},
        {"delivery_failed", NULL, RECEIPT_BOUNCED, SUPPRESS_NOT, 0},
        {"expired", NULL, RECEIPT_TEMPORARY, SUPPRESS_NOT, 600},
};

#define RULES(table) .rules = (table), .n_rules = ARRAY_LEN(table)
const struct receipt_form receipt_sms_forms[] = {
        {
                .provider = "twilio",
                .scheme = "twilio",
                .channel = CHANNEL_SMS,
                .key_in_query = true,
                .place_in_query = true,
                .id = {"/MessageSid", "/SmsSid"},
                .status = {"/MessageStatus"},
                .code = {"/ErrorCode"},
                .detail = {"/ErrorMessage"},
                RULES(twilio),
        },
        {
                .provider = "sinch",
                .scheme = "sinch",
                .channel = CHANNEL_SMS,
                .place_in_query = true,
                .key = {"/client_reference"},
                .id = {"/batch_id"},
                .status = {"/status"},
                .code = {"/code"},
                RULES(sinch),
        },
        {
                .provider = "vonage",
                .scheme = "vonage",
                .channel = CHANNEL_SMS,
                .place_in_query = true,
                .key = {"/client_ref"},
                .id = {"/message_uuid"},
                .status = {"/status"},
                .code = {"/error/title"},
                .detail = {"/error/detail"},
                RULES(vonage),
        },
        {
                .provider = "telnyx",
                .scheme = "telnyx",
                .channel = CHANNEL_SMS,
                .key = {"/data/payload/tags/0"},
                .place = {"/data/payload/tags/1"},
                .id = {"/data/payload/id"},
                .status = {"/data/payload/to/0/status"},
                .code = {"/data/payload/errors/0/code"},
                .detail = {"/data/payload/errors/0/title", "/data/payload/errors/0/detail"},
                RULES(telnyx),
        },
};
const size_t receipt_n_sms_forms = ARRAY_LEN(receipt_sms_forms);
