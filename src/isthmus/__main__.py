"""Let ``python -m isthmus`` be the command ``isthmus``."""

if __name__ == "__main__":
    import os
    import sys

    # Python puts the current directory first, where a file that is named like a library would be
    # run in its place. The package may itself lie there, for those who work on it.
    here = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    if not sys.flags.safe_path and os.path.realpath(sys.path[0]) != here:
        del sys.path[0]

    from isthmus.cli.app import main

    main()
