"""`python -m saturate`: the same as the command `saturate`."""

from saturate.cli import main

main()
