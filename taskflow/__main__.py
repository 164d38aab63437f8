"""`python -m taskflow`: the command, of the interpreter that is named."""

from taskflow.cli import main

if __name__ == "__main__":
    main()
