// The controls of a question, by its kind. `card` is {node, bar, shown, wasMoved}; `answer` sends the first answer, once.

import { button, make } from "./dom.js";

function permission(card, answer) {
  const reason = make("input", "smn-input");
  reason.placeholder = "Reason, if you deny (optional)";
  reason.setAttribute("aria-label", "Reason for a denial");
  const decide = (action) => answer({ action, feedback: reason.value });
  const [allow, session, deny] = [
    ["allow", "Allow"],
    ["allow-session", "Allow for session"],
    ["deny", "Deny"],
  ].map(([action, label]) => button(action, label, () => decide(action)));
  allow.classList.add("smn-primary");
  allow.title = "Key: a";
  deny.title = "Key: d or Esc";
  card.bar.append(allow, session, deny, reason);
  card.node.addEventListener("keydown", (event) => {
    if (event.isComposing || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
    const isTyping = event.target === reason;
    if (card.wasMoved && performance.now() - card.shown < 400) return;
    const action = isTyping
      ? { Enter: "deny" }[event.key]
      : { a: "allow", d: "deny", Escape: "deny" }[event.key];
    if (isTyping && event.key === "Escape") card.node.focus();
    if (!action) return;
    event.preventDefault();
    event.stopPropagation();
    decide(action);
  });
}

function ask(card, answer, question) {
  const reply = (text) => answer({ action: "answer", text });
  for (const choice of question.choices) card.bar.append(button("choose", choice, () => reply(choice)));
  const form = make("div", "smn-reply");
  const input = make("input", "smn-input");
  input.placeholder = question.choices.length ? "Or your own words" : "Your answer";
  input.setAttribute("aria-label", "Your answer");
  const go = button("answer", "Send", () => input.value.trim() && reply(input.value));
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing || !input.value.trim()) return;
    event.preventDefault();
    reply(input.value);
  });
  form.append(input, go);
  card.bar.append(form);
}

function retry(card, answer, question) {
  const again = button("retry", "Retry", () => answer({ action: "retry" }));
  again.classList.add("smn-primary");
  const leave = button("stop", "Leave it", () => answer({ action: "stop" }));
  const left = make("span", "smn-time");
  card.tick = () => {
    const seconds = question.seconds - (performance.now() - card.shown) / 1000;
    left.textContent = seconds > 0 ? `offered for ${Math.ceil(seconds)} s` : "";
  };
  card.tick();
  card.bar.append(again, leave, left);
}

export const BARS = { permission, ask, retry };
