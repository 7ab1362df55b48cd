// The members of k6/experimental/streams: streams that scripts fill and read.
(native) => {
    const fail = (message) => native.fail(`NotSupportedError:${message}`);
    const deferred = () => {
        const parts = {};
        parts.promise = new Promise((resolve, reject) => Object.assign(parts, { resolve, reject }));
        return parts;
    };
    // Nobody has to look at how a stream ends.
    const ignored = (parts) => {
        parts.promise.catch(() => {});
        return parts;
    };
    const method = (source, name) => {
        const found = source[name];
        if (found === undefined) return undefined;
        if (typeof found !== "function") {
            throw new TypeError(`underlyingSource.[[${name}]] must be a function`);
        }
        return (...args) => Reflect.apply(found, source, args);
    };
    const limit = (strategy, usual) => {
        if (strategy?.highWaterMark === undefined) return usual;
        const mark = Number(strategy.highWaterMark);
        if (Number.isNaN(mark) || mark < 0) {
            throw new RangeError("highWaterMark must be a non-negative number");
        }
        return mark;
    };
    const sizer = (strategy) => {
        if (strategy?.size === undefined) return () => 1;
        if (typeof strategy.size !== "function") throw new TypeError("size must be a function");
        return (chunk) => strategy.size(chunk);
    };

    // What a stream is to its controller and its reader; scripts don't see it.
    class State {
        state = "readable";
        error = undefined;
        reader = undefined;
        queue = [];
        queued = 0;
        isClosing = false;
        isPulling = false;
        pullsAgain = false;
        hasStarted = false;
        constructor(source, strategy) {
            this.start = method(source, "start");
            this.pullFrom = method(source, "pull");
            this.cancelAt = method(source, "cancel");
            this.size = sizer(strategy);
            this.mark = limit(strategy, 1);
            this.controller = new ReadableStreamDefaultController(this);
        }
        begin() {
            const started = this.start?.(this.controller);
            Promise.resolve(started).then(
                () => {
                    this.hasStarted = true;
                    this.pull();
                },
                (error) => this.fail(error),
            );
        }
        get desired() {
            if (this.state === "errored") return null;
            return this.state === "closed" ? 0 : this.mark - this.queued;
        }
        get isOpen() {
            return this.state === "readable" && !this.isClosing;
        }
        pull() {
            const isWanted = this.reader?.waiting.length > 0 || this.desired > 0;
            if (!this.hasStarted || !this.isOpen || !isWanted || !this.pullFrom) return;
            if (this.isPulling) {
                this.pullsAgain = true;
                return;
            }
            this.isPulling = true;
            const ended = () => {
                this.isPulling = false;
                if (this.pullsAgain) {
                    this.pullsAgain = false;
                    this.pull();
                }
            };
            let pulled;
            try {
                pulled = this.pullFrom(this.controller);
            } catch (error) {
                return this.fail(error);
            }
            Promise.resolve(pulled).then(ended, (error) => this.fail(error));
        }
        add(value) {
            if (!this.isOpen) throw new TypeError("cannot close or enqueue");
            const waiting = this.reader?.waiting.shift();
            if (waiting) {
                waiting.resolve({ value, done: false });
            } else {
                this.keep(value);
            }
            this.pull();
        }
        keep(value) {
            let size;
            try {
                size = Number(this.size(value));
                if (!(size >= 0 && size < Infinity)) throw new RangeError("invalid size");
            } catch (error) {
                this.fail(error);
                throw error;
            }
            this.queue.push({ value, size });
            this.queued += size;
        }
        end() {
            if (!this.isOpen) throw new TypeError("cannot close or enqueue");
            this.isClosing = true;
            if (this.queue.length === 0) this.close();
        }
        close() {
            this.state = "closed";
            const done = { value: undefined, done: true };
            this.reader?.waiting.splice(0).forEach((read) => read.resolve({ ...done }));
            this.reader?.ended.resolve(undefined);
        }
        fail(error) {
            if (this.state !== "readable") return;
            this.state = "errored";
            this.error = error;
            this.queue = [];
            this.queued = 0;
            this.reader?.waiting.splice(0).forEach((read) => read.reject(error));
            this.reader?.ended.reject(error);
        }
        take(read) {
            if (this.state === "errored") return read.reject(this.error);
            if (this.state === "closed") return read.resolve({ value: undefined, done: true });
            const next = this.queue.shift();
            if (next === undefined) {
                this.reader.waiting.push(read);
            } else {
                this.queued -= next.size;
                read.resolve({ value: next.value, done: false });
                if (this.isClosing && this.queue.length === 0) this.close();
            }
            this.pull();
        }
        async cancel(reason) {
            if (this.state === "errored") throw this.error;
            if (this.state === "closed") return;
            this.queue = [];
            this.queued = 0;
            this.close();
            await this.cancelAt?.(reason);
        }
    }

    class ReadableStreamDefaultController {
        #state;
        constructor(state) {
            this.#state = state;
        }
        get desiredSize() {
            return this.#state.desired;
        }
        enqueue(chunk) {
            this.#state.add(chunk);
        }
        close() {
            this.#state.end();
        }
        error(reason) {
            this.#state.fail(reason);
        }
    }

    const stateOf = new WeakMap();

    class ReadableStream {
        constructor(...args) {
            const [source = {}, strategy] = args;
            if (source === null || typeof source !== "object") {
                throw new TypeError("underlyingSource must be an object");
            }
            if (source.type === "bytes") fail("'bytes' stream is not supported yet");
            if (source.type !== undefined) throw new TypeError("invalid underlying source type");
            const state = new State(source, strategy);
            stateOf.set(this, state);
            state.begin();
        }
        get locked() {
            return stateOf.get(this).reader !== undefined;
        }
        async cancel(reason) {
            if (this.locked) throw new TypeError("cannot cancel a locked stream");
            return stateOf.get(this).cancel(reason);
        }
        getReader(options) {
            if (options?.mode === "byob") fail("'byob' mode is not supported yet");
            return new ReadableStreamDefaultReader(this);
        }
        tee() {
            fail("'tee()' is not supported yet");
        }
    }

    class ReadableStreamDefaultReader {
        #state;
        #own = { waiting: [], ended: ignored(deferred()) };
        constructor(stream) {
            const state = stateOf.get(stream);
            if (state === undefined) throw new TypeError("stream must be a ReadableStream");
            if (stream.locked) throw new TypeError("stream is locked");
            this.#state = state;
            state.reader = this.#own;
            if (state.state === "closed") this.#own.ended.resolve(undefined);
            if (state.state === "errored") this.#own.ended.reject(state.error);
        }
        get closed() {
            return this.#own.ended.promise;
        }
        read() {
            const read = deferred();
            if (this.#state === undefined) read.reject(new TypeError("stream is undefined"));
            else this.#state.take(read);
            return read.promise;
        }
        async cancel(reason) {
            if (this.#state === undefined) throw new TypeError("stream is undefined");
            return this.#state.cancel(reason);
        }
        releaseLock() {
            if (this.#state === undefined) return;
            const released = new TypeError("reader released");
            this.#own.waiting.splice(0).forEach((read) => read.reject(released));
            const lost = new TypeError(`stream is ${this.#state.state}`);
            this.#own.ended.reject(lost);
            if (this.#state.state !== "readable") {
                this.#own.ended = ignored(deferred());
                this.#own.ended.reject(lost);
            }
            this.#state.reader = undefined;
            this.#state = undefined;
        }
    }

    class CountQueuingStrategy {
        #mark;
        constructor(...args) {
            if (args.length !== 1) {
                throw new TypeError("CountQueuingStrategy takes a single argument");
            }
            if (args[0]?.highWaterMark === undefined) {
                throw new TypeError(
                    "CountQueuingStrategy argument must have 'highWaterMark' property",
                );
            }
            this.#mark = args[0].highWaterMark;
        }
        get highWaterMark() {
            return this.#mark;
        }
        get size() {
            return () => 1;
        }
    }
    return { ReadableStream, ReadableStreamDefaultReader, CountQueuingStrategy };
}
