// The line below the map: versions by who made them, runs, refusals; it plays, scrubs, and follows what others do.
"use strict";
(() => {
  const form = document.getElementById("time");
  if (!form) return;
  const map = document.getElementById("map"), slider = document.getElementById("version"), shown = document.getElementById("version-shown");
  const strip = document.getElementById("strip"), play = document.getElementById("play"), now = document.getElementById("now");
  const kept = document.getElementById("versions"), within = kept && new Map(JSON.parse(kept.textContent).map((it) => [it.version, it]));
  const told = document.getElementById("told"), pen = strip.getContext("2d");
  const ACTORS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00"];  // told apart by the colour-blind
  const STEP_MS = 700, SETTLE_MS = 350, INSET = 8;
  let line = { newest: Number(slider.max), events: [], runs: [], refused: [] }, asked = 0, settling = 0, playing = 0;

  const colour = (actor) => ACTORS[[...new Set(line.events.map((it) => it[1]))].indexOf(actor) % ACTORS.length];
  const first = Number(slider.min);
  const across = (version) => INSET + (strip.clientWidth - 2 * INSET) * (line.newest > first ? (version - first) / (line.newest - first) : 0);
  const draw = () => {
    const ratio = devicePixelRatio || 1, height = strip.clientHeight;
    strip.width = strip.clientWidth * ratio;
    strip.height = height * ratio;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.globalAlpha = 0.25;
    for (const [, , , from, to] of line.runs) { pen.fillStyle = "#888"; pen.fillRect(across(from), 2, Math.max(3, across(to) - across(from)), height - 4); }
    pen.globalAlpha = 1;
    for (const [version, actor] of line.events) { pen.fillStyle = colour(actor); pen.fillRect(across(version) - 1, 5, 2, height - 10); }
    pen.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--bad");
    for (const [version] of line.refused) { pen.beginPath(); pen.arc(across(version), height / 2, 4, 0, 7); pen.stroke(); }
  };
  const read = async () => {
    if (within) line.events = [...within.values()].filter((it) => it.actor).map((it) => [it.version, it.actor, it.action]);
    else {
      const answer = await fetch(form.dataset.timeline).catch(() => null);
      if (!answer || !answer.ok) return;
      line = await answer.json();
    }
    slider.max = line.newest;
    form.hidden = line.newest === 0;
    play.hidden = false;
    strip.dataset.versions = line.events.length;
    draw();
  };
  const at = (event) => Math.round(Math.max(0, Math.min(1, (event.offsetX - INSET) / (strip.clientWidth - 2 * INSET))) * (line.newest - first)) + first;

  const address = (version) => {
    const to = new URL(location.href);
    to.search = new URLSearchParams({ scene: form.elements.scene.value, ...(version === line.newest ? {} : { version }) });
    return to;
  };
  const drawingAt = async (version) => {
    if (within) return within.get(version).drawing;
    const layers = map.asked ? map.asked() : "", since = map.dataset.version ? `&since=${map.dataset.version}` : "";
    const answer = await fetch(`${form.dataset.map.replace(/&version=\d+/, "")}&version=${version}&changed=1${since}${layers}`).catch(() => null);
    return answer && answer.ok ? answer.json() : null;
  };
  // Shows the map at a version at once; the rest of the page when the version stays.
  const show = async (version, { settle = true, isTold = true } = {}) => {
    const mine = (asked += 1);
    slider.value = shown.textContent = version;
    if (now) now.hidden = version === line.newest;
    clearTimeout(settling);
    const drawing = await drawingAt(version);
    if (mine !== asked || !drawing) return;
    if (drawing.since !== undefined && String(drawing.since) !== map.dataset.version) { show(version, { settle, isTold }); return; }
    map.take(drawing);
    map.dataset.version = version;
    told.textContent = isTold && drawing.event ? `Version ${version}: ${drawing.event}` : "";
    if (settle && !within) settling = setTimeout(() => swap(version), SETTLE_MS);
  };
  const swap = async (version) => {
    const to = address(version), answer = await fetch(to).catch(() => null);
    if (!answer || !answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (Number(slider.value) !== version) return;
    for (const id of ["facts", "side", "below"]) document.getElementById(id).replaceWith(page.getElementById(id));
    told.textContent = "";
    history.replaceState(null, "", to);
    if (map.dataset.chosen) document.dispatchEvent(new CustomEvent("choose", { detail: map.dataset.chosen }));
    document.getElementById("search").dispatchEvent(new Event("input"));
  };
  const stop = () => { clearInterval(playing); playing = 0; play.textContent = "▶"; play.setAttribute("aria-label", "Play the versions"); };
  const start = () => {
    if (Number(slider.value) >= line.newest) slider.value = first;
    play.textContent = "❚❚";
    play.setAttribute("aria-label", "Pause");
    show(Number(slider.value), { settle: false });
    playing = setInterval(() => {
      const next = Number(slider.value) + 1;
      show(next, { settle: next >= line.newest });
      if (next >= line.newest) stop();
    }, STEP_MS);
  };

  document.getElementById("go").hidden = true;
  slider.addEventListener("input", () => { stop(); show(Number(slider.value), { settle: false }); });
  slider.addEventListener("change", () => show(Number(slider.value)));
  form.addEventListener("submit", (event) => { event.preventDefault(); show(Number(slider.value)); });
  if (now) now.addEventListener("click", (event) => { event.preventDefault(); stop(); show(line.newest); });
  play.addEventListener("click", () => (playing ? stop() : start()));
  strip.addEventListener("pointermove", (event) => {
    const version = at(event), it = line.events.find((one) => one[0] === version), refused = line.refused.filter((one) => one[0] === version);
    strip.title = [it ? `${version}: ${it[2]} by ${it[1]}` : String(version), ...refused.map((one) => `refused in run ${one[2]}: ${one[1]}`)].join("\n");
  });
  strip.addEventListener("click", (event) => { stop(); show(at(event)); });
  new ResizeObserver(draw).observe(strip);
  map.again = () => show(Number(slider.value), { settle: false, isTold: false });
  read();
  if (form.dataset.live) watch(form.dataset.live, async (version) => {
    if (Number(version) <= line.newest) return;
    const follows = Number(slider.value) === line.newest && !playing;
    line.newest = Number(version);
    slider.max = version;
    if (follows) await show(line.newest);
    await read();
  });
})();
