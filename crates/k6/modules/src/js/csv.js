// The members of k6/experimental/csv.
(native) => {
    // The types of values as k6 names them.
    const kindOf = (value) => {
        switch (typeof value) {
            case "string":
                return /^[\x00-\x7f]*$/.test(value) ? "asciiString" : "unicodeString";
            case "number":
                return Number.isInteger(value) ? "valueInt" : "valueFloat";
            case "boolean":
                return "valueBool";
            default:
                return typeof value;
        }
    };
    const placeOf = (file) => {
        const nothing = file === undefined || file === null;
        if (!nothing && typeof file !== "object" && typeof file !== "function") {
            const what = "first argument expected to be a fs.File instance, got sobek";
            throw new GoError(`${what}.${kindOf(file)} instead`);
        }
        const place = nothing ? undefined : native.known.get(file);
        if (place === undefined) {
            throw new GoError("failed to create a new parser; reason: the reader cannot be nil");
        }
        return place();
    };
    const layoutOf = (options, failure) => {
        if (options === null) throw new TypeError("Cannot convert undefined or null to object");
        const { delimiter, skipFirstLine, fromLine, toLine, asObjects } = options ?? {};
        const told = (reason) => {
            throw new GoError(`${failure} Parser options; reason: ${reason}`);
        };
        const mark = delimiter === undefined ? "," : `${delimiter}`;
        if (!/^[\x00-\x7f]$/.test(mark)) told("delimiter must be a single character");
        const line = (value) => Math.trunc(Number(value)) || 0;
        const [from, to] = [line(fromLine), line(toLine)];
        if (from > 0 && to > 0 && from > to) {
            told("fromLine must be less than or equal to toLine");
        }
        return [mark.charCodeAt(0), Boolean(skipFirstLine), from, to, Boolean(asObjects)];
    };
    const parse = (file, options) => {
        const layout = layoutOf(options, "failed to interpret the provided");
        const { path, at } = placeOf(file);
        // What is wrong before the first row is thrown at once, the rest with the promise.
        native.begin(path, at, layout);
        return (async () => native.view(native.rows(path, at, layout)))();
    };
    function Parser(file, options) {
        if (!native.isInit()) {
            throw new GoError("csv Parser constructor must be called in the init context");
        }
        if (file === undefined || file === null) {
            const what = "csv Parser constructor takes at least one non-nil source argument";
            throw new GoError(what);
        }
        const layout = layoutOf(options, "encountered an error while interpreting");
        const { path, at } = placeOf(file);
        const step = native.begin(path, at, layout);
        return {
            async next() {
                const found = step();
                if (found === undefined) return { done: true, value: [] };
                if (Array.isArray(found)) return { done: false, value: found[0] };
                const { message, ...place } = found;
                const problem = { ...place, err: {} };
                throw Object.defineProperty(problem, "toString", { value: () => message });
            },
        };
    }
    return { parse, Parser };
}
