// Draws all charts of a page, in their narrow form where there is no room; other scripts find what it uses.
(() => {
  const read = id => JSON.parse(document.getElementById(id).textContent);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const find = (inside = document) => [...inside.querySelectorAll("[data-holdfast-chart]")];
  const shape = place => place.clientWidth < NARROW_BELOW ? "narrow" : "wide";
  const embed = (target, place, theme, wanted) => {
    const spec = read(place.dataset.holdfastChart), narrow = spec.usermeta && spec.usermeta.narrow;
    return vegaEmbed(target, wanted === "narrow" && narrow ? {...narrow, datasets: spec.datasets} : spec, {
      mode: "vega-lite", ast: true, actions: false, defaultStyle: false, renderer: place.dataset.renderer,
      config: theme === "own" ? {} : read("holdfast-themes")[theme], tooltip: {disableDefaultStyle: true},
    });
  };
  const draw = place => {
    const theme = place.dataset.theme === "auto" ? (dark.matches ? "dark" : "light") : place.dataset.theme;
    const wanted = place.dataset.shape = shape(place);
    embed(place, place, theme, wanted)
      .then(({view}) => {
        place.dataset.drawn = "yes";
        place.holdfastView = view;
        place.dispatchEvent(new CustomEvent("holdfast-drawn", {bubbles: true}));
      })
      .catch(error => { place.textContent = "This chart could not be drawn: " + error; });
  };
  dark.addEventListener("change", () => find().forEach(draw));
  window.addEventListener("resize", () => find().filter(place => place.dataset.shape !== shape(place)).forEach(draw));
  find().forEach(draw);
  window.holdfastPage = {embed, read, draw: inside => find(inside).forEach(draw)};
})();
