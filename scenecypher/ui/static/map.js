// Draws the home on the canvas: pan, zoom, search, and the thing that was chosen. The list below the map tells the same.
"use strict";
(async () => {
  const canvas = document.getElementById("map");
  if (!canvas) return;
  const answer = canvas.dataset.from ? await fetch(canvas.dataset.from).catch(() => null) : null;
  if (canvas.dataset.from && !(answer && answer.ok)) return;
  const { shapes, doors, path, bounds, metric } = answer ? await answer.json() : JSON.parse(document.getElementById("map-data").textContent);
  const nodes = shapes.map(([id, name, class_, kind, parent, states, mark, x, y, width, height]) => (
    { id, name, kind, parent, states, mark, x, y, width, height, words: `${name} ${class_} ${id}`.toLowerCase() }));
  const byId = new Map(nodes.map((it) => [it.id, it]));
  const bearing = new Set(nodes.map((it) => it.parent));
  const pen = canvas.getContext("2d");
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const kept = `map of ${canvas.dataset.map}`;
  const SMALL = 6, MOST_ZOOM = metric ? 2000 : 400;
  let view = null, chosen = "", found = new Set(), colours = {}, waiting = false, flight = 0;

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const readColours = () => {
    for (const it of ["text", "ground", "quiet", "edge", "found", "changed", "accent", "grid",
      ...["place", "asset", "object", "agent", "other"].flatMap((kind) => [`${kind}-fill`, `${kind}-line`])]) colours[it] = colour(`--${it}`);
  };
  const size = () => [canvas.clientWidth, canvas.clientHeight];
  const showing = (x, y, width, height, most = MOST_ZOOM) => {
    const [across, down] = size();
    const scale = Math.min(across / width, down / height, most);
    return { scale, x: x + width / 2 - across / 2 / scale, y: y + height / 2 - down / 2 / scale };
  };
  const whole = () => showing(...bounds);
  const at = (x, y) => [(x - view.x) * view.scale, (y - view.y) * view.scale];
  const under = (left, top) => [left / view.scale + view.x, top / view.scale + view.y];

  const look = () => { if (!waiting) { waiting = true; requestAnimationFrame(draw); } };
  const draw = () => {
    waiting = false;
    const [across, down] = size(), ratio = devicePixelRatio || 1;
    if (canvas.width !== Math.round(across * ratio) || canvas.height !== Math.round(down * ratio)) {
      canvas.width = Math.round(across * ratio);
      canvas.height = Math.round(down * ratio);
    }
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = colours.ground;
    pen.fillRect(0, 0, across, down);
    pen.textBaseline = "middle";
    if (metric) drawGrid(across, down);
    const seen = nodes.filter((it) => {
      const [left, top] = at(it.x, it.y);
      return left < across && top < down && left + it.width * view.scale > 0 && top + it.height * view.scale > 0;
    });
    for (const it of seen) if (it.kind === "Place") drawShape(it);
    drawDoors();
    drawPath();
    let count = 0;
    for (const it of seen) if (it.kind !== "Place" && drawShape(it)) count += 1;
    for (const it of seen) if (stands(it)) drawOutline(it);
    if (metric) drawScale(down);
    canvas.dataset.drawn = count;
  };
  const stands = (it) => (it.id !== "" && it.id === chosen) || found.has(it.id) || it.mark !== "";
  const drawShape = (it) => {
    const [left, top] = at(it.x, it.y), width = it.width * view.scale, height = it.height * view.scale;
    if (width < 1.5 || height < 1.5) { if (!stands(it)) return false; }
    const kind = it.kind.toLowerCase(), known = `${kind}-fill` in colours ? kind : "other", isRoom = kind === "place";
    pen.fillStyle = colours[`${known}-fill`];
    pen.strokeStyle = colours[`${known}-line`];
    pen.lineWidth = isRoom ? 3 : 1;
    pen.beginPath();
    pen.roundRect(left, top, width, height, isRoom ? 1 : Math.min(4, height / 4));
    pen.fill();
    pen.stroke();
    drawName(it, left, top, width, height, isRoom);
    return true;
  };
  const drawName = (it, left, top, width, height, isRoom) => {
    const bears = bearing.has(it.id);
    const room = isRoom ? Math.min(26, (metric ? 26 : 1.4 * view.scale)) : bears ? height * 0.32 : height;
    const weight = isRoom ? 600 : 400, longest = isRoom ? it.name : it.name.split(/(?<=[_ -])/).reduce((a, b) => (a.length < b.length ? b : a));
    let letters = Math.min(isRoom ? 15 : 13, room * (bears || isRoom ? 0.72 : 0.4));
    pen.font = `${weight} ${letters}px system-ui, sans-serif`;
    letters = Math.min(letters, Math.max(7.5, (letters * (width - 8)) / pen.measureText(bears ? it.name : longest).width));
    if (letters < SMALL || width < 3 * letters) return dots(it, left, top, width, height);
    pen.font = `${weight} ${letters}px system-ui, sans-serif`;
    pen.fillStyle = it.kind === "Agent" ? colours["agent-text"] || "#fff" : colours.text;
    const lines = bears || isRoom ? [cut(it.name, width - 8)] : folded(it.name, width - 8, Math.floor(room / letters / 1.15));
    const states = it.states.length && !isRoom ? cut(it.states.join(", "), width - 8) : "";
    if (!bears && states && room > (lines.length + 1) * letters * 1.15) lines.push(states);
    const first = isRoom ? top + room / 2 + 1 : top + room / 2 - ((lines.length - 1) * letters * 1.15) / 2;
    lines.forEach((line, number) => {
      if (number && line === states) pen.fillStyle = it.kind === "Agent" ? "#fff" : colours.quiet;
      pen.fillText(line, left + 4, first + number * letters * 1.15);
    });
    if (bears && states && !isRoom) {
      pen.font = `${letters * 0.8}px system-ui, sans-serif`;
      const rest = pen.measureText(states).width;
      pen.fillStyle = colours.quiet;
      if (rest < width - 12 - pen.measureText(lines[0]).width * 1.25) pen.fillText(states, left + width - rest - 4, first);
    }
  };
  const dots = (it, left, top, width, height) => {  // too small for words: an arrow for who acts, a mark where there are states
    if (it.kind === "Agent") {
      const half = Math.min(width, height) * 0.35, x = left + width / 2, y = top + height / 2;
      pen.fillStyle = "#fff";
      pen.beginPath();
      pen.moveTo(x, y - half);
      pen.lineTo(x + half, y + half);
      pen.lineTo(x - half, y + half);
      pen.fill();
      return;
    }
    if (!it.states.length || Math.min(width, height) < 7) return;
    pen.fillStyle = colours.found;
    pen.beginPath();
    pen.arc(left + width - 3, top + 3, 2, 0, 7);
    pen.fill();
  };
  const cut = (text, width) => {
    if (pen.measureText(text).width <= width) return text;
    let end = text.length;
    while (end > 1 && pen.measureText(`${text.slice(0, end)}…`).width > width) end -= 1;
    return `${text.slice(0, end)}…`;
  };
  const folded = (name, width, most) => {
    if (most < 2 || pen.measureText(name).width <= width) return [cut(name, width)];
    const parts = name.split(/(?<=[_ -])/), lines = [""];
    for (const part of parts) {
      if (lines.at(-1) && pen.measureText(lines.at(-1) + part).width > width && lines.length < Math.min(most, 3)) lines.push(part);
      else lines[lines.length - 1] += part;
    }
    return lines.map((line) => cut(line, width));
  };
  const drawOutline = (it) => {
    const [left, top] = at(it.x, it.y), width = it.width * view.scale, height = it.height * view.scale;
    pen.strokeStyle = it.id === chosen ? colours.accent : found.has(it.id) || it.mark === "found" ? colours["found-line"] || colours.found : colours.changed;
    pen.lineWidth = 3;
    pen.beginPath();
    pen.roundRect(left - 2, top - 2, width + 4, height + 4, 5);
    pen.stroke();
  };
  const drawDoors = () => {
    for (const [x1, y1, x2, y2, isInWall] of doors) {
      pen.strokeStyle = isInWall ? colours["place-fill"] : colours.edge;
      pen.lineWidth = isInWall ? 5 : 1;
      pen.setLineDash(isInWall ? [] : [5, 5]);
      pen.beginPath();
      pen.moveTo(...at(x1, y1));
      pen.lineTo(...at(x2, y2));
      pen.stroke();
    }
    pen.setLineDash([]);
  };
  const drawPath = () => {
    if (path.length < 2) return;
    pen.strokeStyle = colours["agent-line"];
    pen.globalAlpha = 0.5;
    pen.lineWidth = 2;
    pen.beginPath();
    path.forEach(([x, y], number) => (number ? pen.lineTo(...at(x, y)) : pen.moveTo(...at(x, y))));
    pen.stroke();
    pen.globalAlpha = 1;
  };
  const step = () => [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100].find((it) => it * view.scale > 60) || 200;
  const drawGrid = (across, down) => {
    const every = step(), [left, top] = under(0, 0), [right, bottom] = under(across, down);
    pen.strokeStyle = colours.grid;
    pen.lineWidth = 1;
    pen.beginPath();
    for (let x = Math.ceil(left / every) * every; x < right; x += every) { pen.moveTo(at(x, 0)[0], 0); pen.lineTo(at(x, 0)[0], down); }
    for (let y = Math.ceil(top / every) * every; y < bottom; y += every) { pen.moveTo(0, at(0, y)[1]); pen.lineTo(across, at(0, y)[1]); }
    pen.stroke();
  };
  const drawScale = (down) => {
    const every = step();
    pen.fillStyle = colours.text;
    pen.fillRect(12, down - 12, every * view.scale, 2);
    pen.font = "12px system-ui, sans-serif";
    pen.fillText(`${every} m`, 12, down - 22);
  };

  const keep = () => { try { sessionStorage.setItem(kept, JSON.stringify(view)); } catch { /* private windows keep nothing */ } };
  const show = (wanted) => {
    const from = view, began = performance.now(), mine = (flight += 1);
    if (calm.matches || !from) { view = wanted; keep(); look(); return; }
    const move = (now) => {
      if (mine !== flight) return;
      const part = Math.min(1, (now - began) / 250), eased = part * (2 - part);
      view = Object.fromEntries(["scale", "x", "y"].map((it) => [it, from[it] + (wanted[it] - from[it]) * eased]));
      look();
      if (part < 1) requestAnimationFrame(move); else keep();
    };
    requestAnimationFrame(move);
  };
  const zoom = (by, left = size()[0] / 2, top = size()[1] / 2) => {
    flight += 1;
    const [x, y] = under(left, top), scale = Math.min(MOST_ZOOM, Math.max(whole().scale / 3, view.scale * by));
    view = { scale, x: x - left / scale, y: y - top / scale };
    keep();
    look();
  };
  const pan = (across, down) => { flight += 1; view = { ...view, x: view.x - across / view.scale, y: view.y - down / view.scale }; keep(); look(); };
  const flyTo = (them) => {
    const left = Math.min(...them.map((it) => it.x)), top = Math.min(...them.map((it) => it.y));
    const right = Math.max(...them.map((it) => it.x + it.width)), bottom = Math.max(...them.map((it) => it.y + it.height));
    const around = Math.max(right - left, bottom - top, Math.max(bounds[2], bounds[3]) / 6) * 0.6;
    show(showing(left - around, top - around, right - left + 2 * around, bottom - top + 2 * around));
  };
  const choose = (id, fly = false) => {
    if (!byId.has(id)) return;
    chosen = id;
    canvas.dataset.chosen = id;
    if (fly) flyTo([byId.get(id)]); else look();
  };
  const hit = (left, top) => {
    const [x, y] = under(left, top);
    return nodes.findLast((it) => it.id && x >= it.x && x <= it.x + it.width && y >= it.y && y <= it.y + it.height);
  };

  const pointers = new Map();
  let moved = 0;
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, [event.offsetX, event.offsetY]);
    if (pointers.size === 1) moved = 0;
  });
  canvas.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) { canvas.title = hit(event.offsetX, event.offsetY)?.name || ""; return; }
    const now = [event.offsetX, event.offsetY];
    moved += Math.hypot(now[0] - before[0], now[1] - before[1]);
    const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
    if (other) {
      const apart = (it) => Math.hypot(it[0] - other[0], it[1] - other[1]);
      zoom(apart(now) / Math.max(1, apart(before)), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
    } else if (moved > 4) pan(now[0] - before[0], now[1] - before[1]);
    pointers.set(event.pointerId, now);
  });
  const release = (event) => pointers.delete(event.pointerId);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerup", (event) => {
    release(event);
    const it = moved <= 4 && hit(event.offsetX, event.offsetY);
    if (it) document.dispatchEvent(new CustomEvent("choose", { detail: it.id }));
  });
  canvas.addEventListener("dblclick", (event) => { const it = hit(event.offsetX, event.offsetY); if (it) flyTo([it]); });
  canvas.addEventListener("wheel", (event) => { event.preventDefault(); zoom(Math.exp(-event.deltaY / 400), event.offsetX, event.offsetY); }, { passive: false });
  const keys = { "+": () => zoom(1.3), "=": () => zoom(1.3), "-": () => zoom(1 / 1.3), 0: () => show(whole()),
    ArrowLeft: () => pan(60, 0), ArrowRight: () => pan(-60, 0), ArrowUp: () => pan(0, 60), ArrowDown: () => pan(0, -60) };
  canvas.addEventListener("keydown", (event) => { if (keys[event.key] && !event.ctrlKey && !event.metaKey) { event.preventDefault(); keys[event.key](); } });
  for (const button of document.querySelectorAll("[data-zoom]")) {
    button.hidden = false;
    button.addEventListener("click", () => ({ in: () => zoom(1.4), out: () => zoom(1 / 1.4), all: () => show(whole()) })[button.dataset.zoom]());
  }
  document.addEventListener("choose", (event) => choose(event.detail, event.fly));
  const field = document.getElementById("search");
  if (field) field.addEventListener("input", () => {
    const wanted = field.value.trim().toLowerCase();
    const them = wanted ? nodes.filter((it) => it.id && it.words.includes(wanted)) : [];
    found = new Set(them.map((it) => it.id));
    if (them.length) flyTo(them); else look();
  });

  canvas.placeOf = (id) => { const it = byId.get(id); return at(it.x + it.width / 2, it.y + it.height * (bearing.has(id) ? 0.12 : 0.5)); };
  canvas.hidden = false;
  readColours();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readColours(); look(); });
  new ResizeObserver(look).observe(canvas);
  try { view = JSON.parse(sessionStorage.getItem(kept)); } catch { view = null; }
  const marked = nodes.filter((it) => it.mark === "found");
  if (!view || !(view.scale > 0)) view = whole();
  if (marked.length) flyTo(marked); else look();
})();
