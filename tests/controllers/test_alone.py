"""A controller is loaded alone by its name; all are loaded for a list of them."""

import subprocess
import sys

CODE = """
import sys
from covey.controllers import controllers, laws

def loaded():
    return {name for name in sys.modules if name.startswith("covey.controllers.")}

assert controllers.get("minpos").__name__ == "minpos"
assert "covey.controllers.exploration.minpos" in loaded()
assert not {"covey.controllers.shelf", "covey.controllers.exploration.tnf"} & loaded()
assert controllers.get("voronoi_coverage") is controllers.get("partitioned_coverage")  # its old name
assert "tnf" in controllers.names()
from covey.controllers import Wander
assert controllers.get("wander") is Wander
"""


def test_a_controller_is_loaded_alone_by_its_name():
    subprocess.run([sys.executable, "-c", CODE], check=True)
