// taken.h: how an authentic request becomes an arrival: a request of now, or one kept from before
// (`pawl inbox reverify`).
#pragma once
#include "receiver/http/stages.h"

// Copies what it needs of the request, its body as what it stands for (coded.h); yours:
// arrival_free(), or the accept thread's. Received now. NULL: *ret_reason says what is wrong with
// its Content-Encoding.
MUST_CHECK struct arrival *taken_arrival(const struct source *source,
        const struct received *received, const struct verdict *verdict, const char **ret_reason);
