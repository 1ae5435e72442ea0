// Keeps the cockpit and the fleet fresh: follows the event stream, and renews the page's parts after what changes them.
// Text of events comes from chains and agents: it is only ever set as text.
(() => {
  const page = document.querySelector("[data-live]");
  if (!page) return;
  const link = page.querySelector("[data-link]");
  const feed = page.querySelector("[data-feed]");
  const seen = new Set([...page.querySelectorAll("[data-event-id]")].map((line) => line.dataset.eventId));
  const TELLING = page.dataset.telling.split(",");
  const MOST_LINES = 200;
  const RETRY_MS = 2000;
  const RENEW_MS = 700;
  let cursor = page.dataset.cursor;
  let renewal = null;
  // While the server is asked for a part, which may be drawn before what comes meanwhile: the steps, and whether there
  // was more. Null while it is not asked.
  let steps = null;
  let isBehind = false;

  const say = (words) => { link.textContent = words; };
  const plain = (value) => {
    const inner = value && typeof value === "object" ? value.value : value;
    return typeof inner === "string" || typeof inner === "number" ? String(inner) : "";
  };
  const NAMES = JSON.parse(page.dataset.names || "{}");
  const name = (address) => `${NAMES[address.toLowerCase()] || "unknown"} ${address}`;
  const describe = (payload) => {
    const words = TELLING.map((field) => plain(payload[field])).filter(Boolean).join(" · ").slice(0, 160);
    return words.replace(/0x[0-9a-fA-F]{40}\b/g, name);
  };

  const addLine = (event) => {
    if (!feed) return;
    page.querySelector("[data-empty]")?.remove();
    const line = document.createElement("li");
    line.dataset.eventId = event.event_id;
    const time = document.createElement("time");
    time.dateTime = event.occurred_at;
    time.textContent = new Date(event.occurred_at).toISOString().slice(11, 19);
    const type = document.createElement("code");
    type.textContent = event.type;
    const words = document.createElement("span");
    words.textContent = describe(event.payload);
    line.append(time, type, words);
    feed.prepend(line);
    while (feed.children.length > MOST_LINES) feed.lastElementChild.remove();
  };

  const tellGap = () => {
    if (!feed) return;
    const line = document.createElement("li");
    line.dataset.gap = "";
    line.textContent = "Events before the next ones were not seen here and are no longer kept.";
    feed.prepend(line);
  };

  // The same words as the server's (tools_app/core/running_tool_words.py).
  const wordStart = (payload) => {
    const told = payload.sprite_trigger ? [plain(payload.sprite_trigger).toLowerCase()] : [];
    const budget = Number(payload.budget_ms);
    if (budget) told.push(`at most ${budget / 1000} s`);
    return told.join(", ");
  };

  const showStep = (event) => {
    const box = page.querySelector("[data-running]");
    const call = event.payload.call_id;
    if (!box || !call) return;
    let row = box.querySelector(`[data-call="${CSS.escape(call)}"]`);
    if (event.type === "tool:end" || event.type === "tool:error") {
      row?.remove();
      if (!box.children.length) {
        const none = document.createElement("p");
        none.className = "gx-empty";
        none.textContent = "No tool runs at this moment.";
        box.append(none);
      }
      return;
    }
    if (!row) {
      box.querySelector(".gx-empty")?.remove();
      row = document.createElement("div");
      row.className = "gx-meter";
      row.dataset.call = call;
      const head = document.createElement("div");
      head.className = "gx-row gx-between";
      const name = document.createElement("code");
      name.textContent = plain(event.payload.tool_name);
      const hint = document.createElement("small");
      hint.textContent = wordStart(event.payload);
      head.append(name, ...(hint.textContent ? [hint] : []), document.createElement("span"));
      const bar = document.createElement("div");
      bar.className = "gx-bar gx-busy";
      bar.setAttribute("role", "progressbar");
      bar.setAttribute("aria-valuemin", "0");
      bar.setAttribute("aria-valuemax", "100");
      bar.setAttribute("aria-label", name.textContent);
      const fill = document.createElementNS("http://www.w3.org/2000/svg", "svg");
      fill.setAttribute("class", "gx-fill");
      fill.setAttribute("aria-hidden", "true");
      fill.append(document.createElementNS(fill.namespaceURI, "rect"));
      fill.firstChild.setAttribute("height", "100%");
      bar.append(fill);
      row.append(head, bar);
      box.append(row);
    }
    const total = Math.max(1, Number(event.payload.total_steps) || 1);
    const percent = Math.min(100, Math.floor((100 * (Number(event.payload.step_index) || 0)) / total));
    row.querySelector(".gx-row span").textContent = plain(event.payload.step_name) || "starting";
    row.querySelector(".gx-bar").setAttribute("aria-valuenow", String(percent));
    row.querySelector(".gx-fill rect").setAttribute("width", `${percent}%`);
  };

  const renew = () => {
    if (steps) isBehind = true;
    if (renewal) return;
    renewal = setTimeout(async () => {
      steps = [];
      try {
        const answer = await fetch(page.dataset.parts, { headers: { Accept: "text/html" } });
        if (answer.redirected || !answer.ok) throw new Error(String(answer.status));
        const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("[data-part]");
        const old = page.querySelector("[data-part]");
        // The keyboard stays where it is: a part is not replaced under somebody's focus.
        if (fresh && !old.contains(document.activeElement)) {
          old.replaceWith(document.importNode(fresh, true));
          document.dispatchEvent(new Event("gx:renewed"));
        }
        steps.forEach(showStep);
        countDown();
      } catch {
        say("this part of the page could not be renewed; it is tried again with the next event");
      } finally {
        renewal = steps = null;
        if (isBehind) {
          isBehind = false;
          renew();
        }
      }
    }, RENEW_MS);
  };

  document.addEventListener("gx:measured", renew);

  const take = (message) => {
    cursor = message.lastEventId || cursor;
    const event = JSON.parse(message.data);
    if (seen.has(event.event_id)) return;
    seen.add(event.event_id);
    addLine(event);
    if (event.type.startsWith("tool:")) {
      showStep(event);
      steps?.push(event);
    } else renew();
  };

  // A source does not tell why it was refused; the same question as a page does.
  const findPlace = async (query) => {
    try {
      const answer = await fetch(`${page.dataset.events}?${query}&limit=1`, { headers: { Accept: "application/json" } });
      if (answer.status === 409) location.reload();
      if (answer.status !== 410) return;
      cursor = (await answer.json()).oldest_cursor || cursor;
      tellGap();
    } catch {
      say("the server does not answer; it is asked again, nothing is lost");
    }
  };

  const follow = () => {
    const query = new URLSearchParams({ last_event_id: cursor });
    if (page.dataset.golem) query.set("golem", page.dataset.golem);
    const source = new EventSource(`${page.dataset.events}?${query}`);
    source.onopen = () => { say("live"); page.dataset.state = "live"; renew(); };
    source.onerror = () => {
      say("the server does not answer; it is asked again, nothing is lost");
      page.dataset.state = "away";
      if (source.readyState !== EventSource.CLOSED) return;
      // A refusal ends a source for good; a new one starts where this one stopped, if that place is still kept.
      source.close();
      setTimeout(async () => { await findPlace(query); follow(); }, RETRY_MS);
    };
    for (const type of page.dataset.types.split(",")) source.addEventListener(type, take);
    addEventListener("pagehide", () => source.close(), { once: true });
  };

  const countDown = () => {
    for (const place of page.querySelectorAll("[data-due]")) {
      const left = Math.round((new Date(place.dataset.due) - Date.now()) / 1000);
      place.textContent = left > 0 ? `in ${left} s` : left > -15 ? "now" : `due since ${-left} s`;
    }
  };

  setInterval(countDown, 1000);
  countDown();
  follow();
})();
