// Values as text, to compare them: selections as S[...], elements as <name#id>.
function show(v, deep) {
  if (v === undefined) return "undefined";
  if (v === null) return "null";
  if (typeof v === "string") return JSON.stringify(v);
  if (typeof v === "number" || typeof v === "boolean") return String(v);
  if (typeof v === "function") return "function";
  if (Array.isArray(v)) return "[" + v.map((x) => show(x, true)).join(", ") + "]";
  if (typeof v.serializeArray === "function") {
    return "S" + show(v.toArray === undefined ? [] : Array.from({ length: v.size() }, (_, i) => v.get(i)));
  }
  if (typeof v.nodeName === "function") {
    const id = v.nodeType() === 1 ? v.id() : undefined;
    return "<" + v.nodeName() + (id ? "#" + id : "") + (v.nodeType() === 3 ? " " + JSON.stringify(v.nodeValue()) : "") + ">";
  }
  if (v instanceof ArrayBuffer) return "AB[" + new Uint8Array(v).join(",") + "]";
  const keys = Object.keys(v).sort();
  return "{" + keys.map((k) => k + ": " + show(v[k], true)).join(", ") + "}";
}
function attempt(f) {
  try { return show(f()); } catch (e) { return "! " + e; }
}
