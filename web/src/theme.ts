/** Colours: of Okabe and Ito, which the colour-blind tell apart, for light and for dark ground. */

import { createContext } from "preact";
import { useContext, useEffect, useLayoutEffect, useState } from "preact/hooks";

export type Theme = "light" | "dark";

export interface Colours {
  series: string[];
  ink: string;
  faint: string;
  grid: string;
  ground: string;
}

export const COLOURS: Record<Theme, Colours> = {
  light: {
    series: ["#0072b2", "#d55e00", "#009e73", "#b0528c", "#c78500", "#3a9bd9", "#222222"],
    ink: "#1b1f24",
    faint: "#57606a",
    grid: "#e3e6ea",
    ground: "#ffffff",
  },
  dark: {
    series: ["#56b4e9", "#ff8c42", "#2fc99b", "#e39ac6", "#f0c04a", "#8fb8ff", "#f2f2f2"],
    ink: "#e6e9ee",
    faint: "#9aa4b2",
    grid: "#2b323c",
    ground: "#161b22",
  },
};

/** Lines of more series than there are colours are dashed. */
export function dash(index: number): number[] {
  if (index < 0) return [];
  const dashes = [[], [7, 4], [2, 3], [9, 3, 2, 3]];
  return dashes[Math.floor(index / SERIES_COLOURS) % dashes.length]!;
}

/** How many colours there are for series. */
export const SERIES_COLOURS = COLOURS.light.series.length;

/** The colour of a series; a negative index is what lies underneath, and faint. */
export function colour(colours: Colours, index: number): string {
  if (index < 0) return colours.faint;
  return colours.series[index % colours.series.length]!;
}

/**
 * How dense a cell of a heatmap is, from 0 to 1, as a colour: from a dark blue to a bright yellow,
 * rising in lightness all the way, so that grey tells as much (after the idea of cividis, Nuñez et
 * al. 2018). On light ground the ramp is turned around.
 */
export function heat(theme: Theme, share: number): string {
  const at = theme === "dark" ? share : 1 - share;
  const stops: [number, number, number][] = [
    [24, 44, 92],
    [66, 84, 116],
    [122, 126, 122],
    [186, 170, 98],
    [250, 226, 90],
  ];
  const place = Math.min(Math.max(at, 0), 1) * (stops.length - 1);
  const below = Math.min(Math.floor(place), stops.length - 2);
  const mix = (channel: 0 | 1 | 2) =>
    Math.round(
      stops[below]![channel] +
        (place - below) * (stops[below + 1]![channel] - stops[below]![channel]),
    );
  return `rgb(${mix(0)},${mix(1)},${mix(2)})`;
}

export const ThemeContext = createContext<Theme>("light");

export function useColours(): { theme: Theme; colours: Colours } {
  const theme = useContext(ThemeContext);
  return { theme, colours: COLOURS[theme] };
}

/**
 * The theme in force, and what changes it: the system's until the reader chooses. Paper is light.
 */
export function useTheme(): [Theme, (theme: Theme) => void] {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const [chosen, choose] = useState<Theme | null>(null);
  const [dark, setDark] = useState(system.matches);
  const [prints, setPrints] = useState(false);
  useEffect(() => {
    const follow = () => setDark(system.matches);
    system.addEventListener("change", follow);
    return () => system.removeEventListener("change", follow);
  }, []);
  useEffect(() => {
    const begin = () => setPrints(true);
    const end = () => setPrints(false);
    addEventListener("beforeprint", begin);
    addEventListener("afterprint", end);
    return () => {
      removeEventListener("beforeprint", begin);
      removeEventListener("afterprint", end);
    };
  }, []);
  const theme = prints ? "light" : (chosen ?? (dark ? "dark" : "light"));
  // Before the next frame, which paper does not wait for.
  useLayoutEffect(() => {
    document.documentElement.dataset.theme = theme;
  }, [theme]);
  return [theme, choose];
}
