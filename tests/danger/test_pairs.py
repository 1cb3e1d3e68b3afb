"""What is said openly is heard in any form, and harmless twins of the same words are not: a sample of the minimal
pairs of tests/benchmarks/minimal_pairs.py, which reads them all.
"""

from tests.benchmarks.minimal_pairs import OPEN, TWINS, is_right, sample


def test_a_sample_of_each_core() -> None:
    pairs = [*sample(of_each=4)]
    assert len(pairs) == 4 * (sum(len(cores) for *_, cores in OPEN) + len(TWINS))
    assert not [pair for pair in pairs if not is_right(pair)]
