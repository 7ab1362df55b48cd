// The global crypto. Its subtle part is not there yet.
(native) => ({
    getRandomValues(view) {
        if (view.byteLength > 65536) {
            const error = new Error("getRandomValues takes at most 65536 bytes");
            error.name = "QuotaExceededError";
            throw error;
        }
        if (view.byteLength === 0) return view;
        const bytes = new Uint8Array(native.randomBytes(view.byteLength));
        new Uint8Array(view.buffer, view.byteOffset, view.byteLength).set(bytes);
        return view;
    },
    randomUUID() {
        const bytes = new Uint8Array(native.randomBytes(16));
        bytes[6] = (bytes[6] & 15) | 64;
        bytes[8] = (bytes[8] & 63) | 128;
        const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
        const cuts = [[0, 8], [8, 12], [12, 16], [16, 20], [20, 32]];
        return cuts.map(([from, to]) => hex.slice(from, to)).join("-");
    },
    get subtle() {
        return native.missing("crypto.subtle is not supported yet: use k6/crypto");
    },
})
