// The policy in use: replaced whole, shared by reference.
#include "receiver/accept/accept.h"

#include <pthread.h>

struct policy_box {
    pthread_mutex_t lock;
    struct policy *policy;
};

struct policy_box *policy_box_new(void)
{
    struct policy_box *box = xcalloc(1, sizeof *box);
    pthread_mutex_init(&box->lock, NULL);
    return box;
}

void policy_box_free(struct policy_box *box)
{
    if (!box)
        return;
    policy_unref(box->policy);
    pthread_mutex_destroy(&box->lock);
    free(box);
}

struct policy *policy_box_get(struct policy_box *box)
{
    pthread_mutex_lock(&box->lock);
    struct policy *policy = box->policy ? policy_ref(box->policy) : NULL;
    pthread_mutex_unlock(&box->lock);
    return policy;
}

void policy_box_put(struct policy_box *box, struct policy *policy)
{
    pthread_mutex_lock(&box->lock);
    struct policy *old = box->policy;
    box->policy = policy;
    pthread_mutex_unlock(&box->lock);
    policy_unref(old);
}
