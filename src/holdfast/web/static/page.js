// What every page needs: asking the server, pages that change in place, progress, uploads.
// Other modules import from here; forms and buttons say in their attributes what they do.

// It does not wait for the scripts that draw, which are large, only for the page itself.
if (document.readyState === "loading") await new Promise(go => document.addEventListener("readystatechange", go, {once: true}));

const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];

// Asking the server

const LOST = "The server does not answer. Is holdfast serve still running?";

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
    throw new Refused({error: LOST}, 0);
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

const found = () => { if (document.getElementById("message").textContent === LOST) say(""); };

// Pages that change in place: the part #live of another address takes the place of this one's

const listeners = [];
export function onLive(setUp) { listeners.push(setUp); setUp(document.getElementById("live")); }

// What a person did on the page, which a newer version of it must not undo

const nameOf = element => element.getAttribute("aria-label") || (element.matches("summary, button, a") ? element.textContent : "");
const keyOf = element => element.id || [
  element.closest("section, [data-tools]")?.id || element.closest("[data-tools]")?.dataset.tools, element.tagName,
  element.name, element.dataset.kind, element.dataset.filter, "search" in element.dataset, nameOf(element).trim(),
].join("|");
const find = (key, live, selector = "a, button, input, select, summary, textarea") =>
  all(selector, live).find(element => keyOf(element) === key);

const readTable = tools => {
  const table = document.querySelector(`[data-table="${tools.dataset.tools}"]`);
  const sorted = table?.querySelector("th[aria-sort]");
  return {
    name: tools.dataset.tools, search: tools.querySelector("[data-search]")?.value,
    filters: all("[data-filter]", tools).map(filter => filter.type === "checkbox" ? filter.checked : filter.value),
    key: sorted?.dataset.key, order: sorted?.getAttribute("aria-sort"), rows: table?.tBodies[0].rows.length,
  };
};
const dispatch = (element, event) => element.dispatchEvent(new Event(event, {bubbles: true}));
const restoreTable = (known, live) => {
  const tools = live.querySelector(`[data-tools="${known.name}"]`), table = live.querySelector(`[data-table="${known.name}"]`);
  if (!tools || !table) return;
  const search = tools.querySelector("[data-search]");
  if (known.search) { search.value = known.search; dispatch(search, "input"); }
  all("[data-filter]", tools).forEach((filter, place) => {
    const value = known.filters[place];
    if (!value) return;
    if (filter.type === "checkbox") filter.checked = value; else filter.value = value;
    dispatch(filter, "change");
  });
  const head = known.key && table.querySelector(`th[data-key="${CSS.escape(known.key)}"]`);
  for (let turns = 0; head && head.getAttribute("aria-sort") !== known.order && turns < 3; turns += 1) head.querySelector(".sort").click();
  const more = live.querySelector(`[data-more="${known.name}"]`);
  for (let turns = 0; more && !more.hidden && table.tBodies[0].rows.length < known.rows && turns < 50; turns += 1) more.click();
};

const readPlace = live => {
  const focused = live.contains(document.activeElement) ? document.activeElement : null;
  return {
    focused: focused && focused !== live ? keyOf(focused) : document.activeElement?.id || null,
    caret: focused?.matches("input[type=search], input[type=text], textarea") ? [focused.selectionStart, focused.selectionEnd] : null,
    typed: focused?.matches("input, textarea") && !("search" in focused.dataset) ? focused.value : null,
    scroll: [window.scrollX, window.scrollY],
    details: new Map(all("details", live).map(details => [keyOf(details.querySelector("summary")), details.open])),
    tables: all("[data-tools]", live).map(readTable),
    figures: new Map(all("figure.holdfast", live).map(figure => [figure.id, figure])),
  };
};
const chartData = figure => figure.querySelector("script")?.textContent;
const restorePlace = (place, live) => {
  all("figure.holdfast", live).forEach(figure => {  // one that is the same stays drawn; another keeps its room until it is
    const known = place.figures.get(figure.id);
    if (known && chartData(known) === chartData(figure)) figure.replaceWith(known);
    else {
      if (known) figure.style.minHeight = `${known.dataset.height}px`;
      setTimeout(() => { figure.style.minHeight = ""; }, 1500);
      window.holdfastPage?.draw?.(figure);
    }
  });
  window.holdfastPage?.setUp?.(live);
  all("details", live).forEach(details => {
    const open = place.details.get(keyOf(details.querySelector("summary")));
    if (open !== undefined) details.open = open;
  });
  place.tables.forEach(table => restoreTable(table, live));
};
const restoreFocus = (place, live, quiet) => {
  const focused = place.focused && (document.getElementById(place.focused) || find(place.focused, live));
  if (!focused) return;
  if (quiet && place.typed !== null && "value" in focused) focused.value = place.typed;
  focused.focus({preventScroll: true});
  if (place.caret && focused.setSelectionRange) focused.setSelectionRange(...place.caret);
};

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
    if (!response.ok && !keep) throw new Refused({error: fresh.querySelector("[role=alert]")?.textContent}, response.status);
    const place = readPlace(live);
    place.figures.forEach(figure => { figure.dataset.height = figure.offsetHeight; });
    live.replaceChildren(...fresh.childNodes);
    document.title = page.title;
    if (!keep) history.pushState(null, "", address);
    restorePlace(place, live);
    listeners.forEach(setUp => setUp(live));
    restoreFocus(place, live, quiet);
    window.scrollTo(...place.scroll);
    found();
  } catch (error) {
    if (error.name !== "AbortError") say(error instanceof Refused ? error.message : LOST);
  } finally {
    if (loading === own) { live.classList.remove("busy"); loading = null; }
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

// Uploads: files that are sent, and a place on which files can be dropped

export async function upload(file, purpose, more = {}) {
  return ask("PUT", `/uploads?${new URLSearchParams({name: file.name, purpose, ...more})}`, file);
}

export function onDrop(place, take) {
  ["dragover", "dragleave", "drop"].forEach(kind => place.addEventListener(kind, event => {
    event.preventDefault();
    place.classList.toggle("over", kind === "dragover");
    if (kind === "drop" && event.dataTransfer.files.length) take([...event.dataTransfer.files]);
  }));
}

// Results that come after the page itself

onLive(live => { if (live.querySelector("[data-pending]")) load(location.href, {keep: true, quiet: true}); });

// Progress: a stream of events for a study, or one for all; none while the page cannot be seen, as browsers allow few

const ACTIVE = ["queued", "starting", "running", "stopping"];
const reportProgress = (place, study) => {
  const bar = place.querySelector("progress");
  if (bar) { bar.max = Math.max(study.total, 1); bar.value = study.done; }
  place.querySelector("[data-said]").textContent = study.said;
  const badge = place.querySelector(".state");
  badge.className = `state ${study.state}`;
  badge.textContent = study.state === "queued" ? "waiting" : study.state;
};

let refreshed = Date.now();
const before = new Map();
const busy = () => document.activeElement?.matches("#live select") || !(getSelection()?.isCollapsed ?? true) || loading;
const onProgress = study => {
  const places = all("[data-follow]").filter(place => place.dataset.follow === study.study);
  places.forEach(place => reportProgress(place, study));
  const known = before.get(study.study), active = ACTIVE.includes(study.state);
  before.set(study.study, study);
  const results = document.querySelector("[data-live-study]"), wait = 1000 * Number(results?.dataset.every || 3);
  const turned = known ? study.state !== known.state : places.length > 0 && !active;
  const grown = results && known && study.done !== known.done;
  if (turned && !active) {  // until the newer page is there
    const outdated = `/studies/${study.study}/stop`;
    all("button[data-post]").filter(button => decodeURIComponent(button.dataset.post) === outdated).forEach(button => { button.disabled = true; });
  }
  if (turned || (grown && Date.now() - refreshed > wait && !busy())) {
    refreshed = Date.now();
    load(location.href, {keep: true, quiet: true});
  }
};

let stream = null, lost = false;
const follow = () => {
  const everything = document.querySelector("[data-follow-all]"), one = document.querySelector("[data-follow]")?.dataset.follow;
  const wanted = document.hidden ? "" : everything ? "/api/v1/events" : one ? `/api/v1/studies/${encodeURIComponent(one)}/events` : "";
  if ((stream?.wanted || "") === wanted && stream?.source.readyState !== EventSource.CLOSED) return;
  stream?.source.close();
  stream = null;
  if (!wanted) return;
  const source = new EventSource(wanted);
  stream = {wanted, source};
  source.addEventListener("progress", event => {
    const study = JSON.parse(event.data);
    if (!everything && !ACTIVE.includes(study.state)) { source.close(); stream = null; }
    onProgress(study);
  });
  source.addEventListener("studies", () => load(location.href, {keep: true, quiet: true}));
  source.addEventListener("open", () => {
    found();
    if (lost) load(location.href, {keep: true, quiet: true});  // what changed while there was no server was not sent
    lost = false;
  });
  source.addEventListener("error", () => {
    lost = true;
    say(LOST, 3600);
    if (source.readyState === EventSource.CLOSED) setTimeout(follow, 1000);  // a server that starts again may refuse at first
  });
};
document.addEventListener("visibilitychange", follow);
onLive(follow);
