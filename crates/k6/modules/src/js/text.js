// Texts as bytes: UTF-8 only.
(native) => ({
    TextEncoder: class TextEncoder {
        get encoding() {
            return "utf-8";
        }
        encode(text = "") {
            return new Uint8Array(native.encode(String(text).toWellFormed()));
        }
        encodeInto(text, target) {
            let read = 0;
            let written = 0;
            for (const char of String(text).toWellFormed()) {
                const bytes = this.encode(char);
                if (written + bytes.length > target.length) break;
                target.set(bytes, written);
                written += bytes.length;
                read += char.length;
            }
            return { read, written };
        }
    },
    TextDecoder: class TextDecoder {
        constructor(label = "utf-8", options = {}) {
            if (!["utf-8", "utf8", "unicode-1-1-utf-8"].includes(String(label).toLowerCase())) {
                throw new RangeError(`TextDecoder reads utf-8 only, not ${label}`);
            }
            this.encoding = "utf-8";
            this.fatal = !!options.fatal;
            this.ignoreBOM = !!options.ignoreBOM;
        }
        decode(data = new ArrayBuffer(0)) {
            const text = native.decode(data, this.fatal);
            return this.ignoreBOM ? text : text.replace(/^\ufeff/, "");
        }
    },
    btoa: (text) => native.btoa(String(text)),
    atob: (text) => native.atob(String(text)),
})
