"""A picture of how many times the time of C each tool takes."""

from typing import Any


def ratios(
    seconds: dict[str, dict[str, float]], labels: dict[str, str], ours: str, to: str
) -> None:
    """Draw a row of points for each problem that there is hand-written C for."""
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot as plt

    names = [name for name in seconds if seconds[name].get("c", 0) > 1e-7]
    tools = [tool for tool in labels if any(tool in seconds[name] for name in names)]
    figure, axes = plt.subplots(figsize=(9, 1.2 + 0.4 * len(names)), layout="constrained")
    for tool in tools:
        points = [
            (seconds[name][tool] / seconds[name]["c"], -place)
            for place, name in enumerate(names)
            if tool in seconds[name]
        ]
        style: dict[str, Any] = {"s": 70, "zorder": 3} if tool == ours else {"s": 25, "alpha": 0.8}
        axes.scatter(*zip(*points, strict=True), label=labels[tool], **style)
    axes.set(xscale="log", xlabel="time of value and gradient ÷ hand-written C, one thread")
    axes.set_yticks([-place for place in range(len(names))], names)
    axes.grid(axis="x", alpha=0.3)
    figure.legend(loc="outside right upper")
    figure.savefig(to)
    plt.close(figure)
