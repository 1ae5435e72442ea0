// Copy buttons, the countdown, and ages that go on. Every page works without this file.
document.documentElement.classList.add("gx-js");

document.addEventListener("click", async (event) => {
  const button = event.target.closest(".gx-copy, [data-copy-from]");
  if (!button) return;
  event.preventDefault();
  const source = button.dataset.copyFrom ? document.getElementById(button.dataset.copyFrom).textContent : button.dataset.copy;
  try {
    await navigator.clipboard.writeText(source.trim());
    button.classList.add("gx-copied");
    setTimeout(() => button.classList.remove("gx-copied"), 1200);
  } catch {
    const range = document.createRange();
    range.selectNodeContents(button.parentElement);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
  }
});

document.addEventListener("DOMContentLoaded", () => {
  const life = document.querySelector("[data-seconds-left]");
  if (!life) return;
  const end = performance.now() + Number(life.dataset.secondsLeft) * 1000;
  const show = () => {
    const left = Math.max(0, Math.round((end - performance.now()) / 1000));
    life.textContent = left ? `${left} s left` : "over; reload to see";
    if (!left) clearInterval(timer);
  };
  const timer = setInterval(show, 1000);
  show();
});

// Ages and times to come count from what the server said, so that no clock of a browser is asked.
(() => {
  const UNITS = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
  const words = (seconds) => {
    const whole = Math.abs(Math.trunc(seconds));
    const [size, unit] = UNITS.find(([least]) => whole >= least) || [1, "s"];
    const told = `${Math.trunc(whole / size)} ${unit}`;
    return seconds >= 0 ? `${told} ago` : `in ${told}`;
  };
  const began = performance.now();
  // What a script brings later counts from when it came.
  const since = new WeakMap();
  const goOn = () => {
    for (const time of document.querySelectorAll("time[data-age]")) {
      if (!since.has(time)) since.set(time, document.readyState === "loading" ? began : performance.now());
      const now = words(Number(time.dataset.age) + (performance.now() - since.get(time)) / 1000);
      if (time.textContent !== now) time.textContent = now;
    }
  };
  setInterval(goOn, 1000);
  document.addEventListener("DOMContentLoaded", goOn);
})();

// What a typed number is taken for, asked of the server while it is typed: one reader decides, here and when it is saved.
(() => {
  const shown = new WeakMap();
  const place = (input) => {
    if (!shown.has(input)) {
      const words = document.createElement("output");
      words.className = "gx-number";
      words.setAttribute("aria-live", "polite");
      words.htmlFor = input.id;
      input.after(words);
      shown.set(input, { words, timer: 0 });
    }
    return shown.get(input);
  };
  const ask = async (input) => {
    const { words } = place(input);
    const text = input.value;
    if (!text.trim()) { words.textContent = ""; return; }
    const query = new URLSearchParams({ kind: input.dataset.number, text });
    try {
      const answer = await fetch(`${input.dataset.numberReader}?${query}`, { headers: { Accept: "application/json" } });
      if (!answer.ok || input.value !== text) return;
      const { read, unclear } = await answer.json();
      words.textContent = read ? `Read as ${read}` : unclear;
      words.classList.toggle("gx-unclear", !read);
    } catch { words.textContent = ""; }
  };
  document.addEventListener("input", (event) => {
    const input = event.target.closest?.("input[data-number]");
    if (!input) return;
    const state = place(input);
    clearTimeout(state.timer);
    state.timer = setTimeout(() => ask(input), 200);
  });
})();
