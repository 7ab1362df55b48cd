"use strict";

/** The form of a login, as the locustfile described it. */
function loginForm(told, inputs) {
  const send = make("button", { className: "main" }, told.submit_button_text || "Login");
  const action = { method: "post", action: told.callback_url };
  return make("form", action, ...inputs.map(loginField), send);
}

/** A field of the kind that Locust makes of the same words. */
function loginField({ label, name, type, default_value: value, choices, ...more }) {
  const required = Boolean(more.is_required);
  if (choices) {
    const chosen = [value ?? ""].flat().map(String);
    return choice(label, name, choices, chosen, Boolean(more.is_multiple), required);
  }
  if (typeof value === "boolean") return checkbox(label, name, value, "on", required);
  return field(label, name, {
    type: more.is_secret ? "password" : type || "text",
    value: value ?? "",
    required,
  });
}

/** A link to who else knows the user. The page shows icons of its own server alone. */
function provider({ label, callback_url: href, icon_url: icon }) {
  const place = icon && new URL(icon, location);
  const own = place && (place.origin === location.origin || place.protocol === "data:");
  const image = own ? make("img", { src: icon, alt: "", width: 20, height: 20 }) : null;
  return make("p", {}, make("a", { href }, image, ` ${label}`));
}

const told = window.authArgs;
const forms = byId("forms");
if (told.username_password_callback) {
  const inputs = [
    { label: "Username", name: "username", is_required: true },
    { label: "Password", name: "password", is_secret: true, is_required: true },
  ];
  forms.append(loginForm({ callback_url: told.username_password_callback }, inputs));
}
if (told.custom_form) forms.append(loginForm(told.custom_form, told.custom_form.inputs || []));
for (const one of told.auth_providers || []) {
  forms.append(provider(one));
}
say(told.error);
if (told.info) {
  byId("info").textContent = told.info;
  byId("info").hidden = false;
}
