/** What changed in a second, applied to what was there before: `crates/live-page/src/patch.rs`. */

import type { Patch } from "../generated/live";

/** The value after the change. What did not change is the same object, and is not drawn again. */
export function applied(value: unknown, patch: Patch): unknown {
  if ("set" in patch) return patch.set;
  const within = Object.entries(patch.in ?? {});
  const add = patch.add ?? [];
  if (within.length === 0 && add.length === 0) return value;
  if (Array.isArray(value)) {
    const list = [...value, ...add];
    for (const [index, inner] of within)
      list[Number(index)] = applied(value[Number(index)], inner!);
    return list;
  }
  const members = { ...(value as Record<string, unknown>) };
  for (const [name, inner] of within) members[name] = applied(members[name], inner!);
  return members;
}
