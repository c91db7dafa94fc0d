// read_xml.h: a small XML document as JSON, so that JSON pointers lead into it (Braintree).
#pragma once
#include "common/text.h"

// Base64 (line ends and all, as MIME writes it) of an XML document as one JSON object with the
// root's name: an element with elements in it is an object of them, one with type="array" an array,
// one with nil="true" is null, any other its text. Other attributes, text beside elements, comments
// and processing instructions are left out; a name that stands twice stands twice. False, and out
// holds something unfinished, when it is neither, has a document type (so nothing is ever expanded
// or fetched), or is deeper or longer than JSON may be (common/json/scan.h).
MUST_CHECK bool read_xml(struct slice base64, struct text *out);
