// Selections: files that are chosen or dropped, and examples. All end on the page of what was given.
import {ask, onDrop, onLive, say, upload} from "./page.js";

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
  const files = live.querySelector("#files");
  if (!files) return;
  const send = chosen => give(live, () => inTurn([...chosen], file => upload(file, "selections")));
  const input = files.querySelector("input");
  input.addEventListener("change", () => { send(input.files); });
  onDrop(files, send);
  live.querySelectorAll("[data-examples]").forEach(button => button.addEventListener("click", () =>
    give(live, () => inTurn(button.dataset.examples.split(" "), name => ask("POST", `/measure/examples/${name}`)))));
});
