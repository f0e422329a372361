"""The film of a virtual display, as evidence: the raw video, checked by decoding it, and its last picture for people.

Runs while the machine is stopped, with none of the agent's processes left, in fresh processes of the machine: what
was filmed is never decoded outside of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from runner.evidence import Bundle
from runner.sandbox import HARNESS, FileRefused, Machine, Stopped
from runner.watch import Halt, run

FFMPEG = ["/usr/bin/ffmpeg", "-nostdin", "-v", "error"]
VIDEO_BYTES = 320 << 20
"""More than the first process of a machine lets a film become."""
PICTURE_BYTES = 32 << 20
DECODE_SECONDS = 300.0
PICTURE_SECONDS = 30.0
PICTURE = f"{HARNESS}/screenshot.png"
Trouble = tuple[Literal["video-lost", "video-ceiling", "video-undecodable"], str]


def collect_film(machine: Machine, used: Stopped, bundle: Bundle, halt: Halt) -> Iterator[Trouble]:
    """Adds `video` and `screenshot` to `bundle` where a display was filmed; what is wrong with them."""
    yield from used.film_trouble
    films = [film for film in used.films if film.bytes]
    if not films:
        if used.films and not used.film_trouble:
            yield "video-lost", "the display was there too short a time to be filmed"
        return
    film = max(films, key=lambda film: film.bytes)
    if len(films) > 1:
        yield "video-lost", f"{len(films)} displays were filmed one after the other; the longest film alone is kept"
    video, picture = bundle.spool / "session.mp4", bundle.spool / "screenshot.png"
    try:
        if not machine.copy(film.path, video, VIDEO_BYTES):
            yield "video-lost", "the film is gone"
            return
        bundle.take("video", video)
        # Of the last three seconds each picture replaces the one before.
        last = ["-sseof", "-3", "-i", film.path, "-update", "1", "-y", PICTURE]
        for words, seconds in ((["-i", film.path, "-f", "null", "-"], DECODE_SECONDS), (last, PICTURE_SECONDS)):
            ended, said = run(
                machine.exec([*FFMPEG, *words], "/", harness=True), seconds=seconds, most_bytes=1 << 16, halt=halt
            )
            machine.stop()
            if ended.exit != 0 or said:
                told = ascii(said.decode(errors="replace").strip()[:300])
                yield "video-undecodable", f"{ended.by} after {ended.ms} ms, exit {ended.exit}: {told}"
                return
        if machine.copy(PICTURE, picture, PICTURE_BYTES):
            bundle.take("screenshot", picture)
        else:
            yield "video-undecodable", "no picture could be taken from it"
    except FileRefused as error:
        yield "video-lost", str(error)
