// The members of k6/experimental/fs.
(native) => {
    const SeekMode = { Start: 0, Current: 1, End: 2 };
    class File {
        #content;
        #at = 0;
        constructor(path, content) {
            this.path = path;
            this.#content = content;
        }
        async stat() {
            return { name: this.path.split("/").at(-1), size: this.#content.size };
        }
        async read(into) {
            if (this.#at >= this.#content.size) return null;
            const bytes = new Uint8Array(this.#content.slice(this.#at, into.length));
            into.set(bytes);
            this.#at += bytes.length;
            return bytes.length;
        }
        async seek(offset, whence) {
            const start = [0, this.#at, this.#content.size][whence];
            if (start === undefined) throw new TypeError("invalid seek mode");
            const at = start + offset;
            if (at < 0) throw new TypeError("cannot seek before the start of the file");
            return (this.#at = at);
        }
    }
    const open = async (path) => new File(path, native.open(path));
    return { open, SeekMode };
}
