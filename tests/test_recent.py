"""What is kept of earlier runs in a process."""

from covey.recent import Recent


def test_an_equal_thing_is_made_once_and_the_oldest_is_forgotten():
    made: list[str] = []
    recent: Recent[str] = Recent(9.0, len)

    def get(name: str) -> str:
        def make() -> str:
            made.append(name)
            return name * 3

        return recent.get(name, make)

    assert [get(name) for name in "abac"] == ["aaa", "bbb", "aaa", "ccc"]
    assert made == ["a", "b", "c"]
    assert [get(name) for name in "dab"] == ["ddd", "aaa", "bbb"]
    assert made == ["a", "b", "c", "d", "b"]  # d did not fit beside three, of which b was asked for the longest ago


def test_what_is_too_large_is_not_kept_and_drives_nothing_out():
    recent: Recent[str] = Recent(3.0, len)
    recent.get("small", lambda: "x")
    assert recent.get("large", lambda: "12345") == "12345"
    assert recent.get("small", lambda: "other") == "x"
    assert recent.get("large", lambda: "again") == "again"
