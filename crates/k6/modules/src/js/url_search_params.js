// URLSearchParams: a list of pairs; `changed` is told the text after each change.
() => {
    const escape = (text) =>
        encodeURIComponent(text.toWellFormed())
            .replace(/[!'()~]/g, (c) => "%" + c.charCodeAt(0).toString(16).toUpperCase())
            .replace(/%20/g, "+");
    const unescape = (text) => {
        const spaced = text.replace(/\+/g, " ");
        try {
            return decodeURIComponent(spaced);
        } catch {
            return spaced;
        }
    };
    const ofText = (text) =>
        text
            .replace(/^\?/, "")
            .split("&")
            .filter((pair) => pair !== "")
            .map((pair) => {
                const at = pair.indexOf("=");
                const cut = at < 0 ? [pair, ""] : [pair.slice(0, at), pair.slice(at + 1)];
                return cut.map(unescape);
            });
    const ofObject = (init) => {
        const isList = typeof init[Symbol.iterator] === "function";
        const pairs = isList ? [...init] : Object.entries(init);
        return pairs.map(([name, value]) => [String(name), String(value)]);
    };
    return class URLSearchParams {
        #pairs;
        #changed;
        constructor(init = "", changed) {
            const isObject = typeof init === "object" && init !== null;
            this.#pairs = isObject ? ofObject(init) : ofText(String(init));
            this.#changed = changed;
        }
        #set(pairs) {
            this.#pairs = pairs;
            this.#changed?.(this.toString());
        }
        get size() {
            return this.#pairs.length;
        }
        append(name, value) {
            this.#set([...this.#pairs, [String(name), String(value)]]);
        }
        delete(name, value) {
            const goes = ([n, v]) => n === name && (value === undefined || v === value);
            this.#set(this.#pairs.filter((pair) => !goes(pair)));
        }
        get(name) {
            return this.#pairs.find(([n]) => n === name)?.[1] ?? null;
        }
        getAll(name) {
            return this.#pairs.filter(([n]) => n === name).map(([, value]) => value);
        }
        has(name, value) {
            return this.#pairs.some(([n, v]) => n === name && (value === undefined || v === value));
        }
        set(name, value) {
            const first = this.#pairs.findIndex(([n]) => n === name);
            if (first < 0) return this.append(name, value);
            const kept = this.#pairs.filter(([n], at) => n !== name || at === first);
            this.#set(kept.map(([n, v]) => [n, n === name ? String(value) : v]));
        }
        sort() {
            const order = ([a], [b]) => (a < b ? -1 : a > b ? 1 : 0);
            this.#set([...this.#pairs].sort(order));
        }
        forEach(run, self) {
            for (const [name, value] of this.#pairs) run.call(self, value, name, this);
        }
        *entries() {
            for (const [name, value] of this.#pairs) yield [name, value];
        }
        *keys() {
            for (const [name] of this.#pairs) yield name;
        }
        *values() {
            for (const [, value] of this.#pairs) yield value;
        }
        [Symbol.iterator]() {
            return this.entries();
        }
        toString() {
            return this.#pairs.map((pair) => pair.map(escape).join("=")).join("&");
        }
    };
}
