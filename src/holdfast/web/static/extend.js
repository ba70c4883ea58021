// Adding resamples and selectors to a study.
import {ask, onLive} from "./page.js";
import {selectorsOf, show, wholeOf} from "./parts.js";

onLive(live => live.querySelectorAll("form[data-extend]").forEach(form => {
  const address = `/studies/${encodeURIComponent(form.dataset.extend)}`;
  form.addEventListener("submit", async event => {
    event.preventDefault();
    const button = form.querySelector("button");
    button.disabled = true;
    show(form, "problem", "");
    try {
      await ask("POST", `${address}/extend`, {
        resamples: wholeOf(form, "resamples", 0), selectors: selectorsOf(form), cores: wholeOf(form, "cores", 1),
        sizes: form.querySelector("[name=sizes]")?.value ?? "",
      });
      location.assign(address);
    } catch (error) {
      show(form, "problem", error.message);
    } finally {
      button.disabled = false;
    }
  });
}));
