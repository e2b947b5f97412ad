// The script of the console. Pages work without it: it keeps them up to date, and
// makes keys of the buttons. What it does goes through the JSON that is described at
// /api/openapi.json.
"use strict";

const form = document.querySelector('meta[name="ferrule-form"]').content;
const find = (query, from = document) => from.querySelector(query);
const all = (query, from = document) => [...from.querySelectorAll(query)];

// Telling.

let quiet;
function toast(text, bad) {
  const box = find("#toast");
  box.textContent = text;
  box.className = bad ? "on bad" : "on";
  clearTimeout(quiet);
  quiet = setTimeout(() => { box.className = ""; }, bad ? 8000 : 2500);
}

async function send(path, body) {
  const response = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Ferrule-Form": form },
    body: JSON.stringify(body),
  });
  const answer = await response.json().catch(() => ({ error: "got an answer that cannot be read" }));
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

// Keeping up to date. The page is asked for again, and only what differs is changed, so
// that nothing jumps: what is typed, opened, marked or scrolled stays.

function same(a, b) {
  return a.nodeType === b.nodeType && a.nodeName === b.nodeName && (a.id || "") === (b.id || "");
}

function merge(old, fresh) {
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.nodeValue !== fresh.nodeValue) old.nodeValue = fresh.nodeValue;
    return;
  }
  if (old.isEqualNode(fresh)) return;
  if (old.dataset.shown !== undefined && old.dataset.shown !== fresh.dataset.shown) { // what is looked at is not exchanged under the eyes
    old.classList.add("stale");
    for (const b of all("button", old)) b.disabled = true;
    return;
  }
  for (const { name } of [...old.attributes]) {
    if (!fresh.hasAttribute(name) && !mine(old, name)) old.removeAttribute(name);
  }
  for (const { name, value } of [...fresh.attributes]) {
    if (old.getAttribute(name) !== value && !mine(old, name)) old.setAttribute(name, value);
  }
  if (old.matches("textarea, input, select")) return; // it is somebody's who types
  const byID = new Map([...old.children].filter((e) => e.id).map((e) => [e.id, e]));
  let at = old.firstChild;
  for (const node of [...fresh.childNodes]) {
    const known = node.id && byID.get(node.id);
    if (known && known !== at) {
      old.insertBefore(known, at);
      at = known;
    }
    if (at && same(at, node)) {
      const next = at.nextSibling;
      merge(at, node);
      at = next;
    } else {
      old.insertBefore(document.importNode(node, true), at);
    }
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

// mine says what the person at this page has set.
function mine(element, name) {
  return (name === "open" && element.nodeName === "DETAILS") || (name === "class" && element.id === "toast") ||
    (name === "data-state" && element.id === "live") || name === "hidden" || name === "checked" || name === "disabled";
}

let refreshing = false, again = false, hurry = false, lastRefresh = 0;
async function refresh() {
  if (refreshing) { again = true; return; }
  refreshing = true;
  try {
    const response = await fetch(location.pathname + location.search, { headers: { Accept: "text/html" } });
    const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
    if (!response.ok) { if (response.status === 401) location.reload(); return; }
    const before = all(".card[data-question]").length;
    merge(find("main"), find("main", fresh));
    if (all(".card[data-question]").length < before) moved = Date.now();
    merge(find("nav"), find("nav", fresh));
    document.title = fresh.title;
    choose();
    dress();
    count();
  } catch {
    // The stream says whether the server is there.
  } finally {
    refreshing = false;
    lastRefresh = Date.now();
    if (again) setTimeout(refresh, hurry ? 0 : 100);
    again = hurry = false;
  }
}

let later;
function soon() {
  if (find("[data-still]")) return; // it takes long to find: reloading it is up to the person
  const pace = Number(find("main [data-pace]")?.dataset.pace ?? 300); // long pages come less often
  const wait = Math.max(0, (document.hidden ? Math.max(pace, 1000) : pace) - (Date.now() - lastRefresh));
  clearTimeout(later);
  if (wait === 0) refresh(); else later = setTimeout(refresh, wait);
}

// One tab listens for all: browsers open few connections to one server.
const tabs = "BroadcastChannel" in window ? new BroadcastChannel("ferrule") : undefined;
let stream, seen, state;

function heard(news) {
  if (news.ask) { if (stream && state) tabs.postMessage(state); return; }
  live(news.live ? "on" : "lost", news.live ? "live" : "the connection is lost, trying again");
  if (news.live && seen !== news.data) {
    if (waiting(seen) !== waiting(news.data)) { hurry = true; refresh(); } else soon();
  }
  if (news.live) seen = news.data;
}

// waiting says which questions there are: one that comes is shown at once.
function waiting(data) {
  if (data === undefined) return "";
  const { pending, newest } = JSON.parse(data);
  return `${pending} ${newest}`;
}

function tell(news) {
  state = news;
  heard(news);
  tabs?.postMessage(news);
}

function connect() {
  stream = new EventSource("/api/events");
  stream.addEventListener("changed", (e) => tell({ live: true, data: e.data }));
  stream.onerror = () => {
    tell({ live: false });
    if (stream.readyState === EventSource.CLOSED) setTimeout(connect, 1000);
  };
}

function listen() {
  if (!tabs || !navigator.locks) { connect(); return; }
  tabs.onmessage = (e) => heard(e.data);
  tabs.postMessage({ ask: true });
  navigator.locks.request("ferrule", () => new Promise(connect)); // held as long as this tab is there
}

function live(state, text) {
  const dot = find("#live");
  if (!dot || dot.dataset.state === state) return;
  dot.dataset.state = state;
  dot.firstElementChild.textContent = text;
  find("#offline").hidden = state !== "lost";
}

document.addEventListener("visibilitychange", () => { if (!document.hidden) soon(); });
setInterval(() => { if (!document.hidden && find(".state.running, .state.asked")) soon(); }, 1000);

// Dressing: what pages say without the script, said better with it.

function ago(date) {
  const s = Math.max(0, (Date.now() - date) / 1000);
  if (s < 60) return `${Math.floor(s)} s ago`;
  if (s < 3600) return `${Math.floor(s / 60)} min ago`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ago`;
  return `${Math.floor(s / 86400)} d ago`;
}

function until(date) {
  const s = (date - Date.now()) / 1000;
  if (s <= 0) return "expired";
  if (s < 3600) return `expires in ${Math.max(1, Math.floor(s / 60))} min`;
  if (s < 172800) return `expires in ${Math.floor(s / 3600)} h`;
  return `expires in ${Math.floor(s / 86400)} d`;
}

function dress() {
  for (const t of all("time[data-until]")) t.textContent = until(new Date(t.dateTime));
  for (const t of all("time[data-ago]")) t.textContent = ago(new Date(t.dateTime));
  for (const p of all(".saying pre")) if (!p.matches(":hover, :focus")) p.scrollTop = p.scrollHeight;
  const keys = find("#keys-open");
  if (keys) keys.hidden = false;
}
setInterval(dress, 1000);

// Answering.

// One question is chosen: keys are about it. When it is gone, the next one is, but a key
// that was meant for another must not answer it: not in the first moment, and where
// somebody else answered the chosen one, not before it was chosen by hand.
let chosen, since = 0, byHand = true;
let moved = 0, byKey = false; // when cards went from under the pointer; a key presses a button
const answered = new Set(); // by this page

function choose(card) {
  const cards = all(".card[data-question]");
  const was = chosen;
  if (card) { chosen = card.dataset.question; byHand = true; since = 0; }
  if (!cards.some((c) => c.dataset.question === chosen)) {
    chosen = cards[0]?.dataset.question;
    byHand = was === undefined || answered.has(was);
    since = Date.now();
  }
  for (const c of cards) c.classList.toggle("chosen", c.dataset.question === chosen);
  return cards.find((c) => c.dataset.question === chosen);
}

function settled() {
  if (!byHand) { byHand = true; since = 0; return false; }
  return Date.now() - since > 400;
}

function reply(data, button) {
  const body = { do: button?.value ?? "" };
  if (button?.name === "choice") { body.do = "allow"; data.set("text", button.value); }
  for (const key of ["rule", "message", "reason", "text", "digest"]) if (data.get(key)) body[key] = data.get(key);
  if (data.get("second")) body.second = true;
  if (data.getAll("id").length) body.ids = data.getAll("id");
  if (body.do !== "session" && body.do !== "always") delete body.rule;
  if (body.do === "edit") {
    body.do = "allow";
    JSON.parse(data.get("edited"));
    body.edited = data.get("edited");
  }
  return body;
}

document.addEventListener("submit", async (e) => {
  const f = e.target;
  if (f.method !== "post" || f.dataset.plain !== undefined) return;
  e.preventDefault();
  const button = e.submitter;
  if (f.matches(".answer, #several") && button && !byKey && Date.now() - moved < 400) { toast("The questions have just moved: press again"); return; }
  const typed = find('textarea[name="edited"]', f);
  if (typed && typed.value !== typed.defaultValue && button?.value === "allow") { toast("You have edited the arguments: “Allow as edited” allows those", true); return; }
  if (f.dataset.sure && !confirm(f.dataset.sure)) return;
  let body;
  try {
    body = f.matches(".answer, #several") ? reply(new FormData(f, button), button) : values(f, button);
  } catch (err) {
    toast(`The arguments are not JSON: ${err.message}`, true);
    return;
  }
  if (button) button.disabled = true;
  try {
    for (const id of body.ids ?? [f.closest(".card")?.dataset.question]) answered.add(id);
    const done = await send(f.getAttribute("action"), body);
    if (done.to) { location.href = done.to; return; }
    toast(done.said);
  } catch (err) {
    for (const id of body.ids ?? [f.closest(".card")?.dataset.question]) answered.delete(id);
    toast(err instanceof TypeError ? "ferrule up is not reached: nothing was sent" : err.message, true);
    if (f.dataset.else) { location.href = f.dataset.else; return; }
  } finally {
    if (button) button.disabled = false;
    refresh();
  }
});

// values are those of a form as JSON: a name that ends in [] is a list, data-json is
// JSON itself, arg.NAME is an argument as text, of which the server makes a value.
function values(f, button) {
  const body = {};
  for (const [name, value] of new FormData(f, button)) {
    if (name === "form" || name === "back") continue;
    if (name.startsWith("arg.")) { (body.fields ??= {})[name.slice(4)] = value; continue; }
    if (value === "") continue;
    const field = button?.name === name ? button : f.elements[name];
    if (name.endsWith("[]")) (body[name.slice(0, -2)] ??= []).push(value);
    else if (field?.type === "checkbox") body[name] = true;
    else if (field?.dataset?.json !== undefined) body[name] = JSON.parse(value);
    else body[name] = value;
  }
  return body;
}

const keys = {
  a: "Allow once", d: "Deny", s: "Allow for longer", e: "Edit the arguments", x: "Mark it, for several at once",
  A: "Allow all that are marked", D: "Deny all that are marked",
  j: "The next question", k: "The one before", Escape: "Close what was opened", "?": "These keys",
};

document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || e.repeat) return;
  if (e.key === "Escape") { leave(); return; }
  if (find("dialog[open]")) return;
  if (e.target.matches('.answer input[name="text"]') && e.key === "Enter") { e.preventDefault(); find('button[value="allow"]', e.target.form).click(); return; }
  if (e.target.matches("input:not([type=checkbox], [type=radio]), textarea, select")) return;
  if (e.key === "?") { help(); return; }
  const card = choose();
  if (!card) return;
  const many = find(`#several [data-many="${CSS.escape(e.key)}"]`);
  if (many) {
    e.preventDefault();
    if (many.disabled) { toast("Nothing is marked: x marks a question"); return; }
    if (!settled()) { toast("This question has just come: press again"); return; }
    byKey = true;
    many.click();
    byKey = false;
    return;
  }
  if (e.key === "j" || e.key === "k") {
    const cards = all(".card[data-question]");
    const next = cards[cards.indexOf(card) + (e.key === "j" ? 1 : -1)];
    if (next) { choose(next); next.scrollIntoView({ block: "nearest" }); next.focus({ preventScroll: true }); }
    return;
  }
  if (e.key === "x") { find('input[name="id"]', card)?.click(); return; }
  const target = find(`[data-key="${CSS.escape(e.key)}"]`, card);
  if (!target) return;
  e.preventDefault();
  if (target.nodeName === "DETAILS") {
    target.open = !target.open;
    if (target.open) find("input, textarea", target)?.focus();
    return;
  }
  if (!settled()) { toast("This question has just come: press again"); return; }
  const words = find('input[name="text"]', card);
  if (e.key === "a" && words && !words.value) { words.focus(); return; }
  byKey = true;
  target.click();
  byKey = false;
});

// leave closes what is open: the help, else the pane that has the focus, else those of
// the chosen question; and takes the focus off what is typed into.
function leave() {
  const box = find("dialog[open]");
  if (box) { box.close(); return; }
  const at = document.activeElement;
  const pane = at?.closest?.("details.more[open]");
  const card = choose();
  for (const d of pane ? [pane] : card ? all("details.more[open]", card) : []) d.open = false;
  if (pane) find("summary", pane).focus(); else at?.blur();
}

// count says how many are marked.
function count() {
  const several = find("#several");
  if (!several) return;
  const n = all('input[name="id"]:checked').length;
  const text = n ? `${n} marked` : "Mark several, and answer them at once";
  const said = find("#marked");
  if (said.textContent !== text) said.textContent = text;
  for (const b of all("button", several)) b.disabled = !n;
}
document.addEventListener("change", (e) => { if (e.target.matches('input[name="id"]')) count(); });

document.addEventListener("focusin", (e) => {
  const card = e.target.closest?.(".card[data-question]");
  if (card) choose(card);
});

function help() {
  let box = find("dialog");
  if (!box) {
    box = document.createElement("dialog");
    const title = document.createElement("h2"), list = document.createElement("dl"), close = document.createElement("button");
    title.textContent = "Keys";
    for (const [key, text] of Object.entries(keys)) {
      const dt = document.createElement("dt"), kbd = document.createElement("kbd"), dd = document.createElement("dd");
      kbd.textContent = key;
      dt.append(kbd);
      dd.textContent = text;
      list.append(dt, dd);
    }
    close.textContent = "Close";
    close.onclick = () => box.close();
    box.append(title, list, close);
    document.body.append(box);
  }
  box.showModal();
}
find("#keys-open")?.addEventListener("click", help);

document.documentElement.classList.add("script");
choose();
dress();
count();
if (form) listen();
