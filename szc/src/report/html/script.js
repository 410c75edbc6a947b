"use strict";
(() => {
  const root = document.documentElement;
  const button = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  const show = () => {
    button.textContent = isDark() ? "Light theme" : "Dark theme";
  };
  // Storage may be closed to a page that is a file.
  const remember = (theme) => { try { localStorage.setItem("szc-theme", theme); } catch { /* not kept */ } };
  const recall = () => { try { return localStorage.getItem("szc-theme"); } catch { return null; } };
  const kept = recall();
  if (kept === "dark" || kept === "light") root.dataset.theme = kept;
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    remember(root.dataset.theme);
    show();
  });
  system.addEventListener("change", show);
  show();
})();
