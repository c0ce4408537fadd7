"""Cases that are no problem of learning: a question of what is wrong, to be answered by nothing."""

from dataclasses import dataclass
from typing import ClassVar

__all__ = ["Plain"]


@dataclass(frozen=True)
class Plain:
    """A case with this number; what its script does not define, its question may not name."""

    number: int
    script: ClassVar[str] = ""

    @property
    def question(self) -> str:
        """A call that says what is wrong."""
        raise NotImplementedError

    @property
    def sides(self) -> dict[str, str]:
        return {"auto": f'{{"wrong": {self.question}}}', "generic": '{"wrong": ""}'}
