//! Bundles: what all parts of a run have in common and what may be large. A bundle has the bodies
//! of requests, the lines of a long list, certificates, and scripts with all that they import.
//!
//! A bundle is known by the hash of its bytes, so that a machine that has it from an earlier run is
//! not sent it again. The hash says nothing of what is in it.

use crate::bodies::Bodies;
use crate::message::Job;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use loadline_plan::{Content, FileContents, Identity, ListLines, Plan};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The most bytes of a file of certificates.
const MOST_FILE_BYTES: u64 = 16 << 20;

/// The hash of a bundle's bytes: SHA-256.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Hash([u8; 32]);

impl Hash {
    /// The length of a hash in bytes.
    pub const BYTES: usize = 32;

    /// Returns the hash of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Hash(Sha256::digest(bytes).into())
    }

    /// Returns the hash with this value.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Hash(bytes)
    }

    /// Returns its value.
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A bundle. Copies share its bytes.
#[derive(Clone)]
pub struct Bundle(Arc<Shared>);

struct Shared {
    bytes: Vec<u8>,
    hash: OnceLock<Hash>,
}

impl Bundle {
    /// The most bytes of a bundle that agents take, and of all that one of them keeps.
    pub const MOST_BYTES: usize = 256 << 20;

    /// Creates the bundle of these bytes.
    pub fn new(bytes: Vec<u8>) -> Self {
        Bundle(Arc::new(Shared {
            bytes,
            hash: OnceLock::new(),
        }))
    }

    /// Returns its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0.bytes
    }

    /// Returns the hash of its bytes.
    pub fn hash(&self) -> Hash {
        *self.0.hash.get_or_init(|| Hash::of(&self.0.bytes))
    }
}

impl PartialEq for Bundle {
    fn eq(&self, other: &Self) -> bool {
        self.bytes() == other.bytes()
    }
}

impl Eq for Bundle {}

impl fmt::Debug for Bundle {
    /// Bundles have secrets, which are shown nowhere.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bundle({:?})", self.hash())
    }
}

/// The contents of a bundle.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Contents {
    /// The bodies of the plan's requests.
    bodies: Bodies,
    /// The lines of its long list, which an encoded plan does not contain.
    lines: Option<Box<ListLines>>,
    /// The contents of its certificates and keys, in base64.
    files: Vec<(PathBuf, String)>,
    /// Further certificates of the client, each with its key.
    #[serde(default)]
    identities: Vec<(String, String)>,
    /// The behaviour of its users; `None` if they send the requests of the plan.
    job: Option<Job>,
}

impl Contents {
    /// Takes what is large out of a plan. Files that can't be read are left out: whoever needs them
    /// says so.
    pub(crate) fn take(plan: &mut Plan, job: Option<Job>) -> Self {
        let lines = plan.list_lines();
        let lines = lines.map(|lines| Box::new(ListLines::clone(lines)));
        let files = plan.connection.tls.paths();
        let files = files.filter_map(|path| Some((path.clone(), read_file(path).ok()?)));
        let files = files.collect();
        let identities = std::mem::take(&mut plan.connection.tls.identities);
        let parts = |identity: Identity| (identity.certificate, identity.key);
        Contents {
            files,
            identities: identities.into_iter().map(parts).collect(),
            lines,
            bodies: Bodies::take(plan),
            job,
        }
    }

    /// Returns the bundle with these contents.
    ///
    /// # Errors
    /// If they can't be encoded.
    pub(crate) fn pack(&self) -> io::Result<Bundle> {
        Ok(Bundle::new(serde_json::to_vec(self)?))
    }

    /// Returns the contents of a bundle.
    ///
    /// # Errors
    /// If it has none.
    pub(crate) fn unpack(bundle: &Bundle) -> io::Result<Self> {
        Ok(serde_json::from_slice(bundle.bytes())?)
    }

    /// Puts the contents back into the plan from which they were taken. Returns the job.
    ///
    /// # Errors
    /// If they are not of this plan.
    pub(crate) fn put_into(self, plan: &mut Plan) -> io::Result<Option<Job>> {
        self.bodies.put_into(plan)?;
        if let Some(list) = &mut plan.list {
            list.lines = self.lines.map(|lines| Arc::new(*lines));
        }
        let decode = |(path, text): (PathBuf, String)| {
            let bytes = BASE64_STANDARD.decode(text).map_err(io::Error::other)?;
            let contents = Content::from(bytes);
            Ok(FileContents { path, contents })
        };
        let files = self.files.into_iter().map(decode);
        plan.connection.tls.files = files.collect::<io::Result<_>>()?;
        let identity = |(certificate, key)| Identity { certificate, key };
        let identities = self.identities.into_iter().map(identity);
        plan.connection.tls.identities = identities.collect();
        Ok(self.job)
    }

    /// Returns the job, of a bundle that has nothing else.
    pub(crate) fn into_job(self) -> Option<Job> {
        self.job
    }
}

fn read_file(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    let mut file = File::open(path)?.take(MOST_FILE_BYTES + 1);
    match file.read_to_end(&mut bytes)? as u64 > MOST_FILE_BYTES {
        true => Err(io::Error::other("it is too long")),
        false => Ok(BASE64_STANDARD.encode(bytes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_plan::{Body, Request};

    fn plan(rate: u32) -> Plan {
        let request = Request {
            method: "POST".to_owned(),
            url: "http://a/".parse().expect("a URL"),
            headers: Vec::new(),
            body: Body::Bytes(vec![b'x'; 1_000].into()),
            weight: 1,
            name: None,
        };
        let mut plan = Plan {
            requests: vec![request],
            threads: rate,
            ..Plan::default()
        };
        plan.connection.tls.cacert = Some("Cargo.toml".into());
        plan.connection.tls.key = Some("no-such-file".into());
        plan.connection.tls.identities.push(Identity {
            certificate: "certificate".to_owned(),
            key: "key".to_owned(),
        });
        plan
    }

    #[test]
    fn contents_are_what_they_were_after_the_way() {
        let (before, mut sent) = (plan(1), plan(1));
        let job = Job::new("k6", &"script").expect("a job");
        let bundle = Contents::take(&mut sent, Some(job))
            .pack()
            .expect("a bundle");
        assert_eq!(sent.requests[0].body, Body::None);
        let contents = Contents::unpack(&bundle).expect("contents");
        let job = contents.put_into(&mut sent).expect("contents of this plan");
        assert_eq!(job.map(|job| job.tool().to_owned()).as_deref(), Some("k6"));
        assert_eq!(sent.requests, before.requests);
        let own = &before.connection.tls.identities;
        assert_eq!(&sent.connection.tls.identities, own);
        let own = std::fs::read("Cargo.toml").expect("this crate's own file");
        let files = &sent.connection.tls.files;
        assert_eq!(files.len(), 1, "what can't be read is left out");
        assert_eq!(files[0].contents[..], own);
    }

    #[test]
    fn bundles_of_another_load_are_the_same_and_of_another_body_are_not() {
        let hash = |plan: &Plan| {
            let contents = Contents::take(&mut plan.clone(), None);
            contents.pack().expect("a bundle").hash()
        };
        assert_eq!(hash(&plan(1)), hash(&plan(8)));
        let mut other = plan(1);
        other.requests[0].body = Body::Bytes(vec![b'y'; 1_000].into());
        assert_ne!(hash(&plan(1)), hash(&other));
    }

    #[test]
    fn a_bundle_shows_nothing_but_its_hash() {
        let bundle = Bundle::new(b"abc".to_vec());
        let shown = format!("{bundle:?}");
        assert_eq!(
            shown,
            "Bundle(ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad)"
        );
        assert!(Contents::unpack(&bundle).is_err());
    }
}
