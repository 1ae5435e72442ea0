// Shows what this server pushes and opens its page. It keeps nothing and answers no request of a page.
self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("push", (event) => {
  let told = {};
  try {
    told = event.data ? event.data.json() : {};
  } catch {
    told = {};
  }
  const path = typeof told.path === "string" && told.path.startsWith("/admin/") ? told.path : "/admin/";
  event.waitUntil(
    self.registration.showNotification(told.title || "Golem", {
      body: told.body || "Something of your golems needs you.",
      icon: "/static/golem/mark-192.png",
      tag: path,
      data: { path },
    }),
  );
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const path = (event.notification.data || {}).path || "/admin/";
  event.waitUntil(self.clients.openWindow(path));
});
