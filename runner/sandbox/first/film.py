"""The film of the virtual display, where one comes up.

It is made as a third user: what is filmed can be stopped or changed by nothing inside. Where the machine is no
container (bubblewrap) there is only one user, who could.
"""

from __future__ import annotations

import contextlib
import os
import signal

from .users import leave_for, ordinary_signals

DISPLAY = ":99"
DISPLAY_SOCKET = "/tmp/.X11-unix/X99"
HARNESS = "/argusic/harness"
"""A folder that only the harness's own user can write."""
FFMPEG = "/usr/bin/ffmpeg"
FILM_BYTES = 300 << 20
"""All films of a machine together."""
FILM_END_BYTES = 1 << 20
FILMS = 8
FILM_TRIES = 2
"""How often the film of one display is begun."""
FILM_END_SECONDS = 1.0
"""How long a film may take to write its last frames."""


class Film:
    """The films of one machine. A display that ends ends its film; another display is another film."""

    def __init__(self, user: int | None) -> None:
        self.user = user
        self.possible = os.access(FFMPEG, os.X_OK)
        self.pid = 0
        self.paths: list[str] = []
        self.trouble: list[tuple[str, str]] = []
        self.display = (0, 0)
        self.tries = 0

    def watch(self) -> None:
        """Begins a film where a display is there and none is made of it. Where there is none, this costs one call."""
        if self.pid or not self.possible:
            return
        try:
            found = os.stat(DISPLAY_SOCKET, follow_symlinks=False)  # noqa: PTH116 - quicker
        except OSError:
            return
        if not listens(DISPLAY_SOCKET):  # What a display that was killed has left.
            return
        if self.display != (found.st_ino, found.st_ctime_ns):
            self.display, self.tries = (found.st_ino, found.st_ctime_ns), 0
        left = FILM_BYTES - sum(size for _, size in self.made())
        if left < FILM_END_BYTES:
            self.possible = False
            self.trouble.append(("video-ceiling", f"the display was filmed up to {FILM_BYTES} bytes and no further"))
        elif self.tries < FILM_TRIES and len(self.paths) < FILMS:
            # Where the machine has no process left, the next look tries again.
            with contextlib.suppress(OSError):
                self.begin(left)
        elif self.tries == FILM_TRIES or len(self.paths) == FILMS:
            self.tries = FILM_TRIES + 1
            said = ""
            with contextlib.suppress(OSError), open(f"{HARNESS}/said", "rb") as file:
                said = ascii(file.read(300).decode(errors="replace"))
            self.trouble.append(("video-lost", f"the display was there, and filming it ended: {said}"))

    def begin(self, most_bytes: int) -> None:
        path = f"{HARNESS}/session-{len(self.paths) + 1}.mp4"
        self.pid = os.fork()
        if self.pid:
            self.tries += 1
            self.paths.append(path)
            return
        try:
            os.setsid()
            os.closerange(0, 1024)
            os.open("/dev/null", os.O_RDWR)
            os.dup(0)
            ordinary_signals()
            if self.user is not None:
                leave_for(self.user)
            os.open(f"{HARNESS}/said", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o644)
            # The pointer is drawn because asking for it is what tells that the display has gone: without it the film
            # of a dead display goes on.
            words = [FFMPEG, "-nostdin", "-v", "error", "-f", "x11grab", "-framerate", "10", "-draw_mouse", "1"]
            words += ["-i", DISPLAY]
            # The codec takes even sizes only.
            words += ["-vf", "crop=trunc(iw/2)*2:trunc(ih/2)*2,format=yuv420p", "-c:v", "libx264", "-threads", "1"]
            # A fragment every two seconds, written out at once: what was cut off decodes up to there.
            words += [
                "-preset",
                "ultrafast",
                "-maxrate",
                "450k",
                "-bufsize",
                "2M",
                "-g",
                "20",
                "-movflags",
                "+frag_keyframe+empty_moov",
            ]
            words += ["-flush_packets", "1", "-fs", str(most_bytes), "-y", path]
            os.execve(FFMPEG, words, {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"})
        finally:
            os._exit(127)

    def ended(self, pid: int) -> None:
        if pid == self.pid:
            self.pid = 0

    def finish(self) -> None:
        """Asks for the end of the film; no other is begun, for what comes now is not the agent's."""
        self.possible = False
        if self.pid:
            os.kill(self.pid, signal.SIGINT)

    def made(self) -> list[tuple[str, int]]:
        """Files and their bytes."""
        found = []
        for path in self.paths:
            with contextlib.suppress(OSError):
                found.append((path, os.stat(path).st_size))  # noqa: PTH116
        return found


def listens(path: str) -> bool:
    """Whether something in this network waits for calls at the socket of this path."""
    try:
        with open("/proc/net/unix", "rb") as lines:
            return any(line.split()[3] == b"00010000" and line.endswith(f" {path}\n".encode()) for line in lines)
    except OSError:
        return False
