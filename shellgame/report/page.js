// Values of charts at once where the pointer is, or by arrow keys on a chart that has the focus;
// all folded parts open for printing. Without it browsers show the same texts by themselves.
(function () {
  "use strict";
  const tip = document.getElementById("tip");
  function hide(svg) {
    tip.hidden = true;
    const cross = svg.querySelector(".cross");
    if (cross) cross.style.visibility = "hidden";
  }
  function show(svg, hit, x, y) {
    tip.textContent = hit.dataset.text;
    tip.hidden = false;
    const cross = svg.querySelector(".cross");
    if (cross) {
      cross.style.visibility = hit.dataset.x ? "visible" : "hidden";
      if (hit.dataset.x) cross.setAttribute("transform", "translate(" + hit.dataset.x + " 0)");
    }
    const size = tip.getBoundingClientRect();
    const left = x + 14 + size.width > innerWidth ? x - 14 - size.width : x + 14;
    const top = y + 14 + size.height > innerHeight ? y - 14 - size.height : y + 14;
    tip.style.left = Math.max(4, Math.min(left, innerWidth - size.width - 4)) + "px";
    tip.style.top = Math.max(4, top) + "px";
  }
  document.querySelectorAll(".chart svg").forEach(function (svg) {
    const hits = Array.from(svg.querySelectorAll(".hits rect, .mark"));
    const stripes = hits.filter(function (hit) { return hit.tagName === "rect"; });
    if (hits.length === 0) return;
    hits.forEach(function (hit) {
      const title = hit.querySelector("title");
      hit.dataset.text = title.textContent;
      title.remove();  // or the browser would show it a second time
      ["pointerenter", "pointermove", "pointerdown"].forEach(function (kind) {
        hit.addEventListener(kind, function (event) { show(svg, hit, event.clientX, event.clientY); });
      });
    });
    let place = -1;
    svg.addEventListener("pointerleave", function () { hide(svg); });
    svg.addEventListener("blur", function () { hide(svg); });
    svg.addEventListener("keydown", function (event) {
      const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
      if (event.key === "Escape") hide(svg);
      if (!(event.key in steps)) return;
      event.preventDefault();
      place = Math.max(0, Math.min(stripes.length - 1, place + steps[event.key]));
      const at = stripes[place].getBoundingClientRect();
      show(svg, stripes[place], at.left + at.width / 2, at.top + at.height / 3);
    });
  });
  addEventListener("scroll", function () { tip.hidden = true; }, { passive: true });
  let closed = [];
  addEventListener("beforeprint", function () {
    closed = Array.from(document.querySelectorAll("details:not([open])"));
    closed.forEach(function (part) { part.open = true; });
  });
  addEventListener("afterprint", function () {
    closed.forEach(function (part) { part.open = false; });
  });
})();
