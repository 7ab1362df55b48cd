//! The tables of both databases. `docs/guide/sqlite.md` explains them to users.
//!
//! Times are whole nanoseconds, in columns that end in `_ns`. A column has one meaning; an unknown
//! value is NULL, never zero. Comments in the statements stay in the file, so that a database
//! explains itself (`.schema` in the `sqlite3` command). The tables are not `STRICT`: SQLite before
//! 3.37, which some systems still have, could not read them.

use rusqlite::Connection;

/// Marks a database as written by Loadline: `Load`, in the header of its file.
pub(super) const APPLICATION_ID: u32 = 0x4c6f_6164;
/// The version of the tables, `PRAGMA user_version`. It rises when a program written for the older
/// version would misread the newer one; a new table or column alone does not raise it.
const VERSION: u32 = 1;

/// Marks a database as written by Loadline, with these tables.
pub(super) fn mark(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update(None, "user_version", VERSION)
}

/// The tables of a log: the columns are those of the CSV log, but names and URLs are stored once.
pub(super) const LOG: &str = "
CREATE TABLE names (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    url TEXT NOT NULL
);

CREATE TABLE requests (
    intended_ns INTEGER NOT NULL, -- from the end of the warm-up
    start_ns INTEGER NOT NULL, -- from the end of the warm-up
    response_ns INTEGER NOT NULL, -- blocked + lateness + service
    service_ns INTEGER NOT NULL,
    blocked_ns INTEGER NOT NULL,
    lateness_ns INTEGER NOT NULL,
    dial_ns INTEGER NOT NULL,
    first_byte_ns INTEGER, -- from the send; NULL without a byte of a response
    status INTEGER, -- NULL without a response
    error TEXT, -- the error kind; NULL with a response
    bytes_in INTEGER NOT NULL,
    bytes_out INTEGER NOT NULL,
    request INTEGER REFERENCES names (id) -- NULL for a request that is none of the plan's
);

CREATE VIEW log AS
SELECT requests.*, names.name, names.url
FROM requests LEFT JOIN names ON names.id = requests.request;
";

/// Adds a request to a log.
pub(super) const INSERT_REQUEST: &str =
    "INSERT INTO requests VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)";

/// The tables of a report.
pub(super) const REPORT: &str = "
CREATE TABLE runs (
    id INTEGER PRIMARY KEY, -- from 1, in the order in which they were made
    role TEXT, -- repeat, side or trial; NULL of a run alone
    role_name TEXT, -- A or B, of a side
    role_number INTEGER, -- of its role and name, from 1
    version TEXT NOT NULL, -- of Loadline
    started_at TEXT NOT NULL, -- UTC, RFC 3339
    url TEXT, -- of the first request
    plan TEXT NOT NULL, -- JSON
    environment TEXT NOT NULL, -- JSON
    duration_ns INTEGER NOT NULL,
    drained_ns INTEGER NOT NULL,
    complete INTEGER NOT NULL, -- 1 if the run was recorded to its end
    ended TEXT NOT NULL,
    aborted_by TEXT,
    planned INTEGER NOT NULL,
    sent INTEGER NOT NULL,
    answered INTEGER NOT NULL,
    completed INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    rejected INTEGER NOT NULL, -- by a script; each is one of those answered
    in_flight INTEGER NOT NULL,
    unsent INTEGER NOT NULL,
    reconnects INTEGER NOT NULL,
    resent INTEGER NOT NULL, -- sent once more; each is one of those sent
    connections INTEGER NOT NULL,
    bytes_in INTEGER NOT NULL,
    bytes_out INTEGER NOT NULL,
    rate REAL NOT NULL, -- completed per second
    validity TEXT NOT NULL, -- valid, suspect or invalid
    -- NULL: too few samples, or a lower bound alone (see times and percentiles)
    response_mean_ns INTEGER,
    response_p50_ns INTEGER,
    response_p90_ns INTEGER,
    response_p99_ns INTEGER,
    response_p99_9_ns INTEGER,
    response_max_ns INTEGER,
    service_mean_ns INTEGER,
    service_p50_ns INTEGER,
    service_p90_ns INTEGER,
    service_p99_ns INTEGER,
    service_p99_9_ns INTEGER,
    service_max_ns INTEGER
);

CREATE TABLE intervals (
    run INTEGER NOT NULL REFERENCES runs (id),
    number INTEGER NOT NULL, -- from 1
    start_ns INTEGER NOT NULL, -- from the start of the measured part
    end_ns INTEGER NOT NULL,
    planned INTEGER NOT NULL,
    sent INTEGER NOT NULL,
    answered INTEGER NOT NULL,
    completed INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    rejected INTEGER NOT NULL, -- by a script; each is one of those answered
    in_flight INTEGER NOT NULL, -- at the end of the interval
    in_flight_mean REAL, -- NULL in a saved run of a version that did not count it
    in_flight_max INTEGER, -- at once
    reconnects INTEGER NOT NULL,
    resent INTEGER NOT NULL, -- sent once more; each is one of those sent
    connections INTEGER NOT NULL,
    bytes_in INTEGER NOT NULL,
    bytes_out INTEGER NOT NULL,
    rate REAL NOT NULL, -- completed per second
    users INTEGER, -- virtual users of a script, the most at once; NULL without any
    iterations INTEGER, -- of a script; NULL without any
    response_p50_ns INTEGER, -- NULL without a response
    response_p90_ns INTEGER,
    response_p99_ns INTEGER,
    response_max_ns INTEGER,
    service_p50_ns INTEGER,
    service_p90_ns INTEGER,
    service_p99_ns INTEGER,
    service_max_ns INTEGER,
    PRIMARY KEY (run, number)
);

CREATE TABLE times (
    run INTEGER NOT NULL REFERENCES runs (id),
    time TEXT NOT NULL, -- response, service, blocked, lateness, first_byte, ...
    count INTEGER NOT NULL,
    unfinished INTEGER, -- counted with their ages; of response and service alone
    mean_ns INTEGER,
    mean_is_lower_bound INTEGER NOT NULL,
    stdev_ns INTEGER,
    stdev_is_lower_bound INTEGER NOT NULL,
    min_ns INTEGER,
    max_ns INTEGER,
    max_is_lower_bound INTEGER NOT NULL,
    PRIMARY KEY (run, time)
);

CREATE TABLE percentiles (
    run INTEGER NOT NULL REFERENCES runs (id),
    time TEXT NOT NULL, -- as in times
    percentile REAL NOT NULL, -- 50 is the median
    value_ns INTEGER, -- NULL: too few samples
    is_lower_bound INTEGER NOT NULL,
    lower_ns INTEGER, -- of the 95 % interval; of response and service alone
    upper_ns INTEGER,
    PRIMARY KEY (run, time, percentile)
);

CREATE TABLE histogram (
    run INTEGER NOT NULL REFERENCES runs (id),
    lower_ns INTEGER NOT NULL, -- response times from lower_ns to upper_ns, both included
    upper_ns INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (run, lower_ns)
);

CREATE TABLE names (
    run INTEGER NOT NULL REFERENCES runs (id),
    name TEXT NOT NULL,
    tags TEXT NOT NULL, -- a JSON object
    answered INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    rejected INTEGER NOT NULL, -- by a script; each is one of those answered
    rate REAL NOT NULL,
    response_mean_ns INTEGER, -- NULL without a response
    response_p50_ns INTEGER,
    response_p90_ns INTEGER,
    response_p95_ns INTEGER,
    response_p99_ns INTEGER,
    response_max_ns INTEGER
);

CREATE TABLE statuses (
    run INTEGER NOT NULL REFERENCES runs (id),
    status INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (run, status)
);

CREATE TABLE errors (
    run INTEGER NOT NULL REFERENCES runs (id),
    kind TEXT NOT NULL,
    count INTEGER NOT NULL,
    example TEXT, -- what the first of them said
    PRIMARY KEY (run, kind)
);

CREATE TABLE checks (
    run INTEGER NOT NULL REFERENCES runs (id),
    number INTEGER NOT NULL, -- from 1
    text TEXT NOT NULL,
    outcome TEXT NOT NULL, -- passed, failed or undecided
    why TEXT, -- why it is undecided
    measured REAL, -- NULL without a sample
    measured_is_lower_bound INTEGER NOT NULL,
    bound REAL NOT NULL,
    unit TEXT NOT NULL, -- of measured and bound: ns, share, count, per_second or number
    samples INTEGER NOT NULL,
    PRIMARY KEY (run, number)
);

CREATE TABLE findings (
    run INTEGER NOT NULL REFERENCES runs (id),
    number INTEGER NOT NULL, -- from 1, the gravest first
    kind TEXT NOT NULL,
    grade TEXT NOT NULL, -- valid, suspect or invalid
    text TEXT NOT NULL,
    PRIMARY KEY (run, number)
);

CREATE TABLE warnings (
    run INTEGER NOT NULL REFERENCES runs (id),
    number INTEGER NOT NULL, -- from 1, the gravest first
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (run, number)
);

CREATE TABLE metrics (
    run INTEGER NOT NULL REFERENCES runs (id),
    name TEXT NOT NULL,
    tags TEXT NOT NULL, -- a JSON object
    kind TEXT NOT NULL, -- trend, counter, rate or gauge
    unit TEXT, -- of its figures: ms or bytes; NULL for plain numbers
    count INTEGER NOT NULL,
    sum REAL, -- NULL: a figure that the kind does not have
    rate REAL,
    share REAL,
    last REAL,
    min REAL,
    max REAL,
    mean REAL,
    p50 REAL,
    p90 REAL,
    p95 REAL,
    p99 REAL
);
";
