// Small pieces of DOM. HTML goes in by `fromRendered` and `innerHTML` only where Python's renderer made it.

const VOID = new Set(["BR", "HR", "IMG"]);

export function make(tag, mark, text) {
  const node = document.createElement(tag);
  if (mark) node.className = mark;
  if (text !== undefined) node.textContent = text;
  return node;
}

export function fromRendered(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content.firstElementChild;
}

export function button(action, label, onClick) {
  const node = make("button", "smn-button", label);
  node.type = "button";
  node.dataset.action = action;
  // The second click of a double click may land on the next question's button.
  node.addEventListener("click", (event) => event.detail < 2 && onClick(node));
  return node;
}

export function duration(seconds) {
  if (seconds < 9.95) return `${seconds.toFixed(seconds < 1 ? 0 : 1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, "0")} s`;
}

// The element that text of a growing Markdown block goes into.
export function innermost(node) {
  for (;;) {
    let last = node.lastChild;
    if (last?.nodeType === 3 && !last.data.trim() && last.previousSibling?.nodeType === 1) {
      last = last.previousSibling;
    }
    if (last?.nodeType !== 1 || VOID.has(last.tagName)) return node;
    node = last;
  }
}

export function appendText(node, text) {
  if (node.lastChild?.nodeType === 3) node.lastChild.appendData(text);
  else node.append(text);
}
