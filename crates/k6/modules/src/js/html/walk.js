// Steps between the nodes of a document, and the values of fields. A node is its number.
(lib) => {
    const isElement = (doc, node) => doc.kind(node) === 1;
    const elementsOf = (doc, nodes) => nodes.filter((node) => isElement(doc, node));
    const around = (doc, node) => {
        const parent = doc.parent(node);
        return parent === undefined ? [node] : doc.contents(parent);
    };
    const childrenOf = (doc, node) => elementsOf(doc, doc.contents(node));
    const after = (doc, node) => around(doc, node).filter((other) => other > node);
    const before = (doc, node) =>
        around(doc, node)
            .filter((other) => other < node)
            .reverse();
    const siblingsOf = (doc, node) =>
        elementsOf(doc, around(doc, node)).filter((other) => other !== node);
    const parentsOf = (doc, node) => {
        const parent = doc.parent(node);
        if (parent === undefined || !isElement(doc, parent)) return [];
        return [parent, ...parentsOf(doc, parent)];
    };
    const closest = (doc, node, css) =>
        [node, ...parentsOf(doc, node)].find((other) => doc.matches(other, css));
    const has = (doc, node, name) => doc.attribute(node, name) !== undefined;
    const chosen = (doc, select) =>
        doc.find(select, "option").filter((option) => has(doc, option, "selected"));
    const valueOf = (doc, node) => {
        const own = doc.attribute(node, "value");
        switch (doc.name(node)) {
            case "input": {
                const isBox = ["checkbox", "radio"].includes(doc.attribute(node, "type"));
                return own ?? (isBox ? "on" : "");
            }
            case "button":
                return own ?? "";
            case "textarea":
                return doc.inner(node);
            case "option":
                return own ?? doc.inner(node);
            case "select": {
                const values = chosen(doc, node).map((option) => valueOf(doc, option));
                return has(doc, node, "multiple") ? values : (values[0] ?? "");
            }
        }
    };
    const walk = { isElement, elementsOf, childrenOf, after, before, siblingsOf, parentsOf };
    lib.walk = { ...walk, closest, has, chosen, valueOf };
}
