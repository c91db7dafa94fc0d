// sns.h: Amazon SNS: the messages that are no event, and the URL that confirms a subscription.
#pragma once
#include "common/text.h"
#include "receiver/verify/scheme.h"

// As the row of aws-sns says (scheme.h).
struct verify_result sns_verify(const struct scheme *row, const struct source *source,
        const struct verify_request *request);

enum sns_kind { SNS_EVENT, SNS_SUBSCRIBE, SNS_UNSUBSCRIBE };
// What a body that was verified is; one that can't be read is SNS_EVENT.
enum sns_kind sns_kind_of(struct slice body);

// Writes the URL whose GET confirms the subscription of a verified SubscriptionConfirmation, made
// of its TopicArn and Token: SubscribeURL is never called, whoever wrote it. False when they are
// not of the form that AWS gives them.
MUST_CHECK bool sns_confirm_url(struct slice body, struct text *out);
