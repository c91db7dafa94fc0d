"""common/pg against a real server: the cases are in pg_probe.c; here the server is disturbed."""
import os
import socket
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
from harness import *  # noqa: E402,F403 pylint: disable=wrong-import-position,wildcard-import
from kit.pawl import wrap  # noqa: E402 pylint: disable=wrong-import-position
from kit.procs import SLOW  # noqa: E402 pylint: disable=wrong-import-position

PROBE = os.environ.get("PAWL_PG_PROBE") or os.path.join(build_dir(), "tests", "sql", "pg_probe")


def cluster_with_tables(t, **options):
    cluster = t.cluster(options=options)
    cluster.query("CREATE SCHEMA pawl")
    cluster.query("CREATE TABLE pawl.probe(id int PRIMARY KEY)")
    cluster.query("CREATE TABLE pawl.probe_child(id int REFERENCES pawl.probe DEFERRABLE INITIALLY DEFERRED)")
    return cluster


def probe(cluster, *args, dsn=None):
    done = subprocess.run([*wrap(), PROBE, dsn or cluster.dsn(), *args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=100 * SLOW, check=False)
    check(done.returncode == 0, f"pg_probe {' '.join(args)} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def test_flights_errors_lost_connections_arrays(t):
    probe(cluster_with_tables(t), "plain")


def test_a_commit_that_did_not_wait_for_its_standby_is_not_committed(t):
    cluster = cluster_with_tables(t)
    cluster.miss_standby("nobody_here")
    probe(cluster, "standby")


def test_a_stopped_server_ends_connect_at_the_deadline(t):
    cluster = cluster_with_tables(t)
    cluster.freeze()
    probe(cluster, "stopped")
    cluster.thaw()


def test_a_host_that_swallows_all_does_not_use_up_the_time(t):
    cluster, folder = cluster_with_tables(t), scratch("pawl-hole-")
    with socket.socket(socket.AF_UNIX) as hole:
        hole.bind(os.path.join(folder, ".s.PGSQL.5432"))
        hole.listen(5)
        probe(cluster, "swallow", dsn=f"host={folder},{cluster.dir} port=5432 dbname=pawl user=pawl")


def test_settings_that_lose_acknowledged_events_are_refused(t):
    cluster = cluster_with_tables(t)
    for setting in ("fsync", "full_page_writes", "synchronous_commit"):
        cluster.set(**{setting: "off"})
        eventually(lambda s=setting: cluster.value(f"SHOW {s}") == "off")
        probe(cluster, "refuse", setting)
        cluster.set(**{setting: "on"})
    cluster.set(synchronous_commit="local", synchronous_standby_names="nobody_here")
    probe(cluster, "refuse", "synchronous_standby_names")
