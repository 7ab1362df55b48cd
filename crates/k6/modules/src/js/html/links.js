// The parts of a link's address, as Go's library reads it: nothing is resolved.
(lib) => {
    const { texts, chosen } = lib.rules;
    const ADDRESS =
        /^(?:([a-z][a-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/is;
    const HOST = /^(?:(.*)@)?(\[[^\]]*\]|[^:]*)(?::(\d*))?$/s;
    const decoded = (text) => {
        try {
            return decodeURIComponent(text);
        } catch {
            return text;
        }
    };
    const isEscaped = (text) => !/%(?![0-9a-f]{2})/i.test(text);
    const isBad = (address, scheme, path) =>
        /[\x00-\x1f\x7f]/.test(address) || (!scheme && /^[^/]*:/.test(path)) || !isEscaped(path);
    // `undefined` for an address that can't be read.
    const parts = (address) => {
        const [, scheme = "", place, path, query = "", hash = ""] = address.match(ADDRESS) ?? [];
        const host = (place ?? "").match(HOST);
        if (path === undefined || !host || isBad(address, scheme, path)) return undefined;
        const isOpaque = scheme !== "" && place === undefined && !path.startsWith("/");
        const [, user = "", name, port = ""] = host;
        const whole = name + (port && ":" + port);
        const [username, password = ""] = user.split(/:(.*)/s).map(decoded);
        const plain = { scheme: scheme.toLowerCase(), query, hash: decoded(hash), whole, port };
        const hostname = name.replace(/^\[|\]$/g, "");
        return { ...plain, hostname, path: isOpaque ? "" : decoded(path), username, password };
    };
    const part = (take, otherwise = "") => (doc, node) => {
        const read = parts(doc.attribute(node, "href") ?? "");
        return read ? take(read) : otherwise;
    };
    const USUAL = { http: "80", https: "443", ftp: "21" };
    const signed = (sign, text) => (text === "" || text.startsWith(sign) ? text : sign + text);
    const policies = "no-referrer no-referrer-when-downgrade origin origin-when-cross-origin";
    const referrerPolicy = chosen("referrerpolicy", "", policies + " unsafe-url");
    const relList = (doc, node) => {
        const text = doc.attribute(node, "rel") ?? "";
        return text === "" ? [] : text.split(" ");
    };
    const link = {
        ...texts("accessKey download href hrefLang rel target type"),
        referrerPolicy,
        relList,
        text: (doc, node) => doc.text(node),
        toString: (doc, node) => doc.attribute(node, "href") ?? "",
        protocol: part(({ scheme }) => scheme || ":", ":"),
        host: part(({ scheme, port, hostname, whole }) =>
            port !== "" && USUAL[scheme] === port ? hostname : whole,
        ),
        hostname: part(({ hostname }) => hostname),
        port: part(({ port }) => port),
        pathname: part(({ path }) => signed("/", path)),
        search: part(({ query }) => query && "?" + query),
        hash: part(({ hash }) => hash && "#" + hash),
        origin: part(({ scheme, whole }) => scheme && `${scheme}://${whole}`),
        username: part(({ username }) => username),
        password: part(({ password }) => password),
    };
    Object.assign(lib.rules, { referrerPolicy, relList });
    lib.kinds = { a: link, area: link };
}
