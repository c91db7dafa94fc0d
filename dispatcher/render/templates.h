// templates.h: finds parsed templates by name.
#pragma once
#include "common/template/template.h"
#include "dispatcher/render/render.h"

// NULL = there is none of that path ("order-shipped/email.en.text.mustache").
const struct template *templates_find(const struct templates *templates, const char *path);
