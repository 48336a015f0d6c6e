"""``python -m hubd``: the same as the console script."""

from hubd.cli import main

if __name__ == "__main__":
    main()
