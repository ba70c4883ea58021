// The table of features: what is typed or chosen asks the server for other rows.
import {onLive} from "./page.js";
import {swapper} from "./swap.js";

onLive(live => {
  const form = live.querySelector("#features-form");
  if (!form) return;
  const want = swapper(live, ["#found"]);
  const ask = options => {
    const values = [...new FormData(form)].filter(([, value]) => value !== "");
    want(`${form.getAttribute("action")}?${new URLSearchParams(values)}`, options);
  };
  form.addEventListener("input", event => ask({wait: event.target.type === "search" ? 200 : 0}));
  form.addEventListener("submit", event => { event.preventDefault(); ask({atOnce: true}); });
  live.querySelector("#found").addEventListener("click", event => {
    const link = event.target.closest("a[data-swap]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    want(link.getAttribute("href"), {atOnce: true});
  });
});
