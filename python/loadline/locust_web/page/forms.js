"use strict";

/** Creates an element with properties (or attributes, where it has no such property to set). */
function make(tag, given = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) {
    if (name in element && name !== "list") element[name] = value;
    else if (value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((one) => one !== null && one !== undefined));
  return element;
}

function byId(id) {
  return document.getElementById(id);
}

/** Shows why something failed; nothing, if it did not. */
function say(text) {
  const place = byId("message");
  place.textContent = text || "";
  place.hidden = !text;
}

/** A field with its label. */
function field(label, name, given = {}) {
  return make("label", {}, label, make("input", { name, autocomplete: "off", ...given }));
}

function checkbox(label, name, checked, value = "true", required = false) {
  const box = make("input", { type: "checkbox", name, value, checked, required });
  return make("label", { className: "check" }, box, label);
}

function choice(label, name, choices, chosen, multiple = false, required = false) {
  const options = choices.map((one) =>
    make("option", { value: String(one), selected: chosen.includes(String(one)) }, String(one)),
  );
  return make("label", {}, label, make("select", { name, multiple, required }, ...options));
}

/** The field of an argument that a locustfile added. */
function argument(name, told) {
  const value = told.default_value;
  const label = name + (told.help_text ? ` (${told.help_text})` : "");
  const words = Array.isArray(value) ? value.map(String) : [String(value ?? "")];
  if (told.choices) return choice(label, name, told.choices, words, told.is_multiple);
  if (typeof value === "boolean") return checkbox(label, name, value);
  return field(label, name, {
    value: words.join(","),
    type: told.is_secret ? "password" : "text",
    required: Boolean(told.is_required),
  });
}

/** What a form says, as `/swarm` takes it: a box that is not checked is false. */
function spoken(form) {
  const said = new URLSearchParams(new FormData(form));
  for (const box of form.querySelectorAll("input[type=checkbox][value=true]")) {
    if (!box.checked) said.append(box.name, "false");
  }
  return said;
}
