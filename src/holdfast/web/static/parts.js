// Parts of a plan, as they stand in a form.

const all = (selector, inside) => [...inside.querySelectorAll(selector)];

export const partOf = (form, kind, name) => ({
  name,
  parameters: Object.fromEntries(all(`[data-of="${kind}:${name}"]`, form).map(input => [input.name, input.value])),
});

export const selectorsOf = form => all("[name=selector]:checked", form).map(({value}) => ({
  ...partOf(form, "selector", value),
  own_size: Boolean(form.querySelector(`[data-own-size="${value}"]:checked`)),
}));

// Options that are sent as they stand; what is left empty has its default.
export const optionsOf = form => Object.fromEntries(all("[data-option]", form).filter(({value}) => value.trim())
  .map(({name, type, value}) => [name, type === "number" ? Number(value) : value]));

export function show(form, part, text) {
  const element = form.querySelector(`[data-${part}]`);
  element.textContent = text;
  element.hidden = !text;
}
