// A part of a page that is read anew while somebody looks at it. The page works without this file.
for (const found of document.querySelectorAll("[data-renew]")) {
  const { id } = found;
  const renew = async () => {
    const old = document.getElementById(id);
    // The keyboard stays where it is: a part is not replaced under somebody's focus.
    if (document.hidden || !old || old.contains(document.activeElement)) return;
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
      if (answer.redirected || !answer.ok) return;
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById(id);
      if (fresh) old.replaceWith(document.importNode(fresh, true));
    } catch {
      // The server is away; what stands there says as of which block it was read.
    }
  };
  setInterval(renew, Number(found.dataset.renew) * 1000);
}
