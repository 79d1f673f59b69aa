"use strict";
(() => {
  const search = document.getElementById("search");
  const boxes = [...document.querySelectorAll(".filter input[type=checkbox]")];
  const shown = document.getElementById("shown");
  const items = [...document.querySelectorAll("[data-v]")].map((element) => ({ element, verdict: element.dataset.v, text: null }));
  const rows = items.filter((item) => item.element.tagName === "TR");
  const sections = [...document.querySelectorAll(".rows section")];
  const apply = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const verdicts = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
    for (const item of items) {
      let visible = verdicts.has(item.verdict);
      if (visible && words.length > 0) {
        item.text ??= item.element.textContent.toLowerCase();
        visible = words.every((word) => item.text.includes(word));
      }
      item.element.hidden = !visible;
    }
    for (const section of sections) section.hidden = section.querySelector("tr:not([hidden])") === null;
    count();
  };
  const count = () => {
    shown.textContent = rows.filter((row) => !row.element.hidden).length + " of " + rows.length + " assertions";
  };
  const reveal = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target && target.tagName === "DETAILS") target.open = true;
  };
  document.getElementById("filter").hidden = false;
  search.addEventListener("input", apply);
  boxes.forEach((box) => box.addEventListener("change", apply));
  addEventListener("hashchange", reveal);
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== search) {
      event.preventDefault();
      search.focus();
    }
  });
  count();
  reveal();
})();
