"""What every sandbox must offer; each test runs on each kind that this machine has."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from archive.errors import MachineError
from runner.sandbox import FileRefused, Limits, MachineLost, Mount
from runner.sandbox.probe import probe
from runner.watch import Halt, run, watch
from tests.runner.conftest import SMALL, shell, wait_for

pytestmark = pytest.mark.sandbox
SLEEP = 200_000 + os.getpid()
"""Seconds unlike those of any test that runs beside this one."""


@pytest.fixture(params=["bubblewrap", "docker"])
def sandbox(request, sandboxes):
    return sandboxes(request.param)


def test_a_program_runs_as_an_unprivileged_user_on_a_terminal_of_the_stated_size(start):
    status, said = shell(start(), "id -u; stty size; tty; pwd; exit 7")
    assert (status, said.split()) == (7, ["1000", "40", "120", "/dev/pts/0", "/home/agent/project"])


def test_nothing_of_the_runners_environment_reaches_a_machine(start, monkeypatch):
    monkeypatch.setenv("RUNNER_SECRET", "hunter2-hunter2")
    status, said = shell(start(), "env; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'")
    assert status is not None
    assert "PATH=" in said
    assert "hunter2" not in said


def test_files_of_the_runner_cannot_be_seen(start, tmp_path):
    (tmp_path / "private").write_text("private")
    home = Path.home()
    status, said = shell(
        start(), f"cat {tmp_path}/private; ls {home} 2>&1; cat /etc/shadow 2>&1; ls /var 2>&1; echo end"
    )
    assert status == 0
    assert "private\n" not in said.replace("/private", "")
    assert "root:" not in said


def test_the_system_and_what_is_mounted_cannot_be_written(start, tmp_path):
    (tmp_path / "task").write_text("task")
    machine = start(mounts=(Mount(tmp_path / "task", "/argusic/task"),))
    status, said = shell(machine, "cat /argusic/task; for f in /x /usr/x /etc/x /dev/x /argusic/x; do touch $f; done")
    assert said.startswith("task")
    assert said.count("Read-only file system") + said.count("Permission denied") == 5
    assert shell(machine, "echo changed > /argusic/task")[0] != 0
    assert (tmp_path / "task").read_text() == "task"


def test_files_stay_from_one_program_to_the_next_and_can_be_read_after_the_stop(start):
    machine = start()
    shell(machine, "printf one > /home/agent/a; printf two > /tmp/b")
    machine.stop()
    assert machine.read("/home/agent/a", 10) == b"one"
    assert machine.read("/tmp/b", 10) == b"two"
    assert machine.read("/home/agent/none", 10) is None
    assert shell(machine, "cat /home/agent/a") == (0, "one")


@pytest.mark.parametrize(
    "trap",
    [
        "ln -s /etc/passwd /home/agent/report.json",
        "mkfifo /home/agent/report.json",
        "mkdir /home/agent/report.json",
        "ln -s /dev/zero /home/agent/report.json",
        "ln -s report.json /home/agent/report.json",
        "head -c 2000 /dev/zero > /home/agent/report.json",
    ],
)
def test_a_file_that_is_a_trap_is_refused_at_once(start, trap):
    machine = start()
    shell(machine, trap)
    machine.stop()
    began = time.monotonic()
    with pytest.raises(FileRefused):
        machine.read("/home/agent/report.json", 1000)
    assert time.monotonic() - began < 20


def test_stop_ends_children_that_ignore_signals_daemons_and_double_forks(start):
    machine = start()
    session = machine.exec(
        [
            "sh",
            "-c",
            "(trap '' TERM HUP INT; while :; do sleep 1; done) & setsid sleep 1000 & "
            "(setsid sh -c 'sleep 1001 & sleep 1002' &) ; nohup sleep 1003 >/dev/null 2>&1 & sleep 0.2; echo started",
        ]
    )
    wait_for(session, b"started")
    machine.stop()
    status, said = shell(machine, "ls /proc | grep -c '^[0-9]*$'; ls -d /proc/[0-9]*; cat /proc/*/comm 2>/dev/null")
    assert "sleep" not in said


def test_a_daemon_that_holds_the_terminal_does_not_prolong_the_program(start):
    machine = start()
    began = time.monotonic()
    status, said = shell(machine, "tail -f /dev/null & echo done")
    assert (status, said.strip()) == (0, "done")
    assert time.monotonic() - began < 5


def test_a_program_that_lets_its_terminal_go_is_followed_to_its_end(start):
    ended, _ = run(
        start().exec(["sh", "-c", "exec >/dev/null 2>&1 </dev/null; sleep 0.6; exit 3"]), seconds=20, most_bytes=9
    )
    assert (ended.by, ended.exit) == ("agent", 3)
    assert ended.ms >= 500


def test_a_program_that_does_not_exist_is_an_exit_status(start):
    status, said = shell(start(), "exec /no/such/program")
    assert status == 127
    ended, said_bytes = run(start().exec(["/no/such/program"]), seconds=10, most_bytes=1000)
    assert ended.exit == 127
    assert b"No such file" in said_bytes


def test_a_signal_that_ended_the_program_is_told(start):
    assert shell(start(), "kill -9 $$")[0] == -9


def test_the_first_process_cannot_be_killed_traced_or_read_from_inside(start):
    machine = start()
    shell(machine, "for s in $(seq 64); do kill -$s 1; done")
    status, said = shell(machine, "cat /proc/1/environ /proc/1/mem; ls /proc/1/fd; echo alive")
    assert "alive" in said
    assert "Permission denied" in said
    assert shell(machine, "echo still")[1] == "still\n"


def test_limits_and_scheduling_of_the_first_process_cannot_be_changed_from_inside(start):
    program = (
        "import os, resource as r\n"
        "for change in (lambda: r.prlimit(1, r.RLIMIT_NOFILE, (3, 3)), lambda: r.prlimit(1, r.RLIMIT_CPU, (1, 1)),\n"
        "               lambda: os.setpriority(os.PRIO_PROCESS, 1, 19), lambda: os.sched_setaffinity(1, {0})):\n"
        "    try: print('changed', change())\n"
        "    except PermissionError: print('refused')\n"
        "print(r.prlimit(0, r.RLIMIT_NOFILE, (64, 64)))\n"
    )
    machine = start()
    ended, said = run(machine.exec(["python3", "-c", program]), seconds=20, most_bytes=10_000)
    assert said.split()[:4] == [b"refused"] * 4
    assert ended.exit == 0
    assert machine.stop().disk_full is False


def test_no_user_namespace_offers_a_disk_beyond_the_limit(start):
    status, said = shell(start(), "unshare -Urm sh -c 'mount -t tmpfs none /mnt && echo mounted'; echo end")
    assert said.split()[-1] == "end"
    assert "mounted" not in said


def test_the_kernels_keyrings_cannot_be_reached(start):
    program = (
        "import ctypes, platform; keyctl = 250 if platform.machine() == 'x86_64' else 219\n"
        "print(ctypes.CDLL(None, use_errno=True).syscall(keyctl, 0, -3, 1), ctypes.get_errno())\n"
    )
    ended, said = run(start().exec(["python3", "-c", program]), seconds=20, most_bytes=1000)
    assert said.split() == [b"-1", b"1"]


def test_memory_behind_a_strange_name_or_shared_between_processes_is_counted(start):
    program = (
        "import ctypes, mmap, os, time\n"
        "ctypes.CDLL(None).prctl(15, b'\\xff\\xfe', 0, 0, 0)\n"
        "held = mmap.mmap(-1, 500 << 20)\n"
        "for page in range(0, 500 << 20, 4096): held[page] = 1\n"
        "time.sleep(20)\n"
    )
    ended, _ = run(start().exec(["python3", "-c", program]), seconds=20, most_bytes=1000)
    assert (ended.by, ended.exit) == ("memory-limit", -9)


def test_output_after_the_terminal_was_let_go_and_opened_again_is_recorded_in_its_time(start):
    script = "exec >/dev/null 2>&1 </dev/null; sleep 0.3; echo again > /dev/tty; sleep 0.6; echo last > /dev/tty"
    session = start().exec(["sh", "-c", script])
    times: list[tuple[float, bytes]] = []

    class Sink:
        size = 0

        def feed(self, data: bytes) -> None:
            times.append((time.monotonic(), data))

        def sync(self) -> None:
            pass

    watch(session, Sink(), seconds=20, most_bytes=100, halt=Halt())
    assert b"again" in times[0][1]
    assert time.monotonic() - times[0][0] > 0.4


def test_a_fork_storm_is_refused_and_ends_with_the_machine(start):
    machine = start()
    status, said = shell(machine, "i=0; while [ $i -lt 200 ]; do sleep 30 & i=$((i+1)); done; echo all", seconds=30)
    assert "all" not in said
    used = machine.stop()
    assert used.peak_processes <= SMALL.processes


def test_the_disk_limit_stops_a_program_and_not_the_runner(start):
    machine = start()
    status, said = shell(
        machine, "head -c 100000000 /dev/zero > /home/agent/fill; ls -l /home/agent/fill | cut -d' ' -f5"
    )
    assert "No space left on device" in said
    assert int(said.split()[-1]) <= SMALL.disk_bytes
    assert machine.stop().disk_full


def test_a_child_over_the_memory_limit_is_ended_and_named(start):
    machine = start()
    session = machine.exec(
        ["sh", "-c", "python3 -c 'x = bytearray(600 << 20); import time; time.sleep(20)'; echo child $?"]
    )
    assert b"child 137" in wait_for(session, b"child")
    while not session.memory_events:
        session.poll()
    assert [event.main for event in session.memory_events] == [False]
    assert session.memory_events[0].bytes >= SMALL.memory_bytes


def test_the_program_itself_over_the_memory_limit_ends_by_that_limit(start):
    session = start().exec(["python3", "-c", "x = bytearray(600 << 20)\nimport time\ntime.sleep(20)"])
    ended, _ = run(session, seconds=20, most_bytes=1000)
    assert (ended.by, ended.exit) == ("memory-limit", -9)


def test_without_a_network_only_the_machine_itself_can_be_reached(start):
    status, said = shell(start(network="none"), "cat /proc/net/dev | tail -n +3 | cut -d: -f1")
    assert said.split() == ["lo"]


def test_two_machines_at_once_do_not_see_each_other(start):
    one, two = start(), start()
    shell(one, "echo one > /tmp/mark; sleep 100 &")
    assert shell(two, "ls /tmp/mark; cat /proc/*/comm")[1].count("sleep") == 0
    one.destroy()
    assert shell(two, "echo two")[1] == "two\n"


def test_a_destroyed_machine_is_gone_and_says_so(start):
    machine = start()
    machine.exec(["sleep", "100"])
    machine.destroy()
    machine.destroy()
    with pytest.raises((MachineLost, OSError)):
        machine.exec(["true"])


def test_guarantees_name_each_limit(sandbox):
    said = sandbox.guarantees()
    assert {*Limits._fields, "isolation_of_attempts", "inbound_connections_refused"} <= set(said)
    assert {said[name] for name in ("processes", "disk_bytes", "open_files", "system_call_filter")} == {"enforced"}


def test_the_budget_ends_a_silent_program_and_nothing_else_does(start):
    class Sink:
        size = 0

        def feed(self, data: bytes) -> None:
            self.size += len(data)

        def sync(self) -> None:
            pass

    ended = watch(start().exec(["sleep", "1.2"]), Sink(), seconds=30, most_bytes=100, halt=Halt())
    assert (ended.by, ended.exit) == ("agent", 0)
    ended = watch(start().exec(["sleep", "100"]), Sink(), seconds=0.5, most_bytes=100, halt=Halt())
    assert (ended.by, ended.exit) == ("budget", None)
    assert 500 <= ended.ms < 3000
    ended = watch(start().exec(["yes"]), Sink(), seconds=30, most_bytes=100_000, halt=Halt())
    assert ended.by == "output-ceiling"


@pytest.mark.parametrize(
    "made",
    [
        "from runner.sandbox.bubblewrap import Bubblewrap; sandbox = Bubblewrap()",
        "from runner.sandbox.container import Docker; sandbox = Docker(Path(sys.argv[1]))",
    ],
)
def test_a_machine_ends_with_its_runner_however_that_ends(made, sandboxes, tmp_path):
    import signal
    import subprocess
    import sys

    program = (
        "import sys, time; from pathlib import Path; from runner.sandbox import Spec\n"
        f"from runner.sandbox.probe import SMALL\n{made}\n"
        "m = sandbox.start(Spec((), {'PATH': '/usr/bin:/bin'}, SMALL, 'none'))\n"
        f"m.exec(['sh', '-c', 'setsid sleep {SLEEP} & sleep {SLEEP}'])\n"
        "print('up', flush=True); time.sleep(60)\n"
    )
    sandboxes("docker" if "Docker" in made else "bubblewrap")
    runner = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]
    )
    assert runner.stdout is not None
    assert runner.stdout.readline() == "up\n"
    until = time.monotonic() + 10
    while len(_sleepers()) < 2:
        assert time.monotonic() < until
        time.sleep(0.05)
    os.kill(runner.pid, signal.SIGKILL)
    runner.wait()
    while _sleepers():
        assert time.monotonic() < until, "processes of the machine outlived the runner"
        time.sleep(0.05)


def _sleepers() -> list[str]:
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = place.read_bytes().split(b"\0")
        except OSError:
            continue
        if words[:2] == [b"sleep", str(SLEEP).encode()]:
            found.append(place.parent.name)
    return found


def test_a_machine_whose_limits_cannot_be_tried_is_not_said_to_hold_them(sandbox, monkeypatch):
    monkeypatch.setattr("runner.sandbox.probe.REACH", "raise SystemExit('no')")
    with pytest.raises(MachineError, match=r"could not be tried .*: no"):
        probe(sandbox, SMALL)


# A disk that is memory has room for as many files as the computer's memory: only its bytes are limited there.
@pytest.mark.parametrize("sandbox", ["docker"], indirect=True)
def test_a_disk_without_room_for_another_file_is_full(start):
    machine = start(limits=SMALL._replace(disk_bytes=4 << 20))
    status, said = shell(machine, "cd /tmp; i=0; while : > $i; do i=$((i+1)); done 2>&1; echo $i", seconds=60)
    assert "No space left on device" in said
    assert machine.stop().disk_full


def test_a_machine_over_its_memory_with_nothing_but_small_programs_keeps_its_first_process(start):
    machine = start()
    status, said = shell(
        machine, "for i in $(seq 20); do head -c 14000000 /dev/zero | tail > /dev/null & done; wait; echo end"
    )
    assert "end" in said
    assert shell(machine, "echo still")[1] == "still\n"


def test_a_program_that_went_to_the_background_does_not_outlive_the_stop_at_the_process_limit(start):
    machine = start()
    machine.exec(["sh", "-c", "bomb() { bomb | bomb & }; bomb"])
    time.sleep(1)
    began = time.monotonic()
    machine.stop()
    assert time.monotonic() - began < 5
    assert shell(machine, "ls -d /proc/[0-9]* | wc -l")[1].strip() in ("3", "4", "5")


def test_what_a_hostile_program_may_do_to_rights_and_users_is_nothing(start):
    machine = start()
    status, said = shell(
        machine,
        "grep -E 'Cap(Inh|Prm|Eff|Amb)' /proc/self/status | cut -f2 | sort -u; grep NoNewPrivs /proc/self/status; "
        "ls /var/run/docker.sock /argusic/door/socket 2>&1 | grep -c 'No such'; "
        "su -c id 2>&1; kill -9 1; mount -t tmpfs x /mnt",
    )
    assert said.splitlines()[0] == "0000000000000000"
    assert "NoNewPrivs:\t1" in said
    assert "\n2\n" in said
    assert "uid=0" not in said
    assert shell(machine, "id -u")[1] == "1000\n"
