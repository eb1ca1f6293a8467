"""Names under which a file is saved are those under which it is found."""

from pathlib import Path

import pytest

import refimpl as mx


@pytest.mark.clause("Files/writable")
def test_a_missing_folder_in_a_name_is_refused_as_it_is_when_reading(tmp_path: Path) -> None:
    name = f"{tmp_path}/nosuch/../x"
    with pytest.raises(mx.MXNetError, match=r"cannot write .*nosuch/../x: No such file"):
        mx.nd.save(name, [mx.nd.ones(1)])
    with pytest.raises(mx.MXNetError, match="No such file"):
        mx.nd.load(name)
    assert not list(tmp_path.iterdir())
    (tmp_path / "nosuch").mkdir()
    mx.nd.save(name, [mx.nd.ones(1)])
    assert mx.nd.load(name)[0].asscalar() == 1


@pytest.mark.clause("Files/writable")
def test_a_link_to_itself_is_refused_and_stays(tmp_path: Path) -> None:
    link = tmp_path / "loop"
    link.symlink_to("loop")
    with pytest.raises(mx.MXNetError, match=r"cannot write .*loop"):
        mx.nd.save(str(link), [mx.nd.ones(1)])
    assert link.is_symlink()


@pytest.mark.clause("Files/atomic")
def test_a_link_to_a_file_that_is_not_there_yet_keeps_pointing_at_it(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("file")
    mx.nd.save(str(tmp_path / "link"), [mx.nd.ones(1)])
    assert (tmp_path / "link").is_symlink()
    assert mx.nd.load(str(tmp_path / "file"))[0].asscalar() == 1
