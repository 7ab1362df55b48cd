//! Scripts in a plain runtime.

mod html;
mod modules;

use rquickjs::{CatchResultExt, Context, Ctx, Runtime};

/// Returns the result of a script as text, with all modules as variables; or the thrown error.
fn result_of(script: &str) -> String {
    let runtime = Runtime::new().unwrap();
    let context = crate::realm(&runtime).unwrap();
    context.with(|ctx| {
        crate::install_globals(&ctx, |ctx, text| crate::go_error(ctx, text)).unwrap();
        ctx.globals()
            .set("html", crate::html(&ctx).unwrap())
            .unwrap();
        let data = crate::data(&ctx, &crate::SharedArrays::default(), |_| Ok(())).unwrap();
        ctx.globals().set("data", data).unwrap();
        ctx.globals()
            .set("encoding", crate::encoding(&ctx).unwrap())
            .unwrap();
        ctx.globals()
            .set("k6crypto", crate::crypto(&ctx).unwrap())
            .unwrap();
        evaluate(&ctx, script)
    })
}

fn evaluate(ctx: &Ctx<'_>, script: &str) -> String {
    let script = format!(
        "(() => {{ try {{ return String({script}) }} catch (e) {{ return String(e) }} }})()"
    );
    ctx.eval(script).catch(ctx).unwrap()
}

#[test]
fn a_realm_has_all_globals_of_the_language() {
    let names = "Object.getOwnPropertyNames(globalThis).sort().join()";
    let named = |context: Context, is_ours: bool| -> Vec<String> {
        context.with(|ctx| {
            if is_ours {
                crate::install_globals(&ctx, |ctx, text| crate::go_error(ctx, text)).unwrap();
            }
            let names: String = ctx.eval(names).unwrap();
            names.split(',').map(str::to_owned).collect()
        })
    };
    let runtime = Runtime::new().unwrap();
    let ours = named(crate::realm(&runtime).unwrap(), true);
    let theirs = named(Context::full(&runtime).unwrap(), false);
    assert!(theirs.len() > 50);
    let missing: Vec<_> = theirs.iter().filter(|name| !ours.contains(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn typed_arrays_are_made_once_when_a_script_first_touches_one() {
    let getter = "Object.getOwnPropertyDescriptor(globalThis, 'Uint8Array').get";
    let script = format!(
        "((get) => {{
            const bytes = new Uint8Array([1, 2]);
            const others = [bytes.buffer instanceof ArrayBuffer, get() === Uint8Array];
            Uint8Array = 7;
            return [...others, get(), new DataView(bytes.buffer).getUint8(1)];
        }})({getter})"
    );
    assert_eq!(result_of(&script), "true,true,7,2");
    assert_eq!(result_of("k6crypto.randomBytes(3).byteLength"), "3");
    assert_eq!(result_of("ArrayBuffer.isView(new Float64Array(1))"), "true");
    let fixed = "{ value: 1, configurable: false }";
    let kept =
        format!("(Object.defineProperty(globalThis, 'DataView', {fixed}), new Int8Array(1))");
    assert_eq!(result_of(&kept), "TypeError: could not delete property");
    let replaced = "(() => { try { GoError = 1 } catch { return typeof GoError } })()";
    assert_eq!(result_of(replaced), "function");
}

#[test]
fn base64_is_written_and_read_in_its_four_alphabets() {
    assert_eq!(
        result_of("encoding.b64encode('hello world')"),
        "aGVsbG8gd29ybGQ="
    );
    assert_eq!(result_of("encoding.b64encode('hi>?', 'rawurl')"), "aGk-Pw");
    assert_eq!(
        result_of("encoding.b64decode('aGk-Pw', 'rawurl', 's')"),
        "hi>?"
    );
    assert_eq!(result_of("encoding.b64decode('aGk=').byteLength"), "2");
    assert_eq!(
        result_of("encoding.b64decode('a$==')"),
        "GoError: illegal base64 data at input byte 1"
    );
}

#[test]
fn views_of_buffers_are_read_from_their_offset() {
    assert_eq!(
        result_of("encoding.b64encode(new Uint8Array([1, 104, 105]).subarray(1))"),
        "aGk="
    );
}

#[test]
fn hashes_are_those_of_their_standards() {
    let abc = |name: &str| result_of(&format!("k6crypto.{name}('abc', 'hex')"));
    assert_eq!(abc("md4"), "a448017aaf21d8525fc10ae87aa6729d");
    assert_eq!(abc("md5"), "900150983cd24fb0d6963f7d28e17f72");
    assert_eq!(abc("sha1"), "a9993e364706816aba3e25717850c26c9cd0d89d");
    assert_eq!(abc("ripemd160"), "8eb208f7e05d987a9b044a8e98c6b087f15a0bfc");
    assert_eq!(
        result_of(
            "k6crypto.hmac('md5', 'key', 'The quick brown fox jumps over the lazy dog', 'hex')"
        ),
        "80070713463e7749b90c2dc24911e275"
    );
}

#[test]
fn a_hash_of_parts_is_the_hash_of_the_whole() {
    let script = "(() => { const h = k6crypto.createHash('sha256'); h.update('a'); h.update('bc');
        return h.digest('base64') === k6crypto.sha256('abc', 'base64') })()";
    assert_eq!(result_of(script), "true");
}

#[test]
fn unknown_algorithms_encodings_and_sizes_throw() {
    assert_eq!(
        result_of("k6crypto.createHash('x')"),
        "GoError: invalid algorithm: x"
    );
    assert_eq!(
        result_of("k6crypto.md5('a', 'zz')"),
        "GoError: invalid output encoding: zz"
    );
    assert_eq!(
        result_of("k6crypto.randomBytes(0)"),
        "GoError: invalid size"
    );
    assert_eq!(result_of("k6crypto.randomBytes(7).byteLength"), "7");
}

#[test]
fn a_shared_array_is_an_array_that_can_only_be_read() {
    let shared = |rest: &str| {
        let array = "new data.SharedArray('a', () => [{ n: 1 }, { n: 2 }])";
        result_of(&format!("((a) => {rest})({array})"))
    };
    assert_eq!(shared("Array.isArray(a) && a.length === 2"), "true");
    assert_eq!(
        shared("a.map((e) => e.n).concat(a.find((e) => e.n > 1).n)"),
        "1,2,2"
    );
    assert_eq!(shared("JSON.stringify(a)"), r#"[{"n":1},{"n":2}]"#);
    assert_eq!(shared("[...a].length + Object.keys(a).join()"), "20,1");
    assert_eq!(shared("a[0] === a[0]"), "false");
    assert_eq!(shared("a[0] = 1"), "TypeError: SharedArray is immutable");
    assert_eq!(shared("Object.isFrozen(a[0])"), "true");
}

#[test]
fn globals_of_browsers_are_there() {
    assert_eq!(
        result_of("new URL('../x?a=1#h', 'http://u:p@h:81/b/c/').href"),
        "http://u:p@h:81/b/x?a=1#h"
    );
    assert_eq!(
        result_of(
            "((u) => (u.searchParams.append('b', 'c d'), u.port = 9, u))(new URL('http://h/?a'))"
        ),
        "http://h:9/?a=&b=c+d"
    );
    assert_eq!(result_of("atob(btoa('h\\xff')) === 'h\\xff'"), "true");
    assert_eq!(
        result_of("new TextDecoder().decode(new TextEncoder().encode('ä€'))"),
        "ä€"
    );
    assert_eq!(
        result_of("structuredClone({ a: [new Date(5)] }).a[0].getTime()"),
        "5"
    );
    assert_eq!(result_of("crypto.randomUUID().length"), "36");
    assert_eq!(
        result_of("crypto.getRandomValues(new Uint16Array(3)).length"),
        "3"
    );
    assert_eq!(
        result_of("crypto.subtle"),
        "GoError: crypto.subtle is not supported yet: use k6/crypto"
    );
    assert_eq!(result_of("performance.now() >= 0"), "true");
    assert_eq!(result_of("new GoError('a') instanceof Error"), "true");
}

#[test]
fn a_path_selects_from_json() {
    let runtime = Runtime::new().unwrap();
    crate::realm(&runtime).unwrap().with(|ctx| {
        let json = br#"{"a":{"b":[{"c":1},{"c":2}]}}"#;
        let value = crate::gjson_get(&ctx, json, "a.b.#.c").unwrap();
        let text = ctx.json_stringify(value).unwrap().unwrap();
        assert_eq!(text.to_string().unwrap(), "[1,2]");
        assert!(crate::gjson_get(&ctx, json, "x").unwrap().is_undefined());
        assert!(crate::gjson_get(&ctx, b"<p>", "x").unwrap().is_undefined());
    });
}

#[test]
fn the_fields_of_a_form_are_sorted_and_escaped() {
    let field = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let fields = [field("b", "x y"), field("a", "&"), field("b", "1")];
    assert_eq!(crate::urlencoded(&fields), "a=%26&b=x+y&b=1");
}

#[test]
fn what_is_nested_deeper_than_a_stack_is_left_out() {
    let runtime = Runtime::new().unwrap();
    Context::full(&runtime).unwrap().with(|ctx| {
        let nested = |depth: usize| "[".repeat(depth) + "7" + &"]".repeat(depth);
        let json = |depth, path: &str| {
            let value = crate::gjson_get(&ctx, nested(depth).as_bytes(), path).unwrap();
            ctx.json_stringify(value)
                .unwrap()
                .map(|text| text.to_string().unwrap())
        };
        assert_eq!(json(50, &["0"; 50].join(".")), Some("7".to_owned()));
        assert_eq!(json(100_000, "0"), None);
        for path in ["a|", "[", "#(", "@this|", "{\"a\":", "0."] {
            assert_eq!(json(5, &path.repeat(20_000)), None, "{path}");
        }
        // Brackets in texts don't count.
        let text = format!("[\"\\\"{}\"]", "[".repeat(1_000));
        let found = crate::gjson_get(&ctx, text.as_bytes(), "0").unwrap();
        assert!(found.is_string());
        assert!(crate::parse_json(&ctx, nested(1_000).as_bytes()).is_ok());
    });
    let size = |css: &str| selected(&format!("$.find('{css}').size()"));
    assert_eq!(size(&"* ".repeat(3)), "8");
    assert_eq!(size(&"* ".repeat(20_000)), "0");
    assert_eq!(
        size(&format!(
            "{}p{}",
            ":not(".repeat(20_000),
            ")".repeat(20_000)
        )),
        "0"
    );
    assert_eq!(size("li:not(:not(:has(b)))"), "0");
    let deep = "html.parseHTML('<b>'.repeat(9000)).find('b').first().html().length";
    assert_eq!(result_of(deep), "62993");
    for endless in ["<div>", "<table><td>"] {
        let deep = format!("html.parseHTML('{endless}'.repeat(1000000))");
        let deep = format!("(() => {{ try {{ {deep} }} catch (e) {{ return e.message }} }})()");
        assert_eq!(
            result_of(&deep),
            "html: open stack of elements exceeds 10000 nodes"
        );
    }
}

/// Returns the value of an expression with `$`, a selection of a small page.
fn selected(expression: &str) -> String {
    let page = "<ul id=l><li class=x data-my-n=5>a</li><li>b</li></ul>\
        <form><input name=q value='1 2'>\
        <input type=checkbox name=c><select name=s><option>m</option></select></form>";
    let page = page.replace('"', "'");
    let script = format!(r#"(($) => {expression})(html.parseHTML("{page}"))"#);
    result_of(&script)
}

#[test]
fn selections_walk_and_read_a_document() {
    assert_eq!(selected("$.find('li').text()"), "ab");
    assert_eq!(selected("$.find('li').first().next().html()"), "b");
    assert_eq!(selected("$.find('li').parent().attr('id')"), "l");
    assert_eq!(selected("$.find('ul').attr('none')"), "undefined");
    assert_eq!(selected("$.find('li').not('.x').size()"), "1");
    assert_eq!(selected("$.find('li').data('my-n') + 1"), "6");
    assert_eq!(
        selected("$.find('li').map((i, s) => i + s.text())"),
        "0a,1b"
    );
    assert_eq!(selected("$.find('li').get(1).nodeName()"), "li");
    assert_eq!(selected("$.find('p[').size()"), "0");
}

#[test]
fn forms_are_serialised_without_boxes_that_are_not_checked() {
    assert_eq!(selected("$.find('form').serialize()"), "q=1+2&s=");
    assert_eq!(selected("$.find('form').serializeObject().q"), "1 2");
}

struct OneFile;

impl crate::Files for OneFile {
    fn is_init(&self, ctx: &Ctx<'_>) -> bool {
        ctx.globals().get("isLate").ok() != Some(true)
    }

    fn open(&self, ctx: &Ctx<'_>, path: &str) -> Result<crate::Opened, crate::OpenError> {
        let path = format!("/s/{path}");
        match self.opened(ctx, &path) {
            Some(bytes) => Ok(crate::Opened { path, bytes }),
            None => Err(crate::OpenError::NotFound(path)),
        }
    }

    fn opened(&self, _: &Ctx<'_>, path: &str) -> Option<std::sync::Arc<[u8]>> {
        (path == "/s/a.csv").then(|| (*b"n,m\n1,2\n3,4\n").into())
    }
}

/// Returns the value of a script's promise about files and tables, or the reason of its rejection.
fn filed(script: &str) -> String {
    let runtime = Runtime::new().unwrap();
    crate::realm(&runtime).unwrap().with(|ctx| {
        let files: std::rc::Rc<dyn crate::Files> = std::rc::Rc::new(OneFile);
        crate::install_globals(&ctx, |ctx, text| crate::go_error(ctx, text)).unwrap();
        let arrays = crate::SharedArrays::default();
        let csv = crate::experimental_csv(&ctx, std::rc::Rc::clone(&files), &arrays).unwrap();
        ctx.globals().set("csv", csv).unwrap();
        let fs = crate::experimental_fs(&ctx, files).unwrap();
        ctx.globals().set("fs", fs).unwrap();
        let script = format!(
            "(async () => {{ const {{ open, SeekMode }} = fs;
               try {{ return JSON.stringify(await (async () => {{ {script} }})()) }}
               catch (error) {{ return String(error) }} }})()"
        );
        let promise: rquickjs::Promise<'_> = ctx.eval(script).unwrap();
        promise.finish().unwrap()
    })
}

#[test]
fn a_table_is_read_as_arrays_or_objects_from_where_its_file_is() {
    let parsed =
        |options: &str| filed(&format!("return csv.parse(await open('a.csv'), {options})"));
    assert_eq!(
        parsed("{ skipFirstLine: true }"),
        r#"[["1","2"],["3","4"]]"#
    );
    let objects = parsed("{ asObjects: true, toLine: 1 }");
    assert_eq!(objects, r#"[{"m":"2","n":"1"}]"#);
    let from = "const file = await open('a.csv'); await file.seek(6, SeekMode.Start);";
    assert_eq!(
        filed(&format!("{from} return csv.parse(file)")),
        "GoError: failed to read record; reason: record on line 2: wrong number of fields"
    );
    let steps = "const parser = new csv.Parser(file), all = [];
        for (let n = 0; n < 3; n++) all.push(await parser.next()); return all";
    assert_eq!(
        filed(&format!(
            "{from} await file.seek(-2, SeekMode.Current); {steps}"
        )),
        [
            r#"[{"done":false,"value":["1","2"]}"#,
            r#"{"done":false,"value":["3","4"]}"#,
            r#"{"done":true,"value":[]}]"#,
        ]
        .join(",")
    );
}

#[test]
fn files_are_opened_while_a_script_is_initialised_and_told_apart_from_others() {
    for (script, expected) in [
        (
            "open('b.csv')",
            "NotFoundError: no such file or directory \"/s/b.csv\"",
        ),
        (
            "open('')",
            "TypeError: open() failed; reason: path cannot be empty",
        ),
        (
            "((globalThis.isLate = true), open('a.csv'))",
            "ForbiddenError: open() failed; reason: opening a file is allowed only in the Init \
             context",
        ),
        (
            "csv.parse({ path: 'a.csv' })",
            "GoError: failed to create a new parser; reason: the reader cannot be nil",
        ),
        (
            "((globalThis.isLate = true), new csv.Parser({}))",
            "GoError: csv Parser constructor must be called in the init context",
        ),
        (
            "open('a.csv').then((file) => csv.parse(file, { fromLine: 9 }))",
            "GoError: failed to create a new parser; reason: failed to skip lines until line 9; \
             reason: EOF",
        ),
        (
            "open('a.csv').then((file) => file.seek(-20, SeekMode.End))",
            "TypeError: seeking before start of file",
        ),
    ] {
        assert_eq!(filed(&format!("return {script}")), expected, "{script}");
    }
}

#[test]
fn a_form_is_submitted_to_its_action_with_the_fields_of_the_script() {
    let runtime = Runtime::new().unwrap();
    crate::realm(&runtime).unwrap().with(|ctx| {
        let page = "<form action=go method=post><input name=a value=1><input name=b value=2>\
            <input type=submit name=ok value=y></form><a href='/z'></a><form id=s action='?k=1'>\
            <select name=m multiple><option selected>p<option selected>q</select>\
            <input name=n value=1><input name=n value=2></form>";
        let page = crate::selection_of(&ctx, page, Some("http://h/x/")).unwrap();
        let page = page.into_object().unwrap();
        let given = [("b".to_owned(), "3".to_owned())];
        let css = ("[method]", "[type=\"submit\"]");
        let form = crate::form_of(&ctx, &page, css, &given).unwrap();
        assert_eq!((&*form.method, &*form.url), ("POST", "http://h/x/go"));
        assert_eq!(crate::urlencoded(&form.fields), "a=1&b=3&ok=y");
        assert_eq!(
            crate::link_of(&ctx, &page, "a[href]").unwrap(),
            "http://h/z"
        );
        let search = crate::form_of(&ctx, &page, ("#s", "button"), &[]).unwrap();
        assert_eq!((&*search.method, &*search.url), ("GET", "http://h/x/"));
        assert_eq!(crate::urlencoded(&search.fields), "m=p&m=q&n=2");
    });
}

/// Returns the value of a script's promise about streams, or the reason of its rejection.
fn streamed(script: &str) -> String {
    let runtime = Runtime::new().unwrap();
    crate::realm(&runtime).unwrap().with(|ctx| {
        crate::install_globals(&ctx, |ctx, text| crate::go_error(ctx, text)).unwrap();
        let streams = crate::experimental_streams(&ctx).unwrap();
        ctx.globals().set("streams", streams).unwrap();
        let script = format!(
            "(async () => {{ const {{ ReadableStream, CountQueuingStrategy }} = streams;
               try {{ return JSON.stringify(await (async () => {{ {script} }})()) }}
               catch (error) {{ return String(error) }} }})()"
        );
        let promise: rquickjs::Promise<'_> = ctx.eval(script).unwrap();
        promise.finish().unwrap()
    })
}

#[test]
fn a_stream_gives_what_is_put_in_until_it_is_closed() {
    let read = streamed(
        "let next = 0; const out = [];
         const stream = new ReadableStream({
           pull(to) { if (next < 3) to.enqueue(next++); else to.close(); } });
         const reader = stream.getReader();
         for (;;) {
           const { done, value } = await reader.read();
           if (done) break;
           out.push(value);
         }
         await reader.closed;
         return [out, stream.locked];",
    );
    assert_eq!(read, "[[0,1,2],true]");
    let released = streamed(
        "const stream = new ReadableStream({ start(to) { to.enqueue(1); to.close(); } });
         stream.getReader().releaseLock();
         const reader = stream.getReader();
         return [await reader.read(), await reader.read()];",
    );
    assert_eq!(released, r#"[{"value":1,"done":false},{"done":true}]"#);
}

#[test]
fn a_stream_asks_for_as_much_as_its_strategy_says() {
    let asked = |strategy: &str| {
        streamed(&format!(
            "let asked = 0;
             new ReadableStream({{ pull(to) {{ to.enqueue(++asked); }} }}, {strategy});
             for (let turn = 0; turn < 20; turn++) await null;
             return asked;"
        ))
    };
    assert_eq!(asked("{ highWaterMark: 0 }"), "0");
    assert_eq!(asked("undefined"), "1");
    assert_eq!(asked("new CountQueuingStrategy({ highWaterMark: 3 })"), "3");
    let sized = "{ highWaterMark: 10, size: (chunk) => chunk * 4 }";
    assert_eq!(asked(sized), "2");
}

#[test]
fn streams_that_fail_or_are_cancelled_say_so() {
    for (script, expected) in [
        (
            "await new ReadableStream({ async pull() { throw new Error('dry') } })
               .getReader().read()",
            "Error: dry",
        ),
        (
            "let why; const stream = new ReadableStream({ cancel(reason) { why = reason } });
             await stream.cancel('enough'); return [why, await stream.getReader().read()]",
            r#"["enough",{"done":true}]"#,
        ),
        (
            "const stream = new ReadableStream(); stream.getReader(); stream.getReader()",
            "TypeError: stream is locked",
        ),
        (
            "const reader = new ReadableStream().getReader(); const read = reader.read();
             reader.releaseLock(); await read",
            "TypeError: reader released",
        ),
        (
            "new ReadableStream({ start(to) { to.close(); to.enqueue(1); } })",
            "TypeError: cannot close or enqueue",
        ),
        (
            "new ReadableStream({}, { highWaterMark: -1 })",
            "RangeError: highWaterMark must be a non-negative number",
        ),
        (
            "new ReadableStream({ type: 'bytes' })",
            "GoError: NotSupportedError:'bytes' stream is not supported yet",
        ),
    ] {
        assert_eq!(streamed(script), expected, "{script}");
    }
}
