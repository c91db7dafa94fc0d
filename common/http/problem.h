// problem.h: gives the errors that h2o answers by itself the form all others have.
#pragma once
#include <h2o.h>

#define PROBLEM_TYPE "application/problem+json"

// Every text/plain answer from 400 on that leaves by this path is sent as problem+json (RFC 9457).
void problem_filter(h2o_pathconf_t *path);
