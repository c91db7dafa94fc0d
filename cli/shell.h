// shell.h: words that may be pasted into a shell.
#pragma once
#include "common/text.h"

// Appends the text as one word of a POSIX shell, quoted only where that is needed.
void shell_word(struct text *out, struct slice text);
