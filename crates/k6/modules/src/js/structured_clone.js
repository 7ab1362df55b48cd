// structuredClone: a copy with the same cycles. Functions and symbols can't be copied.
() => {
    const copy = (value, seen) => {
        if (typeof value === "function" || typeof value === "symbol") {
            throw new TypeError("structuredClone can't copy a " + typeof value);
        }
        if (typeof value !== "object" || value === null) return value;
        if (seen.has(value)) return seen.get(value);
        const keep = (made) => (seen.set(value, made), made);
        if (value instanceof Date) return keep(new Date(value));
        if (value instanceof RegExp) return keep(new RegExp(value.source, value.flags));
        if (value instanceof ArrayBuffer) return keep(value.slice(0));
        if (ArrayBuffer.isView(value)) return keep(view(value, seen));
        if (value instanceof Map) {
            const made = keep(new Map());
            for (const [key, item] of value) made.set(copy(key, seen), copy(item, seen));
            return made;
        }
        if (value instanceof Set) {
            const made = keep(new Set());
            for (const item of value) made.add(copy(item, seen));
            return made;
        }
        if (value instanceof Error) {
            const made = keep(new (globalThis[value.name] ?? Error)(value.message));
            if ("cause" in value) made.cause = copy(value.cause, seen);
            return made;
        }
        const made = keep(Array.isArray(value) ? new Array(value.length) : {});
        for (const key of Object.keys(value)) made[key] = copy(value[key], seen);
        return made;
    };
    const view = (value, seen) => {
        const length = value instanceof DataView ? value.byteLength : value.length;
        return new value.constructor(copy(value.buffer, seen), value.byteOffset, length);
    };
    return (value) => copy(value, new Map());
}
