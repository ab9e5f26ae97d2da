"""Runs actions one after the other and prints a line of JSON about each."""

import json
import sys
import time
import traceback

WAIT_MAX_S = 60


class Suite:
    """Actions by their names in the suite's table."""

    def __init__(self):
        self.failed = False

    def act(self, name, action):
        """Calls `action`, which returns what was seen, or raises."""
        start = time.monotonic()
        try:
            line = {"action": name, "ok": True, "detail": str(action())}
        except Exception as error:  # whatever it is, the other actions are tried
            traceback.print_exc()
            line = {"action": name, "ok": False, "detail": f"{type(error).__name__}: {error}"}
            self.failed = True
        line["seconds"] = time.monotonic() - start
        self._print(line)

    def cannot(self, name, why):
        """Notes what the client has no call for."""
        self._print({"action": name, "skipped": why})

    def _print(self, line):
        print(json.dumps(line), flush=True)

    def exit(self):
        sys.exit(1 if self.failed else 0)


def check(holds, words):
    """An error when something does not hold; unlike `assert`, also with -O."""
    if not holds:
        raise AssertionError(words)


def wait_until(what, holds):
    """Waits until `holds` returns something true, and returns that."""
    end = time.monotonic() + WAIT_MAX_S
    while True:
        seen = holds()
        if seen:
            return seen
        check(time.monotonic() < end, f"not after {WAIT_MAX_S} s: {what}")
        time.sleep(0.05)
