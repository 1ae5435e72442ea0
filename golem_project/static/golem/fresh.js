// Marks what an open page shows as out of date once an action ended, and reads it anew once that was measured.
// Only times of the server are compared. The page works without this file: it says when it was made.
(() => {
  const EVERY_MS = 1500;
  const mark = document.getElementById("fresh");
  if (!mark) return;
  // What was measured while the page was made may not be on it: it is read once more.
  const madeAt = Date.parse(mark.dataset.at) - 2000;
  let shown = "";
  let isAsking = false;

  const renew = async () => {
    document.dispatchEvent(new Event("gx:measured"));
    const parts = [...document.querySelectorAll("[data-follows]")];
    // The keyboard stays where it is: a part is not replaced under somebody's focus.
    if (parts.some((part) => part.contains(document.activeElement))) return false;
    const answer = parts.length ? await fetch(location.href, { headers: { Accept: "text/html" } }) : null;
    if (answer && (answer.redirected || !answer.ok)) return false;
    const fresh = answer && new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const part of parts) {
      const next = fresh.getElementById(part.id);
      if (next) part.replaceWith(document.importNode(next, true));
    }
    document.dispatchEvent(new Event("gx:renewed"));
    return true;
  };

  const look = async () => {
    if (document.hidden || isAsking) return;
    isAsking = true;
    try {
      const answer = await fetch(mark.dataset.fresh, { headers: { Accept: "application/json" } });
      if (answer.redirected || !answer.ok) return;
      const told = await answer.json();
      mark.hidden = !told.is_behind;
      const isNew = told.measured_at && told.measured_at !== shown && Date.parse(told.measured_at) > madeAt;
      if (isNew && (await renew())) shown = told.measured_at;
    } catch {
      // The server is away; what stands there says when it was measured.
    } finally {
      isAsking = false;
    }
  };
  setInterval(look, EVERY_MS);
  look();
})();
