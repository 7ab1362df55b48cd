//! Archives, written and read.

use super::*;

fn url(text: &str) -> Url {
    Url::parse(text).expect("a URL")
}

fn archive() -> Archive {
    let files = [
        ("file:///tmp/t/s.js", "main"),
        ("file:///tmp/t/lib/h.js", "module"),
        ("file:///tmp/t/z.txt", "data"),
        ("https://127.0.0.1:16443/rel.js?v=1", "web"),
    ];
    let files = files.map(|(name, text)| (url(name), text.as_bytes().to_vec()));
    Archive {
        options_json: r#"{"vus":1,"thresholds":{"a<b":["p(95)<1"]},"paused":null}"#.to_owned(),
        script: url("file:///tmp/t/s.js"),
        directory: url("file:///tmp/t"),
        env: Some(BTreeMap::from([("X".to_owned(), "1".to_owned())])),
        compatibility_mode: "extended".to_owned(),
        files: BTreeMap::from(files),
    }
}

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000)
}

fn written(archive: &Archive) -> Vec<u8> {
    let mut bytes = Vec::new();
    archive.write(&mut bytes, now()).expect("memory");
    bytes
}

/// An archive of only these files.
fn tar_of(files: &[(&str, &str)]) -> Vec<u8> {
    let mut tar = Tar {
        builder: Builder::new(Vec::new()),
        seconds: 0,
    };
    for (name, text) in files {
        tar.file(name, text.as_bytes()).expect("memory");
    }
    tar.builder.into_inner().expect("memory")
}

fn refusal(bytes: &[u8]) -> String {
    Archive::read(bytes).expect_err("no archive").to_string()
}

#[test]
fn what_is_written_is_read_back() {
    let read = Archive::read(&written(&archive())).expect("an archive");
    let options: serde_json::Value = serde_json::from_str(&read.options_json).expect("JSON");
    assert_eq!(options["thresholds"]["a<b"][0], "p(95)<1");
    let options_json = archive().options_json;
    assert_eq!(
        Archive {
            options_json,
            ..read
        },
        archive()
    );
}

#[test]
fn entries_have_the_names_the_order_and_the_rights_of_k6() {
    let bytes = written(&archive());
    let mut tar = tar::Archive::new(bytes.as_slice());
    let lines = tar.entries().expect("a tar").map(|entry| {
        let entry = entry.expect("an entry");
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        format!("{:o} {name}", entry.header().mode().expect("a mode"))
    });
    let wanted = [
        "644 metadata.json",
        "644 data",
        "755 file",
        "755 file/tmp",
        "755 file/tmp/t",
        "755 file/tmp/t/lib",
        "644 file/tmp/t/lib/h.js",
        "0 file/tmp/t/s.js",
        "644 file/tmp/t/z.txt",
        "755 https",
        "755 https/127.0.0.1:16443",
        "644 https/127.0.0.1:16443/rel.js?v=1",
    ];
    assert_eq!(lines.collect::<Vec<_>>(), wanted);
}

#[test]
fn the_metadata_are_indented_as_those_of_k6() {
    let archive = archive();
    let lines = [
        "{",
        "  \"type\": \"js\",",
        "  \"options\": {",
        "    \"vus\": 1",
        "  },",
        "  \"filename\": \"file:///tmp/t/s.js\",",
        "  \"pwd\": \"file:///tmp/t\",",
        "  \"env\": {",
        "    \"X\": \"1\"",
        "  },",
        "  \"compatibilityMode\": \"extended\",",
        "  \"k6version\": \"1.8.1\",",
        "  \"goos\": \"linux\",",
        "  \"dependencies\": {",
        "    \"k6\": \"*\"",
        "  }",
        "}",
        "",
    ];
    assert_eq!(Metadata::of(&archive).text("{\"vus\":1}"), lines.join("\n"));
}

#[test]
fn letters_of_html_stay_as_they_are_in_the_metadata() {
    let archive = Archive {
        env: Some(BTreeMap::from([("A".to_owned(), "<&>".to_owned())])),
        ..archive()
    };
    let text = Metadata::of(&archive).text(&archive.options_json);
    assert!(
        text.contains("\"p(95)<1\"") && text.contains("\"<&>\""),
        "{text}"
    );
    let read = Archive::read(&written(&archive)).expect("an archive");
    assert!(
        read.options_json.contains("p(95)<1"),
        "{}",
        read.options_json
    );
}

#[test]
fn an_environment_that_is_left_out_is_null() {
    let archive = Archive {
        env: None,
        ..archive()
    };
    let text = Metadata::of(&archive).text("{}");
    assert!(text.contains("\n  \"env\": null,\n"), "{text}");
    assert_eq!(
        Archive::read(&written(&archive)).expect("an archive").env,
        None
    );
}

#[test]
fn a_script_of_a_user_s_home_is_found_below_nobody() {
    let script = url("file:///home/ada/s.js");
    let archive = Archive {
        directory: url("file:///home/ada"),
        files: BTreeMap::from([(script.clone(), b"main".to_vec())]),
        script,
        ..archive()
    };
    let read = Archive::read(&written(&archive)).expect("an archive");
    assert_eq!(read.script, url("file:///home/nobody/s.js"));
    assert_eq!(read.files.get(&read.script), Some(&b"main".to_vec()));
}

#[test]
fn a_path_longer_than_a_tar_s_field_is_kept_whole() {
    let long = url(&format!("file:///{}/s.js", "long".repeat(90)));
    let mut archive = archive();
    archive.files.insert(long.clone(), b"x".to_vec());
    let read = Archive::read(&written(&archive)).expect("an archive");
    assert_eq!(read.files.get(&long), Some(&b"x".to_vec()));
}

#[test]
fn an_archive_is_told_from_a_script() {
    assert!(is_archive(&written(&archive())));
    assert!(!is_archive(b"export default function () {}"));
    assert!(!is_archive(b""));
}

#[test]
fn what_is_missing_is_named() {
    let no_data = tar_of(&[("metadata.json", "{}")]);
    let wanted = "the archive has no data; write it again with `k6 archive`";
    assert_eq!(refusal(&no_data), wanted);
    let no_metadata = tar_of(&[("data", "")]);
    let wanted = "the archive has no metadata.json; write it again with `k6 archive`";
    assert_eq!(refusal(&no_metadata), wanted);
    let mut no_script = archive();
    no_script.files.remove(&no_script.script.clone());
    let error = no_script.write(Vec::new(), now()).expect_err("refused");
    let wanted = "the script file:///tmp/t/s.js is not among the files of the archive";
    assert_eq!(error.to_string(), wanted);
}

#[test]
fn metadata_that_say_nothing_are_refused() {
    let cases = [
        ("x", "invalid character 'x' looking for beginning of value"),
        ("", "unexpected end of JSON input"),
        (
            r#"{"type":"go","filename":"file:///a","pwd":"file:///"}"#,
            "the type \"go\" is unknown; only \"js\" can be run",
        ),
    ];
    for (text, problem) in cases {
        let said = refusal(&tar_of(&[("data", ""), ("metadata.json", text)]));
        assert_eq!(
            said,
            format!("the archive's metadata.json can't be read: {problem}")
        );
    }
}

#[test]
fn an_archive_that_is_cut_off_is_refused() {
    let bytes = written(&archive());
    let wanted = "the archive can't be written or read: ";
    assert!(refusal(&bytes[..700]).starts_with(wanted));
}

#[test]
fn a_file_that_can_t_be_written_is_named_as_go_names_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("no").join("x.tar");
    let error = archive().save(&path, now()).expect_err("refused");
    let wanted = format!("open {}: no such file or directory", path.display());
    assert_eq!(error.to_string(), wanted);
}

#[test]
fn a_refused_archive_leaves_the_file_as_it_was() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("archive.tar");
    std::fs::write(&path, "before").expect("a file");
    let mut wrong = archive();
    wrong.files.clear();
    wrong.save(&path, now()).expect_err("refused");
    assert_eq!(std::fs::read(&path).expect("a file"), b"before");
    archive().save(&path, now()).expect("saved");
    assert_eq!(std::fs::read(&path).expect("a file"), written(&archive()));
}
