#include "common/metrics_process.h"

#include <dirent.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static void add(struct text *out, const char *name, const char *type, const char *help, double v)
{
    text_fmt(out, "# HELP %s %s\n# TYPE %s %s\n%s %.15g\n", name, help, name, type, name, v);
}

static bool read_file(const char *path, char *buf, size_t size)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    size_t n = fread(buf, 1, size - 1, file);
    fclose(file);
    buf[n] = '\0';
    return n > 0;
}

// Field number n (1-based, proc(5)) of /proc/self/stat; counted from behind the name, which may
// hold spaces.
static double stat_field(const char *stat, int n)
{
    const char *p = strrchr(stat, ')');
    for (int i = 2; p && i < n; i++)
        p = strchr(p + 1, ' ');
    return p ? strtod(p + 1, NULL) : 0;
}

static double boot_time_s(void)
{
    struct timespec now, up;
    clock_gettime(CLOCK_REALTIME, &now);
    clock_gettime(CLOCK_BOOTTIME, &up);
    return (double)(now.tv_sec - up.tv_sec) + (double)(now.tv_nsec - up.tv_nsec) / 1e9;
}

// The start time is computed once: it would seem to move with every step of the wall clock.
static double start_time_s(const char *stat, double ticks)
{
    static _Atomic double start;
    if (start == 0)
        start = (double)(int64_t)((boot_time_s() + stat_field(stat, 22) / ticks) * 100) / 100;
    return start;
}

static int open_fds(void)
{
    DIR *dir = opendir("/proc/self/fd");
    if (!dir)
        return -1;
    int n = -3; // ".", ".." and the folder's own
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

void metrics_write_process(struct text *out)
{
    char stat[1024];
    double ticks = (double)sysconf(_SC_CLK_TCK);
    if (read_file("/proc/self/stat", stat, sizeof stat)) {
        add(out, "process_cpu_seconds_total", "counter",
                "Total user and system CPU time spent in seconds.",
                (stat_field(stat, 14) + stat_field(stat, 15)) / ticks);
        add(out, "process_resident_memory_bytes", "gauge", "Resident memory size in bytes.",
                stat_field(stat, 24) * (double)sysconf(_SC_PAGESIZE));
        add(out, "process_start_time_seconds", "gauge",
                "Start time of the process since unix epoch in seconds.",
                start_time_s(stat, ticks));
    }
    int fds = open_fds();
    if (fds >= 0)
        add(out, "process_open_fds", "gauge", "Number of open file descriptors.", fds);
}
