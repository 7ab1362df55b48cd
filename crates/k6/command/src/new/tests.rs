//! Scripts from templates, and refusals.

use super::*;

fn new(folder: &tempfile::TempDir, file: &str, template: &str) -> New {
    New {
        file: file.to_owned(),
        is_forced: false,
        template: template.to_owned(),
        project_id: String::new(),
        directory: folder.path().to_owned(),
    }
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

fn text(folder: &tempfile::TempDir, file: &str) -> String {
    std::fs::read_to_string(folder.path().join(file)).expect("a script")
}

fn refusal(new: &New) -> String {
    new.create().expect_err("refused").to_string()
}

#[test]
fn a_script_is_written_and_named() {
    let folder = folder();
    let line = new(&folder, NAME, TEMPLATE).create().expect("a script");
    assert_eq!(line, "New script created: script.js (minimal template).\n");
    let script = text(&folder, NAME);
    assert!(script.contains("export default function ()"), "{script}");
    assert!(!script.contains("{{"), "{script}");
}

#[test]
fn the_templates_differ_and_have_the_project_that_is_named() {
    let folder = folder();
    for template in ["minimal", "protocol"] {
        let new = New {
            project_id: "123".to_owned(),
            ..new(&folder, &format!("{template}.js"), template)
        };
        new.create().expect("a script");
        let script = text(&folder, &format!("{template}.js"));
        let cloud =
            format!("  cloud: {{\n    projectID: 123,\n    name: \"{template}.js\",\n  }},");
        assert!(script.contains(&cloud), "{script}");
    }
    assert_ne!(text(&folder, "minimal.js"), text(&folder, "protocol.js"));
}

#[test]
fn a_file_is_overwritten_only_by_force() {
    let folder = folder();
    std::fs::write(folder.path().join(NAME), "mine").expect("a file");
    let refused = new(&folder, NAME, TEMPLATE);
    let said = "script.js already exists. Use the `--force` flag to overwrite it";
    assert_eq!(refusal(&refused), said);
    assert_eq!(text(&folder, NAME), "mine");
    let forced = New {
        is_forced: true,
        ..refused
    };
    forced.create().expect("a script");
    assert_ne!(text(&folder, NAME), "mine");
}

#[test]
fn a_wrong_template_leaves_the_file_as_it_was_even_with_force() {
    let folder = folder();
    std::fs::write(folder.path().join(NAME), "mine").expect("a file");
    let wrong = New {
        is_forced: true,
        ..new(&folder, NAME, "nosuch")
    };
    let said = "error retrieving template: invalid template type \"nosuch\"";
    assert_eq!(refusal(&wrong), said);
    assert_eq!(text(&folder, NAME), "mine");
}

#[test]
fn a_template_of_one_s_own_is_filled_in() {
    let folder = folder();
    let template = "id {{ .ProjectID }} {{.ScriptName}}\n";
    std::fs::write(folder.path().join("t.js"), template).expect("a file");
    let with_id = New {
        project_id: "9".to_owned(),
        ..new(&folder, "g.js", "./t.js")
    };
    let line = with_id.create().expect("a script");
    assert_eq!(line, "New script created: g.js (./t.js template).\n");
    assert_eq!(text(&folder, "g.js"), "id 9 g.js\n");
    new(&folder, "h.js", "./t.js").create().expect("a script");
    assert_eq!(text(&folder, "h.js"), "id  h.js\n");
}

#[test]
fn templates_that_are_none_are_refused_in_a_sentence() {
    let folder = folder();
    std::fs::write(folder.path().join("t.js"), "{{ .Nope }}").expect("a file");
    let missing = folder.path().join("nosuch.js");
    let cases = [
        (
            "./t.js",
            "failed to execute template ./t.js: {{ .Nope }} is unknown; use {{ .ScriptName }} or \
             {{ .ProjectID }}"
                .to_owned(),
        ),
        (
            "./nosuch.js",
            format!(
                "error retrieving template: failed to read template file ./nosuch.js: open {}: no \
                 such file or directory",
                missing.display()
            ),
        ),
        (
            "t.js",
            "error retrieving template: invalid template type \"t.js\", did you mean ./t.js?"
                .to_owned(),
        ),
        (
            "browser",
            "error retrieving template: Loadline has no browser; use the template minimal or \
             protocol"
                .to_owned(),
        ),
    ];
    for (template, said) in cases {
        assert_eq!(refusal(&new(&folder, "n.js", template)), said);
        assert!(!folder.path().join("n.js").exists(), "{template}");
    }
}

#[test]
fn a_script_that_can_t_be_written_is_named() {
    let folder = folder();
    let said = "open x/y.js: no such file or directory";
    assert_eq!(refusal(&new(&folder, "x/y.js", TEMPLATE)), said);
    assert_eq!(
        refusal(&new(&folder, "", TEMPLATE)),
        "open : no such file or directory"
    );
}
