// policy_drivers.h: the tables of channels and of the providers' drivers.
#pragma once
#include "common/config/policy.h"
#include "common/config/schema.h"

extern const struct schema email_channel_schema, sms_channel_schema, push_channel_schema;
