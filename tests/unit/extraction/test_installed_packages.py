"""The names of packages that a command installs."""

import pytest

from lerim.extraction.facts.commands import installed_packages


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("pip install --index-url pypi.example foo", ("foo",)),
        ("pip install -i pypi.example foo==1.2", ("foo",)),
        ("pip install --requirement req.txt", ()),
        ("pip install --prefix=build foo", ("foo",)),
        ("npm i -w packages/a foo", ("foo",)),
        ("pnpm add -w foo", ("foo",)),
        ("npm i -f foo", ("foo",)),
        ("go get -t example.com/foo", ("example.com/foo",)),
        ("cargo add -F derive serde", ("serde",)),
        ("npm install -D @types/node", ("@types/node",)),
        ("uv add --group dev pytest", ("pytest",)),
    ],
)
def test_the_values_of_options_are_no_packages(command: str, names: tuple[str, ...]) -> None:
    assert installed_packages(command) == names
