"""The base of every record that a user writes in a file or passes in Python."""

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """A frozen typed record: unknown keys are refused, and a change is a copy (`model_copy(update=...)`)."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, validate_default=True)
