#include "common/config/near.h"

#include <limits.h>

static int least(int a, int b)
{
    return a < b ? a : b;
}

int near_distance(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    if (n > NEAR_WORD_MAX || m > NEAR_WORD_MAX)
        return INT_MAX;
    int row[NEAR_WORD_MAX + 1][NEAR_WORD_MAX + 1];
    for (size_t i = 0; i <= n; i++)
        row[i][0] = (int)i;
    for (size_t j = 0; j <= m; j++)
        row[0][j] = (int)j;
    for (size_t i = 1; i <= n; i++) {
        for (size_t j = 1; j <= m; j++) {
            int change = row[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            row[i][j] = least(change, least(row[i - 1][j], row[i][j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[i][j] = least(row[i][j], row[i - 2][j - 2] + 1);
        }
    }
    return row[n][m];
}

// People mistype the end of a word more often than its start.
static size_t same_start(const char *a, const char *b)
{
    size_t n = 0;
    while (a[n] && a[n] == b[n])
        n++;
    return n;
}

void near_offer(struct near *near, const char *word, const char *candidate)
{
    int distance = near_distance(word, candidate);
    int limit = strlen(word) <= 3 ? 1 : 2;
    if (distance > limit || (near->best && distance > near->distance))
        return;
    if (near->best && distance == near->distance &&
            same_start(word, candidate) <= same_start(word, near->best))
        return;
    *near = (struct near){.best = candidate, .distance = distance};
}
