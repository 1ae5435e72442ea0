// An owner grants from their own wallet (ERC-7715), found as wallets announce themselves (EIP-6963). Nothing is sent from
// here: what the wallet answers is written into the form, and the server reads what it grants from the grant itself.
(() => {
  const STOPPED = 4001;
  const UNKNOWN_METHOD = -32601;
  const DAY = 86400;

  class NextStep extends Error {}

  const box = document.querySelector("[data-grant]");
  if (!box) return;
  const taking = document.querySelector("[data-taking]");
  const choice = box.querySelector("#grant-wallet");
  const told = box.querySelector("[data-told]");
  const taken = taking.querySelector("[data-taken]");
  const granted = taking.querySelector("[data-granted]");
  const chain = `0x${Number(box.dataset.chain).toString(16)}`;
  const wallets = [];

  const add = (name, provider) => {
    if (wallets.includes(provider)) return;
    wallets.push(provider);
    choice.append(new Option(name, String(wallets.length - 1)));
  };

  window.addEventListener("eip6963:announceProvider", (event) => add(event.detail.info.name, event.detail.provider));
  window.dispatchEvent(new Event("eip6963:requestProvider"));
  if (!wallets.length && window.ethereum) add("The wallet of this browser", window.ethereum);
  box.hidden = false;
  taking.hidden = false;

  const findWallet = () => {
    const wallet = wallets[Number(choice.value)];
    if (!wallet) throw new NextStep("This browser has no wallet. Grant elsewhere and paste what your wallet answers below.");
    return wallet;
  };

  const readUnits = (text, decimals) => {
    const match = /^(\d{1,30})(?:\.(\d+))?$/.exec(text.trim());
    const parts = match ? match[2] || "" : "";
    if (!match || parts.length > decimals) throw new NextStep(`An amount is a number such as 25, with at most ${decimals} digits behind the point.`);
    const raw = BigInt(match[1] + parts.padEnd(decimals, "0"));
    if (raw === 0n) throw new NextStep("An amount of nothing grants nothing.");
    return raw;
  };

  const readDays = (text) => {
    if (!/^[1-9]\d{0,3}$/.test(text.trim())) throw new NextStep("Say a whole number of days, one at least.");
    return Number(text);
  };

  const readHelper = (text) => {
    const said = text.trim();
    if (said && !/^0x[0-9a-fA-F]{40}$/.test(said)) throw new NextStep("A helper’s key is an address: 0x and 40 digits or letters from a to f.");
    return said;
  };

  const writeRequest = () => {
    const token = box.querySelector("#grant-token").selectedOptions[0];
    const amount = readUnits(box.querySelector("#grant-amount").value, Number(token.dataset.decimals));
    const now = Math.floor(Date.now() / 1000);
    const ends = now + readDays(box.querySelector("#grant-days").value) * DAY;
    const helper = readHelper(box.querySelector("#grant-helper").value);
    const redeemer = { type: "redeemer", data: { addresses: [box.dataset.account, ...(helper ? [helper] : [])] } };
    const data = { tokenAddress: token.value, periodAmount: `0x${amount.toString(16)}`, periodDuration: DAY, startTime: now };
    return {
      chainId: chain,
      to: box.dataset.account,
      permission: { type: "erc20-token-periodic", isAdjustmentAllowed: true, data: { ...data, justification: box.dataset.why } },
      rules: [{ type: "expiry", data: { timestamp: ends } }, redeemer],
    };
  };

  const explain = (error) => {
    if (error instanceof NextStep) return error.message;
    if (error && error.code === STOPPED) return "You declined in your wallet; nothing was granted or taken back.";
    if (error && error.code === UNKNOWN_METHOD) return "This wallet does not know such permissions (ERC-7715). Choose another one.";
    return `The wallet answered: ${(error && error.message) || "nothing"}.`;
  };

  const attempt = async (button, words, work) => {
    button.disabled = true;
    words.textContent = "Waiting for your wallet…";
    try {
      words.textContent = await work(findWallet());
    } catch (error) {
      words.textContent = explain(error);
    } finally {
      button.disabled = false;
    }
  };

  box.querySelector("[data-ask]").addEventListener("click", (event) =>
    attempt(event.currentTarget, told, async (wallet) => {
      const asked = writeRequest();
      const [answer] = await wallet.request({ method: "wallet_requestExecutionPermissions", params: [asked] });
      if (!answer || typeof answer.context !== "string") throw new NextStep("The wallet answered without a grant.");
      document.querySelector("#grant [name=context]").value = answer.context;
      return "Granted in your wallet. The golem has it once you press the button below.";
    }),
  );

  const offer = (wallet, each) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "gx-btn";
    button.textContent = `Take back ${each.permission.type}, ${each.context.slice(-8)}`;
    button.addEventListener("click", () =>
      attempt(button, taken, async () => {
        await wallet.request({ method: "wallet_revokeExecutionPermission", params: [{ permissionContext: each.context }] });
        button.remove();
        return "Taken back in your wallet. Load this page again in a minute.";
      }),
    );
    granted.append(button);
  };

  taking.querySelector("[data-list]").addEventListener("click", (event) =>
    attempt(event.currentTarget, taken, async (wallet) => {
      const all = await wallet.request({ method: "wallet_getGrantedExecutionPermissions", params: [] });
      const mine = all.filter((each) => each.to && each.to.toLowerCase() === box.dataset.account.toLowerCase());
      granted.replaceChildren();
      mine.forEach((each) => offer(wallet, each));
      return mine.length ? "" : "This wallet granted nothing to this golem that still stands.";
    }),
  );
})();
