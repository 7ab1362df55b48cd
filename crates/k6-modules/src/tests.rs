//! Scripts in a plain runtime.

use rquickjs::{CatchResultExt, Context, Ctx, Runtime};

/// What a script evaluates to, as text, with all modules as variables; or what it throws.
fn said(script: &str) -> String {
    let runtime = Runtime::new().unwrap();
    let context = Context::full(&runtime).unwrap();
    context.with(|ctx| {
        ctx.globals()
            .set("encoding", crate::encoding(&ctx).unwrap())
            .unwrap();
        ctx.globals()
            .set("k6crypto", crate::crypto(&ctx).unwrap())
            .unwrap();
        let text = evaluate(&ctx, script);
        text
    })
}

fn evaluate(ctx: &Ctx<'_>, script: &str) -> String {
    let script = format!(
        "(() => {{ try {{ return String({script}) }} catch (e) {{ return String(e) }} }})()"
    );
    ctx.eval(script).catch(ctx).unwrap()
}

#[test]
fn base64_is_written_and_read_in_its_four_alphabets() {
    assert_eq!(
        said("encoding.b64encode('hello world')"),
        "aGVsbG8gd29ybGQ="
    );
    assert_eq!(said("encoding.b64encode('hi>?', 'rawurl')"), "aGk-Pw");
    assert_eq!(said("encoding.b64decode('aGk-Pw', 'rawurl', 's')"), "hi>?");
    assert_eq!(said("encoding.b64decode('aGk=').byteLength"), "2");
    assert_eq!(
        said("encoding.b64decode('a$==')"),
        "GoError: illegal base64 data at input byte 1"
    );
}

#[test]
fn views_of_buffers_are_read_from_their_offset() {
    assert_eq!(
        said("encoding.b64encode(new Uint8Array([1, 104, 105]).subarray(1))"),
        "aGk="
    );
}

#[test]
fn hashes_are_those_of_their_standards() {
    let abc = |name: &str| said(&format!("k6crypto.{name}('abc', 'hex')"));
    assert_eq!(abc("md4"), "a448017aaf21d8525fc10ae87aa6729d");
    assert_eq!(abc("md5"), "900150983cd24fb0d6963f7d28e17f72");
    assert_eq!(abc("sha1"), "a9993e364706816aba3e25717850c26c9cd0d89d");
    assert_eq!(abc("ripemd160"), "8eb208f7e05d987a9b044a8e98c6b087f15a0bfc");
    assert_eq!(
        said("k6crypto.hmac('md5', 'key', 'The quick brown fox jumps over the lazy dog', 'hex')"),
        "80070713463e7749b90c2dc24911e275"
    );
}

#[test]
fn a_hash_of_parts_is_the_hash_of_the_whole() {
    let script = "(() => { const h = k6crypto.createHash('sha256'); h.update('a'); h.update('bc');
        return h.digest('base64') === k6crypto.sha256('abc', 'base64') })()";
    assert_eq!(said(script), "true");
}

#[test]
fn unknown_algorithms_encodings_and_sizes_throw() {
    assert_eq!(
        said("k6crypto.createHash('x')"),
        "GoError: invalid algorithm: x"
    );
    assert_eq!(
        said("k6crypto.md5('a', 'zz')"),
        "GoError: invalid output encoding: zz"
    );
    assert_eq!(said("k6crypto.randomBytes(0)"), "GoError: invalid size");
    assert_eq!(said("k6crypto.randomBytes(7).byteLength"), "7");
}
