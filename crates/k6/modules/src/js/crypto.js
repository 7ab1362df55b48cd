// The members of k6/crypto. A Hasher keeps its parts until digest: the state of a hash stays small.
(native) => {
    class Hasher {
        #finish;
        #parts = [];
        constructor(finish) {
            this.#finish = finish;
        }
        update(data) {
            this.#parts.push(native.copy(data));
        }
        digest(output) {
            return this.#finish(output, this.#parts);
        }
    }
    const copied = (name, data) => {
        try {
            return native.copy(data);
        } catch (error) {
            throw new GoError(`${name} failed: ${error.message}`);
        }
    };
    const createHash = (name) => {
        native.check(name);
        return new Hasher((output, parts) => native.digest(name, output, ...parts));
    };
    const createHMAC = (name, key) => {
        native.check(name);
        const secret = native.copy(key);
        return new Hasher((output, parts) => native.mac(name, secret, output, ...parts));
    };
    const hmac = (name, key, data, output) => native.mac(name, key, output, data);
    const members = { createHash, createHMAC, hmac };
    members.randomBytes = native.randomBytes;
    members.hexEncode = native.hexEncode;
    const names = ["md4", "md5", "sha1", "sha256", "sha384", "sha512"];
    for (const name of [...names, "sha512_224", "sha512_256", "ripemd160"]) {
        members[name] = (data, output) => native.digest(name, output, copied(name, data));
    }
    return members;
}
