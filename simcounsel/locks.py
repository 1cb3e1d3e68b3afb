"""A folder that one process at a time writes."""

from pathlib import Path

from filelock import FileLock, Timeout

from simcounsel.errors import SimcounselError


def taken(
    file: Path,
    busy: str,
    error: type[SimcounselError],
    remedy: str = "copy it to where you may write",
) -> FileLock:
    """The lock, taken; it is released by its `release`, or at the latest when the process ends.
    busy: what to say when another process holds it. remedy: for a folder that cannot be written.
    """
    lock = FileLock(str(file))
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise error(f"{file.parent}: {busy}") from None
    except OSError as cause:
        if file.is_dir():
            raise error(
                f"{file}: a folder stands where the lock is to be; remove that folder"
            ) from None
        raise error(
            f"{file.parent}: cannot be written ({cause.strerror or cause}); {remedy}"
        ) from None
    return lock
