// Values as text, to compare them: selections as S[...], elements as <name#id>.
function show(v, deep) {
  if (v === undefined) return "undefined";
  if (v === null) return "null";
  if (typeof v === "string") return JSON.stringify(v);
  if (typeof v === "number" || typeof v === "boolean") return String(v);
  if (typeof v === "function") return "function";
  if (Array.isArray(v)) return "[" + v.map((x) => show(x, true)).join(", ") + "]";
  if (typeof v.serializeArray === "function") {
    const size = v.toArray === undefined ? 0 : v.size();
    return "S" + show(Array.from({ length: size }, (_, i) => v.get(i)));
  }
  if (typeof v.nodeName === "function") {
    const id = v.nodeType() === 1 ? v.id() : undefined;
    const text = v.nodeType() === 3 ? " " + JSON.stringify(v.nodeValue()) : "";
    return "<" + v.nodeName() + (id ? "#" + id : "") + text + ">";
  }
  if (v instanceof ArrayBuffer) return "AB[" + new Uint8Array(v).join(",") + "]";
  const keys = Object.keys(v).sort();
  return "{" + keys.map((k) => k + ": " + show(v[k], true)).join(", ") + "}";
}
function attempt(f) {
  try { return show(f()); } catch (e) { return "! " + e; }
}
