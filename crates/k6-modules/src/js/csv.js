// The members of k6/experimental/csv.
(native) => {
    const rows = (file, options) => native.rows(file.path, options ?? {});
    const parse = async (file, options) => native.view(rows(file, options));
    class Parser {
        #rows;
        #at = 0;
        constructor(file, options) {
            this.#rows = rows(file, options);
        }
        async next() {
            if (this.#at >= this.#rows.length) return { done: true, value: [] };
            return { done: false, value: this.#rows.at(this.#at++) };
        }
    }
    return { parse, Parser };
}
