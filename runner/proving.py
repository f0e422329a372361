"""The last steps of an attempt: its evidence proven clean and stored, its record made."""

from __future__ import annotations

from collections.abc import Callable

from archive import places
from archive.reasons import Reason
from archive.record import Evidence, Record, Role
from archive.store import FolderStore
from runner.checking import Checker, CheckerFailed
from runner.evidence import Bundle
from runner.story import Story


def proven(story: Story, bundle: Bundle, checker: Checker, ms: Callable[[], int]) -> Record:
    """The record of an attempt whose files are all in `bundle`; only what has its certificate is stored.

    Until the attempt's own key is gone for certain that is a store of its own, which nothing is served from. Where
    nothing proves the evidence clean the attempt is withheld. Raises MachineError or OSError where there is no room for
    the check.
    """
    root, store = story.condition.root, story.condition.store
    try:
        bundle.prove(checker, story.texts())
    except CheckerFailed as error:
        bundle.doubts.append(str(error))
    kept: dict[Role, Evidence] = {}
    certificate = None
    if not bundle.doubts:
        try:
            kept, certificate = bundle.keep(store if story.key_gone else FolderStore(places.held(root) / story.run))
        except OSError as error:
            story.trouble = story.trouble or (Reason.INFRA_DISK, str(error))
    bundle.leave()
    return story.record(kept, certificate, bundle.doubts, ms())
