// segments.h: how many short messages a text is, by the units that networks count and bill.
//
// Sources: 3GPP TS 23.038 6.2.1 (default alphabet and its extension), TS 23.040 9.2.3.24.1 (a part
// of a longer message gives 6 bytes to its header).
#pragma once
#include "common/err.h"

enum segment_coding {
    SEGMENTS_GSM7, // septets: 160 in one message, 153 in a part; an extension character takes two
    SEGMENTS_UCS2, // UTF-16 units: 70 and 67; what is outside the BMP takes two
};

struct segments {
    enum segment_coding coding;
    size_t units; // of the whole text, in the coding's
    size_t parts; // 0 for an empty text
};

// UCS-2 as soon as one character is outside of GSM-7's alphabet: then every character is counted
// by it. A pair of units is never split over two parts. ERR_INPUT: not UTF-8.
MUST_CHECK bool segments_count(struct slice utf8, struct segments *ret_segments, struct err *err);
