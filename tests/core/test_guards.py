"""The ready-made hooks, from the attacker's side too."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from smoke_monkey_nb import create_agent, guards, secrets, tool
from smoke_monkey_nb.testing import ScriptedProvider, calls

from .helpers import of, run

A = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJ"
HEX = "0123456789abcdef" * 4


@pytest.mark.parametrize(
    "secret",
    [
        f"sk-{A}", f"sk-proj-{A}", f"sk-ant-api03-{A}", f"sk-or-v1-{HEX}", f"gsk_{A}", f"xai-{A}",
        f"nvapi-{A}", f"hf_{A[:34]}", f"AIza{A[:35]}", "AKIAIOSFODNN7EXAMPLE", f"ghp_{A[:36]}",
        f"github_pat_{A}", f"glpat-{A[:20]}", "xoxb-123456789012-abcdefghijkl", f"sk_live_{A[:24]}",
        f"SG.{A[:22]}.{A[:43]}", f"npm_{A[:36]}", f"pypi-AgEIcHlwaS5vcmc{A}", f"dapi{HEX[:32]}",
        f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.{A}", f"hvs.{A[:24]}", f"dop_v1_{HEX}",
    ],
)  # fmt: skip
def test_keys_are_found_by_their_shape(secret: str) -> None:
    for text in (secret, f"key={secret}.", f'{{"k": "{secret}"}}', f"https://x/?t={secret}&y=1"):
        assert secret not in secrets.redact(text)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("postgres://bob:hunter2@db/prod", "hunter2"),
        ("Authorization: Bearer abcdefgh12345678xyz", "abcdefgh12345678xyz"),
        ("password = 'correct-horse'", "correct-horse"),
        ('{"api_key": "0123456789"}', "0123456789"),
        ('"{\\"client_secret\\": \\"abcd1234efgh\\"}"', "abcd1234efgh"),
        ("AccountKey=abc123def456==;Endpoint=x", "abc123def456"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "MIIE"),
        ("-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNz", "b3BlbnNz"),
    ],
)
def test_secrets_are_found_by_their_place(text: str, secret: str) -> None:
    assert secret not in secrets.redact(text)


@pytest.mark.parametrize(
    "text",
    [
        "a task-force of sk-learn users", "sk-learn", "the password is secret", "api_key=None",
        "password = os.environ['PW']", "token count: 1200", "https://example.org/a:b@c",
        "risk-adjusted returns", "ghp_short", "key: value", "secretary", "AKIA", "hf_model",
        "commit 0123456789abcdef0123456789abcdef01234567", "postgres://db/prod", "max_tokens=4096",
        "df['password'].isna().sum()", "-----BEGIN CERTIFICATE-----", "user@example.org",
    ],
)  # fmt: skip
def test_near_misses_stay(text: str) -> None:
    assert secrets.redact(text) == text


def test_values_of_secret_named_variables_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAREHOUSE_PASSWORD", "plain words 42")
    assert "plain words 42" not in secrets.redact(
        "it is plain words 42", secrets.environment_values()
    )


async def test_redact_secrets_masks_what_is_sent_and_leaves_the_conversation() -> None:
    provider = ScriptedProvider(["ok"])
    agent = create_agent(model=provider, tools=[], hooks=guards.redact_secrets())
    await agent.run(f"use sk-{A}")
    assert A not in json.dumps(list(provider.requests[0].messages))
    assert A in agent.messages[0]["content"]


@pytest.mark.parametrize("redact_results", [True, False])
async def test_tool_results_are_masked_on_demand(redact_results: bool) -> None:
    @tool(read_only=True)
    def leak() -> str:
        return f"sk-{A}"

    provider = ScriptedProvider([calls(("leak", {})), "ok"])
    hooks = guards.redact_secrets(redact_results=redact_results)
    await create_agent(model=provider, tools=[leak], hooks=hooks).run("go")
    sent = json.dumps(list(provider.requests[1].messages))
    assert (A in sent) is not redact_results


def denied(call_input: dict[str, Any], workspace: str, *patterns: str) -> bool:
    hook = guards.deny_paths(*patterns).functions("before_tool_call")[0]
    return hook(SimpleNamespace(input=call_input, workspace=workspace)) is not None


@pytest.mark.parametrize(
    "call_input",
    [
        {"path": ".env"}, {"path": "./.env"}, {"path": "a/../.env"}, {"path": "sub/prod.env"},
        {"path": "file://.env"}, {"path": ".ENV"}, {"path": ".git/config"}, {"path": ".git"},
        {"command": "cat .env"}, {"command": "cat <.env"}, {"command": "cat a;cat .env"},
        {"command": "dd if=.env"}, {"code": "open('.env').read()"}, {"code": "!cat .env"},
        {"code": "import os\nos.system('cat .env')"}, {"path": "link"}, {"file_path": ".env"},
    ],
)  # fmt: skip
def test_deny_paths_blocks(call_input: dict[str, Any], tmp_path: Any) -> None:
    (tmp_path / ".env").write_text("x")
    (tmp_path / "link").symlink_to(".env")
    assert denied(call_input, str(tmp_path), "*.env", ".git/**")


@pytest.mark.parametrize(
    "call_input",
    [{"path": "a.txt"}, {"path": "environment.yml"}, {"code": "x = 1"}, {"command": "ls"},
     {"content": ".env", "path": "notes.md"}, {"path": ".gitignore"}],
)  # fmt: skip
def test_deny_paths_lets_others_through(call_input: dict[str, Any], tmp_path: Any) -> None:
    assert not denied(call_input, str(tmp_path), "*.env", ".git/**")


@tool(read_only=True)
def look(n: int = 0) -> str:
    """Look."""
    return f"seen {n}"


async def test_allow_tools_blocks_the_others() -> None:
    replies = [calls(("look", {})), "ok"]
    _, events, _ = await run(replies, tools=[look], hooks=guards.allow_tools("read_*"))
    assert of(events, "tool.failed")[0]["error_info"].code == "tool_blocked"


async def test_max_calls_counts_within_a_run() -> None:
    replies = [calls(*(("look", {"n": n}) for n in range(3))), "ok"]
    _, events, _ = await run(replies, tools=[look], hooks=guards.max_calls("look", 2))
    assert (len(of(events, "tool.completed")), len(of(events, "tool.failed"))) == (2, 1)


async def test_audit_log_writes_a_line_a_call(tmp_path: Any) -> None:
    path = tmp_path / "audit.jsonl"
    await run([calls(("look", {})), "ok"], tools=[look], hooks=guards.audit_log(path))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["kind"] for line in lines] == ["model_call", "tool_call", "model_call"]
    assert lines[1]["result"] == "seen 0"
    assert path.stat().st_mode & 0o777 == 0o600
