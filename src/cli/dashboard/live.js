"use strict";
// Asks for the page again and puts its figures in place of those shown. Only the parts that change are
// replaced, so that what was scrolled, unfolded or focused stays as it is.
(() => {
  const GAP = 2000;
  const PARTS = ".card b, .card span, caption, tbody, figure svg, [data-live]";

  const show = (page) => {
    const shown = document.querySelectorAll(PARTS);
    const fresh = page.querySelectorAll(PARTS);
    if (shown.length !== fresh.length) {
      document.querySelector("main").replaceChildren(...page.querySelector("main").childNodes);
      return;
    }
    shown.forEach((part, place) => {
      // What is the same stays, and with it the focus and what is selected.
      if (part.innerHTML !== fresh[place].innerHTML) part.replaceChildren(...fresh[place].childNodes);
    });
  };

  const look = async () => {
    if (!document.hidden) {
      let text = null;
      try {
        const answer = await fetch(location.href, { cache: "no-store" });
        text = answer.ok ? await answer.text() : null;
      } catch {
        // The figures stay, and the line below says how old they are.
      }
      if (text !== null) {
        const page = new DOMParser().parseFromString(text, "text/html");
        document.title = page.title;
        show(page);
      }
      document.getElementById("lost").hidden = text !== null;
    }
    setTimeout(look, GAP);
  };

  document.addEventListener("DOMContentLoaded", () => setTimeout(look, GAP));
})();
