"""The command ``holdfast``; says what to install if its parts are missing."""

import sys


def main() -> None:
    """Run the command line."""
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
