// Globals that are made when a script first touches them. Those that there are stay.
(native, names, fixed) => {
    const add = (name, set) => {
        if (name in globalThis) return;
        const get = () => native.load(name);
        Object.defineProperty(globalThis, name, { configurable: true, get, set });
    };
    const replace = (name, value) =>
        Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
    for (const name of names) add(name, (value) => replace(name, value));
    for (const name of fixed) add(name);
    if (!("queueMicrotask" in globalThis)) {
        replace("queueMicrotask", (run) => void Promise.resolve().then(() => run()));
    }
}
