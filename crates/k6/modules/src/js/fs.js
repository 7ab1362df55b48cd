// The members of k6/experimental/fs.
(native) => {
    const SeekMode = { Start: 0, Current: 1, End: 2 };
    // No `Error`, as in k6.
    class Refusal {
        constructor(name, message) {
            this.name = name;
            this.message = message;
        }
        toString() {
            return `${this.name}: ${this.message}`;
        }
    }
    const refuse = (name, message) => {
        throw new Refusal(name, message);
    };
    const refuseType = (message) => refuse("TypeError", message);
    const positionOf = (offset, whence, at, size) => {
        const told = (what) => refuseType(`seek() failed; reason: the ${what}`);
        if (offset === undefined || offset === null) {
            told("offset argument cannot be null or undefined");
        }
        if (whence === undefined || whence === null) {
            told("whence argument cannot be null or undefined");
        }
        if (!Number.isInteger(offset)) told("offset argument must be a number");
        if (!Number.isInteger(whence)) told("whence argument must be a number");
        if (whence === SeekMode.Start && offset < 0) {
            refuseType("offset cannot be negative when using SeekModeStart");
        }
        if (whence === SeekMode.End && offset > 0) {
            refuseType("offset cannot be positive when using SeekModeEnd");
        }
        const from = [0, at, size][whence];
        if (from === undefined) told("whence argument must be a SeekMode");
        if (from + offset < 0) refuseType("seeking before start of file");
        if (from + offset > size) refuseType("seeking beyond end of file");
        return from + offset;
    };
    const fileOf = ({ path, size, slice }) => {
        let at = 0;
        const file = {
            path,
            async stat() {
                return { name: path.split("/").at(-1), size };
            },
            async read(into) {
                const told = (what) => refuseType(`read() failed; reason: into argument ${what}`);
                if (into === undefined || into === null) told("cannot be null or undefined");
                if (!(into instanceof Uint8Array)) told("must be a Uint8Array");
                if (at >= size) return null;
                const bytes = new Uint8Array(slice(at, into.length));
                into.set(bytes);
                at += bytes.length;
                return bytes.length;
            },
            async seek(offset, whence) {
                return (at = positionOf(offset, whence, at, size));
            },
        };
        native.known.set(file, () => ({ path, at }));
        return file;
    };
    const open = async (path) => {
        if (!native.isInit()) {
            const when = "opening a file is allowed only in the Init context";
            refuse("ForbiddenError", `open() failed; reason: ${when}`);
        }
        const told = (what) => refuseType(`open() failed; reason: path cannot be ${what}`);
        if (path === undefined || path === null) told("null or undefined");
        if (`${path}` === "") told("empty");
        return fileOf(native.open(`${path}`, refuse));
    };
    return { open, SeekMode };
}
