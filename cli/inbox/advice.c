#include "cli/inbox/advice.h"

#define REVERIFY "then: pawl inbox reverify --source NAME"

static const struct advice advices[] = {
        {"no_live_secret", "the source had no secret that was live at that moment",
                "put its file into the credentials folder, look at from and until in the policy, "
                "reload the receiver, " REVERIFY},
        {"signature_missing", "the header that carries the signature was not there",
                "is it the right scheme? Does the provider sign this endpoint? Somebody else's "
                "request looks like this too"},
        {"signature_repeated", "the header that carries the signature was there more than once",
                "look whether a proxy doubles it; readers differ in which one they take"},
        {"signature_malformed", "the signature is not written as the scheme writes it",
                "is it the right scheme, and does a proxy change headers?"},
        {"no_supported_version", "it is signed, but by no version that the scheme has",
                "look at the versions in the header and at docs/schemes.md"},
        {"signature_mismatch", "it is signed with another secret, or was changed on the way",
                "compare the secret with the provider's, look whether a proxy changes the body or "
                "the URL, mend it, reload the receiver, " REVERIFY},
        {"timestamp_malformed", "the time that is signed is not a plain number",
                "is it the right scheme? Nothing else writes it so"},
        {"timestamp_missing", "the time that has to be signed was not there",
                "is it the right scheme, and does a proxy drop headers?"},
        {"timestamp_too_old", "it was signed longer ago than the scheme allows",
                "look at this host's clock (pawl doctor) and at queues on the way; an old request "
                "that is sent again looks like this too. The provider's next try is signed anew"},
        {"timestamp_in_future", "it was signed later than this host's clock says",
                "look at this host's clock: pawl doctor"},
        {"idempotency_key_missing", "it has no Idempotency-Key that can be used",
                "the sender has to give each event a key of its own: 1 to 255 printable bytes"},
        {"public_url_missing", "the scheme signs the URL, and the source does not say what it is",
                "give the source its public_url, " REVERIFY},
        {"body_malformed", "the body is not what the scheme signs",
                "is it the right scheme, and does a proxy change the body?"},
        {"body_hash_mismatch", "the body is not the one whose digest is signed",
                "look whether a proxy changes the body"},
        {"algorithm_refused", "it is signed by an algorithm that the scheme does not allow",
                "an attack looks like this, or a new version of the provider's"},
        {"cert_url_refused", "it names a certificate at an address that is not the provider's",
                "an attack looks like this: the address is never asked"},
        {"certificate_refused", "the provider's certificate is not valid for that moment and name",
                "look at this host's clock and trusted CAs (receiver.fetch.ca)"},
        {"topic_refused", "it is of a topic that the source does not name",
                "compare the topic with the policy's, " REVERIFY},
        {"unknown_key", "the provider publishes no key of that name",
                "is the key set in the policy the provider's own?"},
        {"key_fetching", "the provider's key was not there yet",
                "the provider's next try finds it"},
        {"key_unavailable", "the provider's key could not be fetched",
                "can this host reach the provider? Look at the log"},
        {"content_encoding", "its body is compressed, in a way the source does not allow",
                "allow it in the policy (docs/policy.md), or have it sent as it is"},
        {"content_encoding_broken", "its body can't be decompressed",
                "look whether a proxy changes the body"},
        {"inflated_too_large", "its body is larger than allowed once it is decompressed",
                "look at the source's limits in the policy; an attack looks like this too"},
        {"handshake_token_mismatch", "it asks whether somebody is there, with another token",
                "compare the token with the provider's"},
        {"handshake_token_unset", "it asks whether somebody is there, and no token is set",
                "give the source its token"},
        {"handshake_malformed", "it asks whether somebody is there, in another form than agreed",
                "is it the right scheme?"},
        {"several", "more kinds than are counted apart",
                "somebody tries many sources: look at pawl_webhook_rejected_total"},
};

const struct advice *advice_of(struct slice reason)
{
    static const struct advice unknown = {
            "", "refused for a reason of another version of Pawl", "look at its documentation"};
    for (size_t i = 0; i < ARRAY_LEN(advices); i++)
        if (slice_eq(reason, slice_of(advices[i].reason)))
            return &advices[i];
    return &unknown;
}
