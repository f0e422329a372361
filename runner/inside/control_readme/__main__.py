"""`python3 /argusic/inside/control_readme`: one attempt by the README control agent."""

import runpy
import sys
from pathlib import Path

if not __package__:  # started by its folder: start again as a package, so that relative imports work
    sys.path[0] = str(Path(__file__).resolve().parents[1])
    runpy.run_module("control_readme", run_name="__main__", alter_sys=True)
else:
    from .attempt import main

    sys.exit(main())
