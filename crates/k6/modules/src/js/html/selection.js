// Selections: lists of nodes of one document, each with the selection that it was made from.
(lib) => {
    const { walk } = lib;
    const { Element, elementAt } = lib;
    const unique = (nodes) => [...new Set(nodes)];
    const refuse = (by) => {
        const kind = by === null ? "null" : by instanceof Element ? "Element" : typeof by;
        const what = `invalid argument, cannot use a '${kind}' as a selector`;
        throw new GoError(`${what}: pass a CSS selector or a selection`);
    };
    const number = (text) => text === "-0" || String(Number(text)) === text;
    const typed = (text) => {
        if (text === "" || text === "null") return undefined;
        if (text === "true" || text === "false") return text === "true";
        if (text !== "NaN" && !/Infinity$/.test(text) && number(text)) return Number(text);
        try {
            return /^[[{]/.test(text) ? JSON.parse(text) : text;
        } catch {
            return text;
        }
    };
    const camel = (name) => name.replace(/-+(.)/g, (_, c) => c.toUpperCase());
    // Words that k6 writes in capitals, as Go does.
    const INITIALISMS = new Set(
        (
            "ACL API ASCII CPU CSS DNS EOF ETA GPU GUID HTML HTTP HTTPS ID IP JSON LHS OS QPS " +
            "RAM RHS RPC SLA SMTP SQL SSH TCP TLS TTL UDP UI UID UUID URI URL UTF8 VM XML XMPP " +
            "XSRF XSS"
        ).split(" "),
    );
    const member = (name) => {
        const [first, ...others] = name.split(/-+/);
        const title = (word) => {
            const capitals = word.toUpperCase();
            if (INITIALISMS.has(capitals)) return capitals;
            return word.charAt(0).toUpperCase() + word.slice(1);
        };
        return first + others.map(title).join("");
    };
    const mustCall = (run, name) => {
        if (typeof run === "function") return;
        throw new GoError(`the argument to ${name}() must be a function`);
    };
    const isSent = (doc, node) => {
        const { name, type, disabled, checked } = doc.attributes(node);
        if (!name || disabled === "disabled") return false;
        if (["submit", "button", "reset", "image", "file"].includes(type)) return false;
        return !["checkbox", "radio"].includes(type) || checked === "checked";
    };
    const FIELDS = "input, select, textarea, keygen";
    // The fields of the forms among some nodes; without a form, those nodes that are fields.
    const fieldsOf = (doc, nodes) => {
        const forms = nodes.filter((node) => doc.name(node) === "form");
        if (forms.length === 0) return nodes.filter((node) => doc.matches(node, FIELDS));
        return unique(forms.flatMap((form) => doc.find(form, FIELDS)));
    };
    const escape = (text) =>
        encodeURIComponent(String(text).toWellFormed())
            .replace(/[!'()*]/g, (c) => "%" + c.charCodeAt(0).toString(16).toUpperCase())
            .replace(/%20/g, "+");
    class Selection {
        #doc;
        #nodes;
        #previous;
        constructor(doc, nodes, previous) {
            this.#doc = doc;
            this.#nodes = nodes;
            this.#previous = previous;
        }
        #made(nodes) {
            return new Selection(this.#doc, unique(nodes), this);
        }
        // What a step leads to from each node; `filter` holds a selector, or nothing.
        #stepped(step, filter) {
            const nodes = this.#nodes.flatMap((node) => step(this.#doc, node));
            return this.#made(this.#filtered(nodes, filter));
        }
        #filtered(nodes, filter) {
            if (filter.length === 0) return nodes;
            return nodes.filter((node) => this.#doc.matches(node, String(filter[0])));
        }
        #until(step, [end, ...filter]) {
            const ends = end === undefined ? () => false : this.#tester(end);
            const walked = (doc, node) => {
                const nodes = walk.elementsOf(doc, step(doc, node));
                const at = nodes.findIndex(ends);
                return at < 0 ? nodes : nodes.slice(0, at);
            };
            return this.#stepped(walked, filter);
        }
        // The nodes that a selection or an element stands for; `undefined` if it is neither.
        #given(by) {
            if (by instanceof Selection) return by.#doc === this.#doc ? by.#nodes : [];
            if (by instanceof Element) return lib.docOf(by) === this.#doc ? [lib.numberOf(by)] : [];
        }
        #tester(by) {
            if (typeof by === "string") return (node) => this.#doc.matches(node, by);
            const nodes = new Set(this.#given(by) ?? refuse(by));
            return (node) => nodes.has(node);
        }
        #callable(by, name) {
            if (typeof by === "function") return (node, at) => !!by(at, this.#of(node));
            if (typeof by === "string" || this.#given(by)) return this.#tester(by);
            const what = "must be a function, a selector or a selection";
            throw new GoError(`the argument to ${name}() ${what}`);
        }
        #of(node) {
            return new Selection(this.#doc, [node], this);
        }
        get url() {
            return this.#doc.url ?? "";
        }
        find(by) {
            if (typeof by === "string") return this.#stepped((doc, n) => doc.find(n, by), []);
            const nodes = this.#given(by) ?? refuse(by);
            const isBelow = (node) =>
                [...walk.parentsOf(this.#doc, node), 0].some((n) => this.#nodes.includes(n));
            return this.#made(nodes.filter((node) => node !== 0 && isBelow(node)));
        }
        closest(by) {
            const fits = this.#tester(by);
            const nearest = (doc, node) =>
                [node, ...walk.parentsOf(doc, node)].filter(fits).slice(0, 1);
            return this.#stepped(nearest, []);
        }
        has(by) {
            if (!this.#given(by) && typeof by !== "string") refuse(by);
            return this.#made(this.#nodes.filter((node) => this.#of(node).find(by).size() > 0));
        }
        add(by) {
            const more = typeof by === "string" ? this.#doc.find(0, by) : this.#given(by);
            return this.#made([...this.#nodes, ...(more ?? refuse(by))]);
        }
        children(...filter) {
            return this.#stepped(walk.childrenOf, filter);
        }
        contents() {
            return this.#stepped((doc, node) => doc.contents(node), []);
        }
        parent(...filter) {
            return this.#stepped((doc, node) => walk.parentsOf(doc, node).slice(0, 1), filter);
        }
        parents(...filter) {
            return this.#stepped(walk.parentsOf, filter);
        }
        parentsUntil(...args) {
            return this.#until(walk.parentsOf, args);
        }
        next(...filter) {
            return this.#stepped((doc, node) => {
                return walk.elementsOf(doc, walk.after(doc, node)).slice(0, 1);
            }, filter);
        }
        nextAll(...filter) {
            return this.#until(walk.after, [undefined, ...filter]);
        }
        nextUntil(...args) {
            return this.#until(walk.after, args);
        }
        prev(...filter) {
            return this.#stepped((doc, node) => {
                return walk.elementsOf(doc, walk.before(doc, node)).slice(0, 1);
            }, filter);
        }
        prevAll(...filter) {
            return this.#until(walk.before, [undefined, ...filter]);
        }
        prevUntil(...args) {
            return this.#until(walk.before, args);
        }
        siblings(...filter) {
            return this.#stepped(walk.siblingsOf, filter);
        }
        first() {
            return this.eq(0);
        }
        last() {
            return this.eq(-1);
        }
        end() {
            return this.#previous ?? new Selection(this.#doc, []);
        }
        eq(index) {
            const node = this.#nodes.at(index);
            return this.#made(node === undefined ? [] : [node]);
        }
        slice(from, to) {
            return this.#made(this.#nodes.slice(from, to));
        }
        filter(by) {
            return this.#made(this.#nodes.filter(this.#callable(by, "filter")));
        }
        not(by) {
            const fits = typeof by === "function" ? this.#callable(by) : this.#tester(by);
            return this.#made(this.#nodes.filter((node, at) => !fits(node, at)));
        }
        is(by) {
            return this.#nodes.some(this.#callable(by, "is"));
        }
        text() {
            return this.#nodes.map((node) => this.#doc.text(node)).join("");
        }
        html() {
            return this.#nodes.length ? this.#doc.inner(this.#nodes[0]) : "";
        }
        attr(name, otherwise) {
            if (!this.#nodes.length) return otherwise;
            return this.#doc.attribute(this.#nodes[0], String(name)) ?? otherwise;
        }
        val() {
            return this.#nodes.length ? walk.valueOf(this.#doc, this.#nodes[0]) : undefined;
        }
        data(key) {
            if (!this.#nodes.length) return undefined;
            const [all, byCamel] = [{}, {}];
            for (const [name, text] of Object.entries(this.#doc.attributes(this.#nodes[0]))) {
                if (!/^data-./.test(name)) continue;
                const value = typed(text);
                all[member(name.slice(5))] = value;
                byCamel[camel(name.slice(5))] = value;
            }
            return key === undefined ? all : byCamel[camel(String(key))];
        }
        size() {
            return this.#nodes.length;
        }
        index(by) {
            const [node] = this.#nodes;
            if (node === undefined) return -1;
            if (by === undefined) {
                return walk.elementsOf(this.#doc, walk.before(this.#doc, node)).length;
            }
            if (typeof by === "string") return this.#doc.find(0, by).indexOf(node);
            return this.#nodes.indexOf((this.#given(by) ?? [])[0]);
        }
        get(index) {
            const all = this.#nodes.map((node) => elementAt(this.#doc, node));
            return index === undefined ? all : all.at(index);
        }
        toArray() {
            return this.#nodes.map((node) => this.#of(node));
        }
        each(run) {
            mustCall(run, "each");
            this.#nodes.forEach((node, at) => run(at, elementAt(this.#doc, node)));
            return this;
        }
        map(run) {
            mustCall(run, "map");
            try {
                return this.#nodes.map((node, at) => run(at, this.#of(node)));
            } catch {
                // k6 says nothing of an error in here.
                return [];
            }
        }
        serializeArray() {
            const doc = this.#doc;
            return fieldsOf(doc, this.#nodes)
                .filter((node) => isSent(doc, node))
                .map((node) => {
                    const name = doc.attribute(node, "name");
                    return { name, value: walk.valueOf(doc, node) };
                });
        }
        serializeObject() {
            const all = {};
            for (const { name, value } of this.serializeArray()) all[name] = value;
            return all;
        }
        serialize() {
            const pairs = Object.entries(this.serializeObject()).flatMap(([name, value]) =>
                [value ?? []].flat().map((one) => [name, one]),
            );
            pairs.sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
            return pairs.map((pair) => pair.map(escape).join("=")).join("&");
        }
    }
    lib.Selection = Selection;
}
