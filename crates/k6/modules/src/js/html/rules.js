// Rules of members: each makes a function from a document and a node's number to a value.
(lib) => {
    const { has } = lib.walk;
    // A member's name, with its attribute's if that is not the same in lower case: "htmlFor=for".
    const each = (words, make) => {
        const rules = words.split(" ").map((word) => {
            const [member, attribute = member.toLowerCase()] = word.split("=");
            return [member, make(attribute)];
        });
        return Object.fromEntries(rules);
    };
    const texts = (words) => each(words, (name) => (doc, node) => doc.attribute(node, name) ?? "");
    const flags = (words) => each(words, (name) => (doc, node) => has(doc, node, name));
    const isWhole = (text) => /^[+-]?\d+$/.test(text) && Math.abs(Number(text)) < 2 ** 63;
    const wholes = (words, otherwise, least = -Infinity) =>
        each(words, (name) => (doc, node) => {
            const text = doc.attribute(node, name) ?? "";
            return isWhole(text) && Number(text) >= least ? Number(text) : otherwise;
        });
    // One of some words, compared as they are written.
    const chosen = (name, otherwise, words) => (doc, node) => {
        const value = doc.attribute(node, name);
        return words.split(" ").includes(value) ? value : otherwise;
    };
    const found = (css) => (doc, node) => ({ nodes: doc.find(node, css) });
    const firstFound = (css) => (doc, node) => ({ node: doc.find(node, css)[0] });
    const always = (value) => () => value;
    lib.rules = { texts, flags, wholes, chosen, found, firstFound, always };
}
