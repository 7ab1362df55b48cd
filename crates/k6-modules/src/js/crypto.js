// The members of k6/crypto. A Hasher keeps its parts until digest: the state of a hash stays small.
(native) => {
    class Hasher {
        #finish;
        #parts = [];
        constructor(finish) {
            this.#finish = finish;
        }
        update(data) {
            this.#parts.push(typeof data === "string" ? data : data.slice(0));
        }
        digest(output) {
            return this.#finish(output, this.#parts);
        }
    }
    const createHash = (name) => {
        native.check(name);
        return new Hasher((output, parts) => native.digest(name, output, ...parts));
    };
    const createHMAC = (name, key) => {
        native.check(name);
        return new Hasher((output, parts) => native.mac(name, key, output, ...parts));
    };
    const hmac = (name, key, data, output) => native.mac(name, key, output, data);
    const members = { createHash, createHMAC, hmac };
    members.randomBytes = native.randomBytes;
    members.hexEncode = native.hexEncode;
    const names = ["md4", "md5", "sha1", "sha256", "sha384", "sha512"];
    for (const name of [...names, "sha512_224", "sha512_256", "ripemd160"]) {
        members[name] = (data, output) => native.digest(name, output, data);
    }
    return members;
}
