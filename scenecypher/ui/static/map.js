// Draws the home on the canvas: pan, zoom, search, and the thing that was chosen. The list below the map tells the same.
"use strict";
(async () => {
  const canvas = document.getElementById("map");
  if (!canvas) return;
  const told = canvas.parentElement.dataset;
  if (canvas.dataset.from) told.told = "Drawing the map…";
  const answer = canvas.dataset.from ? await fetch(canvas.dataset.from).catch(() => null) : null;
  if (canvas.dataset.from && !(answer && answer.ok)) { told.told = SILENT; return; }
  let nodes = [], byId = new Map(), bearing = new Set(), doors = [], path = [], lattice = [], beliefs = [], bounds = [0, 0, 1, 1], metric = false;
  const front = canvas.getContext("2d"), back = document.createElement("canvas").getContext("2d");
  let pen = front;
  // The back is the map at one view without what is loose: what came or changed since it was drawn, with all that is in it.
  let backView = "", lastView = "", loose = new Set(), backCount = 0, isAllLoose = false;
  const MOST_LOOSE = 3000, SHOWN = ["name", "kind", "parent", "x", "y", "width", "height", "z"];
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const kept = `map of ${canvas.dataset.map}`;
  const SMALL = 6, SLIDE_MS = 350, GLOW_MS = 1500;
  const layers = new Set([...document.querySelectorAll("[data-layer] input:checked")].map((it) => it.value));
  const mostZoom = () => (metric ? 2000 : 400);
  let view = null, isWhole = true, chosen = "", found = new Set(), colours = {}, waiting = false, flight = 0, sliding = 0, moving = [], glow = 0, turned = 0.5;

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const readColours = () => {
    for (const it of ["text", "ground", "quiet", "edge", "found", "found-line", "changed", "accent", "bad", "grid",
      ...["place", "asset", "object", "agent", "other"].flatMap((kind) => [`${kind}-fill`, `${kind}-line`])]) colours[it] = colour(`--${it}`);
  };
  const size = () => [canvas.clientWidth, canvas.clientHeight];
  const showing = (x, y, width, height, most = mostZoom()) => {
    const [across, down] = size();
    const scale = Math.min(across / width, down / height, most);
    return { scale, x: x + width / 2 - across / 2 / scale, y: y + height / 2 - down / 2 / scale };
  };
  const whole = () => {
    if (!inSpace()) return showing(...bounds);
    const spots = nodes.filter((it) => it.id).map(spot), [xs, ys] = [spots.map((it) => it[0]), spots.map((it) => it[1])];
    const edge = lift() / 4, [left, top] = [Math.min(...xs) - edge, Math.min(...ys) - edge];
    return showing(left, top, Math.max(...xs) + 2 * edge - left, Math.max(...ys) + edge - top);
  };
  const at = (x, y) => [(x - view.x) * view.scale, (y - view.y) * view.scale];
  const under = (left, top) => [left / view.scale + view.x, top / view.scale + view.y];

  // Takes a drawing, or what differs from the one before: things slide from where they are to where it has them, and what has changed glows.
  const take = (drawing) => {
    for (const [it, keys] of moving) for (const [key, , to] of keys) it[key] = to;
    const before = byId, shapes = drawing.shapes.map(([id, name, class_, kind, parent, states, mark, x, y, width, height, z]) => (
      { id, name, kind, parent, states, mark, x, y, width, height, z, words: `${name} ${class_} ${id}`.toLowerCase() }));
    beliefs = drawing.belief || [];
    if (drawing.without) {
      const gone = new Set(drawing.without), drawn = new Map(shapes.map((it) => [it.id, it]));
      const left = nodes.filter((it) => !gone.has(it.id)).map((it) => { const now = drawn.get(it.id) || it; drawn.delete(it.id); return now; });
      nodes = [...left, ...drawn.values()];
    } else {
      ({ doors, path, bounds, metric, lattice = [] } = drawing);
      nodes = metric ? shapes.sort((one, other) => rank(one) - rank(other)) : shapes;
    }
    if (drawing.marks) for (const it of nodes) it.mark = drawing.marks[it.id] || "";
    byId = new Map(nodes.map((it) => [it.id, it]));
    const bore = bearing;
    bearing = new Set(nodes.map((it) => it.parent));
    if (before.size) loosen(before, bore);
    if (!drawing.without) backView = "";
    canvas.things = nodes;
    canvas.dataset.belief = beliefs.length;
    const has = { lattice: lattice.length, path: path.length > 1, "3d": metric && nodes.some((it) => it.z) };
    for (const one of document.querySelectorAll("[data-layer]")) if (one.dataset.layer in has) one.hidden = !has[one.dataset.layer];
    document.querySelector(".layers").hidden = !document.querySelector("[data-layer]:not([hidden])");
    if (before.size && !calm.matches) slide(before);
    look();
  };
  const rank = (it) => ({ Place: 0, Waypoint: 1 }[it.kind] ?? 2);  // waypoints lie below things, whose names they would hide
  const isSame = (old, it) => old === it || (old && SHOWN.every((key) => old[key] === it[key]) && old.states.join() === it.states.join());
  const loosen = (before, bore) => {
    const known = new Set(loose);
    for (const it of nodes) {
      const isRoom = it.kind === "Place";
      if (!loose.has(it.parent) && isSame(before.get(it.id), it) && (isRoom || bore.has(it.id) === bearing.has(it.id))) continue;
      loose.add(it.id);
      isAllLoose ||= isRoom;
    }
    isAllLoose ||= loose.size > MOST_LOOSE;
    if (loose.size > known.size || [...before.keys()].some((id) => !byId.has(id) && !known.has(id))) backView = "";
  };
  const slide = (before) => {
    const began = performance.now(), mine = (sliding += 1);
    moving = nodes.flatMap((it) => {
      const old = before.get(it.id), keys = ["x", "y", "width", "height"];
      return old && keys.some((key) => old[key] !== it[key]) ? [[it, keys.map((key) => [key, old[key], it[key]])]] : [];
    });
    const move = (time) => {
      if (mine !== sliding) return;
      const part = Math.min(1, (time - began) / SLIDE_MS), eased = part * (2 - part);
      for (const [it, keys] of moving) for (const [key, from, to] of keys) it[key] = from + (to - from) * eased;
      glow = Math.max(0, 1 - (time - began) / GLOW_MS);
      look();
      if (part === 1) { moving = []; if (isAllLoose) { loose.clear(); isAllLoose = false; backView = ""; } }
      if (part < 1 || glow > 0) requestAnimationFrame(move);
    };
    requestAnimationFrame(move);
  };

  const look = () => { if (!waiting) { waiting = true; requestAnimationFrame(draw); } };
  const draw = () => {
    waiting = false;
    const [across, down] = size(), ratio = devicePixelRatio || 1;
    if (canvas.width !== Math.round(across * ratio) || canvas.height !== Math.round(down * ratio)) {
      canvas.width = Math.round(across * ratio);
      canvas.height = Math.round(down * ratio);
    }
    if (inSpace()) { clear(across, down, ratio); drawSpace(across, down); return; }
    const seen = (it) => {
      if (it.kind === "Waypoint" && !layers.has("lattice")) return false;
      const [left, top] = at(it.x, it.y);
      return left < across && top < down && left + it.width * view.scale > 0 && top + it.height * view.scale > 0;
    };
    const now = JSON.stringify([view, canvas.width, canvas.height, colours.ground, ...layers]);
    let count = 0;
    if (isAllLoose || (backView !== now && lastView !== now)) count = drawAll(seen, across, down, ratio);
    else {
      if (backView !== now) drawBack(seen, across, down, ratio, now);
      front.setTransform(1, 0, 0, 1, 0, 0);
      front.drawImage(back.canvas, 0, 0);
      front.setTransform(ratio, 0, 0, ratio, 0, 0);
      count = backCount;
      if (loose.size) for (const it of nodes) if (loose.has(it.id) && seen(it) && drawShape(it)) count += 1;
    }
    lastView = now;
    for (const it of nodes) if (stands(it) && seen(it)) drawOutline(it);
    if (layers.has("belief")) drawBeliefs();
    if (metric) drawScale(down);
    canvas.dataset.drawn = count;
  };
  const clear = (across, down, ratio) => {
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = colours.ground;
    pen.fillRect(0, 0, across, down);
    pen.textBaseline = "middle";
  };
  const drawAll = (seen, across, down, ratio, without = new Set()) => {
    clear(across, down, ratio);
    if (metric) drawGrid(across, down);
    const them = nodes.filter((it) => seen(it) && !without.has(it.id));
    for (const it of them) if (it.kind === "Place") drawShape(it);
    drawDoors();
    if (layers.has("lattice")) drawLattice();
    if (layers.has("path")) drawPath();
    let count = 0;
    for (const it of them) if (it.kind !== "Place" && drawShape(it)) count += 1;
    return count;
  };
  const drawBack = (seen, across, down, ratio, now) => {
    [back.canvas.width, back.canvas.height] = [canvas.width, canvas.height];
    pen = back;
    backCount = drawAll(seen, across, down, ratio, loose);
    pen = front;
    backView = now;
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
    pen.fillStyle = it.kind === "Agent" ? "#fff" : colours.text;
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
    pen.strokeStyle = it.id === chosen ? colours.accent : found.has(it.id) || it.mark === "found" ? colours["found-line"] : colours.changed;
    pen.lineWidth = it.mark === "changed" && it.id !== chosen ? 3 + 5 * glow : 3;
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
  // A map in space, seen from the side: rooms above waypoints above things, each joined with what it lies in.
  const inSpace = () => metric && layers.has("3d");
  const lift = () => Math.max(bounds[2], bounds[3]) / 3.5;
  const inAir = (x, y, z) => {
    const [cx, cy] = [bounds[0] + bounds[2] / 2, bounds[1] + bounds[3] / 2];
    const [right, far] = [(x - cx) * Math.cos(turned) - (y - cy) * Math.sin(turned), (x - cx) * Math.sin(turned) + (y - cy) * Math.cos(turned)];
    return [cx + right, cy + far * 0.45 - z * 0.85];
  };
  const spot = (it) => inAir(it.x + it.width / 2, it.y + it.height / 2, it.z + lift() * ({ Place: 2, Waypoint: 1 }[it.kind] || 0));
  const drawSpace = (across, down) => {
    const line = (from, to) => { pen.beginPath(); pen.moveTo(...at(...from)); pen.lineTo(...at(...to)); pen.stroke(); };
    pen.lineWidth = 1;
    pen.strokeStyle = colours.edge;
    pen.globalAlpha = 0.35;
    for (const it of nodes) if (it.id && byId.get(it.parent)?.id) line(spot(it), spot(byId.get(it.parent)));
    pen.globalAlpha = 0.7;
    if (layers.has("lattice")) for (const [one, other] of lattice) line(spot(byId.get(one)), spot(byId.get(other)));
    if (layers.has("path")) path.slice(1).forEach((it, number) => line(inAir(...path[number], 0), inAir(...it, 0)));
    pen.globalAlpha = 1;
    let count = 0;
    for (const it of nodes) {
      if (!it.id || (it.kind === "Waypoint" && !layers.has("lattice"))) continue;
      const [left, top] = at(...spot(it)), half = { Place: 10, Waypoint: 2 }[it.kind] || 6, kind = it.kind.toLowerCase();
      if (left < -60 || top < -60 || left > across + 60 || top > down + 60) continue;
      pen.fillStyle = colours[`${kind}-line`] || colours["other-line"];
      pen.fillRect(left - half, top - half, 2 * half, 2 * half);
      count += 1;
      if (stands(it)) { pen.strokeStyle = it.id === chosen ? colours.accent : colours["found-line"]; pen.lineWidth = 3; pen.strokeRect(left - half - 3, top - half - 3, 2 * half + 6, 2 * half + 6); pen.lineWidth = 1; }
      if (it.kind === "Waypoint") continue;
      pen.fillStyle = colours.text;
      pen.font = `${it.kind === "Place" ? 600 : 400} 12px system-ui, sans-serif`;
      pen.fillText(it.name, left + half + 4, top);
    }
    canvas.dataset.drawn = count;
  };
  const drawLattice = () => {
    pen.strokeStyle = colours.quiet;
    pen.globalAlpha = 0.6;
    pen.lineWidth = 1;
    pen.beginPath();
    const middle = (id) => { const it = byId.get(id); return at(it.x + it.width / 2, it.y + it.height / 2); };
    for (const [one, other] of lattice) { pen.moveTo(...middle(one)); pen.lineTo(...middle(other)); }
    pen.stroke();
    pen.globalAlpha = 1;
  };
  // Where the robot believes things to be: a ghost there, an arrow to where it is; hollow what it has not seen.
  const drawBeliefs = () => {
    const stacked = new Map();
    for (const [id, name, state, , supports, sure] of beliefs) {
      const it = byId.get(id), support = byId.get(supports[0]);
      if (it && (state === "unseen" || state === "unknown")) hollow(it, state === "unknown");
      if (state === "changed" && it) ghost(it.x, it.y, it.width, it.height, "", sure, colours.found);
      if (!["moved", "gone", "never was"].includes(state) || !support) continue;
      const number = stacked.get(supports[0]) || 0, width = it ? it.width : support.width / 4, height = it ? it.height : support.height / 4;
      stacked.set(supports[0], number + 1);
      const x = support.x + support.width - width * (1 + (number % 4)), y = support.y + support.height - height * (1 + Math.floor(number / 4));
      ghost(x, y, width, height, state === "moved" ? name : `${name}: ${state}`, sure, state === "moved" ? colours.accent : colours.bad);
      if (it && state === "moved") arrow(x + width / 2, y + height / 2, it.x + it.width / 2, it.y + it.height / 2);
    }
  };
  const hollow = (it, isUnknown) => {
    const [left, top] = at(it.x, it.y);
    pen.fillStyle = colours.ground;
    pen.globalAlpha = isUnknown ? 0.8 : 0.55;
    pen.fillRect(left, top, it.width * view.scale, it.height * view.scale);
    pen.globalAlpha = 1;
    pen.strokeStyle = colours.quiet;
    pen.lineWidth = 1;
    pen.setLineDash([3, 3]);
    pen.strokeRect(left, top, it.width * view.scale, it.height * view.scale);
    pen.setLineDash([]);
  };
  const ghost = (x, y, width, height, words, sure, line) => {
    const [left, top] = at(x, y);
    pen.globalAlpha = 0.35 + 0.65 * sure;
    pen.strokeStyle = pen.fillStyle = line;
    pen.lineWidth = 2;
    pen.setLineDash([6, 4]);
    pen.strokeRect(left, top, width * view.scale, height * view.scale);
    pen.setLineDash([]);
    const letters = Math.min(12, (height * view.scale) / 1.6);
    pen.font = `italic ${letters}px system-ui, sans-serif`;
    if (letters >= SMALL) pen.fillText(cut(words, width * view.scale - 4), left + 3, top + (height * view.scale) / 2);
    pen.globalAlpha = 1;
  };
  const arrow = (x1, y1, x2, y2) => {
    const [left, top] = at(x1, y1), [right, bottom] = at(x2, y2), turn = Math.atan2(bottom - top, right - left);
    pen.strokeStyle = pen.fillStyle = colours.accent;
    pen.lineWidth = 1.5;
    pen.beginPath();
    pen.moveTo(left, top);
    pen.lineTo(right, bottom);
    pen.stroke();
    pen.beginPath();
    pen.moveTo(right, bottom);
    for (const side of [-0.4, 0.4]) pen.lineTo(right - 10 * Math.cos(turn + side), bottom - 10 * Math.sin(turn + side));
    pen.fill();
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
    isWhole = false;
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
  const showAll = () => { show(whole()); isWhole = true; };
  const zoom = (by, left = size()[0] / 2, top = size()[1] / 2) => {
    flight += 1;
    isWhole = false;
    const [x, y] = under(left, top), scale = Math.min(mostZoom(), Math.max(whole().scale / 3, view.scale * by));
    view = { scale, x: x - left / scale, y: y - top / scale };
    keep();
    look();
  };
  const pan = (across, down) => { flight += 1; isWhole = false; view = { ...view, x: view.x - across / view.scale, y: view.y - down / view.scale }; keep(); look(); };
  const flyTo = (them) => {
    let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
    for (const it of inSpace() ? them.map((one) => { const [x, y] = spot(one); return { x, y, width: 0, height: 0 }; }) : them) {
      [left, top] = [Math.min(left, it.x), Math.min(top, it.y)];
      [right, bottom] = [Math.max(right, it.x + it.width), Math.max(bottom, it.y + it.height)];
    }
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
    if (inSpace()) return nodes.findLast((it) => it.id && Math.max(...at(...spot(it)).map((end, axis) => Math.abs(end - [left, top][axis]))) < 9);
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
    } else if (moved > 4 && inSpace() && event.shiftKey) { turned += (now[0] - before[0]) / 150; look(); }
    else if (moved > 4) pan(now[0] - before[0], now[1] - before[1]);
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
  const keys = { "+": () => zoom(1.3), "=": () => zoom(1.3), "-": () => zoom(1 / 1.3), 0: () => showAll(),
    ArrowLeft: () => pan(60, 0), ArrowRight: () => pan(-60, 0), q: () => { turned -= 0.2; look(); }, e: () => { turned += 0.2; look(); }, ArrowUp: () => pan(0, 60), ArrowDown: () => pan(0, -60) };
  canvas.addEventListener("keydown", (event) => { if (keys[event.key] && !event.ctrlKey && !event.metaKey) { event.preventDefault(); keys[event.key](); } });
  for (const button of document.querySelectorAll("[data-zoom]")) {
    button.hidden = false;
    button.addEventListener("click", () => ({ in: () => zoom(1.4), out: () => zoom(1 / 1.4), all: () => showAll() })[button.dataset.zoom]());
  }
  document.addEventListener("choose", (event) => choose(event.detail, event.fly));
  const field = document.getElementById("search");
  if (field) field.addEventListener("input", () => {
    const wanted = field.value.trim().toLowerCase();
    const them = wanted ? nodes.filter((it) => it.id && it.words.includes(wanted)) : [];
    found = new Set(them.map((it) => it.id));
    if (them.length) flyTo(them); else look();
  });

  canvas.placeOf = (id) => { const it = byId.get(id); return inSpace() ? at(...spot(it)) : at(it.x + it.width / 2, it.y + it.height * (bearing.has(id) ? 0.12 : 0.5)); };
  canvas.asked = () => (layers.has("belief") ? "&belief=1" : "");
  canvas.take = take;
  for (const box of document.querySelectorAll("[data-layer] input")) box.addEventListener("change", () => {
    if (box.checked) layers.add(box.value); else layers.delete(box.value);
    if (box.value === "belief" && canvas.again) canvas.again();
    else if (box.value === "3d") showAll();
    else look();
  });
  canvas.hidden = false;
  readColours();
  const first = answer ? await answer.json() : JSON.parse(document.getElementById("map-data").textContent);
  delete told.told;
  take(first);
  if (first.version !== undefined) canvas.dataset.version = first.version;
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readColours(); look(); });
  new ResizeObserver(() => { if (isWhole) view = whole(); look(); }).observe(canvas);
  try { view = JSON.parse(sessionStorage.getItem(kept)); } catch { view = null; }
  const marked = nodes.filter((it) => it.mark === "found");
  if (view && view.scale > 0) isWhole = false; else view = whole();
  if (marked.length) flyTo(marked); else look();
})();
