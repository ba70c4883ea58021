// Adding resamples and selectors to a study.
import {ask, onLive} from "./page.js";
import {optionsOf, selectorsOf, show} from "./parts.js";

onLive(live => live.querySelectorAll("form[data-extend]").forEach(form => {
  const address = `/studies/${encodeURIComponent(form.dataset.extend)}`;
  form.addEventListener("submit", async event => {
    event.preventDefault();
    const button = form.querySelector("button");
    button.disabled = true;
    show(form, "problem", "");
    try {
      await ask("POST", `${address}/extend`, {
        ...optionsOf(form), selectors: selectorsOf(form),
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
