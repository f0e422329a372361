"""stand-in until the checker lands"""

import sys
from pathlib import Path

values = [line for line in sys.stdin.read().splitlines() if line]
folder = Path(sys.argv[1])
assert folder.is_dir()
(folder / "certificate.json").write_text("{}\n")
