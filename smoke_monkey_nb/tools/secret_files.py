"""Which files usually hold secrets, by their names alone: reading one of these is asked for."""

from __future__ import annotations

from fnmatch import fnmatchcase

_NAMES = (
    ".env*",
    "*.env",
    "id_rsa*",
    "id_dsa*",
    "id_ecdsa*",
    "id_ed25519*",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.ppk",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    "*.gpg",
    "*.tfstate",
    "*.tfstate.*",
    "*.tfvars",
    ".netrc",
    "_netrc",
    ".pgpass",
    "pgpass.conf",
    ".my.cnf",
    ".npmrc",
    ".pypirc",
    ".htpasswd",
    ".git-credentials",
    ".dockercfg",
    ".vault-token",
    ".databrickscfg",
    ".boto",
    ".s3cfg",
    "rclone.conf",
    "kaggle.json",
    "kubeconfig*",
    "*.kubeconfig",
    "credentials",
    "credentials.*",
    "application_default_credentials*.json",
    "client_secret*.json",
    "service[-_]account*.json",
    "secret",
    "secrets",
    "secret.*",
    "secrets.*",
)
_PATHS = (
    "*.aws/*",
    "*.azure/*",
    "*.config/gcloud/*",
    "*.config/gh/hosts.yml",
    "*.docker/config.json",
    "*.gnupg/*",
    "*.kube/*",
    "*.ssh/*",
    "*huggingface/token",
)
_PUBLIC = ("*.pub", "known_hosts", "secrets.py")


def looks_secret(path: str) -> bool:
    """Whether a file of this name usually holds secrets: ``.env*``, private keys, ``.netrc``, cloud
    credentials.
    """
    whole = path.replace("\\", "/").lower().rstrip("/. ")
    name = whole.rpartition("/")[2]
    if any(fnmatchcase(name, pattern) for pattern in _PUBLIC):
        return False
    return any(fnmatchcase(name, p) for p in _NAMES) or any(
        fnmatchcase("/" + whole, "*/" + p.lstrip("*")) or fnmatchcase("/" + whole, p)
        for p in _PATHS
    )
