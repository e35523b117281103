// Search in the page, and a slider that goes to a version. Without this script all links and forms work the same.
"use strict";
(() => {
  const field = document.getElementById("search");
  if (field) {
    const nodes = [...document.querySelectorAll("[data-words]")];
    const told = document.getElementById("search-told");
    field.addEventListener("input", () => {
      const wanted = field.value.trim().toLowerCase();
      let count = 0;
      for (const node of nodes) {
        const hit = wanted !== "" && node.dataset.words.includes(wanted);
        node.classList.toggle("found", hit);
        count += hit;
        if (hit) for (let at = node.closest("details"); at; at = at.parentElement.closest("details")) at.open = true;
      }
      told.textContent = wanted === "" ? "" : `${count} found`;
      const first = document.querySelector("[data-words].found");
      if (first) first.scrollIntoView({ block: "nearest" });
    });
  }
  const slider = document.getElementById("version");
  if (slider) {
    const shown = document.getElementById("version-shown");
    slider.addEventListener("input", () => { shown.textContent = slider.value; });
    slider.addEventListener("change", () => slider.form.requestSubmit());
  }
  for (const room of document.querySelectorAll("details[data-load]")) {
    room.addEventListener("toggle", async () => {
      const place = room.querySelector("[data-content]");
      if (!room.open || place.dataset.content === "there") return;
      place.dataset.content = "there";
      try {
        const answer = await fetch(room.dataset.load, { headers: { "X-Part": "1" } });
        place.innerHTML = await answer.text();
      } catch {
        place.dataset.content = "";
        place.textContent = "The server does not answer; start `scenecypher ui` again.";
      }
    });
  }
  for (const section of document.querySelectorAll("[data-live]")) {
    const steps = new EventSource(section.dataset.live);
    steps.onmessage = async () => { section.innerHTML = await (await fetch(section.dataset.film)).text(); };
    steps.addEventListener("end", () => steps.close());
    steps.onerror = () => { if (steps.readyState === EventSource.CLOSED) section.dataset.ended = "1"; };
  }
})();
