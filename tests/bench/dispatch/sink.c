// sink.c: the mail server of `pawl up` alone: sink ADDRESS:PORT FOLDER, until SIGTERM.
#include "cli/sink/sink.h"
#include "common/daemon.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    struct err err = {0};
    int fd = argc == 3 ? daemon_listen(argv[1], NULL, &err) : -1;
    if (fd < 0) {
        fprintf(stderr, "usage: sink ADDRESS:PORT FOLDER %s\n", err.msg);
        return 64;
    }
    daemon_block_signals();
    return sink_main(&(struct sink_options){.listen_fd = fd, .dir = argv[2]});
}
