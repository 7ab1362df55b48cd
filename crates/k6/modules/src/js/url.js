// URL: its parts are parsed again at each change.
(native) => {
    class URL {
        #parts;
        #query;
        constructor(href, base) {
            this.#parts = native.parse(String(href), base === undefined ? base : String(base));
            if (!this.#parts) throw new TypeError(`Invalid URL: ${href}`);
        }
        static canParse(href, base) {
            return !!native.parse(String(href), base === undefined ? base : String(base));
        }
        static parse(href, base) {
            return URL.canParse(href, base) ? new URL(href, base) : null;
        }
        static part(url, name) {
            return url.#parts[name];
        }
        static change(url, name, value) {
            url.#parts = native.change(url.#parts.href, name, value);
            if (name === "search") url.#query = undefined;
        }
        get href() {
            return this.#parts.href;
        }
        set href(value) {
            this.#parts = new URL(value).#parts;
            this.#query = undefined;
        }
        get origin() {
            return this.#parts.origin;
        }
        get searchParams() {
            if (this.#query) return this.#query;
            const keep = (text) => {
                this.#parts = native.change(this.#parts.href, "search", text);
            };
            return (this.#query = new URLSearchParams(this.#parts.search, keep));
        }
        toString() {
            return this.href;
        }
        toJSON() {
            return this.href;
        }
    }
    const { part, change } = URL;
    delete URL.part;
    delete URL.change;
    const names = ["protocol", "username", "password", "host", "hostname", "port"];
    for (const name of [...names, "pathname", "search", "hash"]) {
        Object.defineProperty(URL.prototype, name, {
            configurable: true,
            get() {
                return part(this, name);
            },
            set(value) {
                change(this, name, String(value));
            },
        });
    }
    return URL;
}
