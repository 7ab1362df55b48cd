// SharedArray: an array to look at, whose elements are parsed when they are touched.
(native) => {
    const frozen = (value) => {
        if (typeof value !== "object" || value === null) return value;
        Object.values(value).forEach(frozen);
        return Object.freeze(value);
    };
    const refuse = () => {
        throw new TypeError("SharedArray is immutable");
    };
    const indexOf = (key) => (typeof key === "string" && /^(0|[1-9]\d*)$/.test(key) ? +key : -1);
    const view = ({ length, at }) => {
        const holds = (key) => indexOf(key) >= 0 && indexOf(key) < length;
        const element = (key) => frozen(at(indexOf(key)));
        return new Proxy([], {
            get: (target, key) => {
                if (key === "length") return length;
                return holds(key) ? element(key) : target[key];
            },
            has: (target, key) => holds(key) || key in target,
            ownKeys: () => [...Array(length).keys()].map(String).concat("length"),
            getOwnPropertyDescriptor: (target, key) => {
                if (key === "length") return { value: length, writable: true };
                if (!holds(key)) return undefined;
                const rights = { writable: true, enumerable: true, configurable: true };
                return { value: element(key), ...rights };
            },
            set: refuse,
            defineProperty: refuse,
            deleteProperty: refuse,
            setPrototypeOf: refuse,
            preventExtensions: refuse,
        });
    };
    const AsyncFunction = (async () => {}).constructor;
    function SharedArray(name, build) {
        if (String(name) === "") {
            throw new GoError("empty name provided to SharedArray's constructor");
        }
        if (typeof build !== "function") {
            const what = "a function is expected as the second argument of SharedArray";
            throw new GoError(`${what}'s constructor`);
        }
        if (build instanceof AsyncFunction) {
            const what = "SharedArray constructor does not support async functions";
            throw new GoError(`${what} as second argument`);
        }
        return view(native.find(String(name), build));
    }
    // Not enumerable: for other modules that make shared arrays, not for scripts.
    return Object.defineProperty({ SharedArray }, "viewOf", { value: view });
}
