// New study: uploading a table, finding its columns, planning, the cost, the start.
import {ask, onDrop, onLive, upload} from "./page.js";
import {optionsOf, partOf, selectorsOf, show} from "./parts.js";

const all = (selector, inside) => [...inside.querySelectorAll(selector)];

// Uploading

async function send(form, files, goOn) {
  if (form.dataset.busy) return;
  form.dataset.busy = "yes";
  show(form, "problem", "");
  try {
    const keys = [];
    for (const file of files) {
      show(form, "doing", `Copying ${file.name} …`);
      keys.push((await upload(file, "table")).upload);
    }
    show(form, "doing", "Reading the table …");
    goOn(keys);
  } catch (error) {
    show(form, "doing", "");
    show(form, "problem", error.message);
  } finally {
    delete form.dataset.busy;
  }
}

onLive(live => all("form[data-new-table]", live).forEach(form => {
  const [table, target] = [form.elements.table, form.elements.target];
  const goOn = ([key, second]) => location.assign(`/data/${key}${second ? `?target_file=${second}` : ""}`);
  const sendBoth = first => {
    if (!first) { show(form, "problem", "Choose a table first."); return; }
    send(form, [first, ...target.files], goOn);
  };
  const isWaiting = () => form.querySelector("details").open && !target.files.length;
  let dropped = null;
  const take = file => {
    dropped = file;
    if (isWaiting()) show(form, "doing", `${file.name} is chosen; choose the second file.`);
    else sendBoth(file);
  };
  onDrop(form.querySelector("[data-drop]"), ([file]) => take(file));
  table.addEventListener("change", () => { if (table.files.length) take(table.files[0]); });
  form.addEventListener("submit", event => { event.preventDefault(); sendBoth(dropped || table.files[0]); });
}));

onLive(live => all("form[data-second-table]", live).forEach(form => {
  const go = key => {
    const pairs = all("input[type=hidden]", form).map(input => [input.name, input.value]);
    const query = new URLSearchParams([...pairs.filter(([name]) => name !== "target_file"), ["target_file", key]]);
    location.assign(`${form.dataset.secondTable}?${query}`);
  };
  const take = file => send(form, [file], ([key]) => go(key));
  onDrop(form.querySelector("[data-drop]"), ([file]) => take(file));
  form.elements.file.addEventListener("change", event => { if (event.target.files.length) take(event.target.files[0]); });
  form.addEventListener("submit", event => { event.preventDefault(); go(form.querySelector("select").value); });
}));

// Finding columns by typing

onLive(live => all("input[data-columns]", live).forEach(input => {
  let timer = 0;
  const find = async () => {
    const said = new URLSearchParams(location.search);
    const query = new URLSearchParams([...said].filter(([name]) => name !== "text"));
    query.set("text", input.value);
    try {
      const {columns} = await ask("GET", `${input.dataset.columns}/columns?${query}`);
      input.list.replaceChildren(...columns.map(name => Object.assign(document.createElement("option"), {value: name})));
    } catch { /* what is typed is checked when it is sent */ }
  };
  const soon = () => { clearTimeout(timer); timer = setTimeout(find, 250); };
  input.addEventListener("input", soon);
  input.addEventListener("focus", soon, {once: true});
}));

// Planning

const bodyOf = form => {
  const chosen = kind => form.querySelector(`[data-one-of="${kind}"]`).value;
  const scores = all("[name=score]:checked", form).map(input => input.value);
  const model = chosen("model");
  return {
    data: JSON.parse(form.dataset.plan),
    plan: {
      ...optionsOf(form),
      selectors: selectorsOf(form),
      sizes: form.elements.sizes.value,
      perturbation: partOf(form, "perturbation", chosen("perturbation")),
      model: model ? partOf(form, "model", model) : null,
      scores: model ? scores : [],
    },
    name: form.elements.study.value,
  };
};

function planning(form) {
  let asked = 0, timer = 0, busy = false, again = false;
  const list = form.querySelector("[data-warnings]");
  const showCost = cost => {
    show(form, "cost", cost.sentence);
    show(form, "command", cost.command);
    list.replaceChildren(...cost.warnings.map(text => Object.assign(document.createElement("li"), {textContent: text})));
    list.hidden = !cost.warnings.length;
  };
  const estimate = async () => {
    if (busy) { again = true; return; }
    busy = true;
    const own = ++asked;
    show(form, "problem", "");
    show(form, "cost", "Trying two fits of each selector …");
    try {
      const cost = await ask("POST", "/cost", bodyOf(form));
      if (own === asked) showCost(cost);
    } catch (error) {
      show(form, "cost", "It cannot be estimated.");
      show(form, "problem", error.message);
    } finally {
      busy = false;
      if (again) { again = false; estimate(); }
    }
  };
  const soon = () => { show(form, "cost", "The plan has changed; it is estimated again …"); clearTimeout(timer); timer = setTimeout(estimate, 800); };
  return {estimate, soon};
}

onLive(live => all("form[data-plan]", live).forEach(form => {
  const {estimate, soon} = planning(form);
  all("[data-one-of]", form).forEach(select => {
    const showPart = () => all(`[data-part^="${select.dataset.oneOf}:"]`, form).forEach(part => {
      part.hidden = part.dataset.part !== `${select.dataset.oneOf}:${select.value}`;
    });
    select.addEventListener("change", showPart);
    showPart();
  });
  form.addEventListener("change", event => { if (event.target.name !== "study") soon(); });  // a name costs nothing
  form.querySelector("[data-estimate]").addEventListener("click", estimate);
  form.addEventListener("submit", async event => {
    event.preventDefault();
    const button = form.querySelector("[data-start]");
    button.disabled = true;
    show(form, "problem", "");
    try {
      const {study} = await ask("POST", "/studies", bodyOf(form));
      location.assign(`/studies/${encodeURIComponent(study)}`);
    } catch (error) {
      show(form, "problem", error.message);
      button.disabled = false;
    }
  });
  estimate();
}));
