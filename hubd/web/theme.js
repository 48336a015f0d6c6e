/*
 * Light or dark: as the system says, until the person chooses. A classic script in the head, because a
 * module would run after the first paint, and the page would flash.
 */
(() => {
  const KEY = "hubd.theme";
  const system = matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;

  function show() {
    let chosen = null;
    try {
      chosen = localStorage.getItem(KEY);
    } catch {
      // Storage is switched off: follow the system.
    }
    root.dataset.theme = chosen ?? (system.matches ? "dark" : "light");
    const paper = root.dataset.theme === "dark" ? "#171613" : "#faf8f4";
    document.querySelector('meta[name="theme-color"]')?.setAttribute("content", paper);
    const button = document.getElementById("theme");
    if (button) button.setAttribute("aria-pressed", String(root.dataset.theme === "dark"));
  }

  function flip() {
    const theme = root.dataset.theme === "dark" ? "light" : "dark";
    try {
      // Choosing what the system says anyway means: follow the system again.
      if (theme === (system.matches ? "dark" : "light")) localStorage.removeItem(KEY);
      else localStorage.setItem(KEY, theme);
    } catch {
      root.dataset.theme = theme;
      return;
    }
    show();
  }

  show();
  system.addEventListener("change", show);
  document.addEventListener("DOMContentLoaded", () => {
    document.getElementById("theme")?.addEventListener("click", flip);
    show();
  });
})();
