// Sections that fold: open where there is room, folded on a phone, as the person left them before, and open where the
// address names one. Every page works without this file.
document.addEventListener("DOMContentLoaded", () => {
  const isNarrow = matchMedia("(max-width: 639px)").matches;
  const sections = document.querySelectorAll("details[data-fold], form fieldset.collapse > details");
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
  for (const section of sections) {
    const title = section.querySelector("summary h2").textContent.trim().split(":")[0];
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
  const openNamed = () => {
    const named = location.hash.length > 1 ? document.getElementById(decodeURIComponent(location.hash.slice(1))) : null;
    const section = named && named.closest("details");
    if (!section) return;
    section.open = true;
    named.scrollIntoView();
  };
  addEventListener("hashchange", openNamed);
  openNamed();
});
