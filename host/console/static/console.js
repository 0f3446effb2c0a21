// Replaces the parts of a page that change, every five seconds. Without it the page shows
// the same when it is loaded again.
(() => {
  "use strict";
  const every = 5000;
  const state = document.getElementById("live-state");
  let failures = 0;

  const say = (text) => {
    if (state && state.textContent !== text) state.textContent = text;
  };

  // A part stays while its user is in it: it has the focus, a selection or opened details.
  const inUse = (part) => {
    const selection = document.getSelection();
    return part.contains(document.activeElement) || part.querySelector("details[open]") !== null ||
      (selection !== null && !selection.isCollapsed && selection.containsNode(part, true));
  };

  const refresh = async () => {
    if (document.hidden) return;
    const response = await fetch(location.href, { redirect: "error", cache: "no-store", signal: AbortSignal.timeout(every * 2) });
    if (response.status === 401) {
      say("Signed out");
      return true;
    }
    if (!response.ok) throw new Error(String(response.status));
    const next = new DOMParser().parseFromString(await response.text(), "text/html");
    for (const part of document.querySelectorAll("[data-live][id]")) {
      const fresh = next.getElementById(part.id);
      if (fresh && !inUse(part) && part.innerHTML !== fresh.innerHTML) part.replaceWith(document.adoptNode(fresh));
    }
    return false;
  };

  const loop = async () => {
    let ended = false;
    try {
      ended = await refresh();
      if (!ended) {
        failures = 0;
        say("Live");
      }
    } catch {
      failures += 1;
      say("Not updating: Junctor does not answer");
    }
    if (!ended) setTimeout(loop, every * Math.min(1 + failures, 12));
  };

  say("Live");
  setTimeout(loop, every);
})();
