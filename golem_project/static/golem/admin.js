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
