// Globals that are made when a script first touches them. Those that QuickJS has stay.
(native) => {
    const names = ["URL", "URLSearchParams", "TextEncoder", "TextDecoder", "atob", "btoa"];
    names.push("structuredClone", "crypto", "performance");
    const fix = (name, value) =>
        Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
    for (const name of names) {
        if (name in globalThis) continue;
        Object.defineProperty(globalThis, name, {
            configurable: true,
            get: () => fix(name, native.load(name))[name],
            set: (value) => fix(name, value),
        });
    }
    if (!("queueMicrotask" in globalThis)) {
        fix("queueMicrotask", (run) => void Promise.resolve().then(() => run()));
    }
}
