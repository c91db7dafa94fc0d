#include "dispatcher/route/budget.h"

bool budget_counts(const struct budget *budget)
{
    return budget->failing > BUDGET_AT_LARGE;
}

static void add(struct budget *budget, double tokens)
{
    budget->tokens += tokens;
    if (budget->tokens > BUDGET_MOST)
        budget->tokens = BUDGET_MOST;
}

void budget_first(struct budget *budget)
{
    add(budget, BUDGET_PART);
}

bool budget_retry(struct budget *budget, int64_t now_ms)
{
    int64_t passed_ms = budget->filled_ms ? now_ms - budget->filled_ms : 0;
    budget->filled_ms = now_ms;
    add(budget, (double)passed_ms * BUDGET_A_SECOND / 1000);
    if (!budget_counts(budget))
        return true;
    if (budget->tokens < 1)
        return false;
    budget->tokens -= 1;
    return true;
}

void budget_back(struct budget *budget)
{
    if (budget_counts(budget))
        add(budget, 1);
}

void budget_ended(struct budget *budget, bool failed)
{
    budget->failing += ((failed ? 1.0 : 0.0) - budget->failing) / BUDGET_MEMORY;
}
