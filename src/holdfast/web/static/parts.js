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

export const wholeOf = (form, name, otherwise) => {
  const text = form.querySelector(`[name=${name}]`)?.value.trim() ?? "";
  return text === "" ? otherwise : Number(text);
};

export function show(form, part, text) {
  const element = form.querySelector(`[data-${part}]`);
  element.textContent = text;
  element.hidden = !text;
}
