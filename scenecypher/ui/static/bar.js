// The one line by which a person asks, finds, acts, plans and queries: it shows what Enter does, and completes words.
"use strict";
(() => {
  const bar = document.getElementById("bar");
  if (!bar) return;
  const field = document.getElementById("search"), list = document.getElementById("suggestions");
  const buttons = new Map([...bar.querySelectorAll(":scope > button")].map((it) => [it.textContent, it]));
  const actions = JSON.parse(bar.dataset.actions);
  const QUERY = /^\s*(match|optional|call|with|unwind|return)\s/i;
  const QUESTION = /\?\s*$|^\s*(who|what|where|which|when|why|how|is|are|was|were|does|do|did|has|have|can)\s/i;
  const SHOWN = 7;
  let chosen = -1;

  const meant = () => {
    const text = field.value.trim();
    if (QUERY.test(text)) return "Cypher";
    if (/^\w+\(.*\)$/.test(text)) return "Act";
    if (QUESTION.test(text)) return "Ask";
    return text.includes(" ") && !document.querySelector("[data-words].found") ? "Plan" : "Find";
  };
  const button = () => buttons.get(meant()) || buttons.get("Ask");
  const word = () => /[^\s(,]*$/.exec(field.value.slice(0, field.selectionStart))[0];
  const found = (begun) => {
    const wanted = begun.toLowerCase(), isFirst = field.value.trim() === begun;
    const verbs = isFirst ? actions.filter((it) => it.startsWith(wanted)).map((it) => `${it}(`) : [];
    const names = (document.getElementById("map").things || []).filter((it) => it.id.toLowerCase().startsWith(wanted)).map((it) => it.id);
    return [...verbs, ...names].filter((it) => it !== begun).slice(0, SHOWN);
  };
  const close = () => { list.hidden = true; chosen = -1; field.setAttribute("aria-expanded", "false"); field.removeAttribute("aria-activedescendant"); };
  const suggest = () => {
    const begun = word(), them = begun.length > 1 ? found(begun) : [];
    if (!them.length) { close(); return; }
    list.replaceChildren(...them.map((it, number) => Object.assign(document.createElement("li"), { id: `suggestion-${number}`, role: "option", textContent: it })));
    chosen = -1;
    list.hidden = false;
    field.setAttribute("aria-expanded", "true");
  };
  const take = (text) => {
    const at = field.selectionStart, from = at - word().length, rest = field.value.slice(at);
    field.value = field.value.slice(0, from) + text + rest;
    field.setSelectionRange(from + text.length, from + text.length);
    close();
    field.dispatchEvent(new Event("input"));
    field.focus();
  };
  const move = (by) => {
    chosen = (chosen + by + list.children.length) % list.children.length;
    [...list.children].forEach((it, number) => it.setAttribute("aria-selected", number === chosen));
    field.setAttribute("aria-activedescendant", list.children[chosen].id);
  };
  const mark = () => { for (const it of buttons.values()) it.classList.toggle("meant", field.value.trim() !== "" && it === button()); };

  for (const [name, value] of Object.entries({ role: "combobox", "aria-controls": "suggestions", "aria-autocomplete": "list", "aria-expanded": "false" })) field.setAttribute(name, value);
  field.addEventListener("input", () => { suggest(); mark(); });
  field.addEventListener("blur", () => setTimeout(close, 150));
  list.addEventListener("pointerdown", (event) => { event.preventDefault(); if (event.target.role === "option") take(event.target.textContent); });
  field.addEventListener("keydown", (event) => {
    const isOpen = !list.hidden;
    if (isOpen && (event.key === "ArrowDown" || event.key === "ArrowUp")) { event.preventDefault(); move(event.key === "ArrowDown" ? 1 : -1); return; }
    if (event.key === "Escape") { close(); return; }
    if (isOpen && (event.key === "Tab" || event.key === "Enter") && chosen >= 0) { event.preventDefault(); take(list.children[chosen].textContent); return; }
    if (event.key !== "Enter" || !field.value.trim()) return;
    event.preventDefault();
    close();
    if (meant() === "Find" && document.querySelector("[data-words].found") && !document.querySelector("[data-content='']")) return;
    bar.requestSubmit(button());
  });
  document.addEventListener("keydown", (event) => {
    const isTyping = /^(input|textarea|select)$/i.test(document.activeElement.tagName);
    if ((event.key === "k" && (event.ctrlKey || event.metaKey)) || (event.key === "/" && !isTyping)) { event.preventDefault(); field.focus(); field.select(); }
  });
  mark();
})();
