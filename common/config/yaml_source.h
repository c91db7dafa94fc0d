// yaml_source.h: the bytes of a YAML file before they are parsed: is it plain UTF-8 text, and its
// lines for messages.
#pragma once
#include "common/config/yaml.h"

// Refuses, with line and column of the first of each kind: what is too large, not UTF-8, tabs,
// control characters, byte order marks, line ends other than LF and CRLF.
MUST_CHECK bool yaml_source_ok(const struct yaml_doc *doc, struct diag *diag);

// A copy of line (1-based) without its end; NULL when it is not there or too long to show.
char *yaml_source_line(const struct yaml_doc *doc, int line);
