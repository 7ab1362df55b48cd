use super::*;
use crate::samples::{self, look, watched};
use crate::watch_json;
use serde_json::Value;

#[test]
fn a_run_has_the_same_columns_whether_or_not_it_was_watched() {
    let watch = watched().watch;
    let fields = run_fields(&watch, 3_000_000_000);
    assert_eq!(
        fields.join(","),
        "3,12000000,50,12000000,,60,2000000003,1000000,12500000"
    );
    assert_eq!(run_fields(&watch, 3_000_000_001).concat(), "");
    assert_eq!(run_fields(&WatchHistory::default(), 0).concat(), "");
}

#[test]
fn a_row_has_a_field_for_each_column() {
    let row = watch_csv_row(&look(3, Some(Change::Ended)), 3.0);
    assert_eq!(
        row.split(',').count(),
        watch_csv_header().split(',').count()
    );
    assert!(
        row.starts_with("3,4711,3,3,12000000,9500000,5,70,60,50,2000,12.5,60,"),
        "{row}"
    );
}

#[test]
fn a_line_stands_under_its_header() {
    let look = look(3, None);
    let line = watch_line(&look, 3.0, Some(9_500_000));
    assert_eq!(line.len(), watch_line_header().len());
    insta::assert_snapshot!(format!("{}\n{line}", watch_line_header()));
}

#[test]
fn too_short_a_look_has_no_rates() {
    let mut look = look(3, None);
    look.length_ns = 10_000_000;
    let json = watch_json(&look, 3.0);
    assert_eq!(json["trees"][0]["cpu_percent"], Value::Null);
    assert_eq!(json["trees"][0]["sockets"], 60);
    assert_eq!(json["host"]["net_in_bytes_per_s"], Value::Null);
}

#[test]
fn the_share_of_a_link_is_that_of_its_busier_way() {
    let run = crate::json(&samples::result(&watched(), Vec::new()));
    let json = &run["summary"]["watch"];
    assert_eq!(
        json["host"]["link_percent"],
        serde_json::json!({ "mean": 10.0, "max": 10.0 })
    );
    assert_eq!(
        json["trees"][0]["cpu_percent"],
        serde_json::json!({ "mean": 5.5, "max": 10.0 })
    );
    assert_eq!(json["trees"][1]["events"][0]["change"], "restarted");
    assert_eq!(json["host"]["listen_overflows"], 10);
}

#[test]
fn what_was_not_read_is_told_with_its_reason() {
    assert_eq!(
        watch_notes(&look(1, None)),
        [
            "Not measured for :8080: PSS, sockets, TCP states (it belongs to another user; run \
             Loadline as that user or as root)."
        ]
    );
}
