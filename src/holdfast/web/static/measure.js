// Selections: files that are chosen or dropped, pasted text, examples. All end on the page of what was given.
import {ask, onDrop, onLive, say, upload} from "./page.js";

// What pasted text looks like: JSON, a table (numbers below a header), or lists of names
const ending = text => {
  if (/^\s*[[{]/.test(text)) return "json";
  const lines = text.trim().split(/\r?\n/);
  const mark = ["\t", ";", ","].find(each => lines[0].includes(each));
  if (!mark || lines.length < 2) return "txt";
  const rows = lines.map(line => line.split(mark).map(cell => cell.trim()));
  const isNumber = cell => cell !== "" && Number.isFinite(Number(cell.replace(",", ".")));
  const isTable = rows.every(row => row.length === rows[0].length) && rows.slice(1).every(row => row.slice(1).every(isNumber))
    && !rows[0].slice(1).every(isNumber);
  return isTable ? (mark === "\t" ? "tsv" : "csv") : "txt";
};

const open = uploads => location.assign(uploads.length === 1
  ? `/selections/${uploads[0].upload}`
  : `/compare?${new URLSearchParams(uploads.map(({upload: key}) => ["of", key]))}`);

const give = async (live, work) => {
  const refused = live.querySelector("#refused");
  refused.hidden = true;
  live.classList.add("busy");
  try {
    const uploads = await work();
    if (uploads.length) open(uploads);
  } catch (error) {
    refused.textContent = error.message;
    refused.hidden = false;
  } finally {
    live.classList.remove("busy");
  }
};
const inTurn = async (items, one) => {
  const done = [];
  for (const item of items) {
    if (items.length > 1) say(`${done.length + 1} of ${items.length}`);
    done.push(await one(item));
  }
  return done;
};

onLive(live => live.querySelectorAll("time[data-seconds]").forEach(time => {
  const when = new Date(1000 * time.dataset.seconds);
  time.dateTime = when.toISOString();
  time.textContent = when.toLocaleString([], {dateStyle: "medium", timeStyle: "short"});
}));

onLive(live => {
  const files = live.querySelector("#files"), paste = live.querySelector("#paste");
  if (!files) return;
  const send = chosen => give(live, () => inTurn([...chosen], file => upload(file, "selections")));
  const input = files.querySelector("input");
  input.addEventListener("change", () => { send(input.files); });
  onDrop(files, send);
  paste.addEventListener("submit", event => {
    event.preventDefault();
    const {text, form, called} = paste.elements;
    const name = called.value.trim().replace(/\.(txt|csv|tsv|json)$/i, "") || "pasted";
    const file = new File([text.value], `${name}.${form.value || ending(text.value)}`);
    give(live, async () => [await upload(file, "selections", {numbered: true})]);
  });
  live.querySelectorAll("[data-examples]").forEach(button => button.addEventListener("click", () =>
    give(live, () => inTurn(button.dataset.examples.split(" "), name => ask("POST", `/measure/examples/${name}`)))));
});
