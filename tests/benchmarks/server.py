"""The loopback server of the benchmarks: replies prepared once, so that it costs next to nothing.

``--deltas N`` answers every request with N text deltas; ``--steps N`` answers the first N requests
of a conversation with one tool call each and then with text (told apart by the number of tool
results, counted in the raw bytes); ``--parallel N`` answers with N calls of the slow tool, then
with text.
"""

from __future__ import annotations

import argparse
import threading

from tests.fault_server import FaultServer, Received, Reply, call, long_text, text, tool_calls


def main() -> None:
    """Print the base URL and serve until killed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--deltas", type=int, default=0)
    parser.add_argument("--steps", type=int, default=0)
    parser.add_argument("--parallel", type=int, default=0)
    options = parser.parse_args()
    done = text("done")
    deltas = long_text(options.deltas) if options.deltas else done
    steps = [tool_calls(call("note", {"n": n}, f"call_{n}")) for n in range(options.steps)]
    parallel = tool_calls(*(call("pause", {"n": n}, f"call_{n}") for n in range(options.parallel)))

    def reply(request: Received) -> Reply:
        answered = request.body.count(b'"role":"tool"') + request.body.count(b'"role": "tool"')
        if options.deltas:
            return deltas
        if options.parallel:
            return done if answered else parallel
        return steps[answered] if answered < options.steps else done

    with FaultServer(reply) as server:
        print(server.base_url, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
