//! The description of the API, made of the types that it sends and takes.

use crate::api::{
    AgentSoFar, Compared, Composed, EarlierRun, Event, NameCourse, NewBaseline, NewCheck, NewEnd,
    NewLevel, NewNote, NewRun, Offer, Problem, SlowRows, Span, State, Steered,
};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

/// Returns the description as OpenAPI 3.1: JSON, with a line break at its end.
pub fn openapi() -> String {
    let mut settings = SchemaSettings::draft2020_12();
    settings.definitions_path = "/components/schemas".into();
    settings.meta_schema = None;
    let mut types = settings.into_generator();
    let state = answer("The state.", "application/json", of::<State>(&mut types));
    let event = of::<Event>(&mut types);
    let events = answer("Events, each with this data.", "text/event-stream", event);
    let span = answer("The part.", "application/json", of::<Span>(&mut types));
    let slow = answer(
        "The requests.",
        "application/json",
        of::<SlowRows>(&mut types),
    );
    let course = answer(
        "The course.",
        "application/json",
        of::<NameCourse>(&mut types),
    );
    let unknown = of::<Problem>(&mut types);
    let unknown = answer("Nothing is known of that.", "application/json", unknown);
    let unreadable = of::<Problem>(&mut types);
    let unreadable = answer("A number is missing.", "application/json", unreadable);
    let agents = json!({ "type": "array", "items": of::<AgentSoFar>(&mut types) });
    let agents = answer("The agents, by name.", "application/json", agents);
    let second = |name: &str| {
        json!({
            "name": name,
            "in": "query",
            "required": true,
            "description": "A second of the measured part.",
            "schema": { "type": "number" },
        })
    };
    let time = |name: &str| {
        json!({
            "name": name,
            "in": "query",
            "description": "A response time in microseconds; all without it.",
            "schema": { "type": "number" },
        })
    };
    let mut paths = json!({
        "/api/v1/state": { "get": {
            "summary": "Everything that is known of the run so far.",
            "responses": { "200": state },
        } },
        "/api/v1/events": { "get": {
            "summary": "What changes, once a second, as server-sent events: `state` with all of it \
                        first, and for whoever is more than 60 events behind; then `interval`; \
                        `over` when nothing follows.",
            "parameters": [{
                "name": "Last-Event-ID",
                "in": "header",
                "description": "The number of the last event that was received: those after it \
                                follow.",
                "schema": { "type": "integer", "minimum": 0 },
            }],
            "responses": { "200": events },
        } },
        "/api/v1/span": { "get": {
            "summary": "The tables of a part of the run.",
            "parameters": [second("from_s"), second("to_s")],
            "responses": { "200": span, "400": unreadable, "409": unknown },
        } },
        "/api/v1/name": { "get": {
            "summary": "The course of one name over the run, as plots.",
            "parameters": [{
                "name": "name",
                "in": "query",
                "required": true,
                "description": "The name, as the table by name has it.",
                "schema": { "type": "string" },
            }],
            "responses": { "200": course, "409": unknown },
        } },
        "/api/v1/slow": { "get": {
            "summary": "The slowest requests of a part of the run, with what took their time.",
            "parameters": [second("from_s"), second("to_s"), time("from_us"), time("to_us")],
            "responses": { "200": slow, "400": unreadable, "409": unknown },
        } },
        "/api/v1/agents": { "get": {
            "summary": "All agents of the run; `state` and events list at most 64.",
            "responses": { "200": agents },
        } },
        "/api/v1/pause": command("Pauses the load. Requests in flight finish.", &mut types),
        "/api/v1/resume": command("Ends a pause.", &mut types),
        "/api/v1/level": with_body(
            command("Changes the load, for all workers at one instant.", &mut types),
            of::<NewLevel>(&mut types),
        ),
        "/api/v1/note": with_body(
            command(
                "Writes a note on the run, or on the last one that has ended. Status 409 if no run \
                 keeps it.",
                &mut types,
            ),
            of::<NewNote>(&mut types),
        ),
        "/api/v1/check": with_body(
            command(
                "Adds a check while the run lasts. It is judged on all of the run, and is on the \
                 page alone: no report and no exit code has it. Status 422 if it can't be read.",
                &mut types,
            ),
            of::<NewCheck>(&mut types),
        ),
        "/api/v1/drop": dropping(&mut types),
        "/api/v1/stop": command(
            "Stops the run. It begins no request, and waits for the responses in flight as its \
             tool does.",
            &mut types,
        ),
        "/api/v1/end": with_body(
            command(
                "Stops the run as soon as one of its checks is proven to fail or all are proven to \
                 pass, and it is faster or slower than its baseline, if it has one; or no longer. \
                 Status 409 if no run is under way that has something to decide.",
                &mut types,
            ),
            of::<NewEnd>(&mut types),
        ),
        "/api/v1/abort": command("Ends the run at once.", &mut types),
    });
    let more = [files(&mut types), starting(&mut types)].into_iter();
    let more = more.flat_map(|more| more.as_object().cloned().unwrap_or_default());
    if let Some(paths) = paths.as_object_mut() {
        paths.extend(more);
    }
    let document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Live page of Loadline",
            "version": "1",
            "description": "A run that is watched and steered while it lasts. Beyond loopback each \
                            request needs the token of the page's address, as \
                            `Authorization: Bearer TOKEN`, or a name and a password.",
        },
        "paths": paths,
        "components": { "schemas": types.take_definitions(true) },
    });
    format!("{document:#}\n")
}

/// The path that takes a file.
fn dropping(types: &mut SchemaGenerator) -> Value {
    let mut drop = command(
        "Compares runs with a saved run, or with the one in a report, of at most 64 MB. It is kept \
         nowhere. Status 422 if it is none.",
        types,
    );
    drop["post"]["parameters"] = json!([{
        "name": "name",
        "in": "query",
        "description": "The name of the file.",
        "schema": { "type": "string" },
    }]);
    drop["post"]["requestBody"] = json!({
        "required": true,
        "content": { "application/octet-stream": { "schema": {} } },
    });
    drop
}

/// The paths of reports, and of what another tool tells.
fn files(types: &mut SchemaGenerator) -> Value {
    let problem = of::<Problem>(types);
    let refused = |why: &str| answer(why, "application/json", problem.clone());
    let file = |summary: &str, content_type: &str| {
        json!({ "get": {
            "summary": summary,
            "responses": {
                "200": answer("The file.", content_type, json!({})),
                "404": refused("There is none."),
                "409": refused("It is too early: there is none yet."),
            },
        } })
    };
    json!({
        "/report.html": file("The report, of a run that goes on as it stands.", "text/html"),
        "/report.json": file("The JSON of a run that has ended.", "application/json"),
        "/report.csv": file(
            "The figures of each second, and by name, of a run that has ended.",
            "text/csv",
        ),
        "/saved.run": file("The saved run, after its end.", "application/octet-stream"),
        "/events": { "get": {
            "summary": "Of a test of k6 whose web dashboard was asked for: its events, as k6 2 \
                        sends them.",
            "responses": {
                "200": answer("Events.", "text/event-stream", json!({})),
                "404": refused("No such test is shown."),
            },
        } },
    })
}

/// The paths of a page from which runs are started.
fn starting(types: &mut SchemaGenerator) -> Value {
    let kind = "application/json";
    let offer = answer("What there is.", kind, of::<Offer>(types));
    let composed = answer("The command line.", kind, of::<Composed>(types));
    let earlier = json!({ "type": "array", "items": of::<EarlierRun>(types) });
    let earlier = answer("The runs, the latest first.", kind, earlier);
    let compared = answer("The report.", kind, of::<Compared>(types));
    let uncompared = answer("They can't be compared.", kind, of::<Problem>(types));
    let mut compose = with_body(
        command(
            "Returns the command line of a run, if it is one that can be run.",
            types,
        ),
        of::<NewRun>(types),
    );
    compose["post"]["responses"]["200"] = composed;
    let start = with_body(
        command("Starts a run. Status 409 if one is under way.", types),
        of::<NewRun>(types),
    );
    let run = |name: &str| {
        json!({
            "name": name,
            "in": "query",
            "required": true,
            "description": "The name of a saved run.",
            "schema": { "type": "string" },
        })
    };
    let choose = with_body(
        command(
            "Compares runs with a saved run of the folder, or with none.",
            types,
        ),
        of::<NewBaseline>(types),
    );
    let mut baseline = json!({ "get": {
        "summary": "The page of the baseline, as data; its shape follows the page.",
        "responses": { "200": answer("The page.", kind, json!({ "type": "object" })) },
    } });
    baseline["post"] = choose["post"].clone();
    let mut paths = json!({
        "/api/v1/offer": { "get": {
            "summary": "The files that can be started, on a page of `loadline web`.",
            "responses": { "200": offer },
        } },
        "/api/v1/compose": compose,
        "/api/v1/start": start,
        "/api/v1/baseline": baseline,
        "/api/v1/runs": { "get": {
            "summary": "The saved runs of the folder.",
            "responses": { "200": earlier },
        } },
        "/api/v1/run": { "get": {
            "summary": "The page of a saved run, as data; its shape follows the page.",
            "parameters": [run("name")],
            "responses": { "200": answer("The page.", kind, json!({ "type": "object" })) },
        } },
        "/api/v1/compare": { "get": {
            "summary": "Compares two saved runs of the folder.",
            "parameters": [run("base"), run("with")],
            "responses": { "200": compared, "422": uncompared },
        } },
    });
    let absent = of::<Problem>(types);
    let absent = answer(
        "This page starts no runs, or it has no such file.",
        kind,
        absent,
    );
    for operations in paths.as_object_mut().into_iter().flat_map(Map::values_mut) {
        for operation in operations
            .as_object_mut()
            .into_iter()
            .flat_map(Map::values_mut)
        {
            operation["responses"]["404"] = absent.clone();
        }
    }
    paths
}

fn of<T: JsonSchema>(types: &mut SchemaGenerator) -> Value {
    types.subschema_for::<T>().to_value()
}

fn answer(description: &str, content_type: &str, schema: Value) -> Value {
    json!({ "description": description, "content": { content_type: { "schema": schema } } })
}

fn command(summary: &str, types: &mut SchemaGenerator) -> Value {
    let refused = of::<Problem>(types);
    let refused = |why: &str| answer(why, "application/json", refused.clone());
    json!({ "post": {
        "summary": summary,
        "responses": {
            "200": answer("What holds now.", "application/json", of::<Steered>(types)),
            "400": refused("The body can't be read."),
            "401": refused("There is no token or password, or a wrong one."),
            "403": refused("A page of another origin asked, or the Host is another machine."),
            "409": refused("No load is under way."),
            "422": refused("The load can't be brought to this level."),
        },
    } })
}

fn with_body(mut command: Value, schema: Value) -> Value {
    command["post"]["requestBody"] = json!({
        "required": true,
        "content": { "application/json": { "schema": schema } },
    });
    command
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// `LOADLINE_WRITE_SCHEMAS=1` writes the file.
    #[test]
    fn the_description_in_the_guide_is_that_of_the_types() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/schema");
        let path = folder.join("openapi.json");
        if std::env::var_os("LOADLINE_WRITE_SCHEMAS").is_some() {
            std::fs::write(&path, openapi()).expect("the guide can be written");
        }
        let kept = std::fs::read_to_string(&path).expect("the guide has it");
        assert!(
            kept == openapi(),
            "LOADLINE_WRITE_SCHEMAS=1 writes {}",
            path.display()
        );
    }

    #[test]
    fn every_type_that_is_named_is_described() {
        let document: Value = serde_json::from_str(&openapi()).unwrap();
        let text = document.to_string();
        for reference in text.split("\"$ref\":\"").skip(1) {
            let name = reference.split('"').next().unwrap();
            let pointer = name.strip_prefix('#').unwrap();
            assert!(document.pointer(pointer).is_some(), "{name}");
        }
    }
}
