// format.h: small values as people read them: ages, masked addresses, event ids.
#pragma once
#include "common/base.h"

enum { FORMAT_MAX = 64 };

// "850 us", "9 ms", "3.2 s", "4.0 min", "2.5 h", "3.1 d"; returns out.
char *format_age(int64_t us, char out[FORMAT_MAX]);
// "9..14 ms" when both have one unit, else "9 ms .. 3.2 s".
char *format_age_range(int64_t least_us, int64_t most_us, char out[2 * FORMAT_MAX]);

// "c***@e***.net", "+49***00"; what is neither is "***". With more than a bare mailbox, such as a
// name, only its first letter and the domain's last label are left: "A***@***.net". Yours.
char *format_masked(struct slice address);
// The same of a delivery: to a device it is the device's short id, which names nobody, as it is;
// without an address "nobody".
char *format_recipient(int channel, struct slice address);
