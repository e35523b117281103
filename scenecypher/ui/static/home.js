// Search in the page, the thing that is chosen, and what the server tells. Without this script all links and forms work the same.
"use strict";
const SILENT = "The server does not answer; start `scenecypher ui` again, and open the address that it prints.";
(() => {
  const field = document.getElementById("search");
  if (field) {
    const told = document.getElementById("search-told");
    if (field.type === "search") field.form.addEventListener("submit", (event) => event.preventDefault());
    const search = () => {
      const wanted = field.value.trim().toLowerCase();
      let count = 0;
      for (const node of document.querySelectorAll("[data-words]")) {
        const hit = wanted !== "" && node.dataset.words.includes(wanted);
        node.classList.toggle("found", hit);
        count += hit;
        if (hit) for (let at = node.closest("details"); at; at = at.parentElement.closest("details")) at.open = true;
      }
      const closed = document.querySelector("[data-content='']") ? " in open rooms; Find looks in all" : "";
      told.textContent = wanted === "" || (field.form.id === "bar" && !count) ? "" : `${count} found${closed}`;
      const first = document.querySelector("[data-words].found");
      if (first && !document.getElementById("map")) first.scrollIntoView({ block: "nearest" });
    };
    field.addEventListener("input", search);
    if (field.value) search();  // typed before this script was there
  }
  document.addEventListener("choose", async (event) => {
    const inspector = document.getElementById("inspector");
    if (!inspector) return;
    tellWaits();
    const answer = await fetch(inspector.dataset.inspect + encodeURIComponent(event.detail)).catch(() => null);
    if (answer && answer.ok) inspector.innerHTML = await answer.text(); else inspector.textContent = SILENT;
  });
  document.addEventListener("click", (event) => {
    const other = event.target.closest("[data-choose]");
    if (!other) return;
    event.preventDefault();
    document.dispatchEvent(Object.assign(new CustomEvent("choose", { detail: other.dataset.choose }), { fly: true }));
  });
  document.addEventListener("toggle", async (event) => {
    const room = event.target, place = room.dataset.load && room.querySelector("[data-content]");
    if (!place || !room.open || place.dataset.content === "there") return;
    place.dataset.content = "there";
    tellWaits();
    try {
      const answer = await fetch(room.dataset.load);
      if (!answer.ok) throw new Error(answer.statusText);
      place.innerHTML = await answer.text();
    } catch {
      place.dataset.content = "";
      place.textContent = SILENT;
    }
  }, true);
  const drop = document.getElementById("drop");
  if (drop) {
    const told = document.getElementById("drop-told"), chosen = document.getElementById("file");
    const bring = async (file) => {
      told.textContent = `Importing ${file.name}…`;
      tellWaits();
      const answer = await fetch(`/import?name=${encodeURIComponent(file.name)}`, { method: "POST", body: file }).catch(() => null);
      const words = answer ? await answer.text() : SILENT;
      if (answer && answer.ok) location.href = words; else told.textContent = words;
    };
    drop.addEventListener("submit", (event) => event.preventDefault());
    chosen.addEventListener("change", () => { if (chosen.files.length) bring(chosen.files[0]); });
    document.addEventListener("dragover", (event) => event.preventDefault());
    document.addEventListener("drop", (event) => { event.preventDefault(); if (event.dataTransfer.files.length) bring(event.dataTransfer.files[0]); });
  }
  const live = document.querySelector("[data-live]:not(form)");
  if (live) watchRuns(live.dataset.live);
})();

// Shows the steps of runs as they are stored.
function watchRuns(address) {
  const known = new Map();
  const show = async (run) => {
    const answer = await fetch(`/run/film?number=${run}`);
    if (answer.ok) document.querySelector(`[data-film="${run}"]`).innerHTML = await answer.text();
  };
  watch(address, (steps) => {
    for (const told of steps.split(" ")) {
      const [run, , state] = told.split(":");
      if (known.get(run) === told) continue;
      known.set(run, told);
      show(run).catch(() => {});
      const controls = document.querySelector(`[data-controls="${run}"]`);
      if (controls) controls.hidden = state !== "running" && state !== "paused";
    }
  });
}

// Beside a run, the map is at the step that was chosen last.
const map = document.getElementById("map"), step = document.getElementById("step");
async function showStep(frame) {
  const { version, nodes } = frame.dataset;
  const answer = await fetch(`${map.dataset.from}&version=${version}&changed=1&found=${encodeURIComponent(nodes)}`).catch(() => null);
  if (!answer || !answer.ok) { step.textContent = SILENT; return; }
  map.take(await answer.json());
  map.dataset.version = version;
  step.textContent = `Version ${version}, after: ${frame.firstChild.textContent} ${frame.childNodes[1].textContent}`;
}
if (map && step) for (const kind of ["click", "focusin"]) document.addEventListener(kind, (event) => {
  const frame = event.target.closest(".frame[data-version]");
  if (frame && map.dataset.version !== frame.dataset.version) showStep(frame);
});

// Tells of what the server sends. A hidden tab does not watch: a browser has few connections to one server.
function watch(address, tell) {
  const trouble = document.getElementById("trouble");
  let source = null;
  const open = () => {
    source = new EventSource(address);
    source.onopen = () => { trouble.textContent = ""; };
    source.onmessage = (event) => tell(event.data);
    source.addEventListener("trouble", (event) => { trouble.textContent = event.data; });
    source.addEventListener("end", () => { source.close(); source = undefined; });
    source.onerror = () => { trouble.textContent ||= SILENT; };
  };
  document.addEventListener("visibilitychange", () => {
    if (source === undefined) return;
    if (document.hidden && source) { source.close(); source = null; }
    else if (!document.hidden && !source) open();
  });
  addEventListener("pagehide", () => { if (source) source.close(); });
  open();
}

// Says what an answer waits for, some time after it was asked for, until it is there or the server is at work on none: no
// event tells that a person has stopped a page that was loading.
const waits = document.getElementById("waits");
const WAITED_MS = 1500;
let look = 0;
function tellWaits() {
  clearTimeout(look);
  look = setTimeout(async function ask() {
    const mine = look;
    const answer = await fetch("/waiting").catch(() => null);
    const told = answer && answer.ok ? await answer.text().catch(() => "") : "";
    if (mine !== look) return;
    if (waits.textContent !== told) waits.textContent = told;
    if (told) look = setTimeout(ask, WAITED_MS);
  }, WAITED_MS);
}
if (waits) {
  addEventListener("beforeunload", tellWaits);
  addEventListener("pagehide", () => { clearTimeout(look); look = 0; waits.textContent = ""; });
}
