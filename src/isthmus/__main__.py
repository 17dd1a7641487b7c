"""Let ``python -m isthmus`` be the command ``isthmus``."""

from isthmus.cli.app import main

if __name__ == "__main__":
    main()
