"""Speed and memory, as ratios to the bare ``openai`` client on the same loopback server. A command,
never a test.
"""
