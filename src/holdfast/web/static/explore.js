// The explorer: a slider that moves asks the server for the same page with other numbers; nothing is computed here.
import {onLive} from "./page.js";
import {swapper} from "./swap.js";

const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
const WHOLE = ["features", "relevant", "likely", "rare"];

onLive(live => {
  const form = live.querySelector("#explore");
  if (!form) return;

  const show = input => { input.parentElement.querySelector("output").value = input.dataset.single === undefined ? input.value : Number(input.value).toFixed(2); };
  const take = (fresh, moved) => {
    live.querySelector("#again").href = fresh.querySelector("#again").getAttribute("href");
    const single = live.querySelector("#single");
    if (!single.contains(document.activeElement)) single.replaceChildren(...fresh.querySelector("#single").childNodes);
    if (moved) return;
    all("input[id], select", fresh.querySelector("form")).forEach(input => {
      const mine = document.getElementById(input.id);
      if (!mine || mine === document.activeElement) return;
      if (input.max) mine.max = input.max;
      mine.value = input.value;
      if (mine.type === "range") show(mine);
    });
  };
  const want = swapper(live, ["#glance", "#drawn"], take);
  const move = input => {
    if (input.type === "range") show(input);
    if (input.dataset.single !== undefined) all("[data-single]", form).forEach(other => { other.name = "p"; });
    if (WHOLE.includes(input.name)) all("[data-single]", form).forEach(other => other.removeAttribute("name"));
    if (input.name === "features") {
      const relevant = form.elements.relevant;
      relevant.max = input.value;
      show(relevant);
    }
    want(`/explore?${new URLSearchParams(new FormData(form))}`);
  };
  form.addEventListener("input", event => move(event.target));
  all("input[type=range]", form).filter(input => input.value !== input.defaultValue).forEach(move);  // moved before this ran
  form.addEventListener("submit", event => event.preventDefault());
  all("a.preset, #again", live).forEach(link => link.addEventListener("click", event => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    want(link.getAttribute("href"), {atOnce: true});
  }));
});
