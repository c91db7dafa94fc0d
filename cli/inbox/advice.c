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
