/**
 * Pairing: a code, typed or brought by a link behind its `#`, for a session of this browser.
 * The session is a cookie that no script sees; the code leaves the address bar at once.
 */

const form = document.getElementById("pairing");
const code = document.getElementById("code");
const device = document.getElementById("device");
const problem = document.getElementById("problem");

/** @returns {string} what the list of devices will call this one */
function describe() {
  const browsers = [["Firefox", /Firefox/], ["Edge", /Edg/], ["Chrome", /Chrom/], ["Safari", /Safari/]];
  const systems = [["Android", /Android/], ["iPhone", /iPhone/], ["iPad", /iPad/], ["Windows", /Windows/], ["Mac", /Mac/], ["Linux", /Linux/]];
  /** @param {Array<[string, RegExp]>} known */
  const name = (known) => known.find(([, pattern]) => pattern.test(navigator.userAgent))?.[0];
  return [name(browsers) ?? "Browser", name(systems)].filter(Boolean).join(" on ");
}

/** @param {string} text */
function complain(text) {
  problem.textContent = text;
  problem.hidden = false;
}

async function pair() {
  problem.hidden = true;
  try {
    const response = await fetch("/hub/pair", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ code: code.value.trim(), device: device.value.trim() }),
    });
    if (response.ok) {
      location.replace("/");
      return;
    }
    const { error } = await response.json();
    complain(`${error.message} ${error.hint}`);
  } catch {
    complain("hubd does not answer.");
  }
  code.select();
}

async function start() {
  device.value = describe();
  const brought = decodeURIComponent(location.hash.slice(1));
  history.replaceState(null, "", "/pair");
  // From another site's link the cookie did not come along: a browser that is paired goes on.
  const me = await fetch("/hub/me").then((response) => response.json()).catch(() => ({}));
  if (me.person) {
    location.replace("/");
    return;
  }
  if (brought) {
    code.value = brought;
    await pair();
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  void pair();
});
void start();
