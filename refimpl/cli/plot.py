"""``refimpl plot``: draw a checkpoint's network."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .. import symbol, visualization
from ..explain import symbol_drawing
from ..files.atomic import write_atomically
from .errors import refuse, say
from .options import named_shapes, symbol_file, with_labels


def plot(
    prefix: Annotated[str, typer.Argument(help="Checkpoint prefix, or a -symbol.json file.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Picture to write; its suffix is the format.")
    ] = Path("net.svg"),
    shape: Annotated[
        list[str] | None,
        typer.Option(help="Shape of an input, to print shapes on arrows: 1,1,8,8 of data, or label=1; several times."),
    ] = None,
) -> None:
    """Draw a network as SVG; as another format with Graphviz, or print its table of layers where that is missing."""
    file = Path(prefix) if prefix.endswith(".json") else symbol_file(prefix)
    if not file.is_file():
        raise refuse("Cli/checkpoint-exists", f"{file} does not exist; name a trained prefix")
    if not output.suffix[1:]:
        raise refuse("Cli/picture-format", f"{output} has no suffix; name it .svg, .png or .pdf")
    if not output.absolute().parent.is_dir():
        raise refuse("Cli/folder-exists", f"the folder of {output} does not exist")
    net = symbol.load(str(file))
    shapes = None if not shape else with_labels(net, _shapes(shape))
    if output.suffix.lower() == ".svg":
        write_atomically(str(output), symbol_drawing.svg(net, shapes).encode())
        say(f"wrote {output}")
        return
    missing = visualization.graphviz_missing()
    if missing is None:
        picture = visualization.plot_network(
            net, title=output.stem, shape=shapes, save_format=output.suffix[1:]
        )
        output.write_bytes(picture.pipe())
        say(f"wrote {output}")
        return
    say(f"{missing}; here is the table of layers instead")
    visualization.print_summary(net, shape=shapes)


def _shapes(texts: list[str]) -> dict[str, tuple[int, ...]]:
    """Shapes by name; a shape without a name belongs to data."""
    made: dict[str, tuple[int, ...]] = {}
    for text in texts:
        made.update(named_shapes([text]) if "=" in text else {"data": _shape(text)})
    return made


def _shape(text: str) -> tuple[int, ...]:
    words = text.strip("() ").split(",")
    try:
        return tuple(int(word) for word in words if word.strip())
    except ValueError:
        raise refuse("Cli/shape", f"--shape takes numbers such as 1,1,8,8, not {text!r}") from None
