"""A docker machine beside the bare calls to its engine, and how soon it is gone with everything that wants to stay."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from archive.errors import MachineError
from benchmarks.attempt import AtHand, before_proof
from benchmarks.measure import Measured, median
from bot.plan import write_plan
from runner import attempt as attempt_module
from runner.attempt import Attempt
from runner.condition import Condition, condition
from runner.machine import LIMITS, spec
from runner.recorder import Recorder
from runner.sandbox.container import Docker
from runner.spool import remove
from runner.watch import Halt, watch
from tests.support.make import declare

TURNS = 9
ALONE, TOGETHER, GONE_MS, CPU_PERCENT = 1.3, 1.2, 1000, 2.0
ESCAPES = """
trap '' TERM HUP INT QUIT
setsid sleep 1000 &
nohup sleep 1001 >/dev/null 2>&1 &
(setsid sh -c 'sleep 1002 & sleep 1003' &)
sh -c 'trap "" TERM HUP INT; while :; do sleep 1; done' &
tail -f /dev/null &
python3 -c 'import os, time; os.fork() and os._exit(0); os.setsid(); os.fork() and os._exit(0); time.sleep(1004)' &
python3 -c 'import signal, time; [signal.signal(n, signal.SIG_IGN) for n in (1, 2, 3, 15)]; time.sleep(1005)' &
setsid sh -c 'exec </dev/tty >/dev/tty 2>&1; while :; do echo still here; sleep 0.1; done' &
sh -c 'kill -STOP $$' &
sh -c 'b() { b | b & }; b' >/dev/null 2>&1 &
sleep 0.7; echo all here; sleep 1000
"""
"""Ten ways to outlive one's end: sessions, nohup, double forks, ignored signals, a held terminal, a fork bomb, …"""
ORDINARY = "import time\nfor n in range(150):\n    print(n, 'x' * 70, flush=True)\n    time.sleep(0.02)\n"


def bench() -> list[Measured]:
    """Nothing where no engine answers."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        root.chmod(0o755)
        try:
            docker = Docker(root / "machines")
        except MachineError as error:
            return [Measured("docker machine", f"not measured: {error}", "", True)]
        declare(
            root, "pkg:pypi/six@1.17.0", agents=[], controls=["control-nop"], demonstration=True, sandboxes=["docker"]
        )
        write_plan(root, "first")
        ready = condition(root, "first", docker, None)
        attempt_module.source = lambda _: AtHand()  # type: ignore[assignment,return-value]
        agent = ready.agents["control-nop"].model_copy(update={"harness": "control-nop"})
        ready = ready._replace(agents={"control-nop": agent})
        return [*_overhead(ready, docker), _teardown(docker), _recorder(docker, root)]


def _overhead(ready: Condition, docker: Docker) -> list[Measured]:
    jobs = iter(list(ready.plan.jobs) * 100)

    def ours() -> float:
        record = Attempt(ready, next(jobs), Halt()).make()
        assert record.outcome == "fail", record
        remove(ready.root / ".argusic/spool" / record.run)
        return before_proof(ready, record)

    alone: dict[Callable[[], float], list[float]] = {ours: [], lambda: _ms(lambda: _bare(docker)): []}
    for _ in range(TURNS):
        for measure, times in alone.items():
            times.append(measure())
    mine, bare = (median(times) for times in alone.values())
    # By turns, so that other work on this computer falls on both.
    together = [(_four(lambda: _nop(docker)), _four(lambda: _bare(docker))) for _ in range(TURNS)]
    four, bare_four = (median(list(times)) for times in zip(*together, strict=True))
    return [
        Measured(
            "attempt with control-nop, up to its proof, over create, start, exec, remove",
            f"{mine:.0f} ms against {bare:.0f} ms: {mine / bare:.2f} ×",
            f"≤ {ALONE} ×",
            mine / bare <= ALONE,
        ),
        Measured(
            "four machines side by side over the bare calls",
            f"{four:.0f} ms against {bare_four:.0f} ms: {four / bare_four:.2f} ×",
            f"≤ {TOGETHER} ×",
            four / bare_four <= TOGETHER,
        ),
    ]


def _bare(docker: Docker) -> None:
    """What `docker run` and `docker exec` do, through the SDK, with the same limits."""
    api = docker.engine
    host = api.create_host_config(
        network_mode="bridge",
        mem_limit=LIMITS.memory_bytes,
        nano_cpus=LIMITS.cpus * 10**9,
        pids_limit=LIMITS.processes,
        cap_drop=["ALL"],
        security_opt=["no-new-privileges"],
        init=True,
        log_config={"Type": "none"},
    )
    made = api.create_container(docker.image, ["sleep", "1000"], tty=True, host_config=host)["Id"]
    api.start(made)
    run = api.exec_create(made, ["true"], tty=True)["Id"]
    api.exec_start(run)
    while api.exec_inspect(run)["Running"]:
        time.sleep(0.005)
    api.remove_container(made, force=True)


def _nop(docker: Docker) -> None:
    with tempfile.TemporaryDirectory() as name:
        machine = docker.start(spec(docker, (), None))
        recorder = Recorder(Path(name), b"benchmark", 0)
        watch(machine.exec(["true"]), recorder, seconds=60, most_bytes=1 << 30, halt=Halt())
        machine.stop()
        recorder.close()
        machine.destroy()


def _four(call: Callable[[], None]) -> float:
    with ThreadPoolExecutor(4) as pool:
        return _ms(lambda: list(pool.map(lambda _: call(), range(4))))


def _ms(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return (time.perf_counter() - began) * 1000


def _teardown(docker: Docker) -> Measured:
    times, left = [], 0
    for _ in range(TURNS):
        machine = docker.start(spec(docker, (), None, LIMITS._replace(processes=256)))
        with tempfile.TemporaryDirectory() as name:
            recorder = Recorder(Path(name), b"benchmark", 0)
            watch(machine.exec(["sh", "-c", ESCAPES]), recorder, seconds=2, most_bytes=1 << 30, halt=Halt())
            began = time.perf_counter()
            machine.stop()
            recorder.close()
            machine.destroy()
            times.append((time.perf_counter() - began) * 1000)
        left += sum(b"100" in words and words.startswith(b"sleep\0") for words in _commands())
    value = f"{median(times):.0f} ms, worst {max(times):.0f} ms, {left} processes left"
    return Measured(
        "end of a machine with ten escapes alive", value, f"≤ {GONE_MS} ms", median(times) <= GONE_MS and not left
    )


def _commands() -> list[bytes]:
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(place.read_bytes())
        except OSError:
            continue
    return found


def _recorder(docker: Docker, root: Path) -> Measured:
    machine = docker.start(spec(docker, (), None))
    try:
        recorder = Recorder(root, b"benchmark", 0)
        session = machine.exec([docker.python, "-c", ORDINARY])
        before, began = sum(os.times()[:2]), time.perf_counter()
        watch(session, recorder, seconds=60, most_bytes=1 << 30, halt=Halt())
        used, wall = sum(os.times()[:2]) - before, time.perf_counter() - began
        recorder.close()
    finally:
        machine.destroy()
    percent = 100 * used / wall
    return Measured(
        "recorder at fifty lines a second",
        f"{percent:.1f} % of a processor",
        f"≤ {CPU_PERCENT} %",
        percent <= CPU_PERCENT,
    )
