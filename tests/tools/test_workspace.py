"""The path jail, attacked."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from smoke_monkey_nb.tools.errors import MissingFolder, WorkspaceError
from smoke_monkey_nb.tools.workspace import Workspace, looks_secret


@pytest.fixture
def jail(workspace: Path) -> Workspace:
    (workspace / "sub").mkdir()
    (workspace / "sub" / "a.txt").write_text("inside")
    os.symlink("sub", workspace / "to_sub")
    os.symlink(workspace / "sub" / "a.txt", workspace / "absolute_link")
    os.symlink("..", workspace / "up")
    os.symlink("../outside.txt", workspace / "out")
    os.symlink("/etc", workspace / "etc")
    os.symlink("/proc/self/root/etc", workspace / "proc")
    os.symlink("loop", workspace / "loop")
    os.symlink("sub/../../outside.txt", workspace / "sly")
    os.mkfifo(workspace / "fifo")
    return Workspace(workspace)


@pytest.fixture(params=["by handle", "by name"])
def either(
    request: pytest.FixtureRequest, jail: Workspace, monkeypatch: pytest.MonkeyPatch
) -> Workspace:
    """The jail as it is, and as it is on systems without folder handles."""
    if request.param == "by name":
        monkeypatch.setattr("smoke_monkey_nb.tools.workspace._BY_HANDLE", False)
    return jail


def read(jail: Workspace, path: str) -> str:
    with jail.place(path) as place:
        return place.read(1_000_000).decode()


@pytest.mark.parametrize(
    "path",
    [
        "sub/a.txt",
        "./sub//a.txt",
        "to_sub/a.txt",
        "sub/../sub/a.txt",
        "absolute_link",
        "sub/./a.txt",
    ],
)
def test_a_path_inside_is_read(either: Workspace, path: str) -> None:
    assert read(either, path) == "inside"
    assert either.relative(path) == "sub/a.txt"


def test_an_absolute_path_inside_is_read(jail: Workspace, tmp_path: Path) -> None:
    os.symlink(jail.root, tmp_path / "alias")
    assert read(jail, str(jail.root / "sub" / "a.txt")) == "inside"
    assert read(jail, str(tmp_path / "alias" / "sub" / "a.txt")) == "inside"


@pytest.mark.parametrize(
    "path",
    [
        "..", "../outside.txt", "sub/../../outside.txt", "up/outside.txt", "out", "sly",
        "/etc/passwd", "etc/passwd", "proc/passwd", "/", "//etc/passwd", "/dev/null",
        "~", "~/x", "~root/x", "~user", "file:///etc/passwd", "file:/etc/passwd",
        "http://x/y", "a\x00b", "loop", "fifo", "fifo/x", "sub/a.txt/x", "x" * 300,
        "../workspace2/x", "sub", "",
    ],
)  # fmt: skip
def test_a_path_that_leads_out_or_is_no_file_is_refused(either: Workspace, path: str) -> None:
    with pytest.raises(WorkspaceError):
        read(either, path)


@pytest.mark.parametrize("spelling", ["{root}/../outside.txt", "{root}2/x", "{parent}/outside.txt"])
def test_an_absolute_path_outside_is_refused(jail: Workspace, spelling: str) -> None:
    (jail.root.parent / "workspace2").mkdir()
    (jail.root.parent / "workspace2" / "x").write_text("outside")
    with pytest.raises(WorkspaceError, match="outside the workspace"):
        read(jail, spelling.format(root=jail.root, parent=jail.root.parent))


def test_the_message_names_the_path_and_what_is_wrong(jail: Workspace) -> None:
    with pytest.raises(WorkspaceError, match=r"^'\.\./x' is outside the workspace$"):
        read(jail, "../x")
    with pytest.raises(
        WorkspaceError, match=r"^there is no file 'sub/a\.tx'; did you mean 'a\.txt'"
    ):
        read(jail, "sub/a.tx")


def test_writing_through_a_link_that_leads_out_is_refused(either: Workspace) -> None:
    for path in ("out", "up/new.txt", "etc/new"):
        with pytest.raises(WorkspaceError), either.place(path, create_folders=True) as place:
            place.write(b"x")
    assert (either.root.parent / "outside.txt").read_text() == "outside"
    assert not (either.root.parent / "new.txt").exists()


def test_a_dangling_link_that_leads_out_is_refused_for_writing(either: Workspace) -> None:
    os.symlink("../planted", either.root / "dangling")
    with pytest.raises(WorkspaceError), either.place("dangling") as place:
        place.write(b"x")
    assert not (either.root.parent / "planted").exists()


def test_a_folder_that_becomes_a_link_after_the_check_leads_nowhere(jail: Workspace) -> None:
    secret = jail.root.parent / "secret"
    secret.mkdir()
    (secret / "a.txt").write_text("outside")
    with jail.place("sub/a.txt") as place:
        os.rename(jail.root / "sub", jail.root / "moved")
        os.symlink(secret, jail.root / "sub")
        assert place.read(100) == b"inside"
        place.write(b"written")
    assert (secret / "a.txt").read_text() == "outside"
    assert (jail.root / "moved" / "a.txt").read_text() == "written"


def test_a_file_that_becomes_a_link_after_the_check_is_refused(jail: Workspace) -> None:
    with jail.place("sub/a.txt") as place:
        os.unlink(jail.root / "sub" / "a.txt")
        os.symlink("../../outside.txt", jail.root / "sub" / "a.txt")
        with pytest.raises((WorkspaceError, OSError)):
            place.read(100)


def test_a_folder_swapped_all_the_time_never_lets_a_read_out(jail: Workspace) -> None:
    secret = jail.root.parent / "secret"
    secret.mkdir()
    (secret / "a.txt").write_text("outside")
    os.symlink(secret, jail.root / "evil")
    done = threading.Event()

    def swap() -> None:
        root = jail.root
        while not done.is_set():
            os.rename(root / "sub", root / "kept")
            os.rename(root / "evil", root / "sub")
            os.rename(root / "sub", root / "evil")
            os.rename(root / "kept", root / "sub")

    swapper = threading.Thread(target=swap)
    swapper.start()
    seen = set()
    try:
        for _ in range(2_000):
            try:
                seen.add(read(jail, "sub/a.txt"))
            except WorkspaceError:
                seen.add("refused")
    finally:
        done.set()
        swapper.join()
    assert "outside" not in seen


def test_no_handle_is_left_open(jail: Workspace) -> None:
    before = len(os.listdir("/dev/fd"))
    for path in ("sub/a.txt", "../x", "to_sub/a.txt", "loop", "sub/x/y/z", "fifo", "absolute_link"):
        for create in (False, True):
            try:
                with jail.place(path, create_folders=create) as place:
                    place.info()
            except WorkspaceError:
                pass
    assert len(os.listdir("/dev/fd")) == before


def test_a_missing_folder_tells_where_the_path_would_lead(jail: Workspace) -> None:
    with pytest.raises(MissingFolder) as caught:
        jail.place("to_sub/new/deep/x.txt")
    assert caught.value.path == "sub/new/deep/x.txt"
    assert jail.relative("to_sub/new/deep/x.txt") == "sub/new/deep/x.txt"


def test_going_up_from_a_missing_folder_is_refused(jail: Workspace) -> None:
    # else a rule for "sub/**" would not see that "new/../sub/x" is written there
    with pytest.raises(WorkspaceError), jail.place("new/../sub/x", create_folders=True):
        pass
    assert not (jail.root / "new").exists()


def test_a_workspace_that_is_a_link_is_its_target(jail: Workspace, tmp_path: Path) -> None:
    os.symlink(jail.root, tmp_path / "alias")
    assert Workspace(tmp_path / "alias").root == jail.root


SECRET = [
    ".env", ".env.local", ".ENV", "a/.env.production", ".envrc", "prod.env", "id_rsa",
    ".ssh/id_ed25519",
    "server.pem", "tls/server.KEY", ".netrc", "_netrc", ".aws/credentials", "x/.aws/config",
    ".kube/config", ".config/gcloud/application_default_credentials.json", "service-account.json",
    "client_secret_12.json", ".npmrc", ".pypirc", ".git-credentials", ".docker/config.json",
    "terraform.tfstate", "secrets.yaml", ".ssh/config", "credentials.json",
]  # fmt: skip
PLAIN = [
    "env.py", "README.md", "id_rsa.pub", "keys.py", "data/tokens.csv", "monkey", "environment.yml",
    ".ssh/known_hosts", "config.json", "kube/config.md", "key", "a.pem.txt",
]  # fmt: skip


@pytest.mark.parametrize("path", SECRET)
def test_a_file_that_usually_holds_secrets_is_known_by_name(path: str) -> None:
    assert looks_secret(path)


@pytest.mark.parametrize("path", PLAIN)
def test_other_files_are_not_taken_for_secrets(path: str) -> None:
    assert not looks_secret(path)
