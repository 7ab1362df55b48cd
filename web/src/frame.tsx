/** What stands around every page: the name, and the choice of the theme. */

import type { ComponentChildren } from "preact";
import { ThemeContext, useTheme } from "./theme";

export function Frame({ children }: { children: ComponentChildren }) {
  const [theme, choose] = useTheme();
  const other = theme === "dark" ? "light" : "dark";
  return (
    <ThemeContext.Provider value={theme}>
      <header class="top">
        <span class="brand">Loadline</span>
        <button type="button" class="quiet" onClick={() => choose(other)}>
          {other === "dark" ? "Dark" : "Light"}
        </button>
      </header>
      {children}
    </ThemeContext.Provider>
  );
}
