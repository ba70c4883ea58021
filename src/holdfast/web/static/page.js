// What every page needs: asking the server, pages that change in place, progress, uploads.
// Other modules import from here; forms and buttons say in their attributes what they do.

const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
const number = value => new Intl.NumberFormat("en-US").format(value);

// Asking the server

export class Refused extends Error {
  constructor(answer, status) {
    super(answer.error || "The server did not answer as expected.");
    Object.assign(this, {question: answer.question || null, status});
  }
}

export async function ask(method, path, body, options = {}) {
  const headers = body === undefined || body instanceof Blob ? {} : {"content-type": "application/json"};
  const sent = body === undefined || body instanceof Blob ? body : JSON.stringify(body);
  let response;
  try {
    response = await fetch(`/api/v1${path}`, {method, body: sent, headers, ...options});
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused({error: "The server does not answer. Is holdfast serve still running?"}, 0);
  }
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Refused(answer, response.status);
  return answer;
}

export function say(text, seconds = 8) {
  const place = document.getElementById("message");
  place.textContent = text;
  place.hidden = !text;
  clearTimeout(say.timer);
  if (text) say.timer = setTimeout(() => { place.hidden = true; }, 1000 * seconds);
}

// Pages that change in place: the part #live of another address takes the place of this one's

const listeners = [];
export function onLive(setUp) { listeners.push(setUp); setUp(document.getElementById("live")); }

let loading = null;
export async function load(address, {keep = false, quiet = false} = {}) {
  loading?.abort();
  const own = loading = new AbortController();
  const live = document.getElementById("live");
  if (!quiet) live.classList.add("busy");
  try {
    const response = await fetch(address, {signal: own.signal, headers: {accept: "text/html"}});
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const fresh = page.getElementById("live");
    if (!fresh) throw new Refused({error: "The server does not answer as expected; load this page again."}, 0);
    const focused = document.activeElement?.id, place = [window.scrollX, window.scrollY];
    const open = all("details[id][open]", live).map(details => details.id);
    live.replaceChildren(...fresh.childNodes);
    open.forEach(id => document.getElementById(id)?.setAttribute("open", ""));
    document.title = page.title;
    if (!keep) history.pushState(null, "", address);
    window.holdfastPage?.draw(live);
    window.holdfastPage?.setUp(live);
    listeners.forEach(setUp => setUp(live));
    if (focused) document.getElementById(focused)?.focus({preventScroll: true});
    window.scrollTo(...place);
  } catch (error) {
    if (error.name !== "AbortError") say(error instanceof Refused ? error.message : "The server does not answer. Is holdfast serve still running?");
  } finally {
    if (loading === own) live.classList.remove("busy");
  }
}
window.addEventListener("popstate", () => load(location.href, {keep: true}));

// Forms that only ask: a change loads the page with the new values

const addressOf = form => {
  const values = [...new FormData(form)].filter(([, value]) => value !== "");
  const query = new URLSearchParams(values).toString();
  return form.getAttribute("action") + (query ? `?${query}` : "");
};
onLive(live => all("form[data-live]", live).forEach(form => {
  form.addEventListener("submit", event => { event.preventDefault(); load(addressOf(form)); });
  form.addEventListener("change", () => load(addressOf(form), {keep: false}));
}));

// Buttons that do something: data-post or data-delete is the address, data-then where to go afterwards

onLive(live => all("button[data-post], button[data-delete]", live).forEach(button => {
  button.addEventListener("click", async () => {
    if (button.dataset.confirm && !window.confirm(button.dataset.confirm)) return;
    button.disabled = true;
    try {
      if (button.dataset.post) await ask("POST", button.dataset.post);
      else await ask("DELETE", button.dataset.delete);
      if (button.dataset.then) location.assign(button.dataset.then);
      else await load(location.href, {keep: true});
    } catch (error) {
      say(error.message);
    } finally {
      button.disabled = false;
    }
  });
}));

// Uploads: a form with data-upload="table" or "selections", a file input and a place for the message

export async function upload(file, purpose) {
  const query = new URLSearchParams({name: file.name || "pasted.txt", purpose});
  return ask("PUT", `/uploads?${query}`, file instanceof Blob ? file : new Blob([file]));
}

// Progress: one stream of events for each study that is active

const streams = new Map();
const reportProgress = (place, study) => {
  place.querySelector("progress").max = Math.max(study.total, 1);
  place.querySelector("progress").value = study.done;
  const failed = study.failed ? `, ${number(study.failed)} failed` : "";
  place.querySelector("[data-said]").textContent = study.state === "queued"
    ? `number ${study.place} in the queue`
    : `${study.total ? `${number(study.done)} of ${number(study.total)} fits${failed}` : ""} ${study.message}`.trim();
  const badge = place.querySelector(".state");
  badge.className = `state ${study.state}`;
  badge.textContent = study.state === "queued" ? "waiting" : study.state;
};

let refreshed = 0;
const follow = name => {
  const stream = new EventSource(`/api/v1/studies/${encodeURIComponent(name)}/events`);
  let before = null;
  stream.addEventListener("progress", event => {
    const study = JSON.parse(event.data);
    all("[data-follow]").filter(place => place.dataset.follow === name).forEach(place => reportProgress(place, study));
    const active = ["queued", "starting", "running", "stopping"].includes(study.state);
    if (!active) { stream.close(); streams.delete(name); }
    const live = document.querySelector(`[data-live-study="${CSS.escape(name)}"]`);
    const wait = 1000 * Number(live?.dataset.every || 5);
    const changed = before && (study.state !== before.state || study.done !== before.done);
    if (!active || (live && changed && Date.now() - refreshed > wait && !live.contains(document.activeElement))) {
      refreshed = Date.now();
      if (before || !active) load(location.href, {keep: true, quiet: true});
    }
    before = study;
  });
  return stream;
};
onLive(() => {
  const wanted = new Set(all("[data-follow]").map(place => place.dataset.follow));
  [...streams.keys()].filter(name => !wanted.has(name)).forEach(name => { streams.get(name).close(); streams.delete(name); });
  [...wanted].filter(name => !streams.has(name)).forEach(name => streams.set(name, follow(name)));
});
