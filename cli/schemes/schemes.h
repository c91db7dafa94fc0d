// schemes.h: `pawl schemes`: the catalogue in words.
#pragma once
#include "cli/command.h"
#include "common/text.h"

int schemes_list(const struct call *call);
int schemes_show(const struct call *call);

// The catalogue's part of docs/schemes.md.
void schemes_markdown(struct text *out);
