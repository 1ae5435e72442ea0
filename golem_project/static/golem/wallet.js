// An owner's own signature over a Safe's transaction, by the wallet of this browser (EIP-1193). Nothing is sent from here:
// the signature is written into the form, and the server relays what was signed.
(() => {
  const STOPPED = 4001;
  const UNKNOWN_CHAIN = 4902;

  class NextStep extends Error {}

  const same = (one, other) => one.toLowerCase() === other.toLowerCase();

  const findWallet = () => {
    if (!window.ethereum) {
      throw new NextStep(
        "This browser has no wallet. Open the page in a browser that has one, or sign on another machine with " +
          "“manage.py sign_request” and paste what it prints.",
      );
    }
    return window.ethereum;
  };

  const pickAccount = async (wallet, owners) => {
    const accounts = await wallet.request({ method: "eth_requestAccounts" });
    const mine = accounts.find((account) => owners.some((owner) => same(owner, account)));
    if (!mine) {
      throw new NextStep(
        `The account ${accounts[0] || "of your wallet"} owns no part of this Safe. Choose one of its owners in your ` +
          `wallet and try again: ${owners.join(", ")}.`,
      );
    }
    return mine;
  };

  const moveToChain = async (wallet, chainId) => {
    const wanted = `0x${Number(chainId).toString(16)}`;
    const now = await wallet.request({ method: "eth_chainId" });
    if (same(String(now), wanted)) return;
    try {
      await wallet.request({ method: "wallet_switchEthereumChain", params: [{ chainId: wanted }] });
    } catch (error) {
      if (error.code === UNKNOWN_CHAIN) {
        throw new NextStep(`Your wallet does not know chain ${chainId}. Add it in your wallet and try again.`);
      }
      if (error.code === STOPPED) {
        throw new NextStep(`Your wallet stays on another chain. Switch it to chain ${chainId} and try again.`);
      }
      throw error;
    }
    const then = await wallet.request({ method: "eth_chainId" });
    if (!same(String(then), wanted)) {
      throw new NextStep(`Your wallet is still on another chain. Switch it to chain ${chainId} and try again.`);
    }
  };

  const sign = async (box) => {
    const wallet = findWallet();
    const account = await pickAccount(wallet, box.dataset.owners.split(","));
    await moveToChain(wallet, box.dataset.chain);
    const signature = await wallet.request({ method: "eth_signTypedData_v4", params: [account, box.dataset.typed] });
    return { account, signature };
  };

  const explain = (error) => {
    if (error instanceof NextStep) return error.message;
    if (error && error.code === STOPPED) return "You declined in your wallet; nothing was signed. Try again when you want to.";
    return `The wallet answered: ${(error && error.message) || "nothing"}. Try again, or sign with “manage.py sign_request”.`;
  };

  document.querySelectorAll("[data-wallet]").forEach((box) => {
    const button = box.querySelector("button");
    const told = box.querySelector("[data-told]");
    const field = box.closest("form").querySelector("[name=signature]");
    box.hidden = false;
    button.addEventListener("click", async () => {
      button.disabled = true;
      told.textContent = "Waiting for your wallet…";
      try {
        const { account, signature } = await sign(box);
        field.value = signature;
        told.textContent = `Signed by ${account}. It is not sent until you press the button below.`;
      } catch (error) {
        told.textContent = explain(error);
      } finally {
        button.disabled = false;
      }
    });
  });
})();
