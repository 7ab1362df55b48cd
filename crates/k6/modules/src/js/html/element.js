// Elements, and nodes of other kinds: all members are methods. Members that only elements of some
// name have come from lib.kinds.
(lib) => {
    const { walk } = lib;
    const XHTML = "http://www.w3.org/1999/xhtml";
    class Element {
        #doc;
        #node;
        constructor(doc, node) {
            this.#doc = doc;
            this.#node = node;
        }
        static {
            lib.docOf = (element) => element.#doc;
            lib.numberOf = (element) => element.#node;
        }
        #at(node) {
            return node === undefined ? undefined : elementAt(this.#doc, node);
        }
        #all(nodes) {
            return nodes.map((node) => elementAt(this.#doc, node));
        }
        #attributeNode(name, value) {
            return {
                name,
                value,
                owner_element: this,
                localName: () => name,
                prefix: () => "",
                namespaceURI: () => XHTML,
            };
        }
        #near(step) {
            return walk.elementsOf(this.#doc, step(this.#doc, this.#node))[0];
        }
        selection() {
            const all = new lib.Selection(this.#doc, [this.#node]);
            return new lib.Selection(this.#doc, [this.#node], all);
        }
        nodeName() {
            return this.#doc.name(this.#node);
        }
        nodeType() {
            return this.#doc.kind(this.#node);
        }
        nodeValue() {
            return [3, 8].includes(this.nodeType()) ? this.#doc.text(this.#node) : undefined;
        }
        id() {
            return this.getAttribute("id") ?? "";
        }
        className() {
            return this.getAttribute("class");
        }
        classList() {
            return (this.className() ?? "").split(/\s+/).filter((name) => name !== "");
        }
        lang() {
            return this.getAttribute("lang");
        }
        textContent() {
            return this.#doc.text(this.#node);
        }
        innerHTML() {
            return this.#doc.inner(this.#node);
        }
        attributes() {
            const all = {};
            for (const [name, value] of Object.entries(this.#doc.attributes(this.#node))) {
                all[name] = this.#attributeNode(name, value);
            }
            return all;
        }
        getAttribute(name) {
            return this.#doc.attribute(this.#node, String(name));
        }
        getAttributeNode(name) {
            const value = this.getAttribute(name);
            return value === undefined ? undefined : this.#attributeNode(String(name), value);
        }
        hasAttribute(name) {
            return this.getAttribute(name) !== undefined;
        }
        hasAttributes() {
            return Object.keys(this.#doc.attributes(this.#node)).length > 0;
        }
        children() {
            return this.#all(walk.childrenOf(this.#doc, this.#node));
        }
        childNodes() {
            return this.#all(this.#doc.contents(this.#node));
        }
        childElementCount() {
            return walk.childrenOf(this.#doc, this.#node).length;
        }
        hasChildNodes() {
            return this.#doc.contents(this.#node).length > 0;
        }
        firstChild() {
            return this.#at(this.#doc.contents(this.#node)[0]);
        }
        lastChild() {
            return this.#at(this.#doc.contents(this.#node).at(-1));
        }
        firstElementChild() {
            return this.#at(walk.childrenOf(this.#doc, this.#node)[0]);
        }
        lastElementChild() {
            return this.#at(walk.childrenOf(this.#doc, this.#node).at(-1));
        }
        nextSibling() {
            return this.#at(walk.after(this.#doc, this.#node)[0]);
        }
        previousSibling() {
            return this.#at(walk.before(this.#doc, this.#node)[0]);
        }
        nextElementSibling() {
            return this.#at(this.#near(walk.after));
        }
        previousElementSibling() {
            return this.#at(this.#near(walk.before));
        }
        parentNode() {
            return this.#at(this.#doc.parent(this.#node));
        }
        parentElement() {
            return this.#at(walk.parentsOf(this.#doc, this.#node)[0]);
        }
        ownerDocument() {
            return this.#at(0);
        }
        namespaceURI() {
            return this.#doc.namespace(this.#node);
        }
        isDefaultNamespace() {
            return this.namespaceURI() === XHTML;
        }
        contains(other) {
            if (!(other instanceof Element) || other.#doc !== this.#doc) return false;
            const above = walk.parentsOf(this.#doc, other.#node);
            return above.includes(this.#node) || (this.#node === 0 && other.#node !== 0);
        }
        isSameNode(other) {
            const isElement = other instanceof Element;
            return isElement && other.#doc === this.#doc && other.#node === this.#node;
        }
        isEqualNode(other) {
            if (!(other instanceof Element) || other.nodeName() !== this.nodeName()) return false;
            return other.innerHTML() === this.innerHTML();
        }
        matches(css) {
            return this.#doc.matches(this.#node, String(css));
        }
        getElementsByTagName(name) {
            return this.querySelectorAll(name);
        }
        getElementsByClassName(name) {
            return this.querySelectorAll("." + name);
        }
        querySelector(css) {
            return this.#at(this.#doc.find(this.#node, String(css))[0]);
        }
        querySelectorAll(css) {
            return this.#all(this.#doc.find(this.#node, String(css)));
        }
        toString() {
            return this.nodeType() === 1 ? "[object html.Node]" : `[object ${this.nodeName()}]`;
        }
    }
    // A member's rule gives a value, or the number of a node as { node }, or of nodes as { nodes }.
    const given = (doc, value) => {
        if (value?.nodes) return value.nodes.map((node) => elementAt(doc, node));
        if (!value || !("node" in Object(value))) return value;
        return value.node === undefined ? undefined : elementAt(doc, value.node);
    };
    const classes = new Map();
    const classOf = (name) => {
        if (classes.has(name)) return classes.get(name);
        const rules = Object.entries(lib.kinds[name] ?? {});
        const kind = rules.length ? class extends Element {} : Element;
        for (const [member, rule] of rules) {
            Object.defineProperty(kind.prototype, member, {
                configurable: true,
                writable: true,
                value() {
                    const doc = lib.docOf(this);
                    return given(doc, rule(doc, lib.numberOf(this)));
                },
            });
        }
        classes.set(name, kind);
        return kind;
    };
    const elementAt = (doc, node) => {
        const kind = classOf(doc.kind(node) === 1 ? doc.name(node) : "");
        return new kind(doc, node);
    };
    Object.assign(lib, { Element, elementAt });
}
