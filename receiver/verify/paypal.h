// paypal.h: PayPal's signatures of transmissions.
#pragma once
#include "receiver/verify/scheme.h"

// As the row of paypal says (scheme.h). Secrets are webhook ids, which are no secrets, and perhaps
// keys that stand in place of the published ones (keyed.h).
struct verify_result paypal_verify(const struct scheme *row, const struct source *source,
        const struct verify_request *request);
