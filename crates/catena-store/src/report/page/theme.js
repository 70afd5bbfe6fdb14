// Light and dark colors: those of the system until the reader chooses.

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  const button = document.getElementById("theme");
  if (button) {
    button.textContent = theme === "dark" ? "Light" : "Dark";
    button.setAttribute("aria-label", `Use ${theme === "dark" ? "light" : "dark"} colors`);
  }
  for (const redraw of redrawers) redraw();
}

const systemDark = window.matchMedia("(prefers-color-scheme: dark)");
let chosenTheme = null;
const presentTheme = () => chosenTheme || (systemDark.matches ? "dark" : "light");

function switchTheme() {
  chosenTheme = presentTheme() === "dark" ? "light" : "dark";
  setTheme(chosenTheme);
}
