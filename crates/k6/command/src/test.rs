//! A loaded test: its script, its options from all sources, its thresholds.

use super::client_keys::decrypted;
use super::console::Console;
use super::origin::{CommandContext, Origin};
use super::secret_sources::SecretSources;
use super::{ABORTED, FAILED, INVALID_CONFIG, Refused, SCRIPT_EXCEPTION};
use loadline_k6_metrics::{RecorderSetup, Registry, ThresholdSource, Thresholds};
use loadline_k6_options::cli::Invocation;
use loadline_k6_options::{
    Consolidated, GoDuration, Settings, Tier, consolidate, from_environment,
};
use loadline_script_js::{
    Entry, Failure, HttpOptions, Level, LoadSetup, Log, Program, RunState, Secrets, UserOptions,
    VuMode,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use url::Url;

/// A loaded test.
pub(super) struct Test {
    /// The main module.
    pub(super) main: Url,
    /// The script.
    pub(super) program: Arc<Program>,
    /// The options.
    pub(super) options: Consolidated,
    /// The variables of the script.
    pub(super) env: BTreeMap<String, String>,
    /// The sources of its secrets.
    pub(super) secrets: Arc<SecretSources>,
    /// The degree of isolation between virtual users.
    vu_mode: VuMode,
}

/// The recording of a test, and the thresholds to judge.
pub(super) struct Measures {
    pub(super) thresholds: Thresholds,
    pub(super) recording: Arc<RecorderSetup>,
}

impl Test {
    /// Loads the test of a command line.
    ///
    /// # Errors
    /// If the script or an option is invalid.
    pub(super) fn load(
        invocation: &Invocation,
        origin: Origin,
        place: &CommandContext,
        console: &Arc<Console>,
    ) -> Result<Test, Refused> {
        let name = invocation.arguments.first().cloned().unwrap_or_default();
        let vu_mode = vu_mode(invocation, place)?;
        let env = script_env(invocation, &origin, place)?;
        let (main, archive) = (origin.main, origin.archive);
        let could_not_load = |text: String, code: u8| {
            let text =
                format!("could not initialize '{name}': could not load JS test '{main}': {text}");
            Refused::new(code, text)
        };
        let secrets = SecretSources::of(invocation, place, console.revealed())?;
        let secrets = Arc::new(secrets);
        let program = Program::load(LoadSetup {
            main: main.clone(),
            sources: Box::new(origin.files),
            env: env.clone(),
            log: Arc::clone(console) as Arc<dyn Log>,
            registry: Arc::new(Registry::new()),
            secrets: Some(Arc::clone(&secrets) as Arc<dyn Secrets + Send + Sync>),
        })
        .map_err(|failure| match failure {
            Failure::Threw(text) => Refused::thrown(text),
            Failure::Aborted(text) => could_not_load(text, ABORTED),
            Failure::Options(_) => could_not_load(failure.to_string(), FAILED),
            Failure::NotLoaded(_)
            | Failure::Rejected(_)
            | Failure::SetupData(_)
            | Failure::SummaryFiles(_)
            | Failure::Memory(_) => could_not_load(failure.to_string(), SCRIPT_EXCEPTION),
        })?;
        if !program.has_functions() {
            let text = "no exported functions in script".to_owned();
            return Err(could_not_load(text, FAILED));
        }
        let json = archive
            .as_ref()
            .map(|archive| archive.options_json.as_str());
        let json = json.or(program.options()).unwrap_or("{}");
        let script =
            Tier::from_json(json).map_err(|error| could_not_load(error.text, error.code))?;
        warn_of_unknown(&script, console);
        let options = options(invocation, script, place, &env, &program);
        let warnings = match &options {
            Ok(options) => &options.warnings,
            Err((_, warnings)) => warnings,
        };
        for warning in warnings {
            console.log_plain(Level::Warning, warning);
        }
        let mut options = options.map_err(|(refused, _)| refused)?;
        let keys = decrypted(&options.settings.tls_auth);
        options.settings.tls_auth =
            keys.map_err(|refused| could_not_load(refused.text, refused.code))?;
        Ok(Test {
            main,
            program,
            options,
            env,
            secrets,
            vu_mode,
        })
    }

    /// Returns the options other than the load.
    pub(super) fn settings(&self) -> &Settings {
        &self.options.settings
    }

    /// Returns the recording and the thresholds, without thresholds if they are disabled.
    ///
    /// # Errors
    /// If a threshold is invalid.
    pub(super) fn measures(
        &self,
        has_thresholds: bool,
        keeps_samples: bool,
        by_group_and_scenario: bool,
    ) -> Result<Measures, Refused> {
        let registry = self.program.registry();
        let sources = self.settings().thresholds.iter().filter(|_| has_thresholds);
        let sources = sources.map(|(metric, list)| (metric.clone(), thresholds(list)));
        let invalid = |text: String| Refused::new(INVALID_CONFIG, text);
        let thresholds =
            Thresholds::new(sources, registry).map_err(|error| invalid(error.to_string()))?;
        let submetrics = thresholds.submetrics(registry);
        Ok(Measures {
            recording: Arc::new(RecorderSetup {
                registry: Arc::clone(registry),
                submetrics: submetrics.map_err(|error| invalid(error.to_string()))?,
                keeps_samples,
                by_group_and_scenario,
            }),
            thresholds,
        })
    }

    /// Returns the options for the users.
    pub(super) fn user_options(&self) -> UserOptions {
        let settings = self.settings();
        let usual = HttpOptions::default();
        UserOptions {
            tags: settings.tags.clone(),
            unwanted_tags: unwanted_tags(&settings.system_tags),
            optional_tags: optional_tags(&settings.system_tags),
            min_iteration: settings.min_iteration,
            json: self.options.of_script().to_string(),
            local_ips: settings.local_ips.clone(),
            http: HttpOptions {
                user_agent: settings.user_agent.clone().unwrap_or(usual.user_agent),
                max_redirects: settings.max_redirects,
                throws: settings.throws,
                discards_bodies: settings.discards_bodies,
                keeps_cookies: settings.keeps_cookies,
                batch: settings.batch,
                debug: settings.http_debug.clone(),
                rps: settings.rps,
                closes_connections: settings.has_no_reuse_by_users,
            },
            vu_mode: self.vu_mode,
            ends_with_process: true,
            memory_limit_bytes: None,
        }
    }
}

impl Measures {
    /// Returns the warnings about submetrics with tags that only a sample's metadata has.
    pub(super) fn unindexed(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        for submetric in self.recording.submetrics.all() {
            let name = &submetric.name;
            for tag in ["vu", "iter"] {
                if submetric.tags.iter().any(|(known, _)| known == tag) {
                    sentences.push(format!(
                        "The high-cardinality '{tag}' metric tag was made non-indexable in k6 \
                         v0.41.0, so thresholds like '{name}' that are based on it won't work \
                         correctly."
                    ));
                }
            }
        }
        sentences
    }
}

/// Returns the isolation of virtual users that the flag sets.
fn vu_mode(invocation: &Invocation, place: &CommandContext) -> Result<VuMode, Refused> {
    let Some(name) = invocation.flag("vu-mode", &place.environment) else {
        return Ok(VuMode::default());
    };
    VuMode::named(&name).ok_or_else(|| {
        let text = format!("invalid vu mode \"{name}\". Use: \"isolated\", \"shared\"");
        Refused::new(FAILED, text)
    })
}

/// Returns the tags that k6 sets itself and that were not requested.
fn unwanted_tags(enabled: &[String]) -> Vec<String> {
    let set = [
        "error",
        "error_code",
        "expected_response",
        "group",
        "method",
        "name",
        "proto",
        "scenario",
        "status",
        "tls_version",
        "url",
    ];
    let unwanted = set
        .into_iter()
        .filter(|name| !enabled.iter().any(|one| one == name));
    unwanted.map(str::to_owned).collect()
}

/// Returns the requested tags among those that are only set on request.
fn optional_tags(enabled: &[String]) -> Vec<String> {
    let enabled = enabled
        .iter()
        .filter(|name| matches!(name.as_str(), "ip" | "iter" | "vu"));
    enabled.cloned().collect()
}

/// Returns the variables of a script: those of the system if requested, those of an archive, and
/// those of `-e`.
fn script_env(
    invocation: &Invocation,
    origin: &Origin,
    place: &CommandContext,
) -> Result<BTreeMap<String, String>, Refused> {
    let by_default = invocation.command == loadline_k6_options::cli::Command::Run;
    let has_system = match invocation.flag("include-system-env-vars", &place.environment) {
        Some(_) => invocation.is_on("include-system-env-vars", &place.environment),
        None => by_default,
    };
    let mut env = match has_system {
        true => place.environment.clone(),
        false => BTreeMap::new(),
    };
    let archived = origin.archive.as_ref().and_then(|one| one.env.clone());
    env.extend(archived.unwrap_or_default());
    for pair in invocation.all("env") {
        let (name, value) = match pair.split_once('=') {
            Some((name, value)) => (name, value.to_owned()),
            None => (
                pair.as_str(),
                place.environment.get(pair).cloned().unwrap_or_default(),
            ),
        };
        if !is_variable(name) {
            let text = format!("invalid environment variable name '{name}'");
            return Err(Refused::new(FAILED, text));
        }
        env.insert(name.to_owned(), value);
    }
    Ok(env)
}

fn is_variable(name: &str) -> bool {
    let mut letters = name.chars();
    let begins = letters
        .next()
        .is_some_and(|letter| letter.is_ascii_alphabetic() || letter == '_');
    begins && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

fn warn_of_unknown(script: &Tier, console: &Console) {
    if let Some(name) = script.unknown.first() {
        console.log(&Entry {
            level: Level::Warning,
            message: "There were unknown fields in the options exported in the script",
            fields: &[("error", &format!("json: unknown field \"{name}\""))],
        });
    }
}

/// Consolidates the options of all sources, the strongest last. Variables set by `-e` are options,
/// too.
fn options(
    invocation: &Invocation,
    script: Tier,
    place: &CommandContext,
    env: &BTreeMap<String, String>,
    program: &Program,
) -> Result<Consolidated, (Refused, Vec<String>)> {
    let unwarned = |refused: Refused| -> (Refused, Vec<String>) { (refused, Vec::new()) };
    let mut variables = place.environment.clone();
    let given = env.iter().filter(|(name, _)| name.starts_with("K6_"));
    variables.extend(given.map(|(name, value)| (name.clone(), value.clone())));
    let of_variables = from_environment(&variables).map_err(|error| unwarned(error.into()))?;
    let tiers = vec![
        ("file", config_file(invocation, place).map_err(unwarned)?),
        ("script", script),
        ("env", of_variables),
        ("cli", invocation.options.clone()),
    ];
    consolidate(tiers, |name| program.has(name)).map_err(|mut error| {
        let warnings = std::mem::take(&mut error.warnings);
        (error.into(), warnings)
    })
}

/// Reads the configuration file, if there is one: the named one, or the user's own.
fn config_file(invocation: &Invocation, place: &CommandContext) -> Result<Tier, Refused> {
    let named = invocation.flag("config", &place.environment);
    let path = match &named {
        Some(path) => place.directory.join(path),
        None => match usual_config(place) {
            Some(path) => path,
            None => return Ok(Tier::default()),
        },
    };
    match fs::read_to_string(&path) {
        Ok(text) => Ok(Tier::from_json(&text)?),
        Err(_) if named.is_none() => Ok(Tier::default()),
        Err(error) => {
            let path = named.unwrap_or_default();
            let problem = super::go_words::system(&error);
            Err(Refused::new(
                INVALID_CONFIG,
                format!(
                    "failed to load the configuration file from the local file system: stat \
                     {path}: {problem}"
                ),
            ))
        }
    }
}

fn usual_config(place: &CommandContext) -> Option<PathBuf> {
    let variable = |name: &str| place.environment.get(name).filter(|text| !text.is_empty());
    let folder = match variable("XDG_CONFIG_HOME") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(variable("HOME")?).join(".config"),
    };
    Some(folder.join("k6").join("config.json"))
}

fn thresholds(list: &[Value]) -> Vec<ThresholdSource> {
    let one = |value: &Value| match value.as_str() {
        Some(text) => ThresholdSource {
            expression: text.to_owned(),
            ..ThresholdSource::default()
        },
        None => ThresholdSource {
            expression: value["threshold"].as_str().unwrap_or_default().to_owned(),
            abort_on_fail: value["abortOnFail"].as_bool().unwrap_or_default(),
            delay_abort_eval_ns: delay_ns(&value["delayAbortEval"]),
        },
    };
    list.iter().map(one).collect()
}

fn delay_ns(value: &Value) -> Option<u64> {
    let text = value.as_str();
    let time = text.and_then(|text| GoDuration::parse(text).ok());
    let time = time.or_else(|| value.as_f64().map(GoDuration::milliseconds));
    time.map(|time| time.duration().as_nanos() as u64)
}

/// Creates the state with which a run of the test begins.
pub(super) fn run_state(
    test: &Test,
    measures: &Measures,
    abort: Box<dyn Fn(loadline_script_js::Abort) + Send + Sync>,
) -> Arc<RunState> {
    let recording = Arc::clone(&measures.recording);
    Arc::new(RunState::new(test.user_options(), recording, abort))
}
