// Passkeys (WebAuthn): the server asks, the authenticator of this browser answers, and the answer goes into the form.
// A button of type “submit” sends the form with the answer; one of type “button” leaves that to the person.
(() => {
  class NextStep extends Error {}

  const toBytes = (text) => {
    const padded = text.replace(/-/g, "+").replace(/_/g, "/").padEnd(Math.ceil(text.length / 4) * 4, "=");
    return Uint8Array.from(atob(padded), (letter) => letter.charCodeAt(0));
  };

  const toText = (buffer) => {
    if (!buffer) return null;
    const letters = Array.from(new Uint8Array(buffer), (byte) => String.fromCharCode(byte)).join("");
    return btoa(letters).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  };

  const checkBrowser = () => {
    if (!window.isSecureContext) {
      throw new NextStep("Browsers give passkeys to secure pages alone. Open this page over https, or on this machine at localhost.");
    }
    if (!window.PublicKeyCredential || !navigator.credentials) {
      throw new NextStep("This browser has no passkeys. Use a code of your authenticator, or open the page in another browser.");
    }
  };

  const askServer = async (button, form) => {
    const body = new URLSearchParams({ use: button.dataset.passkeyUse, subject: button.dataset.passkeySubject || "" });
    const token = form.querySelector("[name=csrfmiddlewaretoken]").value;
    const answer = await fetch(button.dataset.passkeyUrl, {
      method: "POST",
      body,
      headers: { "X-CSRFToken": token, Accept: "application/json" },
    });
    const told = await answer.json().catch(() => ({}));
    if (!answer.ok) throw new NextStep(told.detail || "The server did not answer. Load the page again and try once more.");
    return told;
  };

  const describe = (list) => (list || []).map((each) => ({ ...each, id: toBytes(each.id) }));

  const spell = (credential) => {
    const said = credential.response;
    const response = { clientDataJSON: toText(said.clientDataJSON) };
    if (said.attestationObject) {
      response.attestationObject = toText(said.attestationObject);
    } else {
      response.authenticatorData = toText(said.authenticatorData);
      response.signature = toText(said.signature);
      response.userHandle = toText(said.userHandle);
    }
    return JSON.stringify({ id: credential.id, rawId: toText(credential.rawId), type: credential.type, response });
  };

  const makeNew = async (asked) => {
    const user = { ...asked.user, id: toBytes(asked.user.id) };
    const publicKey = {
      ...asked,
      user,
      challenge: toBytes(asked.challenge),
      excludeCredentials: describe(asked.excludeCredentials),
    };
    return navigator.credentials.create({ publicKey });
  };

  const useOne = async (asked) => {
    const publicKey = { ...asked, challenge: toBytes(asked.challenge), allowCredentials: describe(asked.allowCredentials) };
    return navigator.credentials.get({ publicKey });
  };

  const explain = (error) => {
    if (error instanceof NextStep) return error.message;
    const name = error && error.name;
    if (name === "NotAllowedError") return "You declined, or it took too long; nothing was sent. Press the button again when you want to.";
    if (name === "InvalidStateError") return "This authenticator holds a passkey of yours for this server already.";
    if (name === "SecurityError") return "Your browser gives no passkey to a page of this address. Open it under the name this server is set up for.";
    return "Your browser gave no passkey. Press the button again, or use a code of your authenticator.";
  };

  const whenPressed = async (event, button, form, told) => {
    if (button.dataset.ready) {
      delete button.dataset.ready;
      return;
    }
    event.preventDefault();
    if (button.dataset.busy) return;
    const isNew = button.dataset.passkeyUse === "register";
    if (isNew && !form.reportValidity()) return;
    button.dataset.busy = "yes";
    told.textContent = "Waiting for your passkey…";
    try {
      checkBrowser();
      const asked = await askServer(button, form);
      const credential = await (isNew ? makeNew(asked) : useOne(asked));
      form.querySelector(`[name=${isNew ? "new_passkey" : "passkey"}]`).value = spell(credential);
      if (button.type === "submit") {
        button.dataset.ready = "yes";
        told.textContent = "Sending…";
        form.requestSubmit(button);
      } else {
        told.textContent = "Your passkey answered. It counts for three minutes and this page alone.";
      }
    } catch (error) {
      told.textContent = explain(error);
    } finally {
      delete button.dataset.busy;
    }
  };

  document.querySelectorAll("[data-passkey-use]").forEach((button) => {
    const form = button.closest("form");
    const told = form.querySelector("[data-passkey-told]");
    button.addEventListener("click", (event) => whenPressed(event, button, form, told));
  });
})();
