// Around Vega: it is loaded once, leaves no names behind, and draws in the colors of the page, as they change.
(() => {
  const charts = window.holdfastCharts = window.holdfastCharts || {waiting: []};
  if (charts.draw) return;
  const names = ["vegaEmbed", "vega", "vegaLite"];
  const others = names.map(name => Object.getOwnPropertyDescriptor(window, name));
  (() => {
// VEGA
  })();
  const embed = window.vegaEmbed;
  names.forEach((name, place) => {  // what other packages put there stays theirs
    delete window[name];
    if (others[place]) Object.defineProperty(window, name, others[place]);
  });
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const isDark = place => {  // as the text of the page is light
    const color = getComputedStyle(place).color.match(/^rgba?\((\d+), (\d+), (\d+)/);
    return color ? 0.3 * color[1] + 0.6 * color[2] + 0.1 * color[3] > 128 : system.matches;
  };
  const drawIn = place => {
    const block = place.querySelector("script[type='application/json']");
    const wanted = place.dataset.theme;
    const theme = wanted === "auto" ? (isDark(place) ? "dark" : "light") : wanted;
    if (!block || place.dataset.asked === theme) return;
    place.dataset.asked = theme;
    const drawn = document.createElement("div");
    const options = {
      mode: "vega-lite", ast: true, actions: false, defaultStyle: false, renderer: place.dataset.renderer,
      config: theme === "own" ? {} : THEMES[theme], tooltip: {theme: theme === "dark" ? "dark" : "light"},
    };
    embed(drawn, JSON.parse(block.textContent), options).then(() => {
      place.querySelectorAll(":scope > img, :scope > div").forEach(before => before.remove());
      place.append(drawn);
      place.dataset.drawn = theme;
    }).catch(error => console.warn("holdfast: this chart stays an image:", error));
  };
  charts.draw = (key, tries = 50) => {
    const places = document.querySelectorAll(`[data-holdfast-chart="${key}"]`);
    places.forEach(drawIn);
    if (!places.length && tries) setTimeout(() => charts.draw(key, tries - 1), 100);
  };
  charts.waiting.splice(0).forEach(key => charts.draw(key));
  const again = () => setTimeout(() => document.querySelectorAll("[data-holdfast-chart]").forEach(drawIn), 300);
  system.addEventListener("change", again);
  const changes = new MutationObserver(again);
  const attributeFilter = ["class", "style", "theme", "data-theme", "data-jp-theme-light", "data-vscode-theme-kind"];
  [document.documentElement, document.body].forEach(node => changes.observe(node, {attributes: true, attributeFilter}));
})();
