// daemon.h: what a long-running process needs of its surroundings: signals, readiness, systemd's
// sockets.
#pragma once
#include "common/base.h"

// Blocks SIGTERM, SIGINT, SIGHUP in all threads started later and ignores SIGPIPE. Call first in
// main.
void daemon_block_signals(void);

// A file descriptor (signalfd) that becomes readable with the next of them. daemon_read_signal
// returns its number, 0 = none.
int daemon_signal_fd(void);
int daemon_read_signal(int fd);

// sd_notify without libsystemd: "READY=1", "STOPPING=1", "RELOADING=1", "STATUS=..", "WATCHDOG=1".
// No-op without NOTIFY_SOCKET. Source: systemd's sd_notify(3).
void daemon_notify(const char *state);

// Inherited listening sockets (LISTEN_FDS/LISTEN_PID, sd_listen_fds(3)): how many, the first is
// fd 3. 0 when none, -1 with err when there are more than max.
struct err;
int daemon_listen_fds(int max, struct err *err);

// Binds and listens on "address:port" ("[::1]:0" allowed); returns the fd or -1 with err. *ret_port
// = the bound port.
int daemon_listen(const char *address, int *ret_port, struct err *err);

// This process is killed when its parent goes away (PR_SET_PDEATHSIG); used below `pawl up`.
void daemon_die_with_parent(int signal);

// Keeps the secrets in memory to this process: no core file (RLIMIT_CORE 0), and neither ptrace nor
// /proc/PID/mem for others of the same user (PR_SET_DUMPABLE 0; left out of builds with fault
// labels or a sanitizer, whose leak check is a tracer). Call first in main, before a secret is
// read.
void daemon_guard_memory(void);

// Raises the soft limit of open files, which is often 1,024, towards what is wanted and as far as
// the hard one allows. Returns the limit that holds now.
int64_t daemon_raise_files(int64_t wanted);

// WATCHDOG=1, at most once a second: call from the loop that must turn, never from a timer beside
// it. *at_ms: when it was told last (clock_mono_ms), 0 at first.
void daemon_feed_watchdog(int64_t *at_ms);
