// Copy buttons and the countdown. Every page works without this file.
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
