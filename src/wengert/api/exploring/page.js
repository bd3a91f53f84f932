"use strict";
const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
const byId = id => document.getElementById(id);
const panes = all(".pane");
const left = panes[0];
const main = document.querySelector("main");
const footer = document.querySelector("footer");
const tabs = all("[role=tab]");
const items = all("[role=treeitem]");
const rowOf = item => (item.classList.contains("l") ? item : item.firstElementChild);
const itemOf = element => element?.closest?.("[role=treeitem]");
const paneOf = item => item.closest(".pane");
const right = () => panes.find(pane => pane !== left && !pane.hidden);
const other = pane => (pane === left ? right() : left);
const keysOf = item => (item.dataset.o ? item.dataset.o.split(" ") : []);

// which lines belong to a line of the program: key "file:line" -> items
const tied = new Map();
items.forEach((item, k) => {
  item.k = k;
  for (const key of keysOf(item)) {
    if (!tied.has(key)) tied.set(key, []);
    tied.get(key).push(item);
  }
});

function partners(item) {
  const pane = other(paneOf(item));
  const found = new Set();
  for (const key of keysOf(item))
    for (const one of tied.get(key) || []) if (paneOf(one) === pane) found.add(one);
  return [...found].sort((a, b) => a.k - b.k);
}

// --- marks --------------------------------------------------------------------------------

let marked = [];
function mark(item) {
  for (const row of marked) row.classList.remove("lit", "here");
  const rows = partners(item).map(rowOf);
  marked = [rowOf(item), ...rows];
  rowOf(item).classList.add("here");
  for (const row of rows) row.classList.add("lit");
}

function tell(item) {
  const found = partners(item);
  footer.replaceChildren();
  const line = document.createElement("code");
  line.textContent = rowOf(item).querySelector("code").textContent.trim();
  footer.append(line, found.length ? "  goes with" : "  goes with nothing on the other side");
  for (const one of found.slice(0, 12)) {
    const button = document.createElement("button");
    button.textContent = rowOf(one).querySelector("code").textContent.trim().slice(0, 60);
    button.addEventListener("click", () => choose(one));
    footer.append(button);
  }
  if (found.length > 12) footer.append(` and ${found.length - 12} more`);
}

// --- places -------------------------------------------------------------------------------

function unfold(item) {
  for (let at = item.parentElement; at; at = at.parentElement) {
    if (at.getAttribute("aria-expanded") === "false") at.setAttribute("aria-expanded", "true");
    if (at.tagName === "DETAILS") at.open = true;
  }
}

const shownAt = item => rowOf(item).getBoundingClientRect().top;

const moved = new Set(); // panes that were scrolled from here, which no other pane is to follow

/** Scroll a pane until a line of it stands at a height of the window. */
function bring(item, height) {
  unfold(item);
  const pane = paneOf(item);
  const before = pane.scrollTop;
  pane.scrollTop += shownAt(item) - height;
  if (pane.scrollTop !== before) moved.add(pane);
}

function focus(item) {
  for (const one of all('[role=treeitem][tabindex="0"]', paneOf(item))) one.tabIndex = -1;
  item.tabIndex = 0;
  item.focus({ preventScroll: true });
  const { top, bottom } = paneOf(item).getBoundingClientRect();
  const at = shownAt(item);
  if (at < top + 40 || at > bottom - 40) bring(item, (top + bottom) / 2);
}

let before = null;
let turn = 0;
/** Show a line and one of its partners, the next of them each time. */
function choose(item) {
  turn = item === before ? turn + 1 : 0;
  before = item;
  lead = paneOf(item);
  unfold(item);
  focus(item);
  mark(item);
  tell(item);
  const found = partners(item);
  const next = found[turn % Math.max(found.length, 1)];
  if (next) bring(next, shownAt(item));
  return next;
}

function setFolded(item, folded) {
  if (item.hasAttribute("aria-expanded")) item.setAttribute("aria-expanded", String(!folded));
}

// --- mouse --------------------------------------------------------------------------------

main.addEventListener("click", event => {
  const item = itemOf(event.target);
  if (!item) return;
  if (event.target.tagName === "B" && item.hasAttribute("aria-expanded")) {
    setFolded(item, item.getAttribute("aria-expanded") === "true");
    return;
  }
  if (!getSelection().isCollapsed) return;
  choose(item);
});
main.addEventListener("mouseover", event => {
  const item = itemOf(event.target);
  if (item) mark(item);
});

// --- scrolling ----------------------------------------------------------------------------

let lead = left;
let waiting = false;
for (const pane of panes) {
  for (const kind of ["pointerenter", "wheel", "touchstart", "focusin"])
    pane.addEventListener(kind, () => { lead = pane; }, { passive: true });
  pane.addEventListener("scroll", () => {
    if (moved.delete(pane) || pane !== lead || waiting || !byId("together").checked) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; follow(pane); });
  }, { passive: true });
}

/** Scroll the other pane to what belongs to the line in the middle of this one. */
function follow(pane) {
  const { left: x, top, bottom } = pane.getBoundingClientRect();
  const height = top + (bottom - top) * 0.4;
  let item = itemOf(document.elementFromPoint(x + 30, height));
  let found = item ? partners(item) : [];
  for (let k = 0; item && !found.length && k < 8; k++) {
    item = items[item.k - 1];
    found = item && paneOf(item) === pane ? partners(item) : [];
  }
  found = found.filter(one => one.offsetParent);
  if (!found.length) return;
  const far = one => Math.abs(shownAt(one) - height);
  const nearest = found.reduce((a, b) => (far(b) < far(a) ? b : a));
  bring(nearest, shownAt(item));
}

// --- keys ---------------------------------------------------------------------------------

/** The next line that is shown in the same tree, in a direction. */
function step(item, by) {
  const tree = item.closest("[role=tree]");
  for (let k = item.k + by; items[k] && tree.contains(items[k]); k += by)
    if (rowOf(items[k]).offsetParent) return items[k];
  return item;
}

const KEYS = {
  ArrowDown: item => focus(step(item, 1)),
  ArrowUp: item => focus(step(item, -1)),
  Home: item => focus(itemOf(item.closest("[role=tree]").firstElementChild)),
  End: item => focus(all("[role=treeitem]", item.closest("[role=tree]")).filter(i => rowOf(i).offsetParent).at(-1)),
  ArrowRight: item => {
    if (item.getAttribute("aria-expanded") === "false") setFolded(item, false);
    else if (item.hasAttribute("aria-expanded")) focus(step(item, 1));
  },
  ArrowLeft: item => {
    if (item.getAttribute("aria-expanded") === "true") setFolded(item, true);
    else focus(itemOf(item.parentElement) || item);
  },
  Enter: item => { const next = choose(item); if (next) { focus(next); } },
  " ": item => choose(item),
};
main.addEventListener("keydown", event => {
  const item = itemOf(event.target);
  if (!item || !KEYS[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  KEYS[event.key](item);
});
main.addEventListener("focusin", event => {
  const item = itemOf(event.target);
  if (item) mark(item);
});
for (const tree of all("[role=tree]")) {
  const first = tree.querySelector("[role=treeitem]");
  if (first) first.tabIndex = 0;
}

// --- the graph ----------------------------------------------------------------------------

const graphs = document.querySelector(".graphs");
let playing = 0;
let played = { order: [], kind: "visited", at: 0 };

const nodesOf = kind => {
  const shown = all(".view:not([hidden]) .n", graphs);
  return kind === "visited" ? shown.filter(n => n.dataset.on) : shown.filter(n => n.dataset.back).reverse();
};

/** Show the first nodes of an order as visited; nothing but classes changes, so no node moves. */
function showUntil(at) {
  const { order, kind } = played;
  played.at = Math.min(Math.max(at, 0), order.length);
  order.forEach((node, k) => {
    node.classList.toggle(kind, k < played.at);
    node.classList.toggle("current", k === played.at - 1);
  });
  const last = order[played.at - 1];
  const text = last ? last.querySelector("text").textContent : "";
  const value = last && kind === "visited" ? all("text.small", last).map(t => t.textContent).join(" ") : "";
  graphs.querySelector("output").textContent =
    `${played.at} of ${order.length}${text ? `: ${text}` : ""}${value ? ` → ${value}` : ""}`;
}

function play(direction) {
  clearInterval(playing);
  const kind = direction === "forward" ? "visited" : "returned";
  if (kind === "visited" || played.kind === kind) for (const n of all(".n", graphs)) n.classList.remove("visited", "returned");
  for (const n of all(".n.current", graphs)) n.classList.remove("current");
  played = { order: nodesOf(kind), kind, at: 0 };
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (still) return showUntil(played.order.length);
  playing = setInterval(() => {
    showUntil(played.at + 1);
    if (played.at >= played.order.length) clearInterval(playing);
  }, Math.min(600, 12000 / Math.max(played.order.length, 1)));
}

function openView(number) {
  clearInterval(playing);
  for (const view of all(".view", graphs)) view.hidden = view.dataset.view !== number;
  for (const n of all(".n", graphs)) n.classList.remove("visited", "returned", "current");
  played = { order: nodesOf("visited"), kind: "visited", at: 0 };
  graphs.querySelector("output").textContent = "";
  paneOf(graphs).scrollTop = 0;
}

function onGraph(event) {
  const { play: direction, step: by, fit } = event.target.dataset;
  if (fit !== undefined) {
    event.target.setAttribute("aria-pressed", String(graphs.classList.toggle("fit")));
    return undefined;
  }
  if (direction) return play(direction);
  if (by) {
    clearInterval(playing);
    if (!played.order.length) played = { order: nodesOf("visited"), kind: "visited", at: 0 };
    return showUntil(played.at + Number(by));
  }
  const opens = event.target.closest("[data-open]");
  if (opens) return openView(opens.dataset.open);
  const line = byId(event.target.closest("[data-at]")?.dataset.at);
  if (!line) return;
  unfold(line);
  mark(line);
  const { top, bottom } = left.getBoundingClientRect();
  bring(line, (top + bottom) / 3);
}
if (graphs) {
  graphs.addEventListener("click", onGraph);
  graphs.addEventListener("keydown", event => {
    if (event.key === "Enter" && event.target.classList.contains("n")) onGraph(event);
  });
}

// --- tabs and switches --------------------------------------------------------------------

function open(tab) {
  for (const one of tabs) {
    const chosen = one === tab;
    one.setAttribute("aria-selected", String(chosen));
    one.tabIndex = chosen ? 0 : -1;
    byId(one.getAttribute("aria-controls")).hidden = !chosen;
  }
  lead = left;
  if (byId("together").checked) follow(left);
}
tabs.forEach((tab, k) => {
  tab.addEventListener("click", () => open(tab));
  tab.addEventListener("keydown", event => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    const next = tabs[(k + by + tabs.length) % tabs.length];
    open(next);
    next.focus();
  });
});
byId("values").addEventListener("change", event => {
  document.body.classList.toggle("plain", !event.target.checked);
});
byId("fold").addEventListener("click", event => {
  const folded = event.target.getAttribute("aria-pressed") !== "true";
  event.target.setAttribute("aria-pressed", String(folded));
  for (const item of all("[aria-expanded]"))
    if (/^(for|while|[^#=]*= for|[^#=]*= while)\b/.test(rowOf(item).querySelector("code").textContent.trim()))
      setFolded(item, folded);
});

function toAnchor() {
  const item = byId(location.hash.slice(1));
  if (!item || !items.includes(item)) return;
  const pane = paneOf(item);
  if (pane.hidden) open(tabs.find(tab => byId(tab.getAttribute("aria-controls")) === pane));
  unfold(item);
  const { top, bottom } = pane.getBoundingClientRect();
  bring(item, top + (bottom - top) / 3);
  choose(item);
}
addEventListener("hashchange", toAnchor);
document.querySelector("header").addEventListener("click", event => {
  if (event.target.tagName === "A" && event.target.hash === location.hash) toAnchor();
});

const split = document.querySelector(".split");
split.addEventListener("pointerdown", event => {
  split.setPointerCapture(event.pointerId);
  split.onpointermove = move => {
    const { left: x, width } = main.getBoundingClientRect();
    const share = Math.min(Math.max((move.clientX - x) / width, 0.15), 0.85);
    left.style.flexGrow = share;
    for (const pane of panes.slice(1)) pane.style.flexGrow = 1 - share;
  };
});
split.addEventListener("pointerup", () => { split.onpointermove = null; });
toAnchor();
