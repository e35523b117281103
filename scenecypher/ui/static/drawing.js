// Draws the relations of a node by cytoscape. The page tells them in words too, so that nothing is lost without it.
"use strict";
(() => {
  const place = document.querySelector("[data-drawing]");
  if (!place || typeof cytoscape === "undefined") return;
  const { nodes, relations } = JSON.parse(document.getElementById(place.dataset.drawing).textContent);
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const shapes = { Place: "round-rectangle", Agent: "diamond", Door: "rectangle", Asset: "round-rectangle" };
  const style = () => [
    { selector: "node", style: { label: "data(name)", shape: "data(shape)", width: 22, height: 22, color: colour("--text"),
      "background-color": colour("--accent"), "font-size": 11, "text-wrap": "ellipsis", "text-max-width": 110, "text-valign": "bottom" } },
    { selector: ".here", style: { "background-color": colour("--found"), width: 34, height: 34, "font-weight": "bold" } },
    { selector: "edge", style: { label: "data(type)", width: 1, "curve-style": "bezier", "target-arrow-shape": "triangle",
      "arrow-scale": .7, "line-color": colour("--edge"), "target-arrow-color": colour("--edge"), color: colour("--text"),
      "font-size": 8, "text-rotation": "autorotate", "text-background-color": colour("--ground"), "text-background-opacity": 1 } },
  ];
  const draw = (here) => {
    const near = relations.filter((it) => it[0] === here || it[2] === here);
    const ids = new Set([here, ...near.flatMap((it) => [it[0], it[2]])]);
    place.hidden = near.length === 0;
    if (place.hidden) return;
    const drawing = cytoscape({
      container: place,
      style: style(),
      userZoomingEnabled: false,
      elements: [
        ...[...ids].map((id) => ({ data: { id, name: nodes[id][0], shape: shapes[nodes[id][1]] || "ellipse" }, classes: id === here ? "here" : "" })),
        ...near.map((it) => ({ data: { source: it[0], type: it[1], target: it[2] } })),
      ],
      layout: { name: "concentric", concentric: (node) => (node.id() === here ? 2 : 1), levelWidth: () => 1, minNodeSpacing: 40 },
    });
    drawing.on("tap", "node", (event) => choose(event.target.id()));
    matchMedia("(prefers-color-scheme: dark)").onchange = () => drawing.style(style());
    place.dataset.drawn = here;
  };
  const choose = (id) => {
    if (place.dataset.address) location.href = place.dataset.address + encodeURIComponent(id);
    else { draw(id); place.scrollIntoView({ block: "nearest" }); }
  };
  if (place.dataset.here) draw(place.dataset.here);
  else document.addEventListener("choose", (event) => { if (event.detail in nodes) draw(event.detail); });
  for (const name of document.querySelectorAll("[data-node]")) {
    if (!(name.dataset.node in nodes)) continue;
    name.tabIndex = 0;
    name.setAttribute("role", "button");
    name.addEventListener("click", () => choose(name.dataset.node));
    name.addEventListener("keydown", (event) => { if (event.key === "Enter") choose(name.dataset.node); });
  }
})();
