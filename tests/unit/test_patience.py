"""What our own tests forgive a busy machine, and what not."""

import pytest

from tests.patience import is_sound

LATE = "  doubt  the client's own loop was 653 ms late, more than 500 ms: use fewer agents\n         here\n"
CUT = "  doubt  5 of 6 turns were cut at the end, more than 50 %: let it run or drain for\n         longer\n"


@pytest.mark.parametrize(
    ("status", "printed", "sound"),
    [
        (0, "", True),
        (1, "", False),
        (4, "", False),
        (4, f"a table\n{LATE}  all of it: out\n", True),
        (4, CUT, False),
        (4, LATE + CUT, False),
        (3, LATE, False),
    ],
)
def test_only_lateness_is_forgiven(status: int, printed: str, sound: bool) -> None:
    assert is_sound(status, printed) is sound
