"""The command ``holdfast``; says what to install if its parts are missing."""

import os
import sys


def leave_out_current_folder() -> None:
    """Import nothing from the current folder, where a stranger's ``sklearn.py`` may lie next to a store.

    ``python -m holdfast`` would look there first, and so would the processes that a study starts. A holdfast that lies
    there itself stays.
    """
    home, here = os.path.dirname(os.path.dirname(os.path.abspath(__file__))), os.path.abspath(os.curdir)
    if here == home:
        return
    os.environ["PYTHONSAFEPATH"] = "1"
    if not sys.flags.safe_path and os.path.abspath(sys.path[0]) == here:
        del sys.path[0]


def main() -> None:
    """Run the command line."""
    leave_out_current_folder()
    try:
        import rich
        import typer  # noqa: F401
    except ImportError as error:
        print(f"The command needs {error.name}; install it with: pip install 'holdfast[app]'", file=sys.stderr)
        raise SystemExit(2) from None
    del rich
    from holdfast.cli import run

    run()


if __name__ == "__main__":
    main()
