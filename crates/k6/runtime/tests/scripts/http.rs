//! Requests of scripts, against a server of this test.

use crate::alone::alone;
use crate::ran::{Amount, Ran, in_both_modes, run};
use loadline_k6_metrics::builtin;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

/// Starts a server that responds by path until the process ends, and returns its URL.
fn server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || serve(stream));
        }
    });
    format!("http://{address}")
}

fn serve(stream: TcpStream) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut stream = stream;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let mut head = line.clone();
        let mut length = 0;
        loop {
            let mut field = String::new();
            reader.read_line(&mut field).ok()?;
            if field.trim().is_empty() {
                break;
            }
            if let Some(value) = field.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().ok()?;
            }
            head += &field;
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let path = line.split(' ').nth(1)?;
        let (status, fields, answer) = match path {
            "/json" => (
                "200 OK",
                "Content-Type: application/json\r\n",
                "{\"a\":{\"b\":[1,2]}}".to_owned(),
            ),
            "/login" => (
                "302 Found",
                "Location: /echo\r\nSet-Cookie: sid=42; Path=/; HttpOnly; Max-Age=60\r\n",
                String::new(),
            ),
            "/missing" => ("404 Not Found", "", "no".to_owned()),
            "/basic" if !head.to_ascii_lowercase().contains("basic dtpw") => {
                ("401 Unauthorized", "", String::new())
            }
            _ => (
                "200 OK",
                "X-One: a\r\nx-one: b\r\n",
                format!("{head}\n{}", String::from_utf8_lossy(&body)),
            ),
        };
        let length = answer.len();
        let whole =
            format!("HTTP/1.1 {status}\r\n{fields}Content-Length: {length}\r\n\r\n{answer}");
        stream.write_all(whole.as_bytes()).ok()?;
    }
}

/// Runs the body of a default function, with the server's URL in place of `URL/`.
fn ran(body: &str) -> Ran {
    let text = format!(
        "import http from 'k6/http'; import {{ check }} from 'k6';
         const is = (what, found, wanted) => {{
             const [one, other] = [JSON.stringify(found), JSON.stringify(wanted)];
             if (one !== other) console.log(`${{what}}: ${{one}}`);
         }};
         export default async function () {{ {} }}",
        body.replace("URL/", &format!("{}/", server()))
    );
    run(&text, Amount::ONCE)
}

fn counted(ran: &Ran) -> f64 {
    let sink = ran.totals.sink(builtin::HTTP_REQS);
    match sink {
        Some(loadline_k6_metrics::Sink::Counter(counter)) => counter.count,
        _ => 0.0,
    }
}

#[test]
fn a_response_has_what_k6s_has() {
    in_both_modes(|| {
        let ran = ran("const r = http.get('URL/json');
        is('status', [r.status, r.status_text, r.proto], [200, '200 OK', 'HTTP/1.1']);
        is('body', r.body, '{\"a\":{\"b\":[1,2]}}');
        is('json', r.json('a.b.1'), 2);
        is('whole', r.json(), { a: { b: [1, 2] } });
        is('cached', r.json() === r.json(), true);
        is('type', r.headers['Content-Type'], 'application/json');
        is('remote', r.remote_ip, '127.0.0.1');
        is('times', r.timings.duration > 0 && r.timings.looking_up === 0, true);
        is('error', [r.error, r.error_code], ['', 0]);
        r.status = 7;
        is('overwritten', r.status, 7);
        is('request', [r.request.method, r.request.url], ['GET', 'URL/json']);
        is('joined', http.get('URL/echo').headers['X-One'], 'a, b');");
        assert_eq!(ran.log, [] as [&str; 0]);
        assert_eq!((ran.complete, counted(&ran)), (1, 2.0));
    });
}

#[test]
fn the_properties_of_a_response_are_its_own() {
    in_both_modes(|| {
        let ran = ran("const r = http.get('URL/json');
        const names = ['remote_ip', 'remote_port', 'url', 'status', 'status_text', 'proto',
          'headers', 'cookies', 'body', 'timings', 'tls_version', 'tls_cipher_suite', 'ocsp',
          'error', 'error_code', 'request'];
        const functions = ['clickLink', 'html', 'json', 'submitForm'];
        is('names', Object.keys(r), [...names, ...functions]);
        is('times', Object.keys(r.timings), ['duration', 'blocked', 'looking_up', 'connecting',
          'tls_handshaking', 'sending', 'waiting', 'receiving']);
        is('copied', { ...r }.body, r.body);
        is('written', Object.keys(JSON.parse(JSON.stringify(r))), names);
        is('once', [r.body === r.body, r.timings === r.timings, r.headers === r.headers],
          [true, true, true]);
        is('in', ['status' in r, 'json' in r, 'toString' in r, 'nothing' in r],
          [true, true, true, false]);
        is('own', ['status', 'json', 'toString'].map((name) => Object.hasOwn(r, name)),
          [true, true, false]);
        is('missing', [r.nothing, r[0], r[Symbol.iterator]], [undefined, undefined, undefined]);
        r.more = { of: r };
        is('more', [r.more.of === r, 'more' in r, Object.keys(r).pop()], [true, true, 'more']);
        delete r.more;
        r.status = 7;
        delete r.status;
        is('deleted', [r.more, 'more' in r, r.status], [undefined, false, 200]);
        const heir = Object.create(r);
        heir.status = 3;
        is('heir', [heir.status, r.status, heir.body === r.body], [3, 200, true]);
        Object.defineProperty(r, 'fixed', { value: 1 });
        is('defined', r.fixed, 1);");
        assert_eq!(ran.log, [] as [&str; 0]);
    });
}

#[test]
fn a_response_is_logged_with_all_that_it_has_and_ends_with_its_runtime() {
    in_both_modes(|| {
        let ran = ran("globalThis.last = http.get('URL/json');
        console.log(last);
        last.itself = last.timings.of = last.headers.of = last;");
        let line = &ran.log[0];
        assert!(
            line.contains("{ remote_ip: \"127.0.0.1\", remote_port: "),
            "{line}"
        );
        assert!(
            line.contains(", status: 200, status_text: \"200 OK\", "),
            "{line}"
        );
        let functions = ["clickLink", "html", "json", "submitForm"];
        let functions = functions.map(|name| format!("{name}: [object Function]"));
        assert!(
            line.ends_with(&format!(", {} }}", functions.join(", "))),
            "{line}"
        );
        assert_eq!((ran.log.len(), ran.complete), (1, 1));
    });
}

#[test]
fn bodies_are_texts_bytes_forms_and_files() {
    in_both_modes(|| {
        let ran = ran(
            "const echo = (body, params) => http.post('URL/echo', body, params).body;
        is('text', echo('hello').endsWith('\\nhello'), true);
        is('bytes', echo(new Uint8Array([104, 105])).endsWith('\\nhi'), true);
        const form = echo({ b: [1, 2], a: 'x y' });
        is('form', form.endsWith('\\na=x+y&b=1&b=2'), true);
        is('its type', form.includes('application/x-www-form-urlencoded'), true);
        const file = echo({ f: http.file('data', 'n.txt', 'text/plain') });
        is('file', file.includes('filename=\"n.txt\"') && file.includes('data'), true);
        is('agent', echo('').includes('k6/1.8.1'), true);
        is('header', echo('', { headers: { 'X-Own': '1' } }).includes('X-Own: 1'), true);
        is('gzip', echo('x', { compression: 'gzip' }).includes('Content-Encoding: gzip'), true);",
        );
        assert_eq!(ran.log, [] as [&str; 0]);
    });
}

#[test]
fn redirects_keep_cookies_and_count_each_hop() {
    in_both_modes(|| {
        let ran = ran("const r = http.get('URL/login');
        is('end', [r.status, r.url], [200, 'URL/echo']);
        is('cookie', r.body.toLowerCase().includes('cookie: sid=42'), true);
        is('jar', http.cookieJar().cookiesForURL('URL/'), { sid: ['42'] });
        const first = http.get('URL/login', { redirects: 0 });
        is('none', first.status, 302);
        is('set', first.cookies.sid[0].http_only, true);");
        assert_eq!(ran.log, [] as [&str; 0]);
        assert_eq!(counted(&ran), 3.0);
    });
}

#[test]
fn a_redirect_says_where_it_came_from_unless_the_script_says_another_place() {
    in_both_modes(|| {
        let ran = ran(
            "const referers = (params) => http.get('URL/login', params).body
          .split('\\n').map((line) => line.trim()).filter((line) => /^referer:/i.test(line));
        is('own', referers({}), ['Referer: URL/login']);
        const given = referers({ headers: { referer: 'http://mine/' } });
        is('given', given, ['Referer: http://mine/']);",
        );
        assert_eq!(ran.log, [] as [&str; 0]);
    });
}

#[test]
fn failures_have_k6s_words_and_are_thrown_if_wanted() {
    in_both_modes(|| {
        let ran = ran("const r = http.get('http://127.0.0.1:1/');
        is('failed', [r.status, r.error, r.error_code, r.body],
           [0, 'dial: connection refused', 1212, null]);
        is('missing', http.get('URL/missing').error_code, 1404);
        try { http.get('http://127.0.0.1:1/', { throw: true }); is('thrown', 1, 2); }
        catch (error) { is('name', error.name, 'GoError'); }");
        assert_eq!(
            ran.log,
            ["Warning Request Failed"],
            "only the failure that is not thrown is told"
        );
    });
}

#[test]
fn credentials_of_a_url_are_sent() {
    in_both_modes(|| {
        let ran = ran("is('open', http.get('URL/basic').status, 401);
        const url = 'URL/basic'.replace('://', '://u:p@');
        is('signed', http.get(url).status, 200);");
        assert_eq!(ran.log, [] as [&str; 0]);
    });
}

#[test]
fn requests_are_promised() {
    in_both_modes(|| {
        let ran = ran("const [one, other] = await Promise.all([
            http.asyncRequest('GET', 'URL/json'), http.asyncRequest('POST', 'URL/echo', 'x')]);
        is('both', [one.json('a.b.0'), other.status], [1, 200]);");
        assert_eq!(ran.log, [] as [&str; 0]);
        assert_eq!(counted(&ran), 2.0);
    });
}

#[test]
fn a_batch_has_the_form_of_what_it_was_given() {
    in_both_modes(|| {
        let ran = ran(
            "const all = http.batch(['URL/json', ['POST', 'URL/echo', 'x'],
            { method: 'put', url: 'URL/echo', body: { a: 1 } }, 'http://127.0.0.1:1/']);
        is('list', all.map((r) => [r.status, r.request.method]),
           [[200, 'GET'], [200, 'POST'], [200, 'PUT'], [0, 'GET']]);
        const named = http.batch({ one: 'URL/json', other: ['GET', 'URL/missing'] });
        is('object', [named.one.json('a.b.1'), named.other.status], [2, 404]);
        is('none', http.batch([]), []);
        const wrong = http.batch(['URL/json', 5, 'URL/json']);
        is('wrong', [wrong[0].status, wrong[1].error_code, wrong[2]], [0, 1020, null]);
        for (const given of [[], ['x']]) {
          try { http.batch(...given); is('thrown', 1, 2); }
          catch (error) { is('name', error.name, 'GoError'); }
        }",
        );
        assert_eq!(
            ran.log,
            ["Warning Request Failed", "Warning A batch request failed"]
        );
        assert_eq!(counted(&ran), 6.0);
    });
}

#[test]
fn a_batch_of_many_goes_out_a_few_at_a_time_and_each_is_answered() {
    in_both_modes(|| {
        let ran = ran(
            "const urls = Array.from({ length: 50 }, (_, i) => `URL/echo?${i}`);
        http.batch(urls).forEach((r, i) =>
            is('body', r.body.split(' ')[1], `/echo?${i}`));",
        );
        assert_eq!(ran.log, [] as [&str; 0]);
        assert_eq!(counted(&ran), 50.0);
    });
}

/// Returns the bytes that are in memory after a run of `many` iterations, beyond those after one of
/// `few`.
fn left_by(script: &str, few: u64, many: u64) -> u64 {
    let script = script.replace("URL/", &format!("{}/", server()));
    let after = |iterations| {
        let amount = Amount {
            users: 10,
            iterations,
            within: std::time::Duration::from_secs(3_600),
        };
        let ran = run(&script, amount);
        assert_eq!((ran.complete, ran.log.len()), (iterations, 0));
        assert_eq!(counted(&ran), iterations as f64);
        crate::costs::resident()
    };
    let before = after(few);
    after(many).saturating_sub(before)
}

#[test]
#[ignore = "it takes most of a minute; make soak runs it"]
fn urls_leave_no_memory_behind_whether_they_have_a_name_or_not() {
    alone(
        urls_leave_no_memory_behind_whether_they_have_a_name_or_not,
        || {
            for url in [
                "`URL/echo?${__ITER % 100}.${__VU}`, { tags: { name: 'one' } }",
                "`URL/echo?${__ITER}.${__VU}`",
            ] {
                let script = format!(
                    "import http from 'k6/http'; export default function () {{ http.get({url}); }}"
                );
                let more = left_by(&script, 20_000, 1_000_000);
                println!("{url}: {} KB more", more / 1_000);
                assert!(more <= 16 << 20, "{more} bytes");
            }
        },
    );
}
