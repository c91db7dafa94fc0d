// show.h: a story as text and as JSON; `pawl story`.
#pragma once
#include "cli/command.h"
#include "cli/story/story.h"

// width 0 = tab separated.
void story_text(const struct story *story, int width, struct text *out);
void story_json(const struct story *story, struct text *out); // one object, no line end

int story_command(const struct call *call);
