// jwt.h: schemes that sign a JWT (RFC 7519) which holds a digest of the body, and the one that
// signs the body with a published key.
#pragma once
#include "receiver/verify/scheme.h"

// As a row of such a scheme says. The algorithm is the row's, never the token's.
struct verify_result jwt_verify(const struct scheme *row, const struct source *source,
        const struct verify_request *request);

// Scheme jwt: the source's `token` says header, algorithm and which claim binds the body.
struct verify_result jwt_custom_verify(const struct scheme *row, const struct source *source,
        const struct verify_request *request);

// ShipEngine: RSA over "timestamp.body", its key by the name in a header.
struct verify_result shipengine_verify(const struct scheme *row, const struct source *source,
        const struct verify_request *request);
