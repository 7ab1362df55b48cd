"use strict";

/** The form of a login, as the locustfile described it. */
function loginForm(told, inputs) {
  const fields = inputs.map((one) => {
    if (one.choices) {
      const chosen = [String(one.default_value ?? "")];
      return choice(one.label, one.name, one.choices, chosen, Boolean(one.is_multiple));
    }
    if (typeof one.default_value === "boolean") {
      return checkbox(one.label, one.name, one.default_value, "on");
    }
    return field(one.label, one.name, {
      type: one.is_secret ? "password" : "text",
      value: one.default_value ?? "",
      required: Boolean(one.is_required),
    });
  });
  const send = make("button", { className: "main" }, told.submit_button_text || "Log in");
  return make("form", { method: "post", action: told.callback_url }, ...fields, send);
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
for (const provider of told.auth_providers || []) {
  forms.append(make("p", {}, make("a", { href: provider.callback_url }, provider.label)));
}
say(told.error);
if (told.info) {
  byId("info").textContent = told.info;
  byId("info").hidden = false;
}
