// Follows one trial of a policy over the event stream; when it ends the page is loaded again with what came of it.
(() => {
  const page = document.getElementById("trial");
  if (!page) return;
  const bar = page.querySelector("[role=progressbar]");
  const query = new URLSearchParams({ golem: page.dataset.golem, types: page.dataset.type });
  const source = new EventSource(`${page.dataset.events}?${query}`);

  source.addEventListener(page.dataset.type, (message) => {
    const { payload } = JSON.parse(message.data);
    if (payload.trial_id !== page.dataset.trial) return;
    if (payload.status !== "RUNNING") { location.reload(); return; }
    const percent = Math.floor((100 * payload.done) / Math.max(payload.total, 1));
    document.getElementById("trial-words").textContent = `${payload.done} of ${payload.total}`;
    bar.setAttribute("aria-valuenow", String(percent));
    bar.querySelector("rect").setAttribute("width", `${percent}%`);
  });
  // What ended between the page and the stream, or was told to nobody, is found by asking again.
  const again = setInterval(() => location.reload(), 10_000);
  addEventListener("pagehide", () => { clearInterval(again); source.close(); }, { once: true });
})();
