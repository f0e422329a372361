"""The fourteen groups of error lines, in the order in which they are tried, and what makes a line one of them.

Names, order and meanings are the published ones (Argusic, FAILURE_PATTERNS.md, 2026-10-10, CC BY 4.0). The rules were
not published: these are ours, fitted on what was published about lines and groups. A group says what a line is about;
it changes no score, so its rules belong to no edition.
"""

from __future__ import annotations

from typing import NamedTuple


class Group(NamedTuple):
    """One group."""

    id: str
    name: str
    means: str


_FILE = (
    r"[\w@./-]{0,80}\.(?:json|ya?ml|toml|txt|csv|xml|html?|md|env|ini|cfg|lock|py|js|ts|go|jar|zip|tgz|tar|gz|db|pth?)"
)
_LANGUAGE = (
    r"(?:node(?:\.?js)?|python|go|golang|rust\w{0,10}|cargo|php|ruby|java|jdk|\.net|deno|swift|zig|kotlin|perl|elixir"
    r"|npm|pnpm|yarn|bun|gcc|clang|cmake|gradle|maven|typescript|ts|qt|git|glibc|cuda|torch|numpy)"
)
_INSTALLER = (
    r"(?:pip\d?|npm|pnpm|yarn|bun|uv|poetry|conda|cargo|composer|bundler?|gem|mvn|maven|gradle|nuget|apt(?:-get)?)"
)
_TOOL = r"(?:binar(?:y|ies)|compilers?|toolchain|runtime|jdk|sdk|daemon|cli|executables?|browsers?|extensions?)"
_ABSENT = (
    r"(?:not (?:found|present|set|provided|defined|configured|available)|missing|absent|unset|undefined"
    r"|do(?:es)? not exist)"
)
_GONE = (
    r"(?:not (?:found|present|generated|there)|do(?:es)? not exist"
    r"|(?:missing|absent)(?= *(?:$|[.,;:()])| (?:from|in|on|at|after)\b))"
)
_BAD = r"(?:fail|error|block|prevent|conflict|refus|reject|broke|abort|crash|could not|cannot|can't|unable)"
_SECRET = r"(?:api[ _-]?keys?|access[ _-]?keys?|tokens?|secrets?|credentials?|passwords?\b|kubeconfig|\.env\b|env file)"

RULES: tuple[tuple[Group, tuple[str, ...]], ...] = (
    (
        Group("port-in-use", "Port already in use", "A second process wanted a port that was already taken."),
        (
            r"EADDRINUSE|address (?:is )?already in use",
            r"\bports?\b.{0,40}\b(?:in use|taken|occupied|already (?:bound|allocated))",
        ),
    ),
    (
        Group("permission-denied", "Permission denied", "The step needed rights the clean machine user does not have."),
        (
            r"permissions? denied|access (?:is )?denied|operation not permitted",
            r"\b(?:EACCES|EPERM|PermissionError)\b|insufficient (?:permission|privilege)",
            r"not writable|read-only file ?system",
            # Elsewhere "requires root" is why something could not be had, and that is what such a line is about.
            r"\b(?:scripts?|installer|suite)\b.{0,60}\brequires? (?:root|sudo)\b",
            r"\bmust (?:be )?run (?:as|with) (?:root|sudo)\b",
        ),
    ),
    (
        Group(
            "system-library",
            "Missing system library or header",
            "A build or launch step needed a system package that was not installed.",
        ),
        (
            # A header, a development package or a shared object, named as such.
            r"[\w+]\.h\b|\b(?:c|python|glibc|kernel|system|dev\w{0,10}|vulkan|x11|gl) headers?\b|headers/libs",
            r"\bmissing (?:[\w/+.-]{1,60} ){0,4}headers?\b",
            r"\b(?:lib[\w.+-]{1,60}|[\w.+]{1,30}\d|\w{0,30}gtk[\w.-]{0,20}|build|python)-dev(?:el)?\b",
            r"\bdev(?:el(?:opment)?)? packages\b|build-essential",
            r"\.so(?:\.\d+)*\b|\bshared (?:librar|object)|\bld:|\bmusl ld\b",
            r"(?:missing|no|not found|not installed|needs?|requires?|lacks?).{0,40}\blib[a-z][\w+-]{0,40}\d\b",
            # Many at once; a single library that a compile error names is the compile step's.
            r"\bmissing system librar",
            r"\bsystem(?:-level)?(?: build| dev)? (?:libraries|dependencies|deps|packages)\b",
            r"\bpkg-config\b|\b\w{1,40}\.pc\b|(?:find|missing|cannot|unable).{0,30} -l[a-z]\w",
        ),
    ),
    (
        Group(
            "not-installed",
            "Tool, runtime or component not installed",
            "A language, tool or component the project needs was not present on the clean machine.",
        ),
        (
            r"\bnot (?:yet |been )?(?:pre-?)?installed\b|\bno \S{1,40} (?:pre-?)?installed\b",
            r"\bcommand not found|(?:not|nor) (?:found )?(?:in|on) (?:the )?\$?(?:system )?path\b",
            r"\b(?:binary|command) (?:not present|missing)\b|\b(?:not|un)[ -]?available\b",
            # What was not found here is one word, no file and no address, and not something that a registry lacks.
            r"(?<!\S)(?!(?:version|file|directory|module|lockfile)\b)(?!\S{0,80}(?:\.\w{2,5}|://\S{0,80})['\"]? not )"
            r"\S{1,80} (?:was |were )?not found"
            r"(?=$|[.,;:()]| [(,-]| (?:in|on|by)\b(?! (?:the )?(?:pypi|npm|registry)))",
            rf"\bno (?:[\w/.+-]{{1,40}} ){{0,3}}(?:{_TOOL}|interpreter|driver)\b",
            r"\bno (?:docker|java|rust|node|go|python|gpu|cuda|pnpm|npm|pip|gcc|make|cmake)\b",
            rf"\bmissing .{{0,40}}\b(?:{_TOOL}|utilit(?:y|ies)|tools?|make/gcc)\b",
            rf"\b(?:docker|unzip|java|rust|node|chrom\w{{2,4}}|gcc|ffmpeg|{_TOOL}) (?:is |was )?(?:missing|absent)\b",
        ),
    ),
    (
        Group(
            "version",
            "Version mismatch",
            "The tool or language version on the machine did not match what the project asks for.",
        ),
        (
            r"\btoo (?:old|new)\b|\boutdated\b|\bincompatib|unsupported .{0,20}version",
            r"version (?:mismatch|constraint|requirement)|\bengines?\b.{0,20}(?:mismatch|requirement|constraint)",
            # A bound is a version and no size or time: "requires >=24", not "required >120s".
            r"\b(?:requir\w{0,5}|needs?|needed|expects?|wants?)\b.{0,60}[>≥^~]=? ?v?\d(?![\d.]{0,9}(?:s|[gm]i?b)\b)",
            r"\b(?:requir\w{0,5}|needs?|needed|expects?|wants?)\b.{0,60}\bv?\d[\d.]{0,9}(?:\+|\.x| or (?:newer|later))",
            r"\b(?:need\w{0,3}|requir\w{0,5}|pinned|not match\w{0,3})(?: version| pinned)? v?\d+\.\d",
            r"\brequires?\b.{0,40}\d\.\d+.{0,20}\b(?:but|only|installed|have|has|got|found)\b",
            r"\d\.\d+\S{0,20} (?:is |was )?(?:required|needed)\b",
            rf"\b(?:requir\w{{0,5}}|needs?|needed|expects?|only (?:has|have|had))\b.{{0,40}}\b{_LANGUAGE} ?v?\d",
            rf"\b{_LANGUAGE} ?v?\d[\w.]{{0,12}}\+?.{{0,40}}\b(?:lack|incompatib|below|instead of|but|detected"
            r"|does(?: not|n't)|cannot|missing|feature|unsupported)",
            rf"(?<!running )\b(?:on|in|with) {_LANGUAGE}(?: version)? ?v?\d|\({_LANGUAGE} v?\d[\w.]{{0,12}}\+",
            r"\b(?:does|did|do) not (?:satisfy|meet|match) .{0,30}\b(?:version|requirement|engine)",
        ),
    ),
    (
        Group(
            "configuration",
            "Missing configuration or secret",
            "The project expected a setting, key or file that a fresh checkout does not carry.",
        ),
        (
            rf"\b(?:environment|env)[ -]?(?:var\w{{0,6}}|settings?).{{0,40}}\b(?:required|empty|{_ABSENT})",
            r"\b(?:missing|no|requires?|needs?) (?:\S{1,40} ){0,2}(?:environment|env)[ -]?var",
            rf"\b(?-i:[A-Z][A-Z0-9]{{0,20}}(?:_[A-Z0-9]{{1,20}}){{1,8}})\b.{{0,30}}\b(?:required|empty|{_ABSENT})",
            rf"\b{_SECRET}(?: file)?\b.{{0,30}}\b(?:required|invalid|empty|placeholder|{_ABSENT})",
            r"\b(?:missing|no|without|lacks?|requires?|needs?|needing|expects?)(?: \S{1,40}){0,3} "
            rf"\w{{0,40}}{_SECRET}",
            r"\bmissing (?:\S{1,40} ){0,2}config(?:uration)?\b|\b(?:not|un)configured\b",
            r"\bconfig(?:uration)?(?: file)? (?:is |was )?(?:missing|not (?:found|set))",
        ),
    ),
    (
        Group(
            "source",
            "Source or download problem",
            "A repository, submodule or file could not be fetched as the instructions describe.",
        ),
        (
            r"\bgit[ -](?:submodules?|lfs)\b|\bsubmodules? .{0,20}(?:empty|not |missing|uninit)",
            r"\b(?:missing|empty|uninitiali[sz]ed) (?:git )?submodule|checksum (?:mismatch|fail)|\bdead link",
            rf"\b(?:clon|download|fetch|checkout)\w{{0,5}}\b.{{0,40}}\b(?:{_BAD}|404|403|corrupt|truncated)",
            r"(?:fail\w{0,4}|could not|cannot|unable|error) (?:to )?(?:be )?(?:clon|download|fetch|check(?:ed)? ?out)",
            r"\b(?:404|410)\b|\brepository (?:is |was )?(?:not found|private|gone|moved)|\btags? not fetched",
        ),
    ),
    (
        Group(
            "network",
            "Network, timeout or service unreachable",
            "A request or a service call did not complete in time or was refused.",
        ),
        (
            r"(?<!-)\btime[ds]?[ -]?outs?\b|\btiming out\b|\bdeadline exceeded",
            r"\b(?:ECONN(?:REFUSED|RESET)|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|NXDOMAIN|dns)\b|could not resolve host",
            r"\bconnection (?:was )?(?:refused|reset|error|failed|closed|aborted)",
            r"\bunreachable\b|\bno (?:internet|network|outbound)|\bnetwork (?:is |was |access |error|failure|block)",
            r"\b(?:ssl|tls|certificate)\b.{0,30}\b(?:error|fail|verif|handshake|invalid)",
            r"\b(?:429|502|503|504)\b|rate[ -]limited|service unavailable|too many requests",
            r"\bconnect(?:ing)? to\b.{0,40}\b(?:fail|refus|localhost|\d+\.\d+\.\d+\.\d+)",
            r"fail\w{0,4} (?:to connect|connecting) to",
        ),
    ),
    (
        Group(
            "dependencies",
            "Dependency install or resolution failed",
            "Installing or resolving the project's dependencies did not finish cleanly.",
        ),
        (
            r"externally[- ]managed|\bpep[ -]?668\b",
            rf"\b{_INSTALLER}\b.{{0,60}}\b(?:install|ci\b|sync|add\b|resol|restore|lock).{{0,60}}\b{_BAD}",
            rf"{_BAD}\w{{0,4}}\b.{{0,40}}\b{_INSTALLER}\b.{{0,20}}\b(?:install|ci\b|sync|add\b)",
            r"\bdependenc(?:y|ies)\b.{0,40}\b(?:conflict|missing|unresolv|fail|not |resol)|could not satisfy",
            r"\b(?:missing|unmet|conflicting) (?:[\w/.-]{1,60} ){0,4}(?:peer )?dependenc|\bpeer dep",
            r"\bconflict(?:s|ed|ing)? with\b|\bversion conflict|\bERESOLVE\b|\block ?files?\b",
            r"no matching (?:distribution|version)|\bnot (?:found )?(?:on|in) (?:the )?(?:pypi|npm|registry)\b",
            r"ModuleNotFoundError|ERR_MODULE_NOT_FOUND|cannot find (?:module|package)|no module named|module not found",
            r"\bmissing (?:[^\s/]{1,60} ){0,5}['\"]?(?:packages?|modules?|plugins?|extras?|libraries|requirements)"
            r"\b(?!/)",
            r"\b(?:pre|post)-?install\b|\b(?:build|install)[- ]scripts?\b.{0,20}\b(?:block|approv|polic)",
            r"\bblocked by build policy\b",
        ),
    ),
    (
        Group("build", "Build or compile step failed", "A build, compile or import step stopped with an error."),
        (
            r"\b(?:build\w{0,3}|compil\w{0,6}|linker|linking|bundl(?:er|ing)|transpil\w{0,6}|cmake|makefile|webpack|tsc)"
            rf"\b.{{0,40}}\b{_BAD}",
            rf"{_BAD}\w{{0,4}}\b.{{0,20}}\b(?:build|built|compile|compiled|compilation|link|linked|import|imported)\b",
            r"\bbuild\b.{0,40}\b(?:oom|out of memory)\b|\bout of memory (?:during|in) (?:the )?build\b",
            r"\bsyntax ?(?:error|warning)s?\b|\bparse errors?\b|\bImportError\b|\bcircular import",
            r"\bundefined (?:symbol|reference)s?\b|\bTS\d{4}\b",
        ),
    ),
    (
        Group(
            "tests",
            "The project's own tests failed",
            "The project's test suite stopped with failures on the clean machine.",
        ),
        (
            r"(?:\b|_|\d)tests?(?:\b|_|\.)(?:.{0,120}\b)?(?:fail|flak|error)",
            r"\b(?:fail|flak)\w{0,4}\b.{0,60}(?:\b|_)(?:tests?|specs?|suites?|assertions?)(?:\b|_)",
            r"(?-i:\b(?:Test[A-Z]|[A-Z]\w{0,80}Test\b)).{0,120}\b(?:fail|flak|error)",
            r"\.(?:spec|test)\.[jt]sx?\b|_test\.(?:go|py)\b|\btest_\w{1,80}\.py\b",
            r"\bassert(?:ion)?(?:error)?\b|\bcollection errors?\b|\b(?:pytest|vitest|jest)\b.{0,40}\bfail",
        ),
    ),
    (
        Group(
            "file",
            "Expected file or data not present",
            "A file, build output or data set the instructions rely on was not there.",
        ),
        (
            r"\bno such file|\bENOENT\b|FileNotFoundError|\bfile not found|\bdo(?:es)? not exist|\bdoesn't exist",
            rf"{_FILE}['\"`]?(?: file)? (?:is |was |were |are )?{_GONE}",
            rf"\bmissing ['\"`]?(?:{_FILE}\b|[\w.-]{{1,80}}/(?=\W|$))",
            r"\b(?:files?|director(?:y|ies)|folder|data ?sets?|fixtures?|artifacts?|checkpoints?|weights|assets?)\b"
            rf"(?: \S{{1,40}}){{0,2}} (?:is |was |were |are )?{_GONE}",
        ),
    ),
    (
        Group("code", "Error inside the project's code", "The project itself raised an error while running."),
        (
            r"\b(?:Type|Reference|Attribute|Key|Value|Name|Index|Runtime|Range|Unicode\w{6}|ZeroDivision)Error\b",
            r"\w{1,60}Exception\b|\btraceback|\bunhandled\b|\bpanic(?:s|ked)?\b",
            r"\bseg(?:mentation )?fault|SIGSEGV|SIGABRT|n(?:il|ull) pointer",
            r"is not a function|has no attribute|\b(?:is|as|are|and|of) undefined\b",
        ),
    ),
)
"""Each group with its rule: it matches where one of its patterns is found, whatever the case."""

OTHER = Group("other", "Other", "Error lines that fit none of the groups above.")
GROUPS = (*(group for group, _ in RULES), OTHER)
"""All fourteen, in the published order."""
