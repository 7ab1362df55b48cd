//! The bundles that an agent has, for later runs: each in a file without a name, which nobody else
//! can open and which is gone with the agent, however that ends.

use loadline_cluster::{Bundle, Hash};
use std::collections::VecDeque;
use std::fs::{File, Permissions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::PermissionsExt;

/// The most bundles: each has a file open.
const MOST_BUNDLES: usize = 64;

/// The bundles that an agent has.
#[derive(Debug)]
pub(crate) struct Store {
    /// The bundles, the one that was used last at the end.
    entries: VecDeque<Entry>,
    /// The most bytes of all of them together.
    most_bytes: usize,
}

#[derive(Debug)]
struct Entry {
    hash: Hash,
    length: usize,
    file: File,
}

impl Default for Store {
    fn default() -> Self {
        Store {
            entries: VecDeque::new(),
            most_bytes: Bundle::MOST_BYTES,
        }
    }
}

impl Store {
    /// Keeps a bundle, and gives up those that were not used for longest where there are too many.
    /// One that is too large, or can't be written, is not kept.
    pub(crate) fn put(&mut self, bundle: &Bundle) {
        let (hash, length) = (bundle.hash(), bundle.bytes().len());
        self.entries.retain(|entry| entry.hash != hash);
        if length > self.most_bytes {
            return;
        }
        while self.entries.len() >= MOST_BUNDLES || self.bytes() + length > self.most_bytes {
            self.entries.pop_front();
        }
        if let Ok(file) = write(bundle.bytes()) {
            let entry = Entry { hash, length, file };
            self.entries.push_back(entry);
        }
    }

    /// Returns the bundle with this hash; `None` if it is not there, or its file was changed.
    pub(crate) fn get(&mut self, hash: Hash) -> Option<Bundle> {
        let index = self.entries.iter().position(|entry| entry.hash == hash)?;
        let mut entry = self.entries.remove(index)?;
        let bundle = Bundle::new(read(&mut entry).ok()?);
        (bundle.hash() == hash).then(|| {
            self.entries.push_back(entry);
            bundle
        })
    }

    fn bytes(&self) -> usize {
        self.entries.iter().map(|entry| entry.length).sum()
    }
}

fn write(bytes: &[u8]) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    file.set_permissions(Permissions::from_mode(0o600))?;
    file.write_all(bytes)?;
    Ok(file)
}

fn read(entry: &mut Entry) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(entry.length);
    entry.file.seek(SeekFrom::Start(0))?;
    let limit = entry.length as u64 + 1;
    (&entry.file).take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::os::unix::fs::MetadataExt;

    fn bundle(text: &str) -> Bundle {
        Bundle::new(text.as_bytes().to_vec())
    }

    #[test]
    fn bundles_are_kept_in_files_without_a_name() {
        let mut store = Store::default();
        store.put(&bundle("one"));
        store.put(&bundle("one"));
        assert_eq!(store.get(bundle("one").hash()), Some(bundle("one")));
        assert_eq!(store.get(bundle("two").hash()), None);
        assert_eq!(store.entries.len(), 1);
        let file = store.entries[0].file.metadata().expect("a file");
        assert_eq!((file.nlink(), file.mode() & 0o077), (0, 0));
    }

    #[test]
    fn a_file_that_was_changed_is_not_used() {
        for change in ["oneX", "onX", "o"] {
            let mut store = Store::default();
            store.put(&bundle("one"));
            let file = &mut store.entries[0].file;
            file.set_len(0).expect("a file");
            file.seek(SeekFrom::Start(0)).expect("a file");
            file.write_all(change.as_bytes()).expect("a file");
            assert_eq!(store.get(bundle("one").hash()), None, "{change}");
            assert!(store.entries.is_empty(), "{change}");
        }
    }

    #[test]
    fn the_one_that_was_not_used_for_longest_goes_first() {
        let mut store = Store {
            most_bytes: 10,
            ..Store::default()
        };
        let [one, two, three] = ["1234", "5678", "90ab"].map(bundle);
        store.put(&one);
        store.put(&two);
        assert!(store.get(one.hash()).is_some());
        store.put(&three);
        assert_eq!(store.get(two.hash()), None);
        assert_eq!(store.get(one.hash()), Some(one));
        assert_eq!(store.get(three.hash()), Some(three));
        let large = bundle("more than all may have");
        store.put(&large);
        assert_eq!(store.get(large.hash()), None);
        assert_eq!(store.entries.len(), 2, "nothing goes for what has no place");
    }

    proptest! {
        #[test]
        fn a_store_never_has_more_than_it_may(
            most_bytes in 0_usize..200,
            lengths in prop::collection::vec(0_usize..90, 0..90),
        ) {
            let mut store = Store { most_bytes, ..Store::default() };
            for (index, length) in lengths.into_iter().enumerate() {
                let kept = Bundle::new(vec![index as u8; length]);
                store.put(&kept);
                prop_assert!(store.bytes() <= most_bytes);
                prop_assert!(store.entries.len() <= MOST_BUNDLES);
                prop_assert_eq!(store.get(kept.hash()).is_some(), length <= most_bytes);
            }
        }
    }
}
