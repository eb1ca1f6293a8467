"use strict";
// Everything here is a convenience: without it the same links lead to the same words further down.
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const reader = document.getElementById("reader");

  const choose = (nodes) => {
    const wanted = new Set(nodes);
    for (const part of all("[data-node]")) {
      part.classList.toggle("chosen", part.dataset.node.split(" ").some((node) => wanted.has(node)));
    }
  };

  const read = (link) => {
    const article = document.getElementById(decodeURIComponent(link.hash.slice(1)));
    if (!article || !reader.showModal) return false;
    const copy = article.cloneNode(true);
    copy.removeAttribute("id");
    copy.querySelector("h3").id = "reader-title";
    const buttons = document.createElement("p");
    buttons.className = "buttons";
    const close = document.createElement("button");
    close.type = "button";
    close.textContent = "Close";
    close.addEventListener("click", () => reader.close());
    const there = document.createElement("a");
    there.href = link.hash;
    there.textContent = "Show it among all rules";
    there.addEventListener("click", () => reader.close());
    buttons.append(close, there);
    reader.replaceChildren(copy, buttons);
    reader.showModal();
    return true;
  };

  const open = (hash) => {
    const target = hash.startsWith("#node-") && document.getElementById(hash.slice(1));
    if (!target) return;
    const fold = target.closest("details");
    if (fold) fold.open = true;
    choose([hash.slice("#node-".length)]);
  };

  document.addEventListener("click", (event) => {
    if (event.target === reader) return reader.close();
    const link = event.target.closest("a");
    const hash = link && link.getAttribute("href");
    if (!hash) return undefined;
    if (link.classList.contains("rule") && read(link)) event.preventDefault();
    else open(hash);
    return undefined;
  });

  for (const part of all("svg [data-node]")) {
    part.addEventListener("mouseenter", () => choose(part.dataset.node.split(" ")));
  }
  for (const details of all(".operator details")) {
    details.addEventListener("toggle", () => details.open && choose([details.id.slice("node-".length)]));
  }

  const stepper = document.getElementById("stepper");
  const operators = all(".operator");
  if (stepper && operators.length > 1) {
    const label = document.createElement("label");
    const input = Object.assign(document.createElement("input"), { type: "range", min: 1, max: operators.length, value: 1 });
    const title = document.createElement("p");
    const memory = document.createElement("p");
    const meter = Object.assign(document.createElement("meter"), { min: 0, max: Number(stepper.dataset.arena) || 1 });
    const values = document.createElement("div");
    title.setAttribute("aria-live", "polite");
    meter.setAttribute("aria-label", "Live memory of the arena");
    label.append("Step through forward and backward", input);
    stepper.append(label, title, memory, values);
    const show = (marks) => {
      const operator = operators[input.value - 1];
      const bytes = Number(operator.dataset.live || 0);
      title.replaceChildren(...operator.querySelector("summary").cloneNode(true).childNodes);
      meter.value = bytes;
      memory.replaceChildren(meter, ` live: ${bytes.toLocaleString("en")} of ${meter.max.toLocaleString("en")} bytes`);
      const copy = operator.querySelector(".facts").cloneNode(true);
      copy.removeAttribute("id");
      values.replaceChildren(copy);
      if (marks) choose([operator.dataset.node]);
    };
    input.addEventListener("input", () => show(true));
    show(false);
  }

  if ("IntersectionObserver" in window) {
    const links = new Map(all("nav a").map((link) => [link.getAttribute("href").slice(1), link]));
    const watch = new IntersectionObserver((entries) => {
      for (const entry of entries.filter((each) => each.isIntersecting)) {
        for (const link of links.values()) link.removeAttribute("aria-current");
        links.get(entry.target.id).setAttribute("aria-current", "true");
      }
    }, { rootMargin: "-20% 0px -70% 0px" });
    for (const section of all("main > section")) watch.observe(section);
  }
  addEventListener("hashchange", () => open(location.hash));
  open(location.hash);
})();
