//! The parts of a thread's state that other threads may access: its globals, its address, its stop.

use crate::transfer::{TransferError, transfer};
use mlua::{Lua, Table, Value, WeakLua};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The Rust side of the userdata `thread`.
pub(crate) struct ThreadCell {
    /// A weak reference, because the state holds the cell.
    lua: WeakLua,
    address: Mutex<Option<SocketAddr>>,
    /// True if the script chose the address, as opposed to the one that it found there.
    is_chosen: AtomicBool,
    stopped: AtomicBool,
    /// True if the load of the thread is sent by another process, from now on.
    is_elsewhere: AtomicBool,
}

impl ThreadCell {
    pub(crate) fn new(lua: &Lua) -> Arc<Self> {
        Arc::new(ThreadCell {
            lua: lua.weak(),
            address: Mutex::new(None),
            is_chosen: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
            is_elsewhere: AtomicBool::new(false),
        })
    }

    fn address(&self) -> Option<SocketAddr> {
        *self.address.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the address for the thread's connections, if the script chose one.
    pub(crate) fn chosen_address(&self) -> Option<SocketAddr> {
        let is_chosen = self.is_chosen.load(Ordering::Relaxed);
        self.address().filter(|_| is_chosen)
    }

    fn set_address(&self, address: Option<SocketAddr>) {
        *self.address.lock().unwrap_or_else(PoisonError::into_inner) = address;
    }

    /// Returns true if the script requested the thread's stop since the last call.
    pub(crate) fn take_stop(&self) -> bool {
        self.stopped.load(Ordering::Relaxed) && self.stopped.swap(false, Ordering::Relaxed)
    }

    /// Leaves the load of the thread to another process, where its globals are from now on.
    pub(crate) fn leave(&self) {
        self.is_elsewhere.store(true, Ordering::Relaxed);
    }

    /// # Errors
    /// If the thread's globals are in another process.
    fn check_place(&self) -> Result<(), TransferError> {
        match self.is_elsewhere.load(Ordering::Relaxed) {
            true => Err(TransferError::Elsewhere),
            false => Ok(()),
        }
    }

    /// Returns a global of the thread, copied into the state that reads it.
    fn global(&self, name: &Value, receiver: &Lua) -> Result<Value, TransferError> {
        self.check_place()?;
        let Some(lua) = self.lua.try_upgrade() else {
            return Ok(Value::Nil);
        };
        let value: Value = lua.globals().raw_get(transfer(name, &lua)?)?;
        transfer(&value, receiver)
    }

    fn set_global(&self, name: &Value, value: &Value) -> Result<(), TransferError> {
        self.check_place()?;
        let Some(lua) = self.lua.try_upgrade() else {
            return Ok(());
        };
        let (name, value) = (transfer(name, &lua)?, transfer(value, &lua)?);
        Ok(lua.globals().raw_set(name, value)?)
    }

    /// Creates the functions of a userdata `thread` in a state, which need not be the thread's own.
    /// The error for a value that can't be transferred is returned as a text, which the prelude
    /// raises.
    pub(crate) fn functions(self: &Arc<Self>, lua: &Lua) -> mlua::Result<Table> {
        let functions = lua.create_table()?;
        let cell = Arc::clone(self);
        let get =
            lua.create_function(
                move |receiver, name: Value| match cell.global(&name, receiver) {
                    Ok(value) => Ok((None, value)),
                    Err(TransferError::Lua(error)) => Err(error),
                    Err(problem) => Ok((Some(problem.to_string()), Value::Nil)),
                },
            )?;
        functions.set("get", get)?;
        let cell = Arc::clone(self);
        let set = move |_: &Lua, (name, value): (Value, Value)| match cell.set_global(&name, &value)
        {
            Ok(()) => Ok(None),
            Err(TransferError::Lua(error)) => Err(error),
            Err(problem) => Ok(Some(problem.to_string())),
        };
        functions.set("set", lua.create_function(set)?)?;
        self.add_plain_functions(lua, &functions)?;
        Ok(functions)
    }

    fn add_plain_functions(self: &Arc<Self>, lua: &Lua, functions: &Table) -> mlua::Result<()> {
        let cell = Arc::clone(self);
        let stop = move |_: &Lua, ()| {
            cell.stopped.store(true, Ordering::Relaxed);
            Ok(())
        };
        functions.set("stop", lua.create_function(stop)?)?;
        let cell = Arc::clone(self);
        let address = move |_: &Lua, ()| Ok(cell.address().map(|address| address.to_string()));
        functions.set("address", lua.create_function(address)?)?;
        let cell = Arc::clone(self);
        let set_address = move |_: &Lua, (text, is_chosen): (String, bool)| {
            cell.set_address(text.parse().ok());
            cell.is_chosen.store(is_chosen, Ordering::Relaxed);
            Ok(())
        };
        functions.set("set_address", lua.create_function(set_address)?)
    }
}
