"""What to write in place of a name that nobody knows."""

import difflib


def suggest(name: str, known: list[str]) -> str:
    """What to write in place of a name that is not known: the one most like it, or all there
    are.
    """
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.4)
    return f'did you mean "{near[0]}"?' if near else f"there are {', '.join(sorted(known))}"
