"""A private PostgreSQL cluster on a unix socket, copied from a template that is made once a run."""
import os
import pwd
import shutil
import signal
import subprocess
import threading

import psycopg2

from . import procs

BIN = "/usr/lib/postgresql/15/bin"
FAST = {  # What a test may turn on again by options=; fsync stays on, since that is what is promised.
    "listen_addresses": "''",
    "max_connections": "200",
    "deadlock_timeout": "200ms",
    "jit": "off",
    "dynamic_shared_memory_type": "mmap",  # in the data folder, which is removed, also when the server was killed
    "shared_buffers": "64MB",
    "log_min_messages": "warning",
    "log_line_prefix": "'%m [%p] %u '",
    "lc_messages": "C",
    "timezone": "UTC",
}
_templates = {}


def _user():
    """PostgreSQL refuses to run as root; then it runs as the package's own user."""
    return "postgres" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name


def _run_as_user(argv):
    pre = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups", "--"] if os.getuid() == 0 else []
    done = subprocess.run(pre + argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          cwd="/", env={**os.environ, "LC_ALL": "C.UTF-8", "HOME": "/nonexistent"}, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{argv[0]} failed:\n{done.stdout}")


def _own_folder(lasting=False, memory=True):
    # What a killed process leaves is the same there, and making and removing a cluster of 2,000 files takes a tenth.
    path = procs.scratch("pawl-pg-", lasting, memory)
    if os.getuid() == 0:
        shutil.chown(path, "postgres", "postgres")
    return path


def _copy(source):
    """The copy's path: a data folder of a cluster that is stopped, in a folder that lasts."""
    data = os.path.join(_own_folder(lasting=True), "data")
    _run_as_user(["cp", "-a", source, data])
    return data


def _template_data(segment_mb):
    """The data folder of an empty cluster, made once a run."""
    name = f"empty, {segment_mb} MB a segment"
    if name not in _templates:
        data = os.path.join(_own_folder(lasting=True), "data")
        _run_as_user([f"{BIN}/initdb", "-D", data, "-U", "pawl", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8",
                      "--no-sync", "--no-instructions", f"--wal-segsize={segment_mb}"])
        _templates[name] = data
    return _templates[name]


def saved(name):
    return name in _templates


class Cluster:
    """PostgreSQL 15: superuser and database `pawl`, trust on the socket in .dir, port 5432.

    like: a name under which save() kept a cluster of this run; then everything is as it was there. env: for the server;
    memory=False: on a disk, with its speed. segment_mb: of the log's files; small ones are made and copied faster."""

    def __init__(self, options=None, database="pawl", like=None, env=None, memory=True, segment_mb=1):  # pylint: disable=too-many-arguments
        self.dir = _own_folder(memory=memory)
        self.data = os.path.join(self.dir, "data")
        self.options = {**FAST, **(options or {})}
        self.database = database
        self.env = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", **(env or {})}
        self.proc = None
        self._starts = []
        self._conns = {}
        _run_as_user(["cp", "-a", _templates[like] if like else _template_data(segment_mb), self.data])
        self.start()
        if not like:
            self.query(f'CREATE DATABASE "{database}"', db="postgres")

    def save(self, name):
        """Stops the cluster and keeps it as it is: further ones are made `like` it, until the runner ends."""
        self.stop()
        _templates[name] = _copy(self.data)

    def dsn(self, user="pawl", db=None):
        """A libpq connection string; user=None leaves the role to the program."""
        role = f" user={user}" if user else ""
        return f"host={self.dir} port=5432 dbname={db or self.database}{role}"

    def start(self, wait=True):
        # In the main file and not as arguments, so that set() can change them.
        with open(os.path.join(self.data, "postgresql.conf"), "w", encoding="utf-8") as f:
            f.writelines(f"{key} = {value}\n" for key, value in self.options.items())
        argv = [f"{BIN}/postgres", "-D", self.data, "-c", f"unix_socket_directories={self.dir}"]
        self.proc = procs.Proc("postgres", argv, user="postgres", cwd=self.dir, env=self.env)
        self._starts.append(self.proc)
        if wait:
            procs.eventually(self.ready, 30, "PostgreSQL accepts connections")

    def ready(self):
        if not self.proc.alive():
            raise AssertionError("PostgreSQL ended at start:\n" + self.log())
        try:
            psycopg2.connect(self.dsn(db="postgres")).close()
            return True
        except psycopg2.OperationalError:
            return False

    def stop(self):
        """A fast shutdown: clients are cut off, the data is flushed."""
        self._forget()
        if self.proc.alive():
            self.proc.signal(signal.SIGINT)
            self.proc.wait(30)

    def kill9(self):
        """kill -9 of every process of the cluster: what a crash leaves is what the WAL holds."""
        self._forget()
        self.proc.kill9()

    def restart(self):
        self.stop()
        self.start()

    def freeze(self):
        self.proc.freeze()

    def thaw(self):
        self.proc.thaw()

    def connect(self, user="pawl", db=None, autocommit=True):
        """A new psycopg2 connection; the caller closes it."""
        conn = psycopg2.connect(self.dsn(user, db))
        conn.autocommit = autocommit
        return conn

    def query(self, sql, args=None, user="pawl", db=None):
        """All rows of one statement (a list of tuples; empty for statements without rows)."""
        key = (user, db or self.database)
        conn = self._conns.get(key)
        if conn is None or conn.closed:
            conn = self._conns[key] = self.connect(user, db)
        try:
            with conn.cursor() as cur:
                cur.execute(sql, args)
                return cur.fetchall() if cur.description else []
        except psycopg2.OperationalError:
            self._conns.pop(key, None)
            raise

    def value(self, sql, args=None, **where):
        """The first column of the first row."""
        return self.query(sql, args, **where)[0][0]

    def create_database(self, name, template=None):
        """A further database, as a copy of template if given (no connection to that may be open)."""
        self._forget()
        self.query(f'CREATE DATABASE "{name}"' + (f' TEMPLATE "{template}"' if template else ""), db="postgres")

    def set(self, **settings):
        """ALTER SYSTEM and reload; for settings that need no restart."""
        for key, value in settings.items():
            self.query(f"ALTER SYSTEM SET {key} = %s", (value,))
        self.query("SELECT pg_reload_conf()")

    def miss_standby(self, name):
        """From now on commits wait for a standby that is not there. (It is the checkpointer that says so to the backends, in its
        own time: until then they go on without.)"""
        self.set(synchronous_standby_names=name)
        conn, waited = self.connect(), threading.Event()

        def commit():
            with conn.cursor() as cur:
                while not waited.is_set():
                    cur.execute("SELECT txid_current()")
        thread = threading.Thread(target=commit, daemon=True)
        thread.start()
        pid = conn.info.backend_pid
        waits = "SELECT count(*) FROM pg_stat_activity WHERE pid = %s AND wait_event = 'SyncRep'"
        procs.eventually(lambda: self.value(waits, (pid,)) == 1, 20, "commits wait for the standby")
        waited.set()
        self.query("SELECT pg_cancel_backend(%s)", (pid,))
        thread.join(10)
        conn.close()

    def log(self):
        """The server's log over all its starts."""
        return "".join(proc.output() for proc in self._starts)

    def deadlocks(self):
        """How many deadlocks the server's log tells of."""
        return self.log().count("deadlock detected")

    def _forget(self):
        for conn in self._conns.values():
            conn.close()
        self._conns.clear()

    def close(self):
        self._forget()
        if self.proc.alive():
            self.proc.signal_tree(signal.SIGCONT)
            self.proc.signal(signal.SIGQUIT)  # at once; what the kernel keeps for it goes too
            try:
                self.proc.popen.wait(10)
            except subprocess.TimeoutExpired:
                pass
        self.proc.kill9()
        self._free_memory()

    def _free_memory(self):
        """A server that was killed leaves a System V segment to the next one on its data; the machine has 4,096 of them."""
        try:
            with open(os.path.join(self.data, "postmaster.pid"), encoding="utf-8") as f:
                segment = f.read().splitlines()[6].split()[1]
        except (OSError, IndexError):
            return
        subprocess.run(["ipcrm", "-m", segment], stderr=subprocess.DEVNULL, check=False)
