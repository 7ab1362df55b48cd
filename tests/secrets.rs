//! Passwords, tokens and other secrets are in no file that is kept of a run.

use crate::rig::{beside_others, command, loadline, serve, text};
use std::fs;
use std::path::Path;

/// What must not be found, and its forms.
const SECRET: &str = "hunter2-hunter2";
/// `me:hunter2-hunter2`, as basic authentication sends it.
const BASIC: &str = "bWU6aHVudGVyMi1odW50ZXIy";

/// Asserts that no file of a folder, and none of these texts, has the secret.
fn assert_hidden(way: &str, folder: &Path, texts: &[&str]) {
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path());
    let mut kept: Vec<(String, Vec<u8>)> = files
        .map(|path| (path.display().to_string(), fs::read(&path).unwrap()))
        .collect();
    assert!(!kept.is_empty(), "{way}: nothing is kept");
    let texts = texts
        .iter()
        .map(|text| ("printed".to_owned(), text.as_bytes().to_vec()));
    kept.extend(texts);
    for (place, bytes) in kept {
        for form in [SECRET, BASIC] {
            let is_in = bytes
                .windows(form.len())
                .any(|part| part == form.as_bytes());
            assert!(!is_in, "{way}: {form} is in {place}");
        }
    }
}

/// Runs the command with these words and every output, and asserts that none has the secret.
fn assert_kept_without_secret(words: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let outputs = ["json=a.json", "csv=a.csv", "sqlite=a.db", "text=a.txt"];
    let mut line = vec![
        "-c", "1", "-t", "1", "-n", "4", "--save", "a.run", "--log", "a.log",
    ];
    for output in &outputs {
        line.extend(["-o", output]);
    }
    #[cfg(feature = "html")]
    line.extend(["-o", "html=a.html"]);
    line.extend(words);
    let _beside_others = beside_others();
    let ran = command(&line)
        .current_dir(folder.path())
        .env("LOADLINE_TEST_SECRET", SECRET)
        .output()
        .unwrap();
    let (stdout, stderr) = (
        String::from_utf8_lossy(&ran.stdout),
        String::from_utf8_lossy(&ran.stderr),
    );
    assert!(
        matches!(ran.status.code(), Some(0 | 3)),
        "{words:?}: {stderr}"
    );
    assert_hidden(&words.join(" "), folder.path(), &[&stdout, &stderr]);
    let again = command(&["report", "--allow-invalid", "a.run", "-o", "json"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&again.stdout);
    assert!(
        said.contains("\"summary\"") && !said.contains(SECRET),
        "{said}"
    );
}

#[test]
fn a_run_keeps_no_password() {
    let server = serve();
    let address = server.addr();
    let url = format!("http://{address}/");
    let user = format!("me:{SECRET}");
    let with_user = format!("http://{user}@{address}/");
    let header = |name: &str| format!("{name}: Bearer {SECRET}");
    let headers = [
        "Authorization",
        "Cookie",
        "X-Api-Key",
        "Proxy-Authorization",
    ]
    .map(header);
    assert_kept_without_secret(&[&with_user]);
    assert_kept_without_secret(&["-u", &user, &url]);
    assert_kept_without_secret(&["-u", &user, "--digest", &url]);
    for header in &headers {
        assert_kept_without_secret(&["-H", header, &url]);
    }
    assert_kept_without_secret(&["--proxy", &with_user, "http://127.0.0.1:9/"]);
}

#[test]
fn variables_of_a_plan_file_are_sent_and_not_kept() {
    let server = serve();
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("plan.toml");
    let url = format!("http://{}/", server.addr());
    for lines in [
        "header = ['X-Plain: ${LOADLINE_TEST_SECRET}']",
        "body = '{\"pw\": \"${LOADLINE_TEST_SECRET}\"}'",
        "user = 'me:${LOADLINE_TEST_SECRET}'",
    ] {
        fs::write(&plan, format!("url = '{url}'\n{lines}\n")).unwrap();
        assert_kept_without_secret(&[text(&plan)]);
    }
    let in_url = format!("url = '{url}?key=${{LOADLINE_TEST_SECRET}}'\n");
    fs::write(&plan, in_url).unwrap();
    assert_kept_without_secret(&[text(&plan)]);
    fs::write(
        &plan,
        format!("url = '{url}'\nheader = ['X: ${{LOADLINE_NOT_SET}}']\n"),
    )
    .unwrap();
    let said = loadline(&[text(&plan)]);
    assert_eq!(said.code, Some(2));
    assert!(
        said.stderr
            .contains("line 2, header: the environment has no variable LOADLINE_NOT_SET"),
        "{}",
        said.stderr
    );
}

#[cfg(feature = "k6")]
#[test]
fn secrets_of_a_k6_script_are_in_no_output() {
    let server = serve();
    let folder = tempfile::tempdir().unwrap();
    let script = "import http from 'k6/http';
        import secrets from 'k6/secrets';
        export default async function () {
          const key = await secrets.get('key');
          http.get(`http://me:${key}@${__ENV.ADDRESS}/?key=${key}`);
          http.get(`http://${__ENV.ADDRESS}/?key=${encodeURIComponent(key)}`);
        }";
    fs::write(folder.path().join("a.js"), script).unwrap();
    let source = format!("mock=key={SECRET}");
    let address = format!("ADDRESS={}", server.addr());
    let mut line = vec![
        "k6",
        "run",
        "-i",
        "3",
        "-e",
        &address,
        "--secret-source",
        &source,
    ];
    let outputs = ["loadline=a.run", "json=a.json", "csv=a.csv"];
    for output in &outputs {
        line.extend(["--out", output]);
    }
    #[cfg(feature = "html")]
    line.extend(["--out", "html=a.html"]);
    line.extend(["--summary-export", "summary.json", "a.js"]);
    let _beside_others = beside_others();
    let ran = command(&line).current_dir(folder.path()).output().unwrap();
    let (stdout, stderr) = (
        String::from_utf8_lossy(&ran.stdout),
        String::from_utf8_lossy(&ran.stderr),
    );
    assert_eq!(ran.status.code(), Some(0), "{stderr}");
    assert_hidden("k6", folder.path(), &[&stdout, &stderr]);
    let sent = server.stop().requests;
    assert_eq!(sent, 6);
}
