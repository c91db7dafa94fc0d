// Every provider's events as its documents show them, and what each word of its table means.
#include "common/text.h"
#include "receiver/receipt/receipt_read.h"
#include "tests/test.h"

#include <stdio.h>

static char sms[] = "sms", email[] = "email";

// In a body @K is our key, @P the place, @S the status, @C the code.
static const struct form {
    const char *provider, *scheme, *query, *body, *id;
    enum channel_kind channel;
} forms[] = {
        {"twilio", "twilio", "delivery=@K&place=@P",
                "{\"AccountSid\":\"AC0\",\"MessageSid\":\"SM1\",\"MessageStatus\":\"@S\","
                "\"ErrorCode\":\"@C\",\"SmsSid\":\"SM1\",\"To\":\"+4915112345678\"}",
                "SM1", CHANNEL_SMS},
        {"sinch", "custom", "delivery=@K&place=@P",
                "{\"type\":\"recipient_delivery_report_sms\",\"batch_id\":\"01FC6\",\"code\":@C,"
                "\"recipient\":\"44231235674\",\"status\":\"@S\",\"client_reference\":\"@K\"}",
                "01FC6", CHANNEL_SMS},
        {"vonage", "jwt", "delivery=@K&place=@P",
                "{\"message_uuid\":\"aaaa-bbbb\",\"to\":\"4915112345678\",\"status\":\"@S\","
                "\"error\":{\"type\":\"https://x/#@C\",\"title\":@C,\"detail\":\"No\"},"
                "\"client_ref\":\"@K\"}",
                "aaaa-bbbb", CHANNEL_SMS},
        {"telnyx", "telnyx", "",
                "{\"data\":{\"event_type\":\"message.finalized\",\"id\":\"4ee8\",\"payload\":{"
                "\"id\":\"ac01\",\"to\":[{\"phone_number\":\"+1312\",\"status\":\"@S\"}],"
                "\"errors\":[{\"code\":\"@C\",\"title\":\"T\"}],\"tags\":[\"@K\",\"@P\"]}}}",
                "ac01", CHANNEL_SMS},
        {"sendgrid", "sendgrid", "",
                "{\"email\":\"a@example.net\",\"event\":\"@S\",\"type\":\"@C\",\"reason\":\"@C\","
                "\"sg_message_id\":\"14c5d.filter-1\",\"pawl_delivery\":\"@K\","
                "\"pawl_place\":\"@P\"}",
                "14c5d", CHANNEL_EMAIL},
        {"postmark", "postmark", "",
                "{\"RecordType\":\"@S\",\"Type\":\"@C\",\"MessageID\":\"883953f4\",\"Metadata\":{"
                "\"pawl-delivery\":\"@K\",\"pawl-place\":\"@P\"},\"Description\":\"D\"}",
                "883953f4", CHANNEL_EMAIL},
        {"resend", "resend", "",
                "{\"type\":\"@S\",\"data\":{\"email_id\":\"56761188\",\"bounce\":{\"type\":\"@C\","
                "\"message\":\"M\"},\"tags\":{\"pawl_delivery\":\"@K\",\"pawl_place\":\"@P\"}}}",
                "56761188", CHANNEL_EMAIL},
        {"ses", "aws-sns", "",
                "{\"Type\":\"Notification\",\"MessageId\":\"22b8\",\"Message\":{\"eventType\":"
                "\"@S\",\"bounce\":{\"bounceType\":\"@C\"},\"mail\":{\"messageId\":\"0100\","
                "\"tags\":{\"pawl_delivery\":[\"@K\"],\"pawl_place\":[\"@P\"]}}}}",
                "0100", CHANNEL_EMAIL},
};

static const struct row {
    const char *provider, *status, *code;
    enum receipt_kind kind;
    enum suppress_reason suppress;
    int wait_s;
} rows[] = {
        {"twilio", "queued", "", RECEIPT_ACCEPTED, SUPPRESS_NOT, 0},
        {"twilio", "accepted", "", RECEIPT_ACCEPTED, SUPPRESS_NOT, 0},
        {"twilio", "scheduled", "", RECEIPT_ACCEPTED, SUPPRESS_NOT, 0},
        {"twilio", "sending", "", RECEIPT_ACCEPTED, SUPPRESS_NOT, 0},
        {"twilio", "sent", "", RECEIPT_ACCEPTED, SUPPRESS_NOT, 0},
        {"twilio", "delivered", "", RECEIPT_DELIVERED, SUPPRESS_NOT, 0},
        {"twilio", "partially_delivered", "", RECEIPT_DELIVERED, SUPPRESS_NOT, 0},
        {"twilio", "read", "", RECEIPT_DELIVERED, SUPPRESS_NOT, 0},
        {"twilio", "canceled", "", RECEIPT_REFUSED, SUPPRESS_NOT, 0},
        {"twilio", "undelivered", "30001", RECEIPT_TEMPORARY, SUPPRESS_NOT, 60},
        {"twilio", "undelivered", "30003", RECEIPT_TEMPORARY, SUPPRESS_NOT, 600},
        {"twilio", "failed", "30022", RECEIPT_TEMPORARY, SUPPRESS_NOT, 60},
        {"twilio", "failed", "30023", RECEIPT_TEMPORARY, SUPPRESS_NOT, 3600},
        {"twilio", "undelivered", "30004", RECEIPT_BOUNCED, SUPPRESS_OPT_OUT, 0},
        {"twilio", "undelivered", "30005", RECEIPT_BOUNCED, SUPPRESS_BOUNCE, 0},
        {"twilio", "undelivered", "30006", RECEIPT_BOUNCED, SUPPRESS_BOUNCE, 0},
        {"twilio", "undelivered", "30007", RECEIPT_REFUSED, SUPPRESS_NOT, 0},
        {"twilio", "undelivered", "30008", RECEIPT_BOUNCED, SUPPRESS_NOT, 0},
        {"twilio", "undelivered", "", RECEIPT_BOUNCED, SUPPRESS_NOT, 0},
        {"twilio", "failed", "21610", RECEIPT_BOUNCED, SUPPRESS_OPT_OUT, 0},
        {"twilio", "failed", "21211", RECEIPT_REFUSED, SUPPRESS_BOUNCE, 0},
        {"twilio", "failed", "21614", RECEIPT_REFUSED, SUPPRESS_BOUNCE, 0},
        {"twilio", "failed", "30002", RECEIPT_REFUSED, SUPPRESS_NOT, 0},
        {"twilio", "failed", "1", RECEIPT_REFUSED, SUPPRESS_NOT, 0},
        {"twilio", "receiving", "", RECEIPT_NONE, SUPPRESS_NOT, 0},
        {"sinch", "Queued", "400", RECEIPT_ACCEPTED, SUPPRESS_NOT, 0},
        {"sinch", "Dispatched", "401", RECEIPT_ACCEPTED, SUPPRESS_NOT, 0},
        {"sinch", "Delivered", "0", RECEIPT_DELIVERED, SUPPRESS_NOT, 0},
        {"sinch", "Aborted", "402", RECEIPT_REFUSED, SUPPRESS_NOT, 0},
        {"sinch", "Aborted", "403", RECEIPT_TEMPORARY, SUPPRESS_NOT, 60},
        {"sinch", "Aborted", "404", RECEIPT_TEMPORARY, SUPPRESS_NOT, 60},
        {"sinch", "Cancelled", "407", RECEIPT_REFUSED, SUPPRESS_NOT, 0},
        {"sinch", "Rejected", "408", RECEIPT_BOUNCED, SUPPRESS_NOT, 0},
        {"sinch", "Deleted", "5", RECEIPT_BOUNCED, SUPPRESS_BOUNCE, 0},
        {"sinch", "Failed", "1", RECEIPT_BOUNCED, SUPPRESS_NOT, 0},
        {"sinch", "Expired", "406", RECEIPT_TEMPORARY, SUPPRESS_NOT, 600},
        {"sinch", "Unknown", "1", RECEIPT_NONE, SUPPRESS_NOT, 0},
        {"vonage", "submitted", "0", RECEIPT_ACCEPTED, SUPPRESS_NOT, 0},
        {"vonage", "delivered", "0", RECEIPT_DELIVERED, SUPPRESS_NOT, 0},
        {"vonage", "read", "0", RECEIPT_DELIVERED, SUPPRESS_NOT, 0},
        {"vonage", "rejected", "1000", RECEIPT_TEMPORARY, SUPPRESS_NOT, 1},
        {"vonage", "undeliverable", "1100", RECEIPT_TEMPORARY, SUPPRESS_NOT, 60},
        {"vonage", "undeliverable", "1180", RECEIPT_TEMPORARY, SUPPRESS_NOT, 600},
        {"vonage", "undeliverable", "1220", RECEIPT_TEMPORARY, SUPPRESS_NOT, 600},
        {"vonage", "undeliverable", "1230", RECEIPT_TEMPORARY, SUPPRESS_NOT, 60},
        {"vonage", "undeliverable", "1050", RECEIPT_BOUNCED, SUPPRESS_OPT_OUT, 0},
        {"vonage", "undeliverable", "1170", RECEIPT_BOUNCED, SUPPRESS_BOUNCE, 0},
        {"vonage", "undeliverable", "1190", RECEIPT_BOUNCED, SUPPRESS_BOUNCE, 0},
        {"vonage", "undeliverable", "1240", RECEIPT_BOUNCED, SUPPRESS_BOUNCE, 0},
        {"vonage", "undeliverable", "1300", RECEIPT_BOUNCED, SUPPRESS_NOT, 0},
        {"vonage", "rejected", "1120", RECEIPT_REFUSED, SUPPRESS_NOT, 0},
        {"telnyx", "queued", "", RECEIPT_ACCEPTED, SUPPRESS_NOT, 0},
        {"telnyx", "sending", "", RECEIPT_ACCEPTED, SUPPRESS_NOT, 0},
        {"telnyx", "sent", "", RECEIPT_ACCEPTED, SUPPRESS_NOT, 0},
        {"telnyx", "delivery_unconfirmed", "", RECEIPT_ACCEPTED, SUPPRESS_NOT, 0},
        {"telnyx", "delivered", "", RECEIPT_DELIVERED, SUPPRESS_NOT, 0},
        {"telnyx", "delivery_failed", "40005", RECEIPT_TEMPORARY, SUPPRESS_NOT, 600},
        {"telnyx", "delivery_failed", "40006", RECEIPT_TEMPORARY, SUPPRESS_NOT, 60},
        {"telnyx", "sending_failed", "40011", RECEIPT_TEMPORARY, SUPPRESS_NOT, 60},
        {"telnyx", "delivery_failed", "40001", RECEIPT_BOUNCED, SUPPRESS_BOUNCE, 0},
        {"telnyx", "sending_failed", "40012", RECEIPT_BOUNCED, SUPPRESS_BOUNCE, 0},
        {"telnyx", "sending_failed", "40310", RECEIPT_BOUNCED, SUPPRESS_BOUNCE, 0},
        {"telnyx", "sending_failed", "40300", RECEIPT_REFUSED, SUPPRESS_OPT_OUT, 0},
        {"telnyx", "sending_failed", "40002", RECEIPT_REFUSED, SUPPRESS_NOT, 0},
        {"telnyx", "delivery_failed", "40008", RECEIPT_BOUNCED, SUPPRESS_NOT, 0},
        {"telnyx", "expired", "", RECEIPT_TEMPORARY, SUPPRESS_NOT, 600},
        {"telnyx", "webhook_delivered", "", RECEIPT_NONE, SUPPRESS_NOT, 0},
        {"sendgrid", "processed", "", RECEIPT_ACCEPTED, SUPPRESS_NOT, 0},
        {"sendgrid", "deferred", "", RECEIPT_ACCEPTED, SUPPRESS_NOT, 0},
        {"sendgrid", "delivered", "", RECEIPT_DELIVERED, SUPPRESS_NOT, 0},
        {"sendgrid", "bounce", "blocked", RECEIPT_TEMPORARY, SUPPRESS_NOT, 0},
        {"sendgrid", "bounce", "bounce", RECEIPT_BOUNCED, SUPPRESS_BOUNCE, 0},
        {"sendgrid", "dropped", "Bounced Address", RECEIPT_REFUSED, SUPPRESS_BOUNCE, 0},
        {"sendgrid", "dropped", "Invalid", RECEIPT_REFUSED, SUPPRESS_BOUNCE, 0},
        {"sendgrid", "dropped", "Spam Reporting Address", RECEIPT_REFUSED, SUPPRESS_COMPLAINT, 0},
        {"sendgrid", "dropped", "Unsubscribed Address", RECEIPT_REFUSED, SUPPRESS_OPT_OUT, 0},
        {"sendgrid", "dropped", "Spam Content", RECEIPT_REFUSED, SUPPRESS_NOT, 0},
        {"sendgrid", "spamreport", "", RECEIPT_COMPLAINED, SUPPRESS_COMPLAINT, 0},
        {"sendgrid", "unsubscribe", "", RECEIPT_UNSUBSCRIBED, SUPPRESS_OPT_OUT, 0},
        {"sendgrid", "open", "", RECEIPT_NONE, SUPPRESS_NOT, 0},
        {"sendgrid", "click", "", RECEIPT_NONE, SUPPRESS_NOT, 0},
        {"postmark", "Delivery", "", RECEIPT_DELIVERED, SUPPRESS_NOT, 0},
        {"postmark", "Bounce", "HardBounce", RECEIPT_BOUNCED, SUPPRESS_BOUNCE, 0},
        {"postmark", "Bounce", "BadEmailAddress", RECEIPT_BOUNCED, SUPPRESS_BOUNCE, 0},
        {"postmark", "Bounce", "ManuallyDeactivated", RECEIPT_BOUNCED, SUPPRESS_OPT_OUT, 0},
        {"postmark", "Bounce", "Unsubscribe", RECEIPT_UNSUBSCRIBED, SUPPRESS_OPT_OUT, 0},
        {"postmark", "Bounce", "SpamComplaint", RECEIPT_COMPLAINED, SUPPRESS_COMPLAINT, 0},
        {"postmark", "Bounce", "Transient", RECEIPT_ACCEPTED, SUPPRESS_NOT, 0},
        {"postmark", "Bounce", "AutoResponder", RECEIPT_DELIVERED, SUPPRESS_NOT, 0},
        {"postmark", "Bounce", "AddressChange", RECEIPT_DELIVERED, SUPPRESS_NOT, 0},
        {"postmark", "Bounce", "ChallengeVerification", RECEIPT_ACCEPTED, SUPPRESS_NOT, 0},
        {"postmark", "Bounce", "Subscribe", RECEIPT_NONE, SUPPRESS_NOT, 0},
        {"postmark", "Bounce", "OpenRelayTest", RECEIPT_NONE, SUPPRESS_NOT, 0},
        {"postmark", "Bounce", "SoftBounce", RECEIPT_TEMPORARY, SUPPRESS_NOT, 0},
        {"postmark", "Bounce", "DnsError", RECEIPT_TEMPORARY, SUPPRESS_NOT, 0},
        {"postmark", "Bounce", "SMTPApiError", RECEIPT_REFUSED, SUPPRESS_NOT, 0},
        {"postmark", "Bounce", "TemplateRenderingFailed", RECEIPT_REFUSED, SUPPRESS_NOT, 0},
        {"postmark", "Bounce", "Blocked", RECEIPT_BOUNCED, SUPPRESS_NOT, 0},
        {"postmark", "Bounce", "SpamNotification", RECEIPT_BOUNCED, SUPPRESS_NOT, 0},
        {"postmark", "Bounce", "DMARCPolicy", RECEIPT_BOUNCED, SUPPRESS_NOT, 0},
        {"postmark", "SpamComplaint", "SpamComplaint", RECEIPT_COMPLAINED, SUPPRESS_COMPLAINT, 0},
        {"postmark", "SubscriptionChange", "ManualSuppression", RECEIPT_UNSUBSCRIBED,
                SUPPRESS_OPT_OUT, 0},
        {"postmark", "SubscriptionChange", "HardBounce", RECEIPT_UNSUBSCRIBED, SUPPRESS_BOUNCE, 0},
        {"postmark", "SubscriptionChange", "SpamComplaint", RECEIPT_UNSUBSCRIBED,
                SUPPRESS_COMPLAINT, 0},
        {"postmark", "Open", "", RECEIPT_NONE, SUPPRESS_NOT, 0},
        {"resend", "email.sent", "", RECEIPT_ACCEPTED, SUPPRESS_NOT, 0},
        {"resend", "email.delivery_delayed", "", RECEIPT_ACCEPTED, SUPPRESS_NOT, 0},
        {"resend", "email.delivered", "", RECEIPT_DELIVERED, SUPPRESS_NOT, 0},
        {"resend", "email.bounced", "Permanent", RECEIPT_BOUNCED, SUPPRESS_BOUNCE, 0},
        {"resend", "email.bounced", "Transient", RECEIPT_TEMPORARY, SUPPRESS_NOT, 0},
        {"resend", "email.bounced", "Undetermined", RECEIPT_BOUNCED, SUPPRESS_NOT, 0},
        {"resend", "email.complained", "", RECEIPT_COMPLAINED, SUPPRESS_COMPLAINT, 0},
        {"resend", "email.suppressed", "", RECEIPT_REFUSED, SUPPRESS_BOUNCE, 0},
        {"resend", "email.failed", "", RECEIPT_REFUSED, SUPPRESS_NOT, 0},
        {"resend", "email.opened", "", RECEIPT_NONE, SUPPRESS_NOT, 0},
        {"ses", "Send", "", RECEIPT_ACCEPTED, SUPPRESS_NOT, 0},
        {"ses", "DeliveryDelay", "", RECEIPT_ACCEPTED, SUPPRESS_NOT, 0},
        {"ses", "Delivery", "", RECEIPT_DELIVERED, SUPPRESS_NOT, 0},
        {"ses", "Bounce", "Permanent", RECEIPT_BOUNCED, SUPPRESS_BOUNCE, 0},
        {"ses", "Bounce", "Transient", RECEIPT_TEMPORARY, SUPPRESS_NOT, 0},
        {"ses", "Bounce", "MessageTooLarge", RECEIPT_BOUNCED, SUPPRESS_NOT, 0},
        {"ses", "Bounce", "ContentRejected", RECEIPT_BOUNCED, SUPPRESS_NOT, 0},
        {"ses", "Bounce", "AttachmentRejected", RECEIPT_BOUNCED, SUPPRESS_NOT, 0},
        {"ses", "Bounce", "Undetermined", RECEIPT_BOUNCED, SUPPRESS_NOT, 0},
        {"ses", "Complaint", "", RECEIPT_COMPLAINED, SUPPRESS_COMPLAINT, 0},
        {"ses", "Reject", "", RECEIPT_REFUSED, SUPPRESS_NOT, 0},
        {"ses", "Rendering Failure", "", RECEIPT_REFUSED, SUPPRESS_NOT, 0},
        {"ses", "Subscription", "", RECEIPT_UNSUBSCRIBED, SUPPRESS_OPT_OUT, 0},
        {"ses", "Open", "", RECEIPT_NONE, SUPPRESS_NOT, 0},
};

static struct delivery_place the_place(void)
{
    struct delivery_place place = {.bucket = 171, .redrive = 1};
    assert_true(key_from_hex(SLICE("00112233445566778899aabbccddeeff"), &place.notification));
    return place;
}

struct words {
    const char *key, *place, *status, *code;
};

// The words put in where the form has its marks.
static void fill(const char *form, const struct words *words, struct text *out)
{
    for (; *form; form++) {
        const char *word = NULL;
        if (form[0] == '@')
            word = form[1] == 'K'   ? words->key
                   : form[1] == 'P' ? words->place
                   : form[1] == 'S' ? words->status
                                    : words->code;
        assert_true(word ? text_str(out, word) : text_char(out, *form));
        form += word != NULL;
    }
}

static const struct form *form_of(const char *provider)
{
    for (size_t i = 0; i < ARRAY_LEN(forms); i++)
        if (strcmp(forms[i].provider, provider) == 0)
            return &forms[i];
    fail_msg("no form of %s", provider);
    return &forms[0]; // not reached; the compiler does not know
}

static struct receipt *read_words(const struct form *form, const struct words *words)
{
    AUTO_TEXT struct text body = {.max = 8192}, query = {.max = 8192};
    AUTO_FREE char *scheme = xstrdup(form->scheme), *provider = xstrdup(form->provider);
    bool told = strcmp(form->scheme, "jwt") == 0 || strcmp(form->scheme, "custom") == 0;
    struct source source = {.scheme = scheme,
            .provider = told ? provider : NULL,
            .receipts = form->channel == CHANNEL_SMS ? sms : email};
    fill(form->body, words, &body);
    fill(form->query, words, &query);
    return receipt_read(&source, text_slice(&body), text_slice(&query));
}

static void every_word_of_a_provider_means_what_the_table_says(void **state)
{
    (void)state;
    struct delivery_place place = the_place();
    char place_text[PLACE_MAX], key_text[KEY_HEX], name[128];
    place_write(&place, place_text);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct row *row = &rows[i];
        const struct form *form = form_of(row->provider);
        key_hex(place_key(&place, (int)form->channel), key_text);
        snprintf(name, sizeof name, "%s %s %s", row->provider, row->status, row->code);
        struct words words = {key_text, place_text, row->status, row->code};
        AUTO_FREE struct receipt *receipt = read_words(form, &words);
        assert_row((receipt ? receipt->kind : RECEIPT_NONE) == row->kind, name);
        if (!receipt)
            continue;
        assert_row(receipt->placed, name);
        assert_row(receipt->channel == form->channel, name);
        assert_row(receipt->place.bucket == 171 && receipt->place.redrive == 1, name);
        assert_row(strcmp(receipt->id, form->id) == 0, name);
        assert_row(receipt->wait_s == row->wait_s, name);
        assert_row(receipt->suppress == row->suppress, name);
        assert_row(strstr(receipt->said, row->provider) == receipt->said, name);
        assert_row(strstr(receipt->said, row->status) != NULL, name);
        assert_row(strstr(receipt->said, row->code) != NULL, name);
    }
}

static void a_place_counts_only_with_its_key(void **state)
{
    (void)state;
    struct delivery_place place = the_place();
    char place_text[PLACE_MAX], key_text[KEY_HEX], other[KEY_HEX];
    place_write(&place, place_text);
    key_hex(place_key(&place, CHANNEL_PUSH), other);
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        const struct form *form = &forms[i];
        const struct row *row = rows;
        while (strcmp(row->provider, form->provider) != 0 || row->kind != RECEIPT_DELIVERED)
            row++;
        key_hex(place_key(&place, (int)form->channel), key_text);
        const struct words cases[] = {
                {key_text, place_text, row->status, row->code},
                {other, place_text, row->status, row->code},
                {"", place_text, row->status, row->code},
                {key_text, "", row->status, row->code},
                {key_text, "ab-00112233445566778899aabbccddeeff-2", row->status, row->code},
                {key_text, "ab-10112233445566778899aabbccddeeff-1", row->status, row->code},
        };
        for (size_t c = 0; c < ARRAY_LEN(cases); c++) {
            AUTO_FREE struct receipt *receipt = read_words(form, &cases[c]);
            assert_row(receipt && receipt->placed == (c == 0), form->provider);
        }
    }
}

static void what_stands_twice_in_the_url_is_not_believed(void **state)
{
    (void)state;
    struct delivery_place place = the_place();
    char place_text[PLACE_MAX], key_text[KEY_HEX];
    place_write(&place, place_text);
    key_hex(place_key(&place, CHANNEL_SMS), key_text);
    AUTO_TEXT struct text query = {.max = 4096};
    text_fmt(&query, "delivery=%s&place=%s&delivery=%s", key_text, place_text, key_text);
    static char twilio[] = "twilio";
    struct source source = {.scheme = twilio, .receipts = sms};
    AUTO_FREE struct receipt *receipt =
            receipt_read(&source, SLICE("{\"MessageStatus\":\"delivered\"}"), text_slice(&query));
    assert_non_null(receipt);
    assert_false(receipt->placed);
}

static void what_is_no_receipt_is_none(void **state)
{
    (void)state;
    static char stripe[] = "stripe", sendgrid[] = "sendgrid", sns[] = "aws-sns";
    struct source cases[] = {{.scheme = stripe, .receipts = email}, {.scheme = sendgrid},
            {.scheme = sns, .receipts = email}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        static const char *const bodies[] = {"{\"event\":\"delivered\"}", "", "[]", "{",
                "{\"Message\":1,\"eventType\":\"Send\"}", "{\"Message\":\"Hello\"}"};
        for (size_t b = 0; b < ARRAY_LEN(bodies); b++)
            assert_null(receipt_read(&cases[i], slice_of(bodies[b]), SLICE("")));
    }
}

static void a_scheme_says_whose_receipts_it_brings(void **state)
{
    (void)state;
    assert_string_equal(receipt_provider_of("aws-sns"), "ses");
    assert_string_equal(receipt_provider_of("twilio"), "twilio");
    assert_null(receipt_provider_of("jwt"));
    assert_null(receipt_provider_of("stripe"));
    assert_int_equal(receipt_channel_of("vonage"), CHANNEL_SMS);
    assert_int_equal(receipt_channel_of("ses"), CHANNEL_EMAIL);
    assert_int_equal(receipt_channel_of("stripe"), CHANNEL_NONE);
    size_t n = 0;
    while (receipt_provider_at(n))
        n++;
    assert_int_equal(n, ARRAY_LEN(forms));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
            cmocka_unit_test(every_word_of_a_provider_means_what_the_table_says),
            cmocka_unit_test(a_place_counts_only_with_its_key),
            cmocka_unit_test(what_stands_twice_in_the_url_is_not_believed),
            cmocka_unit_test(what_is_no_receipt_is_none),
            cmocka_unit_test(a_scheme_says_whose_receipts_it_brings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
