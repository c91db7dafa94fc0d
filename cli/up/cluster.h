// cluster.h: a private PostgreSQL cluster below one directory: unix socket only, peer login.
//
// DIR/data is the cluster, DIR/run its socket (mode 0700), DIR/postgres.log its log. Its user and
// root may log in as pawl (owner) and as each program's role; nobody else gets to the socket.
#pragma once
#include "cli/up/child.h"

struct cluster {
    const char *dir; // borrowed
    char bin[256];   // of PostgreSQL
    struct child postgres;
};

// Waits so long; false when it is time to end (^C): then whatever was begun is given up.
typedef bool (*cluster_pause)(void *ctx, int ms);

// Finds PostgreSQL (the version of an existing cluster, else the newest) and makes the cluster if
// there is none; a half-made one is made again.
MUST_CHECK bool cluster_prepare(
        struct cluster *cluster, cluster_pause pause, void *ctx, struct err *err);
bool cluster_exists(const char *dir);

// Starts it and waits until it answers, at most a minute. One that a killed run left is waited for.
MUST_CHECK bool cluster_start(
        struct cluster *cluster, cluster_pause pause, void *ctx, struct err *err);

// Makes the database `pawl` if it is not there.
MUST_CHECK bool cluster_database(struct cluster *cluster, struct err *err);

// libpq connection string of a database; user NULL = the program's own role.
void cluster_conninfo(
        const struct cluster *cluster, const char *user, const char *database, char out[512]);
