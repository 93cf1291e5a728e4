// Draws one run of an agent. Python holds the truth: `head` and `questions` are synced state, everything else comes as
// numbered messages of operations (see board.py). HTML is only ever inserted where Python's renderer made it; all other
// text goes in as text. A view that is new, late or missed a message says `ready` and is sent the whole story.

import { appendText, button, duration, fromRendered, innermost, make } from "./dom.js";
import { BARS } from "./questions.js";

const RUNNING = new Set(["starting", "running", "waiting"]);
const LIVE_LIMIT = 20000;
const TOAST_MS = 10000;

class RunView {
  constructor(model, el) {
    this.model = model;
    this.id = `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
    this.blocks = new Map();
    this.cards = new Map();
    this.seq = -1;
    this.synced = false;
    this.refocus = false;
    this.build(el);
    this.listeners = [
      ["msg:custom", (message) => this.receive(message)],
      ["change:head", () => this.drawHead()],
      ["change:questions", () => this.drawQuestions()],
    ];
    for (const [name, listener] of this.listeners) model.on(name, listener);
    this.timer = setInterval(() => this.tick(), 1000);
    this.drawHead();
    this.drawQuestions();
    this.askForAll();
  }

  build(el) {
    this.root = make("section", "smn-run");
    this.root.setAttribute("aria-label", "Agent run");
    // Keys typed here are answers, not commands of the notebook.
    this.root.dataset.lmSuppressShortcuts = "true";
    this.head = make("header", "smn-head");
    this.facts = make("div", "smn-facts");
    this.stop = button("stop", "Stop", (node) => {
      node.disabled = true;
      node.textContent = "Stopping…";
      this.send({ t: "stop" });
    });
    this.stop.classList.add("smn-stop");
    this.stop.title = "End this run";
    this.head.append(this.facts);
    this.why = make("div", "smn-why");
    this.body = make("div", "smn-body");
    this.body.setAttribute("role", "log");
    this.toasts = make("div", "smn-toasts");
    this.notices = make("details", "smn-notices");
    this.notices.append(make("summary", "smn-line"));
    this.notices.hidden = true;
    this.spoken = make("div", "smn-spoken");
    this.spoken.setAttribute("role", "status");
    this.root.append(this.head, this.why, this.body, this.notices, this.toasts, this.spoken);
    el.append(this.root);
  }

  destroy() {
    clearInterval(this.timer);
    for (const [name, listener] of this.listeners) this.model.off(name, listener);
  }

  send(intent) {
    this.model.send(intent);
  }

  askForAll() {
    this.synced = false;
    this.send({ t: "ready", view: this.id });
  }

  receive(message) {
    if (message.t === "all" && message.view === this.id) {
      for (const node of this.blocks.values()) if (!node.smnOpen) node.remove();
      this.toasts.replaceChildren();
      while (this.notices.children.length > 1) this.notices.lastChild.remove();
      this.blocks = new Map([...this.blocks].filter(([, node]) => node.smnOpen));
      this.seq = message.n;
      this.elapsed = [message.elapsed_s, performance.now()];
      this.synced = true;
      this.apply(message.ops);
    } else if (message.t === "ops" && this.synced && message.n > this.seq) {
      if (message.n > this.seq + 1) this.askForAll();
      else {
        this.seq = message.n;
        this.apply(message.ops);
      }
    }
  }

  apply(ops) {
    for (const [name, key, ...rest] of ops) this[`op_${name}`]?.(key, ...rest);
  }

  op_put(key, html) {
    const node = fromRendered(html);
    if (!node) return;
    const old = this.blocks.get(key);
    if (old?.tagName === "DETAILS" && old.smnToggled && node.tagName === "DETAILS") {
      node.open = old.open;
      node.smnToggled = true;
    }
    this.place(key, node, old);
  }

  op_piece(key, at, html) {
    this.piece(key, at).innerHTML = html;
  }

  op_add(key, at, text) {
    appendText(innermost(this.piece(key, at)), text);
  }

  op_live(key, text) {
    const node = this.blocks.get(key);
    const live = node?.querySelector("[data-live]");
    if (!live) return;
    const atEnd = live.scrollTop + live.clientHeight >= live.scrollHeight - 8;
    appendText(live, text);
    if (live.textContent.length > 2 * LIVE_LIMIT) live.textContent = live.textContent.slice(-LIVE_LIMIT);
    if (node.classList.contains("smn-tool") && !node.smnToggled) node.open = true;
    if (atEnd) live.scrollTop = live.scrollHeight;
  }

  op_cut(key) {
    this.blocks.get(key)?.remove();
    this.blocks.delete(key);
  }

  op_toast(key, html, isOld) {
    const node = fromRendered(html);
    if (!node) return;
    if (isOld) return this.file(node);
    node.setAttribute("role", node.dataset.severity === "info" ? "status" : "alert");
    const close = button("dismiss", "×", () => this.file(node));
    close.setAttribute("aria-label", "Dismiss");
    node.append(close);
    this.toasts.append(node);
    let timer;
    const start = () => {
      timer = setTimeout(() => {
        node.classList.add("smn-fading");
        timer = setTimeout(() => this.file(node), 400);
      }, TOAST_MS);
    };
    const pause = () => {
      clearTimeout(timer);
      node.classList.remove("smn-fading");
    };
    node.addEventListener("mouseenter", pause);
    node.addEventListener("focusin", pause);
    node.addEventListener("mouseleave", start);
    node.addEventListener("focusout", start);
    start();
  }

  // A notice that had its time stays readable, folded.
  file(node) {
    if (node.parentNode === this.notices) return;
    node.classList.remove("smn-fading");
    node.removeAttribute("role");
    node.querySelector("button")?.remove();
    this.notices.append(node);
    const count = this.notices.children.length - 1;
    this.notices.firstChild.textContent = count === 1 ? "1 notice" : `${count} notices`;
    this.notices.hidden = false;
  }

  piece(key, at) {
    const block = this.blocks.get(key) ?? this.place(key, make("div", "smn-text"));
    while (block.children.length <= at) block.append(make("div", "smn-piece"));
    return block.children[at];
  }

  place(key, node, old) {
    if (old) old.replaceWith(node);
    else {
      let next = null;
      for (const child of this.body.children) {
        if (child.smnKey > key) {
          next = child;
          break;
        }
      }
      this.body.insertBefore(node, next);
    }
    node.smnKey = key;
    node.querySelector(":scope > summary")?.addEventListener("click", () => (node.smnToggled = true));
    this.blocks.set(key, node);
    return node;
  }

  drawHead() {
    const head = this.model.get("head") ?? {};
    const status = head.status ?? "starting";
    if (this.root.dataset.status !== status) this.spoken.textContent = head.word ?? "";
    this.root.dataset.status = status;
    this.facts.replaceChildren(make("span", "smn-dot"));
    for (const [mark, text] of head.parts ?? []) this.facts.append(make("span", mark, text));
    this.why.textContent = head.why ?? "";
    this.why.hidden = !head.why;
    this.elapsed = [head.elapsed_s ?? 0, performance.now()];
    if (!RUNNING.has(status)) {
      this.stop.remove();
      for (const toast of [...this.toasts.children]) this.file(toast);
    } else if (!this.stop.isConnected) {
      this.stop.disabled = false;
      this.stop.textContent = "Stop";
      this.head.append(this.stop);
    }
  }

  tick() {
    const node = this.facts.querySelector(".smn-elapsed");
    if (node && RUNNING.has(this.root.dataset.status)) {
      node.textContent = duration(this.elapsed[0] + (performance.now() - this.elapsed[1]) / 1000);
    }
    for (const card of this.cards.values()) card.tick?.();
  }

  drawQuestions() {
    const open = this.model.get("questions") ?? [];
    const ids = new Set(open.map((question) => question.id));
    for (const [id, card] of this.cards) {
      if (ids.has(id)) continue;
      this.refocus ||= card.node.contains(document.activeElement);
      card.bar.remove();
      card.node.smnOpen = false;
      card.node.classList.remove("smn-open");
      this.cards.delete(id);
    }
    for (const question of open) if (!this.cards.has(question.id)) this.drawQuestion(question);
  }

  drawQuestion(question) {
    const node = fromRendered(question.html);
    if (!node) return;
    this.place(question.key, node, this.blocks.get(question.key));
    node.smnOpen = true;
    node.classList.add("smn-open");
    const card = { node, bar: make("div", "smn-bar"), shown: performance.now() };
    this.cards.set(question.id, card);
    BARS[question.kind]?.(card, (intent) => this.answer(question, card, intent), question);
    node.append(card.bar);
    node.tabIndex = -1;
    node.setAttribute("role", "group");
    node.setAttribute("aria-label", question.label);
    this.spoken.textContent = question.label;
    // Focus moves only from one of our questions to the next: never away from what somebody types elsewhere.
    if (this.refocus) node.focus({ preventScroll: true });
    card.wasMoved = this.refocus;
    this.refocus = false;
  }

  answer(question, card, intent) {
    if (card.done) return;
    card.done = true;
    this.refocus = card.node.contains(document.activeElement);
    for (const control of card.bar.querySelectorAll("button, input")) control.disabled = true;
    card.bar.setAttribute("aria-busy", "true");
    this.send({ t: "answer", id: question.id, ...intent });
  }
}

function render({ model, el }) {
  const view = new RunView(model, el);
  return () => view.destroy();
}

export default { render };
