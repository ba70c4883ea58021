"""Results, charts and reports in notebooks: run by a real kernel, shown without a network, with and without scripts."""

import base64
import copy
import html
import json
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import holdfast as hf
from holdfast import plots
from holdfast.datasets import load_example
from holdfast.plots import notebook
from holdfast.plots.embed import compress_png
from holdfast.plots.notebook import Cell, VegaCarrier

alt = pytest.importorskip("altair")

HOSTILE = "</script><script>window.ran = 1</script><img src=x onerror='window.ran = 1'>"
SETUP = f"""
import altair as alt, numpy as np, pandas as pd, holdfast as hf
from holdfast import plots
from sklearn.neighbors import KNeighborsClassifier
rng = np.random.default_rng(0)
X = pd.DataFrame(rng.standard_normal((60, 8)), columns=[{HOSTILE!r}, *"abcdefg"])
y = np.arange(60) % 2
X.iloc[:, :2] += 2 * y[:, None]
selectors = {{"anova": hf.Candidates(hf.selectors.AnovaF(), sizes=[1, 2]), {HOSTILE!r}: hf.selectors.AnovaF(3)}}
result = hf.Study(selectors=selectors, perturbation=hf.Bootstrap(8), estimator=KNeighborsClassifier(3)).run(X, y)
"""
OWN = "alt.Chart(pd.DataFrame({'a': [1]})).mark_bar().encode(x='a:Q')"
CELLS = {
    "setup": SETUP,
    "card": "result",
    "pareto": "result.plot()",
    "map": "display(plots.plot_selection_map(result, 'anova(size=2)'))\nresult.stability('anova(size=2)')",
    "beside": "plots.themed(result.plot('forest'), None) | plots.themed(result.plot('pareto'), None)",
    "own": OWN,
    "report": "result.report()",
    "enabled": f"with alt.renderers.enable('holdfast'):\n    display({OWN})",
}


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """The outputs of all cells by name, as lists of MIME bundles, and those of cells that were run again."""
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel", reason="notebooks are run by ipykernel, which is not installed")
    folder = tmp_path_factory.mktemp("jupyter")
    source = str(Path(hf.__file__).parents[1])
    env = {**os.environ, "PYTHONPATH": source, "IPYTHONDIR": str(folder), "JUPYTER_RUNTIME_DIR": str(folder)}
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS.values()]
    client = nbclient.NotebookClient(nbformat.v4.new_notebook(cells=cells), timeout=300, kernel_name="python3")
    with client.setup_kernel(env=env):
        for place, cell in enumerate(cells):
            client.execute_cell(cell, place)
        outputs = {name: bundles(cell) for name, cell in zip(CELLS, cells, strict=True)}
        for name in ("map", "pareto"):
            cell = cells[list(CELLS).index(name)]
            client.execute_cell(cell, cells.index(cell))
            outputs[f"{name} again"] = bundles(cell)
    return outputs


def bundles(cell):
    return [output["data"] for output in cell.outputs if output.output_type != "stream"]


def has_vega(bundle):
    return "window.vegaEmbed=" in bundle["text/html"]


@pytest.mark.slow
def test_charts_come_with_vega_once(executed):
    assert has_vega(executed["pareto"][0])
    for name in ("map", "beside", "enabled", "map again"):
        assert not has_vega(executed[name][0]), name
        assert len(json.dumps(executed[name][0])) < 300_000, name
    assert has_vega(executed["pareto again"][0])  # its old output, which had it, is gone


@pytest.mark.slow
def test_a_chart_is_an_image_a_data_block_and_words(executed):
    bundle = executed["map"][0]
    assert "All 8 resamples selected the same 2 features" in bundle["text/plain"]
    assert base64.b64decode(bundle["image/png"]).startswith(b"\x89PNG")
    image = re.search(r'<img alt="([^"]*)" src="data:image/(?:svg\+xml|png);base64,', bundle["text/html"])
    assert html.unescape(image[1]) == bundle["text/plain"]
    data = re.search(r'<script type="application/json" id="[\w-]+">(.*?)</script>', bundle["text/html"])
    assert json.loads(data[1])["$schema"].startswith("https://vega.github.io/schema/vega-lite/")


@pytest.mark.slow
def test_no_name_runs_as_code(executed):
    for name in ("card", "pareto", "map", "beside"):
        for bundle in executed[name]:
            own = bundle["text/html"].replace(notebook.vega_script(), "")
            assert "<script>window.ran" not in own
            assert "<img src=x" not in own
    (report,) = executed["report"]
    assert "<script>window.ran" not in report["text/html"]


@pytest.mark.slow
def test_results_are_cards_and_the_report_is_a_frame_below_one(executed):
    assert executed["card"][0]["text/html"].startswith('<div class="holdfast-card">')
    assert "nogueira" in executed["map"][1]["text/html"]
    (report,) = executed["report"]
    assert report["text/html"].startswith('<div class="holdfast-card">')
    (sandbox,) = re.findall(r'<iframe [^>]*sandbox="([^"]*)"', report["text/html"])
    assert "allow-same-origin" not in sandbox
    page = html.unescape(re.search(r'srcdoc="([^"]*)"', report["text/html"])[1])
    assert page.startswith("<!doctype html>")
    assert '.save("report.html")' in report["text/plain"]


@pytest.mark.slow
def test_charts_of_the_user_keep_their_renderer(executed):
    assert "holdfast" not in executed["own"][0]["text/html"]
    assert "data-holdfast-chart" in executed["enabled"][0]["text/html"]


def test_which_output_carries_vega():
    carrier = VegaCarrier()
    first, second = Cell("a", "1"), Cell("b", "2")
    assert carrier.is_due(first)
    assert not carrier.is_due(first)  # another chart of the same output
    assert not carrier.is_due(second)
    assert carrier.is_due(Cell("a", "3"))
    assert not carrier.is_due(Cell("b", "4"))
    assert carrier.is_due(None)  # no notebook, so that it must stand alone


def test_every_output_of_colab_is_a_page_of_its_own(monkeypatch):
    monkeypatch.setitem(sys.modules, "google.colab", object())
    carrier = VegaCarrier()
    assert carrier.is_due(Cell("a", "1"))
    assert carrier.is_due(Cell("b", "2"))


@pytest.fixture
def chart():
    return plots.plot_forest(hf.stability(load_example().top(10)))


def test_charts_stay_altair_charts(chart, tmp_path):
    assert isinstance(chart, alt.LayerChart)
    assert repr(chart).startswith("alt.LayerChart(")
    same = alt.LayerChart.from_dict(chart.to_dict())
    assert type(same) is alt.LayerChart
    assert same.to_dict() == chart.to_dict()
    for other in (chart.properties(width=200), chart.interactive(), plots.themed(chart, "dark"), copy.deepcopy(chart)):
        assert isinstance(other, notebook._ShowsOffline)
    again = pickle.loads(pickle.dumps(chart))
    assert again.to_dict() == chart.to_dict()
    assert isinstance(again, notebook._ShowsOffline)
    chart.save(str(tmp_path / "chart.json"))
    bare = plots.themed(chart, None)
    for joined, kind in (
        (bare | bare, alt.HConcatChart),
        (bare & bare, alt.VConcatChart),
        (bare + bare, alt.LayerChart),
    ):
        assert isinstance(joined, kind)
        assert isinstance(joined, notebook._ShowsOffline)
        joined.to_dict(validate=True)
    assert not isinstance(alt.hconcat(bare, bare), notebook._ShowsOffline)
    assert not isinstance(alt.LayerChart(), notebook._ShowsOffline)


def test_a_renderer_that_the_user_chose_is_used(chart):
    with alt.renderers.enable("json"):
        assert "application/json" in chart._repr_mimebundle_()[0]
    assert "data-holdfast-chart" in chart._repr_mimebundle_()["text/html"]


def test_the_theme_of_a_chart(chart):
    def theme(shown):
        return re.search(r'data-theme="(\w+)"', notebook.view_chart(shown)["text/html"])[1]

    assert theme(chart) == theme(plots.themed(chart, None)) == "auto"
    assert theme(plots.themed(chart, "dark")) == "dark"
    assert theme(plots.themed(chart, None).configure_axis(grid=False)) == "own"


def test_without_the_converter_a_chart_is_words(chart, monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    bundle = chart._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}
    assert "Plotting needs vl-convert-python: pip install 'holdfast[app]'" in bundle["text/plain"]
    assert "The stability of the selection is 0.87" in bundle["text/html"]


def test_a_terminal_receives_words(chart):
    program = (
        "from IPython.core.interactiveshell import InteractiveShell; shell = InteractiveShell.instance();"
        "import holdfast as hf; from holdfast.datasets import load_example;"
        "print(sorted(hf.stability(load_example().top(10)).plot()._repr_mimebundle_()))"
    )
    pytest.importorskip("IPython")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['text/plain']"


def test_pictures_are_packed_without_a_change():
    import struct
    import zlib

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    pixels = b"\0" + b"\1\2\3\4" * 300
    stored = zlib.compress(pixels, 0)
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 300, 1, 8, 6, 0, 0, 0))
    png = b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", stored[:99]) + chunk(b"IDAT", stored[99:]) + chunk(b"IEND", b"")
    packed = compress_png(png)
    assert len(packed) < len(png) / 4
    assert packed.startswith(png[: 8 + len(head)])
    assert packed.endswith(chunk(b"IEND", b""))
    start = 8 + len(head)
    (size,) = struct.unpack_from(">I", packed, start)
    assert zlib.decompress(packed[start + 8 : start + 8 + size]) == pixels


def test_a_report_without_a_path_is_shown_and_can_be_saved(tmp_path):
    X = np.random.default_rng(0).standard_normal((40, 6))
    result = hf.Study(selectors=[hf.selectors.AnovaF(2)], perturbation=hf.Bootstrap(8)).run(X, np.arange(40) % 2)
    shown = result.report(title="Mine")
    path = shown.save(tmp_path / "report.html")
    assert path.read_text(encoding="utf-8") == result.report(tmp_path / "b.html", title="Mine").read_text(
        encoding="utf-8"
    )
    with pytest.raises(ValueError, match="Expected a path for a report with format='md', got none"):
        result.report(format="md")


# In a browser


THEMES = {
    "light": "body { background: #fff; color: #222; }",
    "dark": "body { background: #111; color: #ddd; --jp-content-font-color1: #eee; }",
}
JUPYTERLAB = """
body { font: 13px sans-serif; }
.output { margin: 12px; }
.output table { border: none; border-collapse: collapse; table-layout: fixed; margin-left: auto; }
.output td, .output th { text-align: right; padding: 0.5em; }
.output tbody tr:nth-child(odd) { background: #88888833; }
"""
"""What JupyterLab does to tables, under which cards should look alike."""
INSERT = """
([name, text]) => {  // as JupyterLab does: HTML first, then its scripts, made anew so that they run
  const output = document.createElement("div");
  output.className = "output"; output.id = name; output.innerHTML = text;
  document.body.append(output);
  output.querySelectorAll("script").forEach(script => {
    const live = document.createElement("script");
    for (const {name, value} of script.attributes) live.setAttribute(name, value);
    live.textContent = script.textContent;
    script.replaceWith(live);
  });
}
"""
SHOWN = ["card", "pareto", "map", "beside", "report"]


def make_page(executed, names, theme):
    outputs = [
        f'<div class="output" id="{name}">{"".join(bundle["text/html"] for bundle in executed[name])}</div>'
        for name in names
    ]
    style = JUPYTERLAB + THEMES[theme]
    return f'<!doctype html><meta charset="utf-8"><style>{style}</style><body>{"".join(outputs)}</body>'


@pytest.fixture
def open_page(browser, tmp_path):
    """Open a page, and collect every request beyond it and every error."""
    contexts = []

    def opened(text, **options):
        context = browser.new_context(viewport={"width": 1100, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        page.asked, page.errors = [], []
        page.on("request", lambda request: page.asked.append(request.url))
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        (tmp_path / "notebook.html").write_text(text, encoding="utf-8")
        page.goto((tmp_path / "notebook.html").as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()


def asked_outside(page):
    return [url for url in page.asked if not url.startswith(("file:", "data:", "about:", "blob:"))]


def keep_screenshot(page, name):
    if folder := os.environ.get("HOLDFAST_SCREENSHOTS"):
        page.mouse.wheel(0, 10_000)  # a frame is painted when it is seen
        page.wait_for_timeout(1000)
        page.screenshot(path=f"{folder}/{name}.png", full_page=True)


@pytest.mark.browser
@pytest.mark.parametrize("theme", THEMES)
def test_a_browser_draws_a_notebook_without_a_network(executed, open_page, theme):
    page = open_page(make_page(executed, SHOWN, theme))
    for name in ("pareto", "map", "beside"):
        page.wait_for_selector(f"#{name} [data-drawn={theme}] svg")
        assert page.locator(f"#{name} [data-holdfast-chart] img").count() == 0
    frame = page.frame_locator("#report iframe")
    frame.locator("figure svg").first.wait_for()
    keep_screenshot(page, f"notebook-{theme}")
    assert page.evaluate("[window.ran, typeof vegaEmbed, typeof vega, typeof vegaLite]") == [None] + ["undefined"] * 3
    assert asked_outside(page) == []
    assert page.errors == []


@pytest.mark.browser
def test_without_scripts_the_images_remain(executed, open_page):
    page = open_page(make_page(executed, SHOWN, "light"), java_script_enabled=False)
    for name in ("pareto", "map", "beside"):
        image = page.locator(f"#{name} [data-holdfast-chart] img").first
        assert image.is_visible()
        assert image.bounding_box()["width"] > 300
        assert image.bounding_box()["height"] > 100
    keep_screenshot(page, "notebook-no-scripts")
    assert asked_outside(page) == []


@pytest.mark.browser
def test_charts_wait_for_vega_and_stay_images_without_it(executed, open_page):
    page = open_page(make_page(executed, [], "light"))
    page.evaluate("window.vegaEmbed = 'of another package'")
    for name in ("map", "beside"):  # a notebook draws what is scrolled to first
        page.evaluate(INSERT, [name, executed[name][0]["text/html"]])
    page.wait_for_timeout(500)
    assert page.locator("[data-drawn]").count() == 0
    assert page.locator("#map img").is_visible()
    page.evaluate(INSERT, ["pareto", executed["pareto"][0]["text/html"]])
    for name in ("pareto", "map", "beside"):
        page.wait_for_selector(f"#{name} [data-drawn=light] svg")
    page.evaluate(INSERT, ["again", executed["pareto again"][0]["text/html"]])  # Vega a second time
    page.wait_for_selector("#again [data-drawn=light] svg")
    assert page.evaluate("window.vegaEmbed") == "of another package"
    assert page.errors == []


@pytest.mark.browser
def test_charts_follow_the_theme_of_the_notebook(executed, open_page):
    page = open_page(make_page(executed, ["pareto"], "light"))
    page.wait_for_selector("#pareto [data-drawn=light] svg")
    page.evaluate("document.body.style.color = '#ddd'; document.body.style.background = '#111'")
    page.wait_for_selector("#pareto [data-drawn=dark] svg")
    assert page.locator("#pareto [data-holdfast-chart] > div").count() == 1
