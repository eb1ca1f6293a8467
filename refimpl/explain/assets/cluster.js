"use strict";
// A slider over each run: without it the same events stand in the diagram and in the list.
(() => {
  for (const place of document.querySelectorAll(".slider")) {
    const run = place.closest(".run");
    const last = Number(place.dataset.steps);
    const events = [...run.querySelectorAll("svg [data-step]")];
    const rows = new Map([...run.querySelectorAll("tr[data-step]")].map((row) => [row.dataset.step, row]));
    const keys = [...run.querySelectorAll("thead th")].slice(2).map((head) => head.textContent);
    const label = document.createElement("label");
    const input = Object.assign(document.createElement("input"), { type: "range", min: 0, max: last, value: last });
    const output = document.createElement("output");
    const list = document.createElement("ul");
    list.className = "keys";
    label.append("Step through the events", input);
    place.append(label, output, list);
    const show = (scrolls) => {
      const now = Number(input.value);
      for (const event of events) {
        const step = Number(event.dataset.step);
        event.classList.toggle("future", step > now);
        event.classList.toggle("now", step === now);
        if (scrolls && step === now) {
          const box = run.querySelector(".tall");
          box.scrollTop = event.getBBox().y - box.clientHeight / 2;
        }
      }
      for (const [step, row] of rows) row.classList.toggle("now", Number(step) === now);
      const row = rows.get(String(now));
      const cells = row ? [...row.cells].slice(1).map((cell) => cell.textContent) : ["nothing has happened yet"];
      output.textContent = `${now} of ${last}: ${cells[0]}`;
      list.replaceChildren(...keys.map((key, at) => {
        const item = document.createElement("li");
        item.textContent = `${key}: ${cells[at + 1] ? `version ${cells[at + 1]}` : "not there"}`;
        return item;
      }));
    };
    input.addEventListener("input", () => show(true));
    show(false);
  }
  const open = () => {
    const target = location.hash.startsWith("#e") && document.getElementById(location.hash.slice(1));
    const details = target && target.closest("details");
    if (!details) return;
    details.open = true;
    target.scrollIntoView({ block: "center" });
  };
  addEventListener("hashchange", open);
  open();
})();
