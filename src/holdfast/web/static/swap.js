// Parts of a page that change in place, while what is moved or typed beside them stays as it is.
import {say} from "./page.js";

const WAIT = 60;

// Returns a function that asks for another address of the same page: one request at a time, the newest wins; at once
// means that a request under way is given up.
export function swapper(live, parts, taken = () => {}) {
  let running = null, wanted = null, timer = null;
  const ask = async () => {
    const address = wanted, own = running = new AbortController();
    wanted = null;
    try {
      const response = await fetch(address, {signal: own.signal, headers: {accept: "text/html"}});
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      if (!response.ok) throw new Error(page.querySelector("[role=alert]")?.textContent);
      parts.forEach(part => live.querySelector(part).replaceChildren(...page.querySelector(part).childNodes));
      taken(page, wanted !== null);
      history.replaceState(null, "", address);
    } catch (error) {
      if (error.name !== "AbortError") say(error.message || "The server does not answer. Is holdfast serve still running?");
    }
    if (running === own) running = null;
    if (wanted && !running) ask();
  };
  return (address, {atOnce = false, wait = WAIT} = {}) => {
    wanted = address;
    clearTimeout(timer);
    if (atOnce) { running?.abort(); ask(); }
    else timer = setTimeout(() => { if (wanted && !running) ask(); }, wait);
  };
}
