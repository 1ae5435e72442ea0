// Alerts on this device: the browser subscribes for the server's key, and its answer goes into the form.
(() => {
  const form = document.querySelector("[data-push]");
  if (!form) return;
  const button = form.querySelector("button");
  const told = form.querySelector("[data-push-told]");
  const toText = (buffer) => {
    const letters = Array.from(new Uint8Array(buffer), (byte) => String.fromCharCode(byte)).join("");
    return btoa(letters).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  };
  const toBytes = (text) => {
    const padded = text.replace(/-/g, "+").replace(/_/g, "/").padEnd(Math.ceil(text.length / 4) * 4, "=");
    return Uint8Array.from(atob(padded), (letter) => letter.charCodeAt(0));
  };
  const find = () => {
    if (!window.isSecureContext) return "Browsers take alerts from secure pages alone. Open this page over https.";
    if (!("serviceWorker" in navigator) || !("PushManager" in window)) {
      return "This browser takes no alerts here. On an iPhone, put the page on the home screen first and open it there.";
    }
    return "";
  };
  const why = find();
  if (why) {
    told.textContent = why;
    return;
  }
  button.disabled = false;
  form.addEventListener("submit", async (event) => {
    if (form.endpoint.value) return;
    event.preventDefault();
    button.disabled = true;
    try {
      if ((await Notification.requestPermission()) !== "granted") {
        throw new Error("You declined. The browser's settings of this page let you allow it.");
      }
      const worker = await navigator.serviceWorker.register("/admin/worker.js", { scope: "/admin/" });
      await navigator.serviceWorker.ready;
      const given = await worker.pushManager.subscribe({
        userVisibleOnly: true,
        applicationServerKey: toBytes(form.dataset.push),
      });
      form.endpoint.value = given.endpoint;
      form.p256dh.value = toText(given.getKey("p256dh"));
      form.auth.value = toText(given.getKey("auth"));
      form.submit();
    } catch (error) {
      told.textContent = error.message || "The browser did not subscribe.";
      button.disabled = false;
    }
  });
})();
