// Selections of one document: lists of node numbers, in the order of the document.
(doc) => {
    const isElement = (node) => !doc.name(node).startsWith("#");
    const unique = (nodes) => [...new Set(nodes)].sort((a, b) => a - b);
    const childrenOf = (node) => doc.contents(node).filter(isElement);
    const siblingsOf = (node) => {
        const parent = doc.parent(node);
        return parent == null ? [node] : childrenOf(parent);
    };
    const parentsOf = (node) => {
        const parent = doc.parent(node);
        return parent == null || !isElement(parent) ? [] : [parent, ...parentsOf(parent)];
    };
    const after = (node) => siblingsOf(node).filter((other) => other > node);
    const before = (node) => siblingsOf(node).filter((other) => other < node).reverse();
    const attr = (node, name) => doc.attributes(node)[name];
    const tester = (by) => {
        if (typeof by === "string") return (node) => doc.matches(node, by);
        if (typeof by === "function") return (node, at) => !!by(at, new Selection([node]));
        const nodes = new Set(by instanceof Selection ? by.nodes() : [by.number]);
        return (node) => nodes.has(node);
    };
    const until = (nodes, by) => {
        const end = by === undefined ? -1 : nodes.findIndex(tester(by));
        return end < 0 ? nodes : nodes.slice(0, end);
    };
    const typed = (text) => {
        if (text === "true" || text === "false") return text === "true";
        if (text !== "" && String(Number(text)) === text) return Number(text);
        try {
            return /^[[{]/.test(text) ? JSON.parse(text) : text;
        } catch {
            return text;
        }
    };
    const camel = (name) => name.replace(/-(.)/g, (_, c) => c.toUpperCase());
    const valueOf = (node) => {
        const own = attr(node, "value");
        switch (doc.name(node)) {
            case "textarea":
                return doc.text(node);
            case "option":
                return own ?? doc.text(node);
            case "select": {
                const chosen = doc.find(node, "option[selected]").map(valueOf);
                if (attr(node, "multiple") !== undefined) return chosen;
                const [first] = doc.find(node, "option");
                return chosen.at(-1) ?? (first === undefined ? undefined : valueOf(first));
            }
            default:
                return own;
        }
    };
    const FIELDS = "input, select, textarea";
    const isSent = (node) => {
        const { name, type = "", disabled, checked } = doc.attributes(node);
        if (!name || disabled !== undefined) return false;
        if (["submit", "button", "reset", "image", "file"].includes(type)) return false;
        return !["checkbox", "radio"].includes(type) || checked === "checked";
    };
    class Element {
        #node;
        constructor(node) {
            this.#node = node;
            Object.defineProperty(this, "number", { value: node });
        }
        selection() {
            return new Selection([this.#node]);
        }
        nodeName() {
            return doc.name(this.#node);
        }
        id() {
            return attr(this.#node, "id") ?? "";
        }
        className() {
            return attr(this.#node, "class") ?? "";
        }
        textContent() {
            return doc.text(this.#node);
        }
        innerHTML() {
            return doc.inner(this.#node);
        }
        getAttribute(name) {
            return attr(this.#node, name);
        }
        hasAttribute(name) {
            return attr(this.#node, name) !== undefined;
        }
        value() {
            return valueOf(this.#node);
        }
        toString() {
            return "[object html.Node]";
        }
    }
    class Selection {
        #nodes;
        constructor(nodes) {
            this.#nodes = nodes;
        }
        nodes() {
            return this.#nodes;
        }
        #each(step, by) {
            const made = new Selection(unique(this.#nodes.flatMap(step)));
            return by === undefined ? made : made.filter(by);
        }
        get url() {
            return doc.url ?? "";
        }
        find(by) {
            if (typeof by === "string") return this.#each((node) => doc.find(node, by));
            return this.#each((node) => doc.find(node, "*")).filter(by);
        }
        closest(by) {
            const fits = tester(by);
            return this.#each((node) => [node, ...parentsOf(node)].filter(fits).slice(0, 1));
        }
        has(by) {
            return new Selection(
                this.#nodes.filter((node) => new Selection([node]).find(by).size() > 0),
            );
        }
        add(by) {
            const more = typeof by === "string" ? doc.find(0, by) : (by.nodes?.() ?? [by.number]);
            return new Selection(unique([...this.#nodes, ...more]));
        }
        children(by) {
            return this.#each(childrenOf, by);
        }
        contents() {
            return this.#each((node) => doc.contents(node));
        }
        parent(by) {
            return this.#each((node) => parentsOf(node).slice(0, 1), by);
        }
        parents(by) {
            return this.#each(parentsOf, by);
        }
        parentsUntil(end, by) {
            return this.#each((node) => until(parentsOf(node), end), by);
        }
        next(by) {
            return this.#each((node) => after(node).slice(0, 1), by);
        }
        nextAll(by) {
            return this.#each(after, by);
        }
        nextUntil(end, by) {
            return this.#each((node) => until(after(node), end), by);
        }
        prev(by) {
            return this.#each((node) => before(node).slice(0, 1), by);
        }
        prevAll(by) {
            return this.#each(before, by);
        }
        prevUntil(end, by) {
            return this.#each((node) => until(before(node), end), by);
        }
        siblings(by) {
            return this.#each((node) => siblingsOf(node).filter((other) => other !== node), by);
        }
        first() {
            return this.eq(0);
        }
        last() {
            return this.eq(-1);
        }
        end() {
            return new Selection([0]);
        }
        eq(index) {
            const node = this.#nodes.at(index);
            return new Selection(node === undefined ? [] : [node]);
        }
        slice(from, to) {
            return new Selection(this.#nodes.slice(from, to));
        }
        filter(by) {
            return new Selection(this.#nodes.filter(tester(by)));
        }
        not(by) {
            const fits = tester(by);
            return new Selection(this.#nodes.filter((node, at) => !fits(node, at)));
        }
        is(by) {
            return this.#nodes.some(tester(by));
        }
        text() {
            return this.#nodes.map((node) => doc.text(node)).join("");
        }
        html() {
            return this.#nodes.length ? doc.inner(this.#nodes[0]) : undefined;
        }
        attr(name, otherwise) {
            return this.#nodes.length ? (attr(this.#nodes[0], name) ?? otherwise) : otherwise;
        }
        val() {
            return this.#nodes.length ? valueOf(this.#nodes[0]) : undefined;
        }
        data(key) {
            if (!this.#nodes.length) return undefined;
            const all = {};
            for (const [name, text] of Object.entries(doc.attributes(this.#nodes[0]))) {
                if (name.startsWith("data-")) all[camel(name.slice(5))] = typed(text);
            }
            return key === undefined ? all : all[camel(key)];
        }
        size() {
            return this.#nodes.length;
        }
        index(by) {
            const [node] = this.#nodes;
            if (node === undefined) return -1;
            if (by === undefined) return siblingsOf(node).indexOf(node);
            if (typeof by === "string") return doc.find(0, by).indexOf(node);
            return this.#nodes.indexOf(by.nodes?.()[0] ?? by.number);
        }
        get(index) {
            const node = this.#nodes.at(index ?? 0);
            return node === undefined ? undefined : new Element(node);
        }
        toArray() {
            return this.#nodes.map((node) => new Selection([node]));
        }
        each(run) {
            this.#nodes.forEach((node, at) => run(at, new Element(node)));
            return this;
        }
        map(run) {
            return this.#nodes.map((node, at) => run(at, new Selection([node])));
        }
        serializeArray() {
            const inside = this.#nodes.flatMap((node) => doc.find(node, FIELDS));
            const own = this.#nodes.filter((node) => doc.matches(node, FIELDS));
            return unique([...own, ...inside])
                .filter(isSent)
                .flatMap((node) =>
                    [valueOf(node)].flat().map((value) => ({
                        name: attr(node, "name"),
                        value: value ?? (attr(node, "type") ? "on" : ""),
                    })),
                );
        }
        serializeObject() {
            const all = {};
            for (const { name, value } of this.serializeArray()) all[name] = value;
            return all;
        }
        serialize() {
            const pairs = this.serializeArray().map(({ name, value }) => [name, value]);
            return new URLSearchParams(pairs).toString();
        }
    }
    return new Selection([0]);
}
