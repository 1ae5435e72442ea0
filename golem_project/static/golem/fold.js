// Sections that fold: open where there is room, folded on a phone, as the person left them before, and open where the
// address names one. Every page works without this file.
document.addEventListener("DOMContentLoaded", () => {
  const isNarrow = matchMedia("(max-width: 639px)").matches;
  const recall = (key) => {
    try {
      return localStorage.getItem(key);
    } catch {
      return null;
    }
  };
  const keep = (key, value) => {
    try {
      localStorage.setItem(key, value);
    } catch {
      // A browser that stores nothing remembers nothing.
    }
  };
  const FOLDING = "details[data-fold], form fieldset.collapse > details";
  const fold = () => {
    for (const section of document.querySelectorAll(FOLDING)) {
      if (section.dataset.folds !== undefined) continue;
      section.dataset.folds = "";
      const title = section.querySelector("summary").textContent.trim().split(":")[0];
      const name = section.id || title.toLowerCase().replace(/[^a-z0-9]+/g, "-");
      const hasId = document.getElementById(name);
      if (!section.id && !hasId) section.id = name;
      const key = `golem-fold-${isNarrow ? "narrow" : "wide"}-${name}`;
      // What was refused is seen.
      const isAsked = section.querySelector(".errors, .errorlist") !== null;
      const left = recall(key);
      section.open = isAsked || (left === null ? !isNarrow : left === "open");
      section.querySelector("summary").addEventListener("click", () => keep(key, section.open ? "folded" : "open"));
    }
  };
  fold();
  // A part that a script renewed folds as the one before it.
  document.addEventListener("gx:renewed", fold);
  // A link of this page to the place where one already is opens it again.
  document.addEventListener("click", (event) => {
    if (event.target.closest('a[href^="#"]')) setTimeout(openNamed);
  });
  const openNamed = () => {
    const named = location.hash.length > 1 ? document.getElementById(decodeURIComponent(location.hash.slice(1))) : null;
    const section = named && (named.closest("details") || named.querySelector("details[data-fold]"));
    if (!section) return;
    for (let fold = section; fold; fold = fold.parentElement.closest("details")) fold.open = true;
    named.scrollIntoView();
  };
  addEventListener("hashchange", openNamed);
  openNamed();
});
