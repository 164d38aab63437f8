"""Files that users name: whatever is not a regular file of a bounded size is refused at once."""

import os
import socket
from pathlib import Path

import pytest

from taskflow.common.errors import BadInput
from taskflow.common.files import content, fits, text


@pytest.mark.parametrize("kind", ["pipe", "folder", "device", "socket", "dangling"])
def test_what_is_no_regular_file_is_refused_at_once(tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    path = "/dev/zero" if kind == "device" else "it"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        Path(path).mkdir()
    elif kind == "dangling":
        Path(path).symlink_to("nowhere")
    with socket.socket(socket.AF_UNIX) as listening:
        if kind == "socket":
            listening.bind(path)
        with pytest.raises(BadInput, match=r"cannot be read|file not found"):
            content(path, 100, "give a file")


def test_the_size_is_bounded(tmp_path):
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.truncate(10**12)
    with pytest.raises(BadInput, match=r"more than 100 bytes \(1000000000000\); give less"):
        content(path, 100, "give less")
    with pytest.raises(BadInput, match=r"reading it takes 1,000,000 TB, of which .* are free"):
        fits(10**18, "it")


def test_a_mark_of_the_order_of_bytes_is_no_text(tmp_path):
    """Tables that spreadsheets write were refused: the first column was not called y."""
    path = tmp_path / "table.csv"
    path.write_text("y,u\n0.5,1.0\n", encoding="utf-8-sig")
    assert text(path, 100, "give a table") == "y,u\n0.5,1.0\n"


def test_a_text_that_is_none_has_a_place(tmp_path):
    path = tmp_path / "text"
    path.write_bytes(b"one\ntw\xffo")
    with pytest.raises(BadInput, match="line 2, byte 3: not a text file in UTF-8"):
        text(path, 100, "give a text")
