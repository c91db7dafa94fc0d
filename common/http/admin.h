// admin.h: the admin listener of a process: /metrics, /livez, /readyz, on a thread of its own.
#pragma once
#include "common/err.h"
#include "common/text.h"

struct admin;

struct admin_options {
    const char *listen; // "127.0.0.1:9464"; port 0 = any free port
    // Appends {"name":..,"ok":..,"detail":..} checks; returns false = not ready (503). Called on
    // the admin thread; must not block longer than 2 s and never touches the database itself: it
    // reads what the loops noted.
    bool (*ready)(void *user, struct text *checks);
    // False when a loop has not turned for too long. No database.
    bool (*live)(void *user);
    void *user;
};

// Starts the thread. NULL + err when the address can't be bound. Stop with admin_stop(): joins the
// thread.
MUST_CHECK struct admin *admin_start(const struct admin_options *options, struct err *err);
int admin_port(const struct admin *admin);
void admin_stop(struct admin *admin);
