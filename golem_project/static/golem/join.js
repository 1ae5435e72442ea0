// The invitation comes behind the `#` of the link, which no server and no log ever sees; here it is put into the form.
document.addEventListener("DOMContentLoaded", () => {
  const field = document.querySelector("[name=invitation]");
  const text = decodeURIComponent(window.location.hash.slice(1));
  if (!field || !text) return;
  if (!field.value) field.value = text;
  // Else it would follow the person to the next page's address.
  history.replaceState(null, "", window.location.pathname);
});
