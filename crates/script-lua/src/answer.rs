//! A response for the script: collected as it is received, then passed on.

use mlua::{Lua, LuaString, Table};

/// The capacity of the body's buffer that is kept for the next response.
const KEPT_BYTES: usize = 1 << 20;

/// The part of a response that was received so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: Head,
    pub(crate) body: Vec<u8>,
    /// True if the body is longer than the limit for collected bodies.
    pub(crate) is_too_long: bool,
}

/// The fields of a response, including trailers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Head {
    /// Names and values, one after the other.
    bytes: Vec<u8>,
    /// The ends of each name and each value in `bytes`.
    ends: Vec<(usize, usize)>,
}

impl Head {
    pub(crate) fn add(&mut self, name: &[u8], value: &[u8]) {
        self.bytes.extend_from_slice(name);
        let name_end = self.bytes.len();
        self.bytes.extend_from_slice(value);
        self.ends.push((name_end, self.bytes.len()));
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Returns a table from names, in the case as received, to values; of several with one name,
    /// the last.
    fn to_table(&self, lua: &Lua) -> mlua::Result<Table> {
        let table = lua.create_table_with_capacity(0, self.ends.len())?;
        let mut begin = 0;
        for &(name_end, end) in &self.ends {
            let name = lua.create_string(&self.bytes[begin..name_end])?;
            table.raw_set(name, lua.create_string(&self.bytes[name_end..end])?)?;
            begin = end;
        }
        Ok(table)
    }
}

impl Answer {
    pub(crate) fn clear(&mut self) {
        self.status = 0;
        self.head.clear();
        self.body.clear();
        self.body.shrink_to(KEPT_BYTES);
        self.is_too_long = false;
    }

    /// Returns the arguments for the prelude's `respond`. The headers are left out unless they are
    /// `fresh`: different from those of the previous response.
    pub(crate) fn to_lua(
        &self,
        lua: &Lua,
        fresh: bool,
    ) -> mlua::Result<(u16, LuaString, Option<Table>)> {
        let body = lua.create_string(&self.body)?;
        let headers = fresh.then(|| self.head.to_table(lua)).transpose()?;
        Ok((self.status, body, headers))
    }
}
