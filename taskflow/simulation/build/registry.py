"""The class of the system that a case names."""

from taskflow.errors import BadInput
from taskflow.simulation.build.projection import Projection
from taskflow.simulation.build.system import System
from taskflow.simulation.case import Case


def system(case: Case) -> type[System]:
    """The projection where a case names none. Raises BadInput where what a package registers is no System."""
    registered = case.system or Projection
    if not (isinstance(registered, type) and issubclass(registered, System)):
        raise BadInput(f"method.type: its package registers {registered!r}; it has to be a subclass of System")
    return registered
