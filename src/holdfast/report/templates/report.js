"use strict";
(() => {
  const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, value));
    element.append(...children);
    return element;
  };
  const drawn = (tag, attributes) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, value));
    return element;
  };
  const block = key => JSON.parse(document.getElementById(key).textContent);
  const number = value => new Intl.NumberFormat("en-US").format(value);

  // Files that the browser saves

  const save = (name, type, content) => {
    const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], {type}));
    const link = make("a", {href: address, download: name});
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  };
  const cell = value => {
    const text = value === null || value === undefined ? "" : String(value);
    const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? "'" + text : text;
    return /[",\n\r]/.test(safe) ? '"' + safe.replaceAll('"', '""') + '"' : safe;
  };
  const csv = rows => "\ufeff" + rows.map(row => row.map(cell).join(",")).join("\n") + "\n";

  // Tables: search, filter, sort

  const bar = (frequency, low, high) => {
    const picture = drawn("svg", {
      width: 120, height: 11, viewBox: "0 0 120 11", preserveAspectRatio: "none", "aria-hidden": "true",
    });
    picture.append(
      drawn("rect", {class: "track", width: 120, height: 11}),
      drawn("rect", {class: "fill", width: 120 * frequency, height: 11}),
      drawn("line", {x1: 120 * low, x2: 120 * high, y1: 5.5, y2: 5.5, "stroke-width": 1.5}),
    );
    return picture;
  };
  const percent = share => (100 * share).toFixed(0);

  const opened = (name, address, low, high) => {
    const about = make("p", {}, `Interval ${percent(low)} to ${percent(high)} %. `);
    if (address) about.append(make("a", {href: address}, "Page of this feature"));
    return make("details", {class: "feature"}, make("summary", {}, name), make("div", {class: "more"}, make("div", {}, about)));
  };

  const featureRow = (heads, name, address, [frequency, low, high]) => {
    const opens = !heads.some(({key}) => key === "interval");
    const cells = {
      name: () => make("td", {class: "name"}, opens ? opened(name, address, low, high) : address ? make("a", {href: address}, name) : name),
      bar: () => make("td", {class: "bar"}, bar(frequency, low, high)),
      frequency: label => make("td", {class: "n", "data-label": label}, percent(frequency) + " %"),
      interval: label => make("td", {class: "n", "data-label": label}, `${percent(low)} to ${percent(high)} %`),
    };
    return make("tr", {}, ...heads.map(head => (cells[head.key] || (() => make("td", {})))(head.label)));
  };

  const restEntries = (table, heads) => {
    if (!table.dataset.rest) return [];
    const {names, counts, of_count: numbers, shown} = block(table.dataset.rest);
    const {page = "", places = ""} = table.dataset, columns = places.split(" ");
    return names.slice(shown).map((name, index) => {
      const [frequency, low, high] = numbers[counts[shown + index]], column = columns[shown + index];
      return {
        text: name.toLowerCase(), tags: {}, values: {name, frequency, interval: low}, row: null,
        make: () => featureRow(heads, name, page && column && page.replace("PLACE", column), [frequency, low, high]),
      };
    });
  };

  const rowEntry = (row, heads) => {
    const values = {}, tags = {...row.dataset};
    [...row.cells].forEach((td, index) => {
      const head = heads[index], text = td.textContent.trim();
      const value = "value" in td.dataset ? td.dataset.value : text;
      values[head.key] = head.kind === "number" ? (value === "" ? NaN : Number(value)) : value;
      if (td.dataset.tag) tags[td.dataset.tag] = text;
    });
    return {text: row.textContent.toLowerCase(), tags, values, row};
  };

  const words = new Intl.Collator("en", {numeric: true});
  const missing = value => value === undefined || value === "" || Number.isNaN(value);
  const compare = (key, direction) => (first, second) => {
    const a = first.values[key], b = second.values[key];
    if (missing(a) || missing(b)) return missing(a) - missing(b);
    return direction * (typeof a === "number" ? a - b : words.compare(a, b));
  };

  const STEP = 1000;  // rows that are added at once
  const setUpTable = table => {
    const name = table.dataset.table, tools = document.querySelector(`[data-tools="${name}"]`);
    if (!tools) return;
    const heads = [...table.tHead.rows[0].cells].map(th => ({
      th, key: th.dataset.key, kind: th.dataset.kind, label: th.textContent.trim(),
    }));
    const body = table.tBodies[0], more = document.querySelector(`[data-more="${name}"]`);
    const entries = [...body.rows].map(row => rowEntry(row, heads)).concat(restEntries(table, heads));
    const first = Number(table.dataset.first) || body.rows.length;
    const state = {text: "", filters: {}, key: "", direction: 1, limit: first};
    const search = tools.querySelector("[data-search]"), order = tools.querySelector("[data-sort]");

    const update = () => {
      const chosen = Object.entries(state.filters).filter(([, value]) => value);
      let matching = entries.filter(entry =>
        (!state.text || entry.text.includes(state.text)) && chosen.every(([tag, value]) => entry.tags[tag] === value));
      if (state.key) matching = [...matching].sort(compare(state.key, state.direction));
      const narrowed = state.text || chosen.length;
      const shown = matching.slice(0, narrowed ? Math.max(state.limit, 50) : state.limit);
      body.replaceChildren(...shown.map(entry => entry.row || (entry.row = entry.make())));
      tools.querySelector("[data-count]").textContent =
        `${number(shown.length)} of ${number(entries.length)} shown` +
        (narrowed ? `; ${number(matching.length)} match` : "");
      more.hidden = shown.length === matching.length;
      const next = Math.min(STEP, matching.length - shown.length);
      more.textContent = next < STEP ? `Show all ${number(matching.length)}` : `Show ${number(next)} more`;
      state.shown = shown.length;
    };
    const sortBy = (key, direction) => {
      Object.assign(state, {key, direction});
      heads.forEach(({th, key: column}) => {
        if (column === key && key) th.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
        else th.removeAttribute("aria-sort");
      });
      order.value = key;
      update();
    };
    const nextOrder = head => {
      const preferred = head.kind === "number" ? -1 : 1;
      if (state.key !== head.key) sortBy(head.key, preferred);
      else if (state.direction === preferred) sortBy(head.key, -preferred);
      else sortBy("", 1);
    };

    heads.filter(head => head.kind !== "none" && head.label).forEach(head => {
      const button = make("button", {type: "button", class: "sort", "aria-label": `Sort by ${head.label}`});
      head.th.append(button);
      head.th.classList.add("sortable");
      head.th.addEventListener("click", event => {
        if (event.target.closest(".term") && event.pointerType === "touch") return;
        nextOrder(head);
      });
      order.append(make("option", {value: head.key}, head.label));
    });
    order.addEventListener("change", () => {
      const head = heads.find(({key}) => key === order.value);
      sortBy(order.value, head && head.kind === "number" ? -1 : 1);
    });
    search.addEventListener("input", () => {
      Object.assign(state, {text: search.value.trim().toLowerCase(), limit: first});
      update();
    });
    all("[data-filter]", tools).forEach(filter => {
      const tag = filter.dataset.filter;
      if (filter.matches("select")) {
        const options = new Set(entries.map(entry => entry.tags[tag]).filter(Boolean));
        [...options].sort(words.compare).forEach(value => filter.append(make("option", {value}, value)));
      }
      filter.addEventListener("change", () => {
        state.filters[tag] = filter.type === "checkbox" && !filter.checked ? "" : filter.value;
        update();
      });
    });
    more.addEventListener("click", () => { state.limit = state.shown + STEP; update(); });
    tools.hidden = false;
    update();
  };
  const setUpCsv = link => link.addEventListener("click", event => {
    event.preventDefault();
    const {columns, names, counts, of_count: numbers, details} = block(link.dataset.csv);
    const rows = names.map((name, index) => {
      const counted = [name, counts[index], ...numbers[counts[index]]];
      return [...counted, ...(details[index] || columns.slice(counted.length).map(() => null))];
    });
    save(link.download, "text/csv", csv([columns, ...rows]));
  });

  // Figures: save as SVG, PNG or data

  const tableOf = (view, columns) => {
    const fields = Object.keys(columns);
    const sets = Object.keys(view.getState({signals: () => false, data: () => true, recurse: true}).data);
    const rows = sets.map(set => view.data(set)).find(set => set.length && fields.every(field => field in set[0]));
    return [Object.values(columns), ...(rows || []).map(row => fields.map(field => row[field]))];
  };
  const setUpSaving = menu => {
    const holder = document.querySelector(`#${menu.dataset.figure} [data-holdfast-chart]`);
    menu.hidden = false;
    menu.addEventListener("click", async event => {
      const kind = event.target.dataset.kind;
      if (!kind) return;
      const theme = holder.dataset.theme === "own" ? "own" : "light";
      const result = await holdfastPage.embed(make("div"), holder, theme, "wide");
      const name = `${menu.dataset.file}.${kind}`;
      if (kind === "svg") save(name, "image/svg+xml", await result.view.toSVG());
      if (kind === "png") (await result.view.toCanvas(3)).toBlob(blob => save(name, "image/png", blob));
      if (kind === "csv") {
        const columns = holdfastPage.read(holder.dataset.holdfastChart).usermeta.columns;
        save(name, "text/csv", csv(tableOf(result.view, columns)));
      }
      result.finalize();
    });
  };

  const setUp = inside => {
    all("[data-table]", inside).forEach(setUpTable);
    all("[data-csv]", inside).forEach(setUpCsv);
    all(".save", inside).forEach(setUpSaving);
  };
  setUp(document);
  holdfastPage.setUp = setUp;

  // Words: an explanation on hover, on focus and on tap

  const tip = make("div", {id: "tip", role: "tooltip", hidden: ""});
  document.body.append(tip);
  let explained = null;
  const hide = () => {
    if (explained) explained.removeAttribute("aria-describedby");
    explained = null;
    tip.hidden = true;
  };
  const show = term => {
    if (explained === term) return;
    hide();
    explained = term;
    tip.textContent = document.getElementById(term.hash.slice(1)).nextElementSibling.textContent;
    tip.hidden = false;
    term.setAttribute("aria-describedby", "tip");
    const box = term.getBoundingClientRect(), size = tip.getBoundingClientRect();
    const above = box.top - size.height - 6;
    tip.style.left = `${Math.max(8, Math.min(box.left, document.documentElement.clientWidth - size.width - 8))}px`;
    tip.style.top = `${above > 4 ? above : box.bottom + 6}px`;
  };
  const termOf = event => event.target.closest && event.target.closest(".term");
  document.addEventListener("pointerover", event => {
    if (event.pointerType === "touch") return;
    const term = termOf(event);
    if (term) show(term);
    else if (event.target !== tip && !(explained && explained === document.activeElement)) hide();
  });
  document.addEventListener("focusin", event => { const term = termOf(event); if (term) show(term); else hide(); });
  document.addEventListener("click", event => {
    const term = termOf(event);
    if (!term) { hide(); return; }
    event.preventDefault();
    show(term);
  });
  document.addEventListener("keydown", event => { if (event.key === "Escape") hide(); });
  document.addEventListener("scroll", hide, {passive: true});
})();
