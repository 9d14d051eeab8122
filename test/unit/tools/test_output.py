from __future__ import annotations

import stat
from pathlib import Path

import pytest

from ge_dialect.tools.output import text_output, whole_file


def test_the_file_appears_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "out"
    with whole_file(str(path)) as stream:
        stream.write("x")
        assert not path.exists()
    assert path.read_text() == "x"
    assert [each.name for each in tmp_path.iterdir()] == ["out"]


def test_an_exception_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("old")

    def write() -> None:
        with whole_file(str(path)) as stream:
            stream.write("new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["out"]


def test_permissions_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("old")
    path.chmod(0o640)
    with whole_file(str(path)) as stream:
        stream.write("new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_new_files_get_the_usual_permissions(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("x")
    with whole_file(str(tmp_path / "out")) as stream:
        stream.write("x")
    assert (tmp_path / "out").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder/out")
    with whole_file(str(tmp_path / "link")) as stream:
        stream.write("x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "folder" / "out").read_text() == "x"


def test_devices_are_written_directly() -> None:
    with whole_file("/dev/null") as stream:
        stream.write("x")
    assert not Path("/dev/null").is_file()


def test_missing_folder_names_the_path(tmp_path: Path) -> None:
    path = str(tmp_path / "missing" / "out")
    with pytest.raises(FileNotFoundError) as caught, whole_file(path):
        pass
    assert caught.value.filename == path


@pytest.mark.parametrize("path", [None, "-"])
def test_standard_output(path: str | None, capsys: pytest.CaptureFixture[str]) -> None:
    with text_output(path) as stream:
        stream.write("x")
    assert capsys.readouterr().out == "x"
