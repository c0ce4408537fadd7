"""Where the chromium is that the page is tested in; as a program: get one, or say that it cannot.

An installed browser is used. Else Debian's package is installed, where that is allowed; else
playwright's own browser is downloaded. `make test` runs this first.
"""

import os
import shutil
import subprocess
import sys

INSTALLED = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
NAMED = "TRUERISK_CHROMIUM"
DEBIAN = ("apt-get", "install", "-y", "-q", "--no-install-recommends", "chromium")
NONE = (
    "the report is tested in a real browser, and there is none: no {installed} on the PATH, "
    "Debian's chromium could not be installed (that needs root and a Debian mirror), and "
    "playwright could not download its own. Install chromium, or name one, {named}=/path/to/chrome"
)


def find() -> str | None:
    """The path of a chromium that runs: a named one, an installed one, playwright's own."""
    named = os.environ.get(NAMED)
    if named:
        return named if runs(named) else None
    for word in INSTALLED:
        path = shutil.which(word)
        if path and runs(path):
            return path
    own = playwrights_own()
    return own if runs(own) else None


def runs(path: str) -> bool:
    """Whether the program exists and tells its version."""
    try:
        done = subprocess.run([path, "--version"], capture_output=True, timeout=60, check=False)
    except OSError:
        return False
    return done.returncode == 0


def playwrights_own() -> str:
    """Where playwright puts its download."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        return playwright.chromium.executable_path


def install() -> None:
    """Debian's package as root, then playwright's download; neither may fail loudly."""
    if os.geteuid() == 0 and shutil.which("apt-get"):
        print("installing Debian's chromium", flush=True)
        quietly("apt-get", "update", "-q")
        if quietly(*DEBIAN) and find():
            return
    print("downloading playwright's chromium", flush=True)
    quietly(sys.executable, "-m", "playwright", "install", "chromium")


def quietly(*command: str) -> bool:
    """Run a command; what it says is shown where it fails."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, env=environment, check=False
    )
    if done.returncode:
        said = (done.stdout + done.stderr).decode(errors="replace").strip().splitlines()
        print(f"{' '.join(command)}: {said[-1] if said else 'failed'}", file=sys.stderr)
    return done.returncode == 0


def main() -> int:
    """0 where there is a browser at the end."""
    if find() is None:
        install()
    if find() is None:
        print(NONE.format(installed=", ".join(INSTALLED), named=NAMED), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
