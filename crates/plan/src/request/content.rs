//! The bytes of a body, which may be large, shared by all its holders.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// Bytes that are stored once, however often they are cloned.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Content(Arc<Vec<u8>>);

impl From<Vec<u8>> for Content {
    fn from(bytes: Vec<u8>) -> Content {
        Content(Arc::new(bytes))
    }
}

impl From<String> for Content {
    fn from(text: String) -> Content {
        Content::from(text.into_bytes())
    }
}

impl Deref for Content {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Content, D::Error> {
        Vec::deserialize(deserializer).map(Content::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_their_bytes() {
        let content = Content::from(b"abc".to_vec());
        assert!(std::ptr::eq(&*content, &*content.clone()));
        let json = serde_json::to_string(&content).unwrap();
        assert_eq!(json, "[97,98,99]");
        assert_eq!(serde_json::from_str::<Content>(&json).unwrap(), content);
    }
}
