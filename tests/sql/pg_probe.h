// pg_probe.h: what the parts of pg_probe share: the server's address, the statements, the checks.
#pragma once
#include <stdio.h>

#include "common/pg/pg.h"

extern const char *conninfo; // of the server under test
extern int failures;         // checks that did not hold
extern const char *current;  // the case that runs

// Numbers of the probe's statements.
enum { INSERT, COUNT, DIVIDE, PIDS, ECHO_TEXTS, ECHO_INTS, SLEEP, DEFER, SCALARS, ECHO_BYTEAS };

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("FAILED %s: line %d: %s\n", current, __LINE__, #condition);                     \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

struct pg *open_probe(void);             // ends the program when it can't connect
bool fly(struct pg *pg, int timeout_ms); // and prints why not
int pid_of(struct pg *pg);               // of its backend
int64_t count(int id); // rows of table probe with that id, as another session sees

void a_large_flight_is_stepped_both_ways(void);
void arrays_keep_null_and_empty(void);
void ten_thousand_elements_arrive(void);
void scalars_go_both_ways(void);
void a_script_names_the_line_of_its_error(void);
void a_missing_table_is_fatal_at_connect(void);
void the_second_host_is_tried(void);
void durability_off_is_refused(const char *setting);
void durability_on_is_taken(void);
void a_stopped_server_ends_connect_at_the_deadline(void);
void a_host_that_swallows_all_does_not_use_up_the_time(void);
void a_flight_is_stepped_without_blocking(void);
