"""Units of a case, as labels: [units]."""

import re
from typing import Annotated

from taskflow.cases.formulas.values import checked, text
from taskflow.cases.language.table import Table, optional, reads

_NAME = re.compile(r"[A-Za-zµ°%]+")
Unit = Annotated[str, reads(checked(text, lambda name: bool(_NAME.fullmatch(name)), 'give the name of a unit, as "m"'))]


class UnitsTable(Table):
    """Units in which the numbers of the case are. They label results and pictures, and change no number."""

    length: Unit | None = optional('name, such as "m"', otherwise="none")
    time: Unit | None = optional('name, such as "s"', otherwise="none")
    temperature: Unit | None = optional('name, such as "K"', otherwise="none")
