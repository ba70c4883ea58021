// The trade-off: points that can be clicked; the number of features: a slider that asks for what is selected there.
import {ask, load, onLive} from "./page.js";

const drawnBy = (live, figure, act) => {
  const chart = live?.querySelector(`#${figure} [data-holdfast-chart]`);
  if (!chart) return;
  const listen = () => {
    chart.holdfastView.addEventListener("click", (event, item) => { if (item?.datum) act(item.datum); });
    chart.holdfastView.addEventListener("mouseover", (event, item) => {
      chart.classList.toggle("clickable", Boolean(item?.datum && "stability" in item.datum));
    });
  };
  chart.addEventListener("holdfast-drawn", listen);
  if (chart.holdfastView) listen();
};

// The front: a point does what the name in the table does

onLive(live => {
  const links = new Map([...live.querySelectorAll("a[data-candidate]")].map(link => [link.dataset.candidate, link]));
  if (!links.size) return;
  links.forEach(link => link.addEventListener("click", event => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    load(link.href);
  }));
  drawnBy(live, "figure-front", datum => { const link = links.get(datum.key); if (link) load(link.href); });
});

// The slider: asked for after a short rest, and only the last answer counts

const make = (tag, attributes, ...children) => {
  const element = tag === "svg" || tag === "rect" || tag === "line"
    ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, value));
  element.append(...children);
  return element;
};
const percent = share => (100 * share).toFixed(0);
const bar = row => make("svg", {width: 120, height: 11, viewBox: "0 0 120 11", preserveAspectRatio: "none", "aria-hidden": "true"},
  make("rect", {class: "track", width: 120, height: 11}),
  make("rect", {class: "fill", width: 120 * row.frequency, height: 11}),
  make("line", {x1: 120 * row.low, x2: 120 * row.high, y1: 5.5, y2: 5.5, "stroke-width": 1.5}));
const tableRow = (row, {interval, features}) => make("tr", {},
  make("td", {class: "name"}, make("a", {href: `${features}/${row.column}`}, row.feature)), make("td", {class: "bar"}, bar(row)),
  make("td", {class: "n", "data-label": "Frequency"}, `${percent(row.frequency)} %`),
  make("td", {class: "n", "data-label": interval}, `${percent(row.low)} to ${percent(row.high)} %`));

const show = (sized, answer) => {
  sized.querySelector("[data-sentence]").textContent = answer.sentence;
  const rows = sized.querySelector("[data-rows]");
  rows.replaceChildren(...answer.features.map(row => tableRow(row, rows.dataset)));
  sized.querySelector("[data-listed]").textContent =
    answer.features.length < answer.n_selected ? `; the first ${answer.features.length}` : "";
};

onLive(live => {
  const form = live?.querySelector("form[data-sizes]");
  if (!form) return;
  const sized = live.querySelector("#sized"), problem = sized.querySelector("[data-problem]");
  const size = form.elements.size, exact = form.querySelector("#size-number");
  let timer = 0, asked = null, shown = size.value;
  const fetchSize = async () => {
    if (size.value === shown) return;
    asked?.abort();
    const own = asked = new AbortController(), wanted = size.value;
    const query = new URLSearchParams([...new FormData(form)].filter(([name, value]) => name !== "size" && value !== ""));
    sized.classList.add("busy");
    try {
      show(sized, await ask("GET", `${form.dataset.ask}/${encodeURIComponent(wanted)}?${query}`, undefined, {signal: own.signal}));
      problem.hidden = true;
      shown = wanted;
      const address = new URL(location.href);
      address.searchParams.set("size", wanted);
      history.replaceState(null, "", address);
    } catch (error) {
      if (error.name !== "AbortError") { problem.textContent = error.message; problem.hidden = false; }
    } finally {
      if (asked === own) sized.classList.remove("busy");
    }
  };
  const move = value => {
    size.value = value;
    if (exact && exact !== document.activeElement) exact.value = size.value;
    if (size.type === "range") size.setAttribute("aria-valuetext", `${size.value} features`);
    clearTimeout(timer);
    timer = setTimeout(fetchSize, 120);
  };
  size.addEventListener("input", () => move(size.value));
  exact?.addEventListener("input", () => { if (exact.value && exact.checkValidity()) move(exact.value); });
  form.addEventListener("submit", event => { event.preventDefault(); move(size.value); });
  drawnBy(live, "figure-profile", datum => { if (datum.size) move(datum.size); });
});
