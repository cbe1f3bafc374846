"""A process that has imported dpdag and runs each command in a fork of itself.

Every command is a process of its own that goes through the entry point; only the seconds of
importing are paid once. One JSON object per line comes in, one goes out.
"""

import json
import os
import resource
import sys
from importlib import import_module

from dpdag.cli import main

for part in ("cli.app", "cli.model_outputs", "cli.options", "cli.summary", "reports"):
    import_module(f"dpdag.{part}")


def run(command: dict) -> None:
    os.chdir(command["cwd"])
    for name, stream in (("stdout", 1), ("stderr", 2)):
        file = os.open(command[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, stream)
    if command["user"] is not None:
        os.setgid(command["user"])
        os.setuid(command["user"])
    if command["max_file"] is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (command["max_file"],) * 2)
    sys.argv = ["dpdag", *command["arguments"]]
    main()


def serve() -> None:
    for line in sys.stdin:
        child = os.fork()
        if not child:
            status = 1
            try:
                run(json.loads(line))
            except SystemExit as error:
                status = error.code if isinstance(error.code, int) else int(error.code is not None)
            except BaseException:
                sys.excepthook(*sys.exc_info())
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(status)
        _, ended = os.waitpid(child, 0)
        print(json.dumps(os.waitstatus_to_exitcode(ended)), flush=True)


if __name__ == "__main__":
    serve()
