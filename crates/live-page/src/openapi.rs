//! The description of the API, made of the types that it sends and takes.

use crate::api::{Event, NewLevel, Problem, State, Steered};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Value, json};

/// Returns the description as OpenAPI 3.1: JSON, with a line break at its end.
pub fn openapi() -> String {
    let mut settings = SchemaSettings::draft2020_12();
    settings.definitions_path = "/components/schemas".into();
    settings.meta_schema = None;
    let mut types = settings.into_generator();
    let state = answer("The state.", "application/json", of::<State>(&mut types));
    let event = of::<Event>(&mut types);
    let events = answer("Events, each with this data.", "text/event-stream", event);
    let paths = json!({
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
        "/api/v1/pause": command("Pauses the load. Requests in flight finish.", &mut types),
        "/api/v1/resume": command("Ends a pause.", &mut types),
        "/api/v1/level": with_body(
            command("Changes the load, for all workers at one instant.", &mut types),
            of::<NewLevel>(&mut types),
        ),
        "/api/v1/stop": command(
            "Stops the run. It begins no request, and waits for the responses in flight.",
            &mut types,
        ),
        "/api/v1/abort": command("Ends the run at once.", &mut types),
    });
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
