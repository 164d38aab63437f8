"""The terminal: formatted lines, error messages and exit codes of all commands.

It knows no command.
"""
