"""`python -m simcounsel`."""

from simcounsel.cli import main

main()
