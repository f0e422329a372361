"""What one attempt was: facts only, immutable. Three questions are three fields: validity, outcome, incidents."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from archive.edits import Kind
from archive.model import Commitment, Digest, Instant, Model, Slug
from archive.plan import Harness, JobId, JobPurpose, RunId
from archive.reasons import Outcome, Reason, Validity
from archive.report import Report
from archive.subject import Tier
from archive.usage import UsageReading

Whole = Annotated[int, Field(ge=0)]
Note = Annotated[str, StringConstraints(max_length=2000)]
Guarantee = Literal["enforced", "watched", "absent"]


class Incident(Model):
    """Something worth knowing that changes neither validity nor outcome."""

    kind: Literal[
        "clock-jump",
        "disk-limit",
        "large-files-elsewhere",
        "memory-limit",
        "output-ceiling",
        "process-limit",
        "report-counts-differ",
        "report-refused",
        "suspended",
        "subject-moved",
        "submodule-missing",
        "video-ceiling",
        "video-lost",
        "video-undecodable",
    ]
    detail: Note


class Limit(Model):
    """One limit of the machine and how well this sandbox holds it."""

    value: Whole | None
    """Bytes, processes, or null where there is no number to state."""
    guarantee: Guarantee


class Environment(Model):
    """Where the attempt was made."""

    sandbox: Literal["bubblewrap", "docker"]
    image: Digest | None
    """Image digest; null where the sandbox shares the runner's own system folders."""
    system: str
    """Name and version of the operating system inside."""
    architecture: str
    python: str
    """Version of the Python inside."""
    limits: dict[str, Limit]
    network: Literal["open", "none"]
    extra_ca: Digest | None
    """Digest of an additional certificate authority given to the machine; null on an ordinary network."""
    harness: Harness
    runner: Slug
    """Opaque name of the runner."""


class Times(Model):
    """Durations in milliseconds by a monotonic clock; null where the step was not reached."""

    started_at: Instant
    """Wall-clock time at which the attempt began, UTC."""
    fetch_ms: Whole | None
    agent_ms: Whole | None
    """From the agent's start to its end: what the budget limits."""
    replay_ms: Whole | None
    total_ms: Whole


class Fetched(Model):
    """A file of the subject that the harness itself fetched."""

    name: Annotated[str, StringConstraints(pattern=r"^[\x21-\x7e]{1,255}$")]
    bytes: Whole
    digest: Digest


class Claims(Model):
    """What the machine could confirm of the report, without judging it."""

    seen: Literal["yes", "no", "unknown"]
    """Whether the verifying command stands in the session's command log."""
    kind: Literal["decodes", "probes", "unknown"]
    """Whether the verifying command can decode a result or only probe for one."""
    replay: Literal["same", "differs", "failed", "timed-out", "needs-live-process", "not-run"]
    """What the verifying command did when the harness ran it once more after the agent's end."""
    replay_exit: int | None
    replay_returned: Note | None


class Program(Model):
    """The program of an agent with a model, as it was installed for the attempt."""

    registry: Literal["npm", "pypi"]
    name: str
    version: str
    bytes: Whole
    digest: Digest
    """Over path, mode and content of every installed file."""


class Key(Model):
    """The model key of the attempt."""

    kind: Literal["none", "own", "shared"]
    broker: Literal["openrouter", "litellm"] | None
    id: Annotated[str, StringConstraints(pattern=r"^[\x21-\x7e]{1,200}$")] | None
    """What its broker calls it; nothing can be asked of a model with that."""
    cap_micro_usd: Whole | None
    spent_micro_usd: Whole | None
    """What the broker counted when all was settled: the only money that a record knows."""
    expires_at: Instant | None
    """When the key ends by itself."""
    deletion_confirmed: bool | None
    """Whether its broker confirmed, when the record was made, that the key is gone; null where there is no own key."""

    @classmethod
    def none(cls) -> Key:
        """The agent needs no key."""
        return cls.model_construct(kind="none", **dict.fromkeys(list(cls.model_fields)[1:]))

    @classmethod
    def shared(cls) -> Key:
        """A key that other attempts and people use too: nothing of it is this attempt's alone."""
        return cls.model_construct(kind="shared", **dict.fromkeys(list(cls.model_fields)[1:]))


EndedBy = Literal["agent", "budget", "memory-limit", "output-ceiling", "key-cap", "model-context", "harness"]
ReportState = Literal["read", "missing", "refused", "not-reached"]
Role = Literal[
    "recording", "terminal", "timing", "log", "report", "session", "stdout", "stderr", "replay", "video", "screenshot"
]


class Evidence(Model):
    """One stored file of the attempt."""

    role: Role
    media_type: str
    bytes: Whole
    digest: Digest
    """Of the served bytes."""
    arrived: Commitment
    """Keyed commitment to the bytes as they arrived, before masking."""
    stage1: Commitment
    """Keyed commitment to the bytes with credentials wiped and generated keys intact: what is archived for good."""
    manifests: tuple[Digest, ...]
    """Of the manifest of each stage that changed something, in order; a recording is made from the served terminal."""
    masked: dict[Kind, Whole]
    """How many spans of each kind were masked; kinds without one are left out."""


class Record(Model):
    """results/records/<cycle>/<xx>/<run>.json."""

    schema_version: Literal[1]
    run: RunId
    cycle: Slug
    job: JobId
    purpose: JobPurpose
    subject: str
    source_type: Slug
    agent: Slug
    agent_digest: Digest
    attempt: Annotated[int, Field(ge=1)]
    edition: str
    tier: Tier
    budget_minutes: Annotated[int, Field(gt=0)]
    validity: Validity
    reason: Reason | None
    """Why it is invalid or withheld; null when valid."""
    reason_detail: Note | None
    outcome: Outcome | None
    """Null unless valid."""
    ended_by: EndedBy
    """Whose decision the end of the agent's work was."""
    agent_exit: int | None
    """Exit status of the agent program; never evidence of anything."""
    incidents: tuple[Incident, ...]
    environment: Environment
    times: Times
    fetched: tuple[Fetched, ...]
    report_state: ReportState
    report: Report | None
    error_ms: tuple[Whole | None, ...]
    """For each error of the report, when the recording first shows it: milliseconds since the agent's start."""
    claims: Claims | None
    program: Program | None
    """Null for a control."""
    usage: UsageReading
    key: Key
    evidence: tuple[Evidence, ...]
    certificate: Digest | None
    """Of the certificate that proves the evidence clean; null only without evidence."""

    @model_validator(mode="after")
    def _consistent(self) -> Record:
        if (self.validity is Validity.VALID) != (self.reason is None):
            raise ValueError("reason: null for a valid attempt and only for one")
        if (self.validity is Validity.VALID) != (self.outcome is not None):
            raise ValueError("outcome: set for a valid attempt and only for one")
        if (self.report_state == "read") != (self.report is not None):
            raise ValueError("report: set where report_state is read and only there")
        if len(self.error_ms) != (len(self.report.errors) if self.report else 0):
            raise ValueError("error_ms: one for each error of the report")
        if bool(self.evidence) != (self.certificate is not None):
            raise ValueError("certificate: set where there is evidence and only there")
        return self

    @property
    def day(self) -> str:
        """The day on which the attempt began."""
        return self.times.started_at[:10]

    def file(self, role: Role) -> Evidence | None:
        """The evidence of `role`, where there is one."""
        return next((item for item in self.evidence if item.role == role), None)
