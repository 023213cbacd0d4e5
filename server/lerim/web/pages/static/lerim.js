// Keys of the review: the letters of the editor's panel press what carries them, while the focus is on the candidate.
"use strict";

document.addEventListener("keydown", (event) => {
  const { target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || !(target instanceof Element)) return;
  if (target.closest("[data-keys]") === null || target.closest("input, textarea, select") !== null) return;
  const pressed = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (pressed === null) return;
  event.preventDefault();
  pressed.click();
});

// A decision is sent once, however often its button is pressed.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!(form instanceof HTMLFormElement) || form.method !== "post") return;
  if (form.dataset.sent === "yes") event.preventDefault();
  form.dataset.sent = "yes";
});

// A page that the browser kept shows its forms as they were before they were sent.
window.addEventListener("pageshow", () => {
  for (const form of document.forms) delete form.dataset.sent;
});

// What was typed before htmx was ready is searched for then.
window.addEventListener("load", () => {
  for (const field of document.querySelectorAll("input[type=search][hx-get]")) {
    if (field.value !== field.defaultValue) field.dispatchEvent(new Event("search"));
  }
});
